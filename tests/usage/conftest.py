"""A proxy on loopback that counts every byte of its clients' connections, before another one or by itself."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@dataclass
class Counting:
    """Passes connections on to ``port`` and counts what a client sends and gets, at the client's side."""

    port: int
    up: int = 0
    down: int = 0
    connections: int = 0
    here: int = 0
    _tasks: set[asyncio.Task] = field(default_factory=set)

    async def client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            await asyncio.gather(self._pump(reader, there_writer, "up"), self._pump(there_reader, writer, "down"))
        finally:
            for each in (writer, there_writer):
                each.close()
                with suppress(OSError):
                    await each.wait_closed()

    async def _pump(self, reader, writer, way) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                setattr(self, way, getattr(self, way) + len(data))
                writer.write(data)
                await writer.drain()
        with suppress(OSError):
            writer.write_eof() if writer.can_write_eof() else writer.close()

    async def quiet(self) -> None:
        """Return once all connections are over, so that every byte has been seen."""
        while self._tasks:
            await asyncio.wait(self._tasks, timeout=10)


@pytest.fixture
async def counting() -> AsyncIterator:
    """Makes counting relays in front of a port."""
    servers = []

    async def make(port: int) -> Counting:
        made = Counting(port)
        server = await asyncio.start_server(made.client, "127.0.0.1", 0)
        servers.append(server)
        made.here = server.sockets[0].getsockname()[1]
        return made

    yield make
    for server in servers:
        server.close()
        await server.wait_closed()
