"""Clients that are gone when the filtering proxy takes leave of them, on the loop that crawls use."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import h11
import pytest
import uvloop

from fetchworker.egress.filter_proxy.connection import Connection
from fetchworker.egress.filter_proxy.exchange import _carry, _Moved
from fetchworker.egress.filter_proxy.wire import Wire


async def with_closed(work) -> None:
    """Do something with a served connection whose transport has just been closed."""
    done = asyncio.get_running_loop().create_future()

    async def serve(reader, writer):
        wire = Wire(h11.SERVER, reader, writer, head_bytes=4096)
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()
        try:
            await work(wire)
        except Exception as exc:  # noqa: BLE001  # it is the test's to judge
            done.set_exception(exc)
        else:
            done.set_result(None)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        try:
            async with asyncio.timeout(10):
                await done
        finally:
            writer.close()


def test_nobody_is_waited_for_who_is_gone():
    def served(wire):
        return Connection(wire, find=lambda *_: None, ways=None, limits=None)._linger()

    uvloop.run(with_closed(served))


def test_what_ends_is_not_passed_on_to_who_is_gone():
    async def nothing() -> bytes:
        return b""

    with pytest.raises(ConnectionResetError):
        uvloop.run(with_closed(lambda wire: _carry(nothing, wire, _Moved())))
