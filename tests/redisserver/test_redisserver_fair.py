"""Connections are given out in the order in which they were asked for."""

from __future__ import annotations

import asyncio

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from fetchworker.redis.fair import FairPool


@pytest.fixture
async def pool(redis_server):
    made = FairPool.from_url(redis_server.url, max_connections=1, timeout=None)
    yield made
    await made.aclose()


async def test_who_waits_comes_before_who_asks_later(pool):
    first, order = await pool.get_connection(), []

    async def use(name):
        connection = await pool.get_connection()
        order.append(name)
        await pool.release(connection)

    waiting = asyncio.create_task(use("waits"))
    await asyncio.sleep(0)
    await pool.release(first)
    await use("asks later")
    await waiting
    assert order == ["waits", "asks later"]


async def test_who_gives_up_leaves_the_turn_to_the_next(pool):
    first = await pool.get_connection()
    gone = asyncio.create_task(pool.get_connection())
    later = asyncio.create_task(pool.get_connection())
    await asyncio.sleep(0)
    gone.cancel()
    await pool.release(first)
    await pool.release(await later)
    await pool.release(await pool.get_connection())


async def test_a_connection_that_cannot_be_made_takes_no_place(tmp_path):
    pool = FairPool.from_url(f"unix://{tmp_path}/nobody.sock", max_connections=1, timeout=None)
    for _ in range(2):
        with pytest.raises(RedisConnectionError, match="nobody"):
            await pool.get_connection()


async def test_none_in_time_is_an_error_of_the_library(pool):
    held = await pool.get_connection()
    pool.timeout = 0
    with pytest.raises(RedisConnectionError, match="No connection available"):
        await pool.get_connection()
    await pool.release(held)
    await pool.release(await pool.get_connection())
