"""What goes through: a plain request with its answer, and the bytes of a tunnel."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import h11

from fetchworker.egress.filter_proxy.head import onward_response
from fetchworker.egress.filter_proxy.reasons import ClientGoneError, FilterError
from fetchworker.egress.filter_proxy.wire import CHUNK, Wire

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_PROXY_AUTHENTICATION = 407


async def exchange(request: h11.Request, client: Wire, outside: Wire, *, by_proxy: bool, seconds: float) -> None:
    """Pass a request on and its answer back; ``seconds`` is how long the answer may keep still.

    Raises:
        FilterError: there is no answer that could be passed on.
        ClientGoneError: the client left, or the answer was cut short after it had begun.
    """
    up = asyncio.create_task(_up(request, client, outside))
    down = asyncio.create_task(_down(client, outside, by_proxy=by_proxy, seconds=seconds))
    try:
        await asyncio.wait((up, down), return_when=asyncio.FIRST_COMPLETED)
        if not down.done() and up.exception() is None:
            await asyncio.wait((down,))
    finally:
        await _stop(up, down)
    for task in (down, up):
        if not task.cancelled():
            task.result()


async def _up(request: h11.Request, client: Wire, outside: Wire) -> None:
    """Send the request, then watch for a client that leaves. A server that takes no more may still have an answer."""
    with suppress(OSError):
        await outside.send(request)
    while True:
        event = await client.next_event()
        with suppress(OSError):
            if isinstance(event, h11.Data):
                await outside.send(h11.Data(data=bytes(event.data)))
            elif isinstance(event, h11.EndOfMessage):
                await outside.send(h11.EndOfMessage())  # trailers are for us alone (RFC 9110, 6.5.1)
                break
            else:
                raise ClientGoneError
    await client.until_gone()


async def _down(client: Wire, outside: Wire, *, by_proxy: bool, seconds: float) -> None:
    try:
        while True:
            async with asyncio.timeout(seconds):
                event = await outside.next_event()
            if isinstance(event, h11.EndOfMessage):
                await client.send(h11.EndOfMessage())
                return
            await client.send(_onward(event, by_proxy=by_proxy))
    except TimeoutError:
        raise FilterError("answer_timeout") from None
    except (h11.RemoteProtocolError, OSError):
        raise FilterError("upstream_unreachable" if by_proxy else "bad_answer") from None


def _onward(event: object, *, by_proxy: bool) -> h11.Response | h11.InformationalResponse | h11.Data:
    if isinstance(event, h11.Data):
        return h11.Data(data=bytes(event.data))
    if not isinstance(event, h11.Response | h11.InformationalResponse):
        raise h11.RemoteProtocolError("the connection ended before the answer")
    if event.status_code == _PROXY_AUTHENTICATION:  # the browser would take it for ours
        raise FilterError("upstream_auth" if by_proxy else "bad_answer")
    return onward_response(event)


async def tunnel(client: Wire, outside: Wire, *, seconds: float) -> None:
    """Carry bytes both ways until both sides have ended, or nothing moved for ``seconds``.

    Raises:
        OSError: a side broke.
    """
    first, _ = client.http.trailing_data
    if first:
        await outside.write(first)
    moved = _Moved()

    async def from_client() -> bytes:
        return await client.reader.read(CHUNK)

    ways = (
        asyncio.create_task(_carry(from_client, outside, moved)),
        asyncio.create_task(_carry(outside.read, client, moved)),
    )
    try:
        while moved.since_asked():
            done, waiting = await asyncio.wait(ways, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
            if not waiting or any(way.exception() for way in done):
                break
    finally:
        await _stop(*ways)
    for way in ways:
        if not way.cancelled():
            way.result()


class _Moved:
    """Whether bytes moved since one asked last; they did at first."""

    def __init__(self) -> None:
        self.lately = True

    def since_asked(self) -> bool:
        lately, self.lately = self.lately, False
        return lately


async def _carry(read: Callable[[], Awaitable[bytes]], to: Wire, moved: _Moved) -> None:
    while data := await read():
        moved.lately = True
        await to.write(data)
    moved.lately = True
    if to.writer.is_closing() or not to.writer.can_write_eof():  # TLS has no half-closed connections
        raise ConnectionResetError
    to.writer.write_eof()


async def _stop(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
