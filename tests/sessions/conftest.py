"""A second client of each Redis, as another process has one."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from tests.binaries import own_redis, redis, redis_socket

__all__ = ["own_redis", "redis", "redis_socket"]


@pytest.fixture
async def second_redis(redis_socket):
    async with Redis(unix_socket_path=redis_socket) as client:
        yield client
