"""A small, strict YAML reader that knows on which line each key stands.

Plain data only: an anchor, an alias or a tag is refused (nothing here needs them, and aliases can blow a small file up
to gigabytes), and so is a key that comes twice, which YAML libraries take in silence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

#: bytes of a file that is read
MAX_BYTES = 1024 * 1024
#: how deep sections may stand in sections
MAX_DEPTH = 16

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The data of a file, and the line (from 1) of every key and list entry by its path."""

    path: Path
    data: Any
    lines: dict[KeyPath, int] = field(default_factory=dict)

    def line(self, key: KeyPath) -> int:
        """The line of a key, or of the nearest section above it that the file has."""
        while key and key not in self.lines:
            key = key[:-1]
        return self.lines.get(key, 1)


def read(path: Path) -> Document:
    """Read a YAML file.

    Raises:
        ConfigError: it cannot be read or is not plain YAML; the message names the file and the line.
    """
    text = _text(path)
    loader = _Loader(text)
    document = Document(path, None)
    try:
        node = loader.get_single_node()
        data = None if node is None else _plain(loader, node, (), document.lines)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        problem = " ".join(filter(None, (exc.context, exc.problem))) or "not YAML"
        line = mark.line + 1 if mark else 1
    except yaml.YAMLError:
        problem, line = "not YAML text", 1
    else:
        return Document(path, data, document.lines)
    raise ConfigError(f"{path}, line {line}: {problem}", file=str(path), line=line)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as exc:
        raise ConfigError(f"{path}: cannot be read ({getattr(exc, 'strerror', None) or exc})", file=str(path)) from None
    if len(raw) > MAX_BYTES:
        raise ConfigError(f"{path}: is larger than {MAX_BYTES} bytes", file=str(path))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise ConfigError(f"{path}: is not UTF-8 text (byte {exc.start})", file=str(path)) from None
    bad = yaml.reader.Reader.NON_PRINTABLE.search(text)
    if bad:
        line = text.count("\n", 0, bad.start()) + 1
        raise ConfigError(f"{path}, line {line}: holds the control character {bad.group()!r}; is this a text file?")
    return text


class _Loader(yaml.SafeLoader):
    """Composes nodes, and refuses at once what :func:`read` does not take."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _Refused("anchors and aliases are not taken; write the value out, or put it under defaults", event)
        if tag := getattr(event, "tag", None):
            raise _Refused(f"the tag {tag} is not taken; write plain values", event)
        if self._depth >= MAX_DEPTH:
            raise _Refused("sections stand too deep in each other", event)
        self._depth += 1
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node


class _Refused(yaml.MarkedYAMLError):
    def __init__(self, problem: str, at: yaml.Event | yaml.Node) -> None:
        super().__init__(problem=problem, problem_mark=at.start_mark)  # type: ignore[arg-type]  # the stubs' mix-up of two Marks


def _plain(loader: _Loader, node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int]) -> Any:
    """The node as plain data; notes the line of everything in it."""
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        return _mapping(loader, node, path, lines)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(loader, child, (*path, place), lines) for place, child in enumerate(node.value)]
    if node.tag.endswith((":merge", ":value")):
        raise _Refused(f"{node.value} alone means something else in YAML; put it in quotes", node)
    try:
        return loader.construct_object(node)
    except (ValueError, OverflowError):
        raise _Refused(
            f"{_cut(node.value)} is neither a number nor a date; put it in quotes if it is text", node
        ) from None


def _mapping(loader: _Loader, node: yaml.MappingNode, path: KeyPath, lines: dict[KeyPath, int]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = _plain(loader, key_node, (*path, "?"), {})
        if not isinstance(key, str):
            raise _Refused(f"a key must be text, not {_cut(key)}; put it in quotes", key_node)
        here = (*path, key)
        if key in made:
            raise _Refused(f"{dotted(here)} stands here for the second time, first in line {lines[here]}", key_node)
        lines[here] = key_node.start_mark.line + 1
        made[key] = _plain(loader, value_node, here, lines)
    return made


def dotted(path: KeyPath) -> str:
    """``sites.instagram.delay``; what a terminal cannot show is escaped."""
    text = ".".join(map(str, path))
    return text if text.isprintable() else repr(text)[1:-1]


def _cut(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."  # noqa: PLR2004
