"""A callback that holds the loop does not cost its worker the leases."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from fetchworker.demo.redis import RedisServer
from fetchworker.frontier.keepalive import Keepalive
from fetchworker.frontier.keys import namespace
from fetchworker.frontier.store import Frontier, Terms
from fetchworker.redis import connect, connect_sync, resolve_redis_url

LEASE = 0.3


class Watched(Keepalive):
    """One that says when it has tried to extend."""

    def __init__(self, *args) -> None:
        super().__init__(*args)
        self.tried = threading.Semaphore(0)

    def _extend(self, lease: float) -> None:
        try:
            super()._extend(lease)
        finally:
            self.tried.release()


def held(frontier, url, *, holds=True, kind=Keepalive):
    made = kind(lambda: resolve_redis_url(url, Path()), frontier, lambda: holds)
    made.start()
    return made


def finished(keepalive):
    keepalive.stop()
    keepalive._thread.join()
    return not keepalive._thread.is_alive()


@pytest.mark.parametrize("kind", ["redis_server", pytest.param("redis_cluster", marks=pytest.mark.slow)])
async def test_a_loop_that_is_blocked_keeps_its_leases(request, kind, tools, caplog):
    endpoint = resolve_redis_url(request.getfixturevalue(kind).url, Path())
    async with aclosing(connect(endpoint)) as client:
        queue = tools.Queue(client)
        await queue.push(b"a")
        one = queue.worker(lease=LEASE)
        [leased] = (await one.turn(want=1)).taken
        before = (await one.workers())[one.owner] * 1000
        keepalive = Keepalive(lambda: endpoint, one, lambda: True)
        keepalive.start()
        with closing(connect_sync(endpoint)) as other:
            while other.zscore(f"{queue.names.root}:workers", one.owner) <= before:
                pass  # nothing else runs in this loop meanwhile
        assert finished(keepalive)
        assert (await one.turn(tools.done(leased))).finished == [True]
        assert "a callback holds the loop" in caplog.text


async def test_leases_that_others_have_got_are_not_taken_back(lone, redis_server):
    await lone.push(b"a")
    one = lone.worker(lease=LEASE)
    await one.turn(want=1)
    await lone.kill(one)
    keepalive = held(one, redis_server.url, kind=Watched)
    await asyncio.to_thread(keepalive.tried.acquire)
    assert finished(keepalive)
    assert await one.workers() == {}


async def test_a_worker_that_holds_nothing_is_left_alone(lone, redis_server):
    one = lone.worker(lease=0.006)
    await one.turn()
    asked = threading.Semaphore(0)

    def holds():
        asked.release()
        return False

    before = await one.workers()
    keepalive = Keepalive(lambda: resolve_redis_url(redis_server.url, Path()), one, holds)
    keepalive.start()
    for _ in range(5):
        await asyncio.to_thread(asked.acquire)
    assert finished(keepalive)
    assert await one.workers() == before


@pytest.mark.parametrize("scheme", ["redis", "redis+cluster"])
def test_a_redis_that_is_away_does_not_end_the_watch(scheme):
    with RedisServer() as server:
        port = server.port
    frontier = Frontier(None, namespace("shop"), terms=Terms(lease=0.06))
    frontier.heard = 0
    keepalive = held(frontier, f"{scheme}://127.0.0.1:{port}", kind=Watched)
    for _ in range(2):
        keepalive.tried.acquire()
    assert keepalive._thread.is_alive()
    assert finished(keepalive)
