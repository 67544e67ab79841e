"""A lock outlasts its use by a moment: who comes again at once has the session without asking for it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from fetchworker.errors import RedisUnavailableError, SessionBusyError
from fetchworker.sessions import moments
from fetchworker.sessions.hold import Hold
from fetchworker.sessions.leases import SessionPool
from fetchworker.sessions.moments import LINGER, TURN, Moments
from fetchworker.sessions.pool import Lease, PoolTerms
from fetchworker.sessions.poolmemory import MemoryPool

TERMS = PoolTerms(max_total=1, max_idle=1, wait=5, lease=30)


class CountedPool(MemoryPool):
    """Counts what it is asked."""

    def __init__(self):
        super().__init__("shop", TERMS)
        self.locked = self.unlocked = 0

    async def lock(self, *args, **options):
        self.locked += 1
        return await super().lock(*args, **options)

    async def unlock(self, *args, **options):
        self.unlocked += 1
        return await super().unlock(*args, **options)


@pytest.fixture
def backend():
    """What the processes of a test share."""
    return CountedPool()


@pytest.fixture
async def make(backend):
    """Pools of processes on one back end."""
    opened = []

    def pool():
        async def one():
            return backend

        opened.append(SessionPool(one, TERMS, site="shop"))
        return opened[-1]

    yield pool
    for each in opened:
        with suppress(RedisUnavailableError):
            await each.close()


@pytest.fixture
def long(monkeypatch):
    """Moments and turns that do not end within a test."""
    monkeypatch.setattr(moments, "LINGER", 60.0)
    monkeypatch.setattr(moments, "TURN", 60.0)


async def use(pool, **options):
    async with pool.exclusive("ada", **options) as lease:
        return lease


@pytest.mark.usefixtures("long")
async def test_who_comes_again_at_once_has_the_same_lock(make, backend):
    pool = make()
    assert await use(pool) == await use(pool) == await use(pool)
    assert (backend.locked, backend.unlocked) == (1, 0)
    await pool.close()
    assert backend.unlocked == 1
    await use(make(), wait=0)


async def test_another_process_has_it_when_nobody_came_again(make, backend):
    await use(make())
    await use(make(), wait=20)
    assert backend.unlocked >= 1


async def test_another_process_has_it_though_somebody_always_comes_again(make):
    busy, other, over = make(), make(), asyncio.Event()

    async def work():
        while not over.is_set():
            await use(busy, wait=20)
            await asyncio.sleep(0)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    for _ in range(2):
        await use(other, wait=20)
    over.set()
    await task


@pytest.mark.usefixtures("long")
async def test_who_waits_here_comes_before_the_moment(make, backend):
    pool, inside = make(), asyncio.Event()

    async def second():
        inside.set()
        return await use(pool)

    async with pool.exclusive("ada"):
        task = asyncio.create_task(second())
        await inside.wait()
        while not pool.waits():  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(0)
    await task
    assert backend.locked >= 2


@pytest.mark.usefixtures("long")
async def test_an_error_in_the_block_gives_it_back(make, backend):
    with pytest.raises(ValueError, match="mine"):
        async with make().exclusive("ada"):
            raise ValueError("mine")
    assert backend.unlocked == 1
    await use(make(), wait=0)


@pytest.mark.usefixtures("long")
async def test_an_owner_here_need_not_wait_for_the_moment(make):
    pool = make()
    await use(pool)
    await pool.lock("ada", "crawl", wait=0)
    with pytest.raises(SessionBusyError):
        await use(pool, wait=0)
    assert await pool.release("crawl")


@pytest.mark.usefixtures("long")
async def test_a_lock_that_was_lost_meanwhile_is_asked_for_anew(make, backend):
    pool = make()
    lease = await use(pool)
    await backend.unlock(lease)
    await pool._heart.beat()  # which finds that it is gone
    await use(pool)
    assert backend.locked == 2


def hold(since: float) -> Hold:
    return Hold("me", Lease("ada", 1), since=since)


async def test_the_moment_of_a_process_that_stood_still_is_over():
    now, ended = [100.0], []
    kept = Moments(ended.append, clock=lambda: now[0])
    mine = hold(since=100.0)
    assert kept.keep(mine)
    now[0] += LINGER * 2
    assert kept.again("ada") == (mine, True)
    assert kept.again("ada") == (None, False)
    assert ended == []


async def test_a_turn_ends_though_moments_follow_each_other():
    now = [100.0]
    kept = Moments(lambda _: None, clock=lambda: now[0])
    mine = hold(since=100.0)
    while kept.keep(mine):
        assert kept.again("ada") == (mine, False)
        now[0] += LINGER / 2
    assert TURN < now[0] - 100.0 <= TURN + LINGER
