"""Bytes of a job's JSON lines, cut into rows and refused lines (pure)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import orjson

from fetchworker.runs.plain import DEPTH, too_deep

#: bytes of a refused line that are kept
KEPT = 65_536
#: characters of an item's id; a longer one has no place in an index
_ID_MAX = 1024
_DEEP = f"more than {DEPTH} objects and lists lie in each other"


@dataclass(frozen=True, slots=True)
class ItemLine:
    """A row: its id within the run, and the line's JSON."""

    item_id: str
    site: str | None
    kind: str | None
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that is no item."""

    offset: int
    length: int
    reason: str
    line: bytes


@dataclass(slots=True)
class Cut:
    """What some bytes hold; ``end`` is the offset behind the last line that was read."""

    end: int
    rows: list[ItemLine] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)


def cut(data: bytes, offset: int, *, job_id: str, whole: bool) -> Cut:
    """Read the lines of ``data``.

    Args:
        data: bytes of a file from a line's beginning on.
        offset: where they are in it.
        job_id: a name for lines without an ``item_id``: theirs is made of it and the hash of the line.
        whole: whether nothing will be added to the file any more: then a last line without an end is refused, and else
            it waits for its end.
    """
    made = Cut(offset)
    start = 0
    while (stop := data.find(b"\n", start)) >= 0:
        _read(made, data[start:stop], offset + start, job_id)
        start = stop + 1
    made.end = offset + start
    if whole and start < len(data):
        rest = data[start:]
        if rest.strip():
            made.refused.append(refused(rest, made.end, "the line has no end: it was written by half"))
        made.end = offset + len(data)
    return made


def refused(line: bytes, offset: int, reason: str, *, length: int | None = None) -> Refused:
    """A refused line; ``length`` where ``line`` is only its beginning."""
    return Refused(offset, len(line) if length is None else length, reason, line[:KEPT])


def _read(made: Cut, line: bytes, offset: int, job_id: str) -> None:
    if not line.strip():
        return
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as exc:
        deep = "limit exceeded" in exc.msg  # orjson's own depth
        made.refused.append(refused(line, offset, _DEEP if deep else f"it is not JSON: {exc.msg}"))
        return
    if not isinstance(value, dict):
        made.refused.append(refused(line, offset, f"it is JSON, but no object: {type(value).__name__}"))
        return
    # counting is quick, and enough for most
    if line.count(b"{") + line.count(b"[") > DEPTH and too_deep(value):
        made.refused.append(refused(line, offset, _DEEP))
        return
    made.rows.append(_row(value, line, offset, job_id))


def _row(value: dict[str, Any], line: bytes, offset: int, job_id: str) -> ItemLine:
    given = value.get("item_id")
    usable = isinstance(given, str) and 0 < len(given) <= _ID_MAX
    # the job's name and the line: a job that is begun anew writes the same line
    own = given if usable else f"{job_id}/{hashlib.sha256(line.strip()).hexdigest()[:32]}"
    assert isinstance(own, str)
    return ItemLine(_plain(own), _word(value.get("site")), _word(value.get("kind")), offset, line.decode())


def _word(value: Any) -> str | None:
    return _plain(value)[:_ID_MAX] if isinstance(value, str) else None


def _plain(text: str) -> str:
    """A text that a column can hold: PostgreSQL knows no NUL."""
    return text.replace("\x00", "\ufffd") if "\x00" in text else text
