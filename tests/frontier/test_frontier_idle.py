"""Spiders with nothing to do: one command a second for all of a process, on two connections at most."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fetchworker.frontier.bell import Bell
from fetchworker.frontier.keys import namespace
from fetchworker.frontier.store import Frontier
from fetchworker.frontier.vigil import Vigil
from fetchworker.frontier.worker import Worker
from fetchworker.redis import connect, resolve_redis_url, share, unshare


async def answers(limit: float) -> None:
    pass


@pytest.fixture
def ticks(monkeypatch):
    """The bell's clock: it goes on by one tick for each release."""
    gate = asyncio.Semaphore(0)
    monkeypatch.setattr(Bell, "_tick", lambda bell: gate.acquire())
    return gate


@pytest.fixture
async def crew(redis_server, ticks):
    """Four idle spiders of one process; each with what it was given."""
    endpoint = resolve_redis_url(redis_server.url, Path())
    workers = []
    for number in range(4):
        client, given = share(endpoint), []
        frontier = Frontier(client, namespace(f"s{number}"))
        await frontier.start("begin")
        await frontier.start("done")
        vigil = Vigil(answers, patience=5, changed=lambda: None)
        worker = Worker(
            frontier, client, vigil, ahead=8, accept=given.append, changed=lambda: None, seeds=True, ends_after=None,
            count=lambda name, by: None,
        )  # fmt: skip
        worker.start()
        workers.append((worker, given))
    yield workers
    for worker, _ in workers:
        assert await worker.stop(limit=10)
        await unshare(client)


def calls(server):
    """How often each command was called, those of this test's own left out."""
    stats = server.call("INFO", "commandstats")
    return {name: each["calls"] for name, each in stats.items() if name not in ("cmdstat_info", "cmdstat_hello")}


async def all_wait(crew, tools):
    bell = Bell.of(crew[0][0]._redis)

    async def waiting():
        await asyncio.sleep(0)
        return len(bell._waiting) == len(crew)

    await tools.until(waiting)


async def test_four_idle_spiders_send_one_command_for_each_tick(crew, ticks, redis_server, tools):
    await all_wait(crew, tools)
    before = calls(redis_server)
    for tick in range(1, 6):
        ticks.release()

        async def told(tick=tick):
            return calls(redis_server).get("cmdstat_exists", 0) - before.get("cmdstat_exists", 0) == tick

        await tools.until(told)
    more = {name: number - before.get(name, 0) for name, number in calls(redis_server).items()}
    assert {name: number for name, number in more.items() if number} == {"cmdstat_exists": 5}
    connections = [each for each in redis_server.call("CLIENT LIST") if each["name"] == "fetchworker"]
    assert len(connections) <= 2


async def test_a_seed_is_given_with_the_next_tick_and_the_others_sleep_on(crew, ticks, redis_server, tools):
    await all_wait(crew, tools)
    redis_server.call("LPUSH", "s2:start_urls", '{"user": "ada"}')
    ticks.release()
    given = crew[2][1]

    async def got():
        return given

    await tools.until(got)
    assert [lease.entry.payload for lease in given] == [b'{"user": "ada"}']
    assert [len(held) for _, held in crew] == [0, 0, 1, 0]
    crew[2][0].finish(given[0])
    crew[2][0].ready = 0

    async def done():
        return not crew[2][0].leases

    await tools.until(done)


async def test_one_that_begins_to_wait_as_another_stops_is_rung(lone, ticks):
    bell, woken, never = Bell.of(lone.redis), asyncio.Event(), asyncio.Event()
    woken.set()
    await lone.push(b"a")
    await bell.wait(lone.names, others=woken)
    ticks.release()
    await bell.wait(lone.names, others=never)
    assert not never.is_set()
    assert bell._waiting == {}


async def test_a_wait_ends_at_its_limit(lone, ticks):
    await Bell.of(lone.redis).wait(lone.names, others=asyncio.Event(), limit=0.001)
    assert Bell.of(lone.redis)._waiting == {}


async def test_a_redis_that_is_away_wakes_those_who_wait(ticks):
    endpoint = resolve_redis_url("redis://127.0.0.1:1/0", Path())
    client = connect(endpoint, retries=0)
    ticks.release()
    await Bell.of(client).wait(namespace("shop"), others=asyncio.Event())
    await client.aclose()
