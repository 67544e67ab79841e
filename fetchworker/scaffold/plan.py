"""What a new site needs: files that are new, and files that get some lines more (nothing is written here)."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from fetchworker.errors import ConfigError
from fetchworker.scaffold.insertion import with_entry, with_index_link, with_readme_row
from fetchworker.sites import yamlfile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fetchworker.scaffold.names import Site

_TEMPLATES = files("fetchworker.scaffold") / "templates"
#: template → file, relative to the project
_NEW = {
    "init.py": "fetchworker/spiders/$name/__init__.py",
    "contract.py": "fetchworker/spiders/$name/contract.py",
    "params.py": "fetchworker/spiders/$name/params.py",
    "parse.py": "fetchworker/spiders/$name/parse.py",
    "spider.py": "fetchworker/spiders/$name/spider.py",
    "page.html": "tests/$name/page.html",
    "test.py": "tests/$name/test_$name.py",
    "site.md": "docs/sites/$name.md",
}
#: what is made anew as a whole
_TOPS = ("fetchworker/spiders/$name", "tests/$name", "docs/sites/$name.md")


@dataclass(frozen=True, slots=True)
class Plan:
    """Texts by path. ``new`` files are relative to ``root``, ``tops`` are the folders and files that appear with them.

    ``changed`` files are absolute; each is there already.
    """

    root: Path
    new: dict[str, str]
    tops: tuple[str, ...]
    changed: dict[Path, str] = field(default_factory=dict)


def plan(site: Site, root: Path, sites_file: Path) -> Plan:
    """The files of a new site.

    Raises:
        ConfigError: something of that name is there already, or ``sites.yaml`` cannot take the entry.
    """
    values = site.values()
    tops = tuple(_filled(path, values) for path in _TOPS)
    there = [path for path in tops if (root / path).exists() or (root / path).is_symlink()]
    if there:
        raise ConfigError(f"{site.name}: {', '.join(there)} is there already; nothing was written")
    new = {_filled(path, values): _rendered(template, values) for template, path in _NEW.items()}
    return Plan(root, new, tops, {sites_file: _entry(sites_file, site, values), **_links(root, site)})


def _entry(sites_file: Path, site: Site, values: dict[str, str]) -> str:
    document = yamlfile.read(sites_file)
    return with_entry(document, sites_file.read_bytes().decode(), site.name, _rendered("entry.yaml", values))


def _links(root: Path, site: Site) -> dict[Path, str]:
    """The pages that link every site's page, as far as they are there and do it in the way we know."""
    ways: dict[str, Callable[[str, str], str]] = {"README.md": with_readme_row, "docs/index.md": with_index_link}
    found = {root / name: add for name, add in ways.items() if (root / name).is_file()}
    return {path: add(path.read_bytes().decode(), site.name) for path, add in found.items()}


def _rendered(template: str, values: dict[str, str]) -> str:
    text = _filled((_TEMPLATES / f"{template}.tmpl").read_text(encoding="utf-8"), values)
    return _with_imports_in_order(text) if template.endswith(".py") else text


def _filled(text: str, values: dict[str, str]) -> str:
    return Template(text).substitute(values)


def _with_imports_in_order(text: str) -> str:
    """Our imports sorted: where the site's own belong depends on its name."""
    lines = text.splitlines(keepends=True)
    places = [place for place, line in enumerate(lines) if line.startswith("from fetchworker.")]
    for place, line in zip(places, sorted((lines[place] for place in places), key=_module), strict=True):
        lines[place] = line
    return "".join(lines)


def _module(line: str) -> str:
    return line.split()[1]
