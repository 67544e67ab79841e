"""Limits in a real Redis, as processes have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fetchworker.limiter import Ceiling
from fetchworker.limiter.shared import RedisLimits
from tests.binaries import own_redis, redis, redis_socket

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ["own_redis", "redis", "redis_socket"]


def limits_of(client: Redis, concurrency=None, rate=None, burst=1) -> RedisLimits:
    async def connect():
        return client

    return RedisLimits(Ceiling(concurrency, rate, burst), connect, timeout=2)


@pytest.fixture
def make_limits(redis):
    """Limits in Redis: ``make_limits(2)``, ``make_limits(rate=50, burst=3)``."""
    return lambda *args, **options: limits_of(redis, *args, **options)
