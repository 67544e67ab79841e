"""From a body's bytes to the JSON documents in it, whichever generation of the site sent them.

A body is one JSON document, several of them one after another, or a page whose scripts hold them: ``sharedData`` and
``additionalDataLoaded`` (2018-2021), ``contextJSON`` of embeds (2022 on), results of Relay queries (2022 on). Deferred
chunks of a result are put back at their path.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.errors import ContractError
from fetchworker.spiders.reading.values import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fetchworker.contracts import Page

#: what the site puts before JSON so that no other site can run it as a script
_GUARD = re.compile(r"\s*(?:for\s*\(\s*;\s*;\s*\)|while\s*\(\s*1\s*\))\s*;")
_SPACE = re.compile(r"\s*")
_ASSIGNED = (
    re.compile(r"window\._sharedData\s*=\s*(?=\{)"),
    re.compile(r"""__additionalDataLoaded\(\s*(?:"[^"]{0,300}+"|'[^']{0,300}+')\s*,\s*(?=\{)"""),
)
_CONTEXT = re.compile(r'"contextJSON"\s*:\s*(?=")')
_RELAY = re.compile(r'"(adp_\w++)"\s*,\s*(?=\{\s*"__bbox")')
# every repetition is bounded: a page of unfinished tags must not cost the square of its length
_META = re.compile(r"""<meta\b((?:[^<>"']++|"[^"]{0,12000}+"|'[^']{0,12000}+'){0,80}+)>""")
_ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*(?:"([^"]*+)"|'([^']*+)')""")
_CANONICAL = re.compile(r"""<link\b[^<>]{0,300}?\brel=["']canonical["'][^<>]{0,300}?\bhref=["']([^"']{1,2000})""")
_DECODER = json.JSONDecoder()
_NOTHING = object()
#: more embedded documents than any page has; keeps hostile pages cheap
_MOST_EMBEDDED = 300
_MOST_META = 200
_LONGEST_META = 10_000
_DEEPEST = 40

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Body:
    """Documents in the order of the page; ``html`` is the text of a page, None for a JSON answer."""

    documents: tuple[Document, ...]
    html: str | None

    def meta(self) -> dict[str, str]:
        """The page's meta tags by property or name; the canonical link as ``canonical``."""
        return _meta(self.html) if self.html is not None else {}


def read(page: Page) -> Body:
    """Decode a body.

    Raises:
        ContractError: an answer that begins like JSON and cannot be read to its end, or an empty body.
    """
    body = page.body.removeprefix(b"\xef\xbb\xbf").strip()
    if not body:
        raise ContractError("body", "the body is empty")
    guarded = body[:16].startswith((b"for", b"while"))
    if guarded or body[:1] in (b"{", b"["):
        return Body(tuple(_merged(_json_documents(body))), None)
    text = body.decode(errors="replace")
    return Body((*_assigned(text), *_context(text), *_relay(text)), text)


def _json_documents(body: bytes) -> Iterator[Any]:
    try:
        yield orjson.loads(body)
    except orjson.JSONDecodeError:
        yield from _json_sequence(body.decode(errors="replace"))


def _json_sequence(text: str) -> Iterator[Any]:
    position = _start(text, 0)
    while position < len(text):
        value, position = _decoded(text, position)
        if value is _NOTHING:
            raise ContractError("body", f"the JSON cannot be read beyond character {position}")
        yield value
        position = _start(text, position)


def _start(text: str, position: int) -> int:
    guard = _GUARD.match(text, position)
    space = _SPACE.match(text, guard.end() if guard else position)
    return space.end() if space else position


def _decoded(text: str, position: int) -> tuple[Any, int]:
    """The JSON value at ``position`` and where it ends."""
    try:
        return _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError):
        return _NOTHING, position


def _embedded(pattern: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], Any]]:
    position = 0
    for _ in range(_MOST_EMBEDDED):
        match = pattern.search(text, position)
        if match is None:
            return
        value, end = _decoded(text, match.end())
        position = max(end, match.end())
        if value is not _NOTHING:
            yield match, value


def _assigned(text: str) -> Iterator[Document]:
    for pattern in _ASSIGNED:
        yield from (value for _, value in _embedded(pattern, text) if isinstance(value, dict))


def _context(text: str) -> Iterator[Document]:
    for _, value in _embedded(_CONTEXT, text):
        inner = _decoded(value, 0)[0] if isinstance(value, str) else None
        if isinstance(inner, dict):
            yield inner


def _relay(text: str) -> Iterator[Document]:
    """Results of the queries that the server ran for the page, chunks in order of their sequence number."""
    queries: dict[str, list[tuple[int, Any]]] = {}
    for match, value in _embedded(_RELAY, text):
        bbox = mapping(mapping(value).get("__bbox"))
        number = bbox.get("sequence_number")
        chunks = queries.setdefault(match.group(1), [])
        chunks.append((number if isinstance(number, int) else len(chunks), bbox.get("result")))
    for chunks in queries.values():
        yield from _merged(result for _, result in sorted(chunks, key=lambda chunk: chunk[0]))


def _merged(values: Iterable[Any]) -> Iterator[Document]:
    documents: list[Document] = []
    for value in values:
        if isinstance(value, list):
            documents.extend(entry for entry in value if isinstance(entry, dict))
        elif isinstance(value, dict) and isinstance(value.get("path"), list) and documents:
            _graft(documents[-1], value)
        elif isinstance(value, dict):
            documents.append(value)
        for part in sequence(mapping(value).get("incremental")):
            if isinstance(part, dict) and isinstance(part.get("path"), list) and documents:
                _graft(documents[-1], part)
    yield from documents


def _graft(document: Document, chunk: Document) -> None:
    """Put a deferred chunk's data where its path says; a path that leads nowhere is left alone."""
    holder: Any = document
    step: Any = "data"
    target: Any = document.get("data")
    for key in chunk["path"]:
        following = _child(target, key)
        if following is _NOTHING:
            return
        holder, step, target = target, key, following
    data = chunk.get("data")
    if isinstance(target, dict) and isinstance(data, dict):
        _deepen(target, data)
    elif isinstance(holder, list) and step == len(holder):
        holder.append(data)
    elif target is None and data is not None:
        holder[step] = data


def _child(holder: Any, key: Any) -> Any:
    if isinstance(holder, dict) and isinstance(key, str):
        return holder.get(key)
    if isinstance(holder, list) and isinstance(key, int) and not isinstance(key, bool) and 0 <= key <= len(holder):
        return holder[key] if key < len(holder) else None
    return _NOTHING


def _deepen(target: Document, data: Document, depth: int = 0) -> None:
    for key, value in data.items():
        known = target.get(key)
        if isinstance(known, dict) and isinstance(value, dict) and depth < _DEEPEST:
            _deepen(known, value, depth + 1)
        else:
            target[key] = value


def _meta(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, match in enumerate(_META.finditer(text)):
        if number >= _MOST_META:
            break
        values = {name.lower(): one or other for name, one, other in _ATTRIBUTE.findall(match.group(1))}
        key = values.get("property") or values.get("name")
        if key and "content" in values:
            found.setdefault(key, html.unescape(values["content"][:_LONGEST_META]))
    canonical = _CANONICAL.search(text)
    if canonical:
        found["canonical"] = html.unescape(canonical.group(1))
    return found
