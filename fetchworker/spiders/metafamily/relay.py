"""JSON out of Meta's answers and pages, deferred chunks put back where they belong (pure).

An answer is one JSON document or several one after another, with or without the guard against other sites' scripts
(``for (;;);``). A page holds the results of the queries that the server ran for it, in ``data-sjs`` blocks (2024 on)
or in inline scripts (2022-2023): both have them as ``"adp_<Query>RelayPreloader_<hash>",{"__bbox":{…}}``. A result may
come in chunks: the first one has ``data``, later ones ``path`` and what belongs there. Seen on recorded answers and
pages of facebook, instagram, threads and the Ad Library, 2020 to 2026.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.errors import ContractError
from fetchworker.spiders.reading.values import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Document = dict[str, Any]

#: what stands before JSON so that no other site can run it as a script
_GUARD = re.compile(r"\s*(?:for\s*\(\s*;\s*;\s*\)|while\s*\(\s*1\s*\))\s*;")
_SPACE = re.compile(r"\s*")
_RELAY = re.compile(r'"(adp_\w++)"\s*,\s*(?=\{\s*"__bbox")')
_QUERY = re.compile(r"adp_(\w+?)(?:RelayPreloader_\w*)?\Z")
_DECODER = json.JSONDecoder()
_BOM = b"\xef\xbb\xbf"
#: more embedded documents than any page has; keeps hostile pages cheap
_MOST_EMBEDDED = 300
_DEEPEST = 40
#: documents in one answer; streamed ones have a few dozen
_MOST_DOCUMENTS = 2_000

#: what :func:`decoded` gives for text that is no JSON
NOTHING: Any = object()


@dataclass(frozen=True, slots=True)
class Result:
    """What one query gave for a page; ``query`` is its name."""

    query: str
    documents: Sequence[Document]


def is_json(body: bytes) -> bool:
    """Whether a body is an answer, guarded or not, rather than a page."""
    start = body.removeprefix(_BOM).lstrip()[:16]
    return start.startswith((b"for (", b"for(", b"while(", b"while (", b"{", b"["))


def answers(body: bytes) -> list[Document]:
    """The JSON objects of an answer in their order, chunks merged.

    Raises:
        ContractError: the JSON cannot be read to its end.
    """
    return list(merged(_documents(body.removeprefix(_BOM).strip())))


def results(text: str) -> list[Result]:
    """Results of the queries that the server ran for a page, in their order, each query's chunks merged."""
    queries: dict[str, list[tuple[int, Any]]] = {}
    for match, value in embedded(_RELAY, text):
        bbox = mapping(mapping(value).get("__bbox"))
        number = bbox.get("sequence_number")
        chunks = queries.setdefault(match[1], [])
        chunks.append((number if isinstance(number, int) else len(chunks), bbox.get("result")))
    return [Result(query_name(name), list(merged(_ordered(chunks)))) for name, chunks in queries.items()]


def query_name(preloader: str) -> str:
    """``adp_ProfileCometHeaderQueryRelayPreloader_64b…`` → ``ProfileCometHeaderQuery``."""
    match = _QUERY.match(preloader)
    return match[1] if match else preloader


def embedded(pattern: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], Any]]:
    """The JSON values that stand behind the matches of a pattern, each with its match; broken ones are left out."""
    position = 0
    for _ in range(_MOST_EMBEDDED):
        match = pattern.search(text, position)
        if match is None:
            return
        value, end = decoded(text, match.end())
        position = max(end, match.end())
        if value is not NOTHING:
            yield match, value


def decoded(text: str, position: int) -> tuple[Any, int]:
    """The JSON value at ``position`` (:data:`NOTHING` when there is none) and where it ends."""
    try:
        return _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError):
        return NOTHING, position


def merged(values: Iterable[Any]) -> Iterator[Document]:
    """Documents with their deferred chunks at the place that ``path`` names.

    A streamed chunk (one with a ``label``) that has no place stays by itself, other chunks without a place are dropped.
    """
    documents: list[Document] = []
    for value in values:
        if isinstance(value, list):
            documents.extend(entry for entry in value if isinstance(entry, dict))
        elif isinstance(value, dict) and not _is_grafted(value, documents):
            documents.extend([value] if "label" in value or "path" not in value or not documents else ())
        for part in sequence(mapping(value).get("incremental")):
            _is_grafted(part, documents)
    yield from documents


def _is_grafted(value: Any, documents: list[Document]) -> bool:
    """Put a chunk where it belongs, in the document before it; whether it is a chunk and there is such a place."""
    if not (isinstance(value, dict) and isinstance(value.get("path"), list)):
        return False
    whole = next((document for document in reversed(documents) if "path" not in document), None)
    return whole is not None and _graft(whole, value)


def _ordered(chunks: list[tuple[int, Any]]) -> Iterator[Any]:
    return (result for _, result in sorted(chunks, key=lambda chunk: chunk[0]))


def _documents(body: bytes) -> Iterator[Any]:
    try:
        yield orjson.loads(body)
    except orjson.JSONDecodeError:
        yield from _sequence(body.decode(errors="replace"))


def _sequence(text: str) -> Iterator[Any]:
    position = _start(text, 0)
    number = 0
    while position < len(text):
        number += 1
        if number > _MOST_DOCUMENTS:
            raise ContractError("body", f"more than {_MOST_DOCUMENTS} JSON documents, which is no answer of the site")
        value, position = decoded(text, position)
        if value is NOTHING:
            raise ContractError("body", f"the JSON cannot be read beyond character {position}")
        yield value
        position = _start(text, position)


def _start(text: str, position: int) -> int:
    guard = _GUARD.match(text, position)
    space = _SPACE.match(text, guard.end() if guard else position)
    return space.end() if space else position


def _graft(document: Document, chunk: Document) -> bool:
    """Put a deferred chunk's data where its path says; False for a path that leads nowhere."""
    holder: Any = document
    step: Any = "data"
    target: Any = document.get("data")
    for key in chunk["path"]:
        following = _child(target, key)
        if following is NOTHING:
            return False
        holder, step, target = target, key, following
    data = chunk.get("data")
    if isinstance(target, dict) and isinstance(data, dict):
        _deepen(target, data)
    elif isinstance(holder, list) and step == len(holder):
        holder.append(data)
    elif target is None and data is not None:
        holder[step] = data
    return True


def _child(holder: Any, key: Any) -> Any:
    if isinstance(holder, dict) and isinstance(key, str):
        return holder.get(key)
    if isinstance(holder, list) and isinstance(key, int) and not isinstance(key, bool) and 0 <= key <= len(holder):
        return holder[key] if key < len(holder) else None
    return NOTHING


def _deepen(target: Document, data: Document, depth: int = 0) -> None:
    for key, value in data.items():
        known = target.get(key)
        if isinstance(known, dict) and isinstance(value, dict) and depth < _DEEPEST:
            _deepen(known, value, depth + 1)
        else:
            target[key] = value
