"""Some lines more in files that people keep: every other byte stays as it is (pure)."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

import yaml

from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from fetchworker.sites.yamlfile import Document

_INDEX_LINK = re.compile(r"^- \[[^\]]+\]\(sites/[\w-]+\.md\)[^\n]*\n", re.MULTILINE)
_README_ROW = re.compile(r"^\| \[[^\]]+\]\(docs/sites/[\w-]+\.md\)", re.MULTILINE)


def with_entry(document: Document, text: str, name: str, entry: str) -> str:
    """``sites.yaml`` with an entry more at the end of ``sites``.

    Args:
        document: the file as it was read.
        text: its text.
        name: the site's.
        entry: the entry, not indented, with the comments above it.

    Raises:
        ConfigError: there is such an entry, or the file is not written line by line.
    """
    if name in _mapping(_mapping(document.data).get("sites")):
        line = document.line(("sites", name))
        raise ConfigError(f"{document.path}, line {line}: sites.{name} is there already; nothing was written")
    node = _sites_node(text)
    if node is None or node.flow_style or not node.value:
        raise ConfigError(f"{document.path}: the sites do not stand in lines of their own, so that none can be added")
    made = _behind(text, node, entry)
    _check(document, made, name)
    return made


def _behind(text: str, node: yaml.MappingNode, entry: str) -> str:
    """The text with an entry more behind the last one of a mapping."""
    indent = node.value[0][0].start_mark.column
    ending = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    end = _end_of_entry(lines, _last_line(node), indent)
    if not lines[end - 1].endswith("\n"):
        lines[end - 1] += ending
    lines.insert(end, ending + textwrap.indent(entry, " " * indent).replace("\n", ending))
    return "".join(lines)


def _sites_node(text: str) -> yaml.MappingNode | None:
    top = yaml.compose(text, Loader=yaml.SafeLoader)
    found = {key.value: value for key, value in top.value} if isinstance(top, yaml.MappingNode) else {}
    sites = found.get("sites")
    return sites if isinstance(sites, yaml.MappingNode) else None


def _last_line(node: yaml.Node) -> int:
    """The line (from 0) of the last thing in a node; a block's own end mark is where the next thing begins."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        key, value = node.value[-1]
        return max(int(key.end_mark.line), _last_line(value))
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return _last_line(node.value[-1])
    end = node.end_mark
    return int(end.line if end.column else end.line - 1)


def _end_of_entry(lines: list[str], last: int, indent: int) -> int:
    """The place behind the last line of an entry and the comments in it."""
    end = last + 1
    while not lines[end - 1].strip():  # a block of text ends where the next thing begins
        end -= 1
    while end < len(lines) and re.match(rf" {{{indent + 1},}}#", lines[end]):
        end += 1
    return end


def _check(document: Document, made: str, name: str) -> None:
    """See that the entry is there and all else is as before: no trick of YAML may change another site."""
    before, after = document.data, yaml.safe_load(made)
    entry = after["sites"].pop(name, None)
    if not isinstance(entry, dict) or after != before:
        raise ConfigError(f"{document.path}: the entry cannot be added; write `{name}: {{}}` under sites yourself")


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def with_index_link(text: str, name: str) -> str:
    """``docs/index.md`` with the site's page in its list of sites."""
    found = list(_INDEX_LINK.finditer(text))
    return _inserted(text, found[-1].start(), f"- [{name}](sites/{name}.md)\n") if found else text


def with_readme_row(text: str, name: str) -> str:
    """The README with the site in its table of sites, before the last row."""
    found = list(_README_ROW.finditer(text))
    row = f"| [`{name}`](docs/sites/{name}.md) | |\n"
    return _inserted(text, found[-1].start(), row) if found else text


def _inserted(text: str, place: int, more: str) -> str:
    return text[:place] + more + text[place:]
