"""A Redis that stops in the middle: what is to be told is told when it is back, once; or the worker gives up."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from fetchworker.demo.redis import RedisServer
from fetchworker.errors import RedisUnavailableError
from fetchworker.frontier.entry import Child
from fetchworker.frontier.vigil import Vigil
from fetchworker.frontier.worker import Worker
from fetchworker.redis import connect, resolve_redis_url, wait_for_redis

pytestmark = pytest.mark.slow


@pytest.fixture
def server():
    """One that may be killed, whose data outlive it."""
    with RedisServer("--appendonly", "yes", "--appendfsync", "always") as made:
        yield made


class Site:
    """A worker whose callbacks are the test."""

    def __init__(self, queue, endpoint, *, patience):
        self.given: asyncio.Queue = asyncio.Queue()
        self.counts: dict[str, int] = {}
        self.lost = asyncio.Event()

        async def look(limit):
            await wait_for_redis(endpoint, limit=limit)

        self.vigil = Vigil(look, patience=patience, changed=self.changed)
        self.worker = Worker(
            queue.worker(), queue.redis, self.vigil, ahead=4, accept=self.accept, changed=lambda: None, seeds=True,
            ends_after=None, count=self.count,
        )  # fmt: skip
        self.worker.start()

    def accept(self, lease):
        self.worker.ready += 1
        self.given.put_nowait(lease)

    def changed(self):
        if self.vigil.lost is not None:
            self.lost.set()

    def count(self, name, by):
        self.counts[name] = self.counts.get(name, 0) + by

    async def next(self):
        lease = await self.given.get()
        self.worker.ready -= 1
        self.worker.wants()
        return lease


@pytest.fixture
async def queue(server, tools):
    endpoint = resolve_redis_url(server.url, Path())
    async with aclosing(connect(endpoint, retries=0)) as client:
        made = tools.Queue(client)
        made.endpoint = endpoint
        yield made


async def test_what_is_done_meanwhile_is_told_when_it_is_back(queue, server, tools, caplog):
    await queue.push(*(b"%d" % number for number in range(10)))
    site = Site(queue, queue.endpoint, patience=30)
    held = [await site.next() for _ in range(4)]
    server.kill()
    for number, lease in enumerate(held):
        site.worker.child(lease, Child(1000, number, b"child %d" % number))
        site.worker.finish(lease)

    async def away():
        return not site.vigil.up

    await tools.until(away)
    server.start()
    found = [lease.entry.payload for lease in held]
    while len(found) < 14:
        lease = await site.next()
        found.append(lease.entry.payload)
        site.worker.finish(lease)
    assert sorted(found) == sorted([*(b"%d" % n for n in range(10)), *(b"child %d" % n for n in range(4))])

    async def told():
        return not (site.worker.leases or site.worker.untold)

    await tools.until(told)
    assert await site.worker.stop(limit=10)
    state = await queue.worker().look(holds=False)
    assert state.empty
    assert "frontier/lost_leases" not in site.counts
    assert [record.message for record in caplog.records].count("Redis is away") == 0
    assert caplog.text.count("Redis is away") == 1


async def test_a_page_with_very_many_children_goes_on_where_it_was(queue, server, tools):
    await queue.push(b"page")
    site = Site(queue, queue.endpoint, patience=30)
    lease = await site.next()
    for number in range(2500):
        site.worker.child(lease, Child(0, number, b"%d" % number))

    async def staged():
        return await queue.redis.llen(f"{queue.names.root}:stage:{lease.token}") == 2000

    await tools.until(staged)
    server.kill()
    for number in range(2500, 5200):
        site.worker.child(lease, Child(0, number, b"%d" % number))
    site.worker.finish(lease)
    server.start()
    site.worker.stop_leasing()

    async def told():
        return not (site.worker.leases or site.worker.untold)

    await tools.until(told)
    assert await site.worker.stop(limit=10)
    assert sorted(await queue.drain()) == sorted(b"%d" % number for number in range(5200))


async def test_one_that_stays_away_is_lost_and_its_leases_stay_in_redis(queue, server, caplog):
    await queue.push(b"a")
    site = Site(queue, queue.endpoint, patience=0.2)
    lease = await site.next()
    server.kill()
    site.worker.finish(lease)
    await site.lost.wait()
    with pytest.raises(RedisUnavailableError):
        await site.vigil.wait()
    assert not await site.worker.stop(limit=10)
    assert "the crawl ends" in caplog.text
    server.start()
    assert (await queue.worker().look(holds=False)).leased == 1
