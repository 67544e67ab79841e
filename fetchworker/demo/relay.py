"""What the demo's proxies do with bytes once they know where to: tunnels, and plain requests passed on."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal

from fetchworker.demo.http1 import Head, chunk, is_chunked, read_body, read_head

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_CHUNK = 64 * 1024
_HOP_HEADERS = ("proxy-authorization", "proxy-connection")
_BODYLESS = frozenset({"204", "304"})

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(slots=True)
class Tunnel:
    """One connection through a proxy, or one request passed on; the bytes as the upstream sees them."""

    user: str
    method: str
    target: str
    source: str = ""
    source_port: int = 0
    up: int = 0
    down: int = 0


class Refused(Exception):  # noqa: N818 - an answer, not an error
    """The proxy does not do what was asked; ``status`` is what an HTTP proxy answers."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


async def carry(tunnel: Tunnel, client: Streams, upstream: Streams, *, most: int | None = None) -> None:
    """Carry bytes both ways until either side ends, or ``most`` bytes came back."""
    ways = {
        asyncio.ensure_future(_pump(client[0], upstream[1], tunnel, "up")),
        asyncio.ensure_future(_pump(upstream[0], client[1], tunnel, "down", most)),
    }
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def _pump(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    tunnel: Tunnel,
    way: Literal["up", "down"],
    most: int | None = None,
) -> None:
    left = _CHUNK if most is None else most
    while left > 0 and (data := await reader.read(min(left, _CHUNK))):
        left -= 0 if most is None else len(data)
        if way == "up":
            tunnel.up += len(data)
        else:
            tunnel.down += len(data)
        writer.write(data)
        await writer.drain()


def split_target(url: str) -> tuple[str, str]:
    """``host:port`` and the rest of an absolute http URL, word for word.

    Raises:
        Refused: it is another kind of URL.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.lower() != "http":
        raise Refused(HTTPStatus.BAD_REQUEST)
    end = next((n for n, letter in enumerate(rest) if letter in "/?#"), len(rest))
    authority, path = rest[:end], rest[end:]
    target = authority if ":" in authority else f"{authority}:80"
    return target, path if path.startswith("/") else f"/{path}"


async def exchange(tunnel: Tunnel, request: tuple[Head, str], client: Streams, upstream: Streams) -> bool:
    """Pass a request on (its head, and the path to ask for) and the answer back.

    Returns:
        Whether the client can tell where the answer ends without the connection being closed.

    Raises:
        Refused: the upstream closed without an answer.
    """
    head, path = request
    sent = Head(f"{tunnel.method} {path} HTTP/1.1", head.without(_HOP_HEADERS))
    tunnel.up += await _send(upstream[1], sent, read_body(client[0], head))
    answer = await read_head(upstream[0])
    while answer is not None and _status(answer).startswith("1"):
        tunnel.down += await _send(client[1], answer, None)
        answer = await read_head(upstream[0])
    if answer is None:
        raise Refused(HTTPStatus.BAD_GATEWAY)
    bodyless = tunnel.method == "HEAD" or _status(answer) in _BODYLESS
    body = None if bodyless else read_body(upstream[0], answer, until_close=True)
    tunnel.down += await _send(client[1], answer, body)
    return bodyless or is_chunked(answer) or answer.get("content-length") is not None


def _status(answer: Head) -> str:
    return answer.start.split(" ")[1]


async def _send(writer: asyncio.StreamWriter, head: Head, body: AsyncIterator[bytes] | None) -> int:
    """Send a message on; how many bytes it had."""
    lines = [head.start, *(f"{name}: {value}" for name, value in head.headers)]
    data = "\r\n".join([*lines, "", ""]).encode("latin-1")
    writer.write(data)
    sent, chunked = len(data), is_chunked(head)
    if body is not None:
        async for piece in body:
            data = chunk(piece) if chunked else piece
            writer.write(data)
            sent += len(data)
            await writer.drain()
        if chunked:
            writer.write(chunk(b""))
    await writer.drain()
    return sent


async def close(writer: asyncio.StreamWriter) -> None:
    """Close a connection, whatever state it is in."""
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
