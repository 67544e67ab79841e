"""HTTP/1.1 messages over asyncio streams: what the demo's server and its proxies share."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

HEAD_LIMIT = 256 * 1024
_CHUNK = 64 * 1024


class BadMessageError(Exception):
    """The peer sent something that is no HTTP/1.1."""


@dataclass(slots=True)
class Head:
    """A start line and its headers; names keep their case, values are Latin-1 text."""

    start: str
    headers: list[tuple[str, str]]

    def get(self, name: str) -> str | None:
        """The first value of a header, whatever its case."""
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), None)

    def without(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """The headers but those called ``names`` (lower case)."""
        unwanted = frozenset(names)
        return [(key, value) for key, value in self.headers if key.lower() not in unwanted]


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """The next message's head, or None when the peer closed in between.

    Raises:
        BadMessageError: broken, cut short, or longer than the reader's limit.
    """
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as exc:
        if exc.partial.strip():
            raise BadMessageError("the head is cut short") from exc
        return None
    except asyncio.LimitOverrunError as exc:
        raise BadMessageError("the head is too long") from exc
    start, *lines = raw[:-4].decode("latin-1").split("\r\n")
    headers = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise BadMessageError(f"not a header: {line[:80]!r}")
        headers.append((name, value.strip(" \t")))
    return Head(start, headers)


def is_chunked(head: Head) -> bool:
    """Whether the message's body comes in chunks."""
    return "chunked" in (head.get("transfer-encoding") or "").lower()


async def read_body(reader: asyncio.StreamReader, head: Head, *, until_close: bool = False) -> AsyncIterator[bytes]:
    """A message's body in pieces, chunks taken apart; ``until_close`` for answers that name no length.

    Raises:
        BadMessageError: the body is cut short.
    """
    length = head.get("content-length")
    try:
        if is_chunked(head):
            async for piece in _chunks(reader):
                yield piece
        elif length is not None:
            left = int(length)
            while left:
                piece = await reader.readexactly(min(left, _CHUNK))
                left -= len(piece)
                yield piece
        elif until_close:
            while piece := await reader.read(_CHUNK):
                yield piece
    except (asyncio.IncompleteReadError, ValueError) as exc:
        raise BadMessageError("the body is cut short") from exc


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        yield await reader.readexactly(size)
        await reader.readexactly(2)
    while (await reader.readuntil(b"\r\n")) != b"\r\n":
        pass


def response_head(status: int, headers: Iterable[tuple[str, str | bytes]]) -> bytes:
    """The bytes of an answer's head."""
    lines = [f"HTTP/1.1 {status} {reason(status)}".encode("latin-1")]
    lines += [name.encode("latin-1") + b": " + to_bytes(value) for name, value in headers]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def reason(status: int) -> str:
    """The usual phrase of a status."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unassigned"


def to_bytes(value: str | bytes) -> bytes:
    """A header value on the wire."""
    return value.encode("latin-1") if isinstance(value, str) else value


def chunk(data: bytes) -> bytes:
    """A piece of a chunked body; the empty one ends it."""
    return b"%x\r\n%s\r\n" % (len(data), data)
