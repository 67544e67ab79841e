"""Paces in a real Redis, and in a cluster of one node."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import pytest
from redis.asyncio import Redis

from fetchworker.pace._redis import RedisPace
from tests.binaries import binary, own_redis, redis, redis_socket, running

__all__ = ["own_redis", "redis", "redis_socket"]


@pytest.fixture
async def cluster():
    """The port of a cluster of one node, which is as strict about slots as one of many."""
    program = binary("path")
    if program is None:
        pytest.skip("no redis-server on PATH")
    port = free_port()
    with running(program, "--port", str(port), "--bind", "127.0.0.1", "--cluster-enabled", "yes") as server:
        async with Redis(unix_socket_path=server.socket) as client:
            await client.execute_command("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
            while (await client.cluster("INFO"))["cluster_state"] != "ok":  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.01)
        yield port


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
