"""Leases as a process holds them: in turn, kept alive, given back whatever happens, by several processes at once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from redis.asyncio import Redis

from fetchworker.errors import (
    ConfigError,
    LeaseLostError,
    RedisUnavailableError,
    SessionBusyError,
    SessionExhaustedError,
    UnfinishedError,
)
from fetchworker.sessions import moments
from fetchworker.sessions.leases import SessionPool
from fetchworker.sessions.pool import PoolTerms
from fetchworker.sessions.poolkeys import jar_of
from fetchworker.sessions.poolmemory import MemoryPool
from fetchworker.sessions.poolredis import RedisPool
from fetchworker.sessions.remote import RemoteLeases, Token
from fetchworker.sessions.turnstile import Turnstile

TAKER = Path(__file__).with_name("_taker.py")
TERMS = PoolTerms(max_total=1, max_idle=1, wait=5, lease=30)


@pytest.fixture
async def make():
    """Pools of processes on one back end."""
    opened, backends = [], {}

    def pool(terms=TERMS, *, backend=None, **options):
        async def one():
            return backend or backends.setdefault("one", MemoryPool("shop", terms))

        opened.append(SessionPool(one, terms, site="shop", **options))
        return opened[-1]

    yield pool
    for each in opened:
        with suppress(RedisUnavailableError):
            await each.close()


async def until(done):
    async with asyncio.timeout(20):
        while not done():  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(0.005)


async def test_a_block_has_a_session_and_gives_it_back_with_what_it_learnt(make):
    pool = make()
    async with pool.lease() as lease:
        assert pool.of(lease.session_id).users == 1

    async def broken():
        async with pool.lease() as again:
            assert again.session_id == lease.session_id
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        await broken()
    (one,) = await (await pool.open()).standings()
    assert (one.state, one.uses) == ("idle", 2)
    assert one.score < 1000


async def test_who_waits_is_served_in_the_order_of_asking(make):
    pool, order = make(), []

    async def use(name):
        async with pool.lease():
            order.append(name)

    async with pool.lease():
        tasks = []
        for name in range(4):
            tasks.append(asyncio.create_task(use(name)))
            await until(lambda: pool.waits() == len(tasks))
    await asyncio.gather(*tasks)
    assert order == [0, 1, 2, 3]
    assert pool.waits() == 0


@pytest.fixture
def wanted():
    """How a session, or a named one to oneself, is asked for."""

    def ask(pool, kind, **options):
        return pool.lease("main", **options) if kind == "lease" else pool.exclusive("ada", **options)

    return ask


@pytest.mark.parametrize("kind", ["lease", "exclusive"])
async def test_a_busy_process_does_not_starve_another_one(make, wanted, kind, monkeypatch):
    monkeypatch.setattr(moments, "TURN", 0.0)  # locks stay for no moment: else a turn is one of time, not of uses
    busy, other, served, over = make(), make(), [], asyncio.Event()

    async def work():
        while not over.is_set():
            async with wanted(busy, kind, wait=20):
                served.append(1)
                await asyncio.sleep(0)

    workers = [asyncio.create_task(work()) for _ in range(5)]
    await until(lambda: len(served) > 10)
    for _ in range(3):
        began = len(served)
        async with wanted(other, kind, wait=20):
            assert len(served) - began <= 10, "each of the others once, and what was under way"
    over.set()
    await asyncio.gather(*workers)


@pytest.mark.parametrize("kind", ["lease", "exclusive"])
async def test_who_gives_up_is_in_no_other_processs_way(make, wanted, kind):
    here, there = make(), make()
    async with wanted(here, kind):
        waiting = asyncio.create_task(wanted(there, kind, wait=20).__aenter__())
        await until(lambda: there.waits() == 1)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        with pytest.raises((SessionExhaustedError, SessionBusyError)):
            await wanted(there, kind, wait=0.01).__aenter__()
        await until(lambda: not there._tasks)
    async with wanted(here, kind, wait=0):
        pass


async def test_a_patient_wait_goes_on_while_others_are_served_elsewhere(make):
    here, there, now = make(), make(), [0.0]
    here._turns._lines["jar:main"] = line = Turnstile(clock=lambda: now[0])
    held = await there.take("main", "a")
    waiting = asyncio.create_task(here.take("main", "late", wait=5))
    await until(lambda: line.turn is not None)
    for owner in ("b", "c", "d"):
        now[0] += 4
        next_ = asyncio.create_task((await there.open()).take("main", owner, waits=100))
        assert (await next_).lease is None
        await there.release(held.owner)
        lease = (await (await there.open()).take("main", owner, waits=100)).lease
        held, turn = there.take_over(owner, lease), line.turn
        await until(lambda turn=turn: line.turn != turn)
        assert not waiting.done()
    now[0] += 6
    with pytest.raises(SessionExhaustedError):
        await waiting


async def test_who_waits_goes_where_it_is_wanted_by_then(make):
    pool, jar = make(), ["main"]
    async with pool.lease():
        waiting = [asyncio.create_task(pool.take(lambda: jar[0], f"o{n}", brief=True)) for n in range(2)]
        await until(lambda: pool.waits() == 2)
        jar[0] = "main_better"
        first = await waiting[0]
        assert jar_of(first.lease.session_id) == "main_better"
        await pool.release(first.owner)
        assert jar_of((await waiting[1]).lease.session_id) == "main_better"


async def test_nobody_waits_longer_than_the_limit(make):
    pool = make()
    async with pool.lease():
        with pytest.raises(SessionExhaustedError) as told:
            await pool.take("main", "late", wait=0.05, patient=False)
        assert told.value.type == "SESSION_EXHAUSTED"
        with pytest.raises(SessionExhaustedError):
            await pool.take("main", "late", wait=0)


async def test_nobody_waits_when_the_crawl_ends(make):
    ends = []
    pool = make(ending=lambda: bool(ends))
    async with pool.lease():
        waiting = asyncio.create_task(pool.take("main", "late"))
        await until(lambda: pool.waits() == 1)
        ends.append(1)
        await pool.came_back()
        with pytest.raises(UnfinishedError):
            await waiting


async def test_one_who_is_cancelled_while_it_waits_holds_nobody_up(make):
    pool = make()
    async with pool.lease():
        gone = asyncio.create_task(pool.take("main", "gone"))
        await until(lambda: pool.waits() == 1)
        next_ = asyncio.create_task(pool.take("main", "next"))
        await until(lambda: pool.waits() == 2)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
    assert (await next_).owner == "next"


async def test_a_lease_that_comes_too_late_for_who_asked_goes_back(make):
    """Cancelled in the midst of the question: the answer is a lease that nobody wants."""
    asked, let_go = asyncio.Event(), asyncio.Event()

    class Slow(MemoryPool):
        async def take(self, jar, owner, /, **options):
            asked.set()
            await let_go.wait()
            return await super().take(jar, owner, **options)

    backend = Slow("shop", TERMS)
    pool = make(backend=backend)
    task = asyncio.create_task(pool.take("main", "gone"))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    let_go.set()
    await until(lambda: not pool._tasks)
    assert (await backend.counts("main")).idle == 1
    assert not pool._taking, "nothing is left of who is gone"


async def test_leases_of_those_who_work_are_kept_alive_and_others_lapse(make):
    terms = replace(TERMS, max_total=3, max_idle=3, lease=1, hold=1000)
    now = [1000.0]
    backend = MemoryPool("shop", terms, clock=lambda: now[0])
    pool = make(terms, backend=backend)
    busy, call, tried = [await pool.take("main", name, brief=name == "try") for name in ("busy", "call", "try")]
    busy.users += 1
    for _ in range(5):
        now[0] += 0.5
        await pool._heart.beat()
    assert pool.held("busy") is busy
    assert pool.held("call") is call, "a call between two requests"
    assert await backend.extend([tried.lease]) == [False], "a try that has nothing under way"


async def test_a_call_that_went_on_elsewhere_is_let_go_here(make):
    here, there = make(), make()
    first = await here.take("main", "call")
    second = await there.take("main", "call")
    assert first.lease.session_id == second.lease.session_id
    await there.release("call")
    again = await here.take("main", "call")
    assert again.lease.number > second.lease.number, "asked for anew, not taken from memory"


async def test_sessions_that_are_dropped_are_forgotten(make):
    gone = []

    async def forget(name):
        gone.append(name)

    pool = make(replace(TERMS, max_uses=1), forget=forget)
    async with pool.lease() as lease:
        pass
    assert gone == [lease.session_id]
    hold = await pool.take("main", "a")
    await pool.quarantine("a", "broken", seconds=0)
    assert gone == [lease.session_id, hold.lease.session_id]


async def test_a_holder_elsewhere_has_a_token(make):
    pool = make()
    remote = RemoteLeases(pool)
    token, ends = await remote.check_out()
    assert (await remote.extend(token)) >= ends
    with pytest.raises(SessionExhaustedError):
        await remote.check_out(wait=0)
    await remote.check_in(token, good=1)
    for late in (remote.check_in(token), remote.extend(token), remote.check_in("nonsense")):
        with pytest.raises(LeaseLostError):
            await late
    token, _ = await remote.check_out()
    await remote.check_in(token, quarantine="a puzzle")
    (one,) = await (await pool.open()).standings()
    assert (one.state, one.reason) == ("quarantined", "a puzzle")


async def test_a_token_is_neither_guessed_nor_lent(make):
    pool = make()
    mine, theirs = RemoteLeases(pool, caller="ada"), RemoteLeases(pool, caller="bob")
    token, _ = await mine.check_out()
    lease, secret = Token.of(token)
    (one,) = await (await pool.open()).standings()
    assert secret not in (one.owner or "")
    guesses = [Token(replace(lease, number=number), "guess").text for number in range(lease.number + 3)]
    tries = [(mine, guess) for guess in [*guesses, Token(replace(lease, number=lease.number + 1), secret).text]]
    for remote, text in [*tries, (theirs, token), (RemoteLeases(pool), token), (mine, one.owner or "")]:
        for act in (remote.extend, remote.check_in, lambda text, remote=remote: remote.borrowed(text).__aenter__()):
            with pytest.raises(LeaseLostError):
                await act(text)
    async with mine.borrowed(token) as hold:
        assert hold.lease == lease
    await RemoteLeases(pool, caller="ada").check_in(token)


async def test_a_named_session_is_one_callers_after_the_other(make):
    pool, other, inside = make(), make(), []

    async def use(mine):
        async with mine.exclusive("ada"):
            inside.append(1)
            assert len(inside) == 1
            await asyncio.sleep(0)
            inside.pop()

    await asyncio.gather(*(use(pool if n % 2 else other) for n in range(10)))
    async with pool.exclusive("ada"):
        with pytest.raises(SessionBusyError) as told:
            async with other.exclusive("ada", wait=0.02):
                pass
        assert told.value.type == "SESSION_BUSY"
        async with other.exclusive("bob", wait=0):
            pass


async def test_the_session_of_a_process_that_was_killed_is_free_soon(make, monkeypatch):
    for module in ("exclusive", "hold"):
        monkeypatch.setattr(f"fetchworker.sessions.{module}.BLOCK_SPAN", 0.3)
    pool, other = make(), make()
    async with pool.exclusive("ada"):
        with pytest.raises(SessionBusyError):  # it is kept alive meanwhile, for longer than it lasts by itself
            async with other.exclusive("ada", wait=1):
                pass
        await pool._heart.stop()  # as by kill -9
        async with other.exclusive("ada", wait=10):
            pass
    assert pool.terms.lease > 10


async def test_a_worker_with_other_numbers_is_refused(make):
    backend = await make().open()
    other = MemoryPool("shop", replace(TERMS, max_total=2))
    other._workers = backend._workers
    with pytest.raises(ConfigError, match=r"sites\.shop\.pool\.max_total is 2 here and 1 there"):
        await make(other.terms, backend=other).open()


# Redis


async def test_redis_that_goes_away_under_a_lease_costs_the_request_and_not_the_session(own_redis, make):
    async with Redis(unix_socket_path=own_redis.socket) as client:
        backend = RedisPool(client, "shop", TERMS)
        pool = make(backend=backend)
        hold = await pool.take("main", "call")
        own_redis.stop()
        for work in (pool.take("main", "call"), pool.take("main", "other")):
            with pytest.raises(RedisUnavailableError):
                await work
        assert not await pool.release("call"), "said in the log; it comes back by itself"
        assert hold.lease.session_id


async def test_a_lease_and_its_end_are_two_commands(redis):
    pool = RedisPool(redis, "shop", TERMS)
    await pool.put((await pool.take("main", "warm")).lease)
    await pool.put((await pool.take("main", "once")).lease)  # the scripts are known from here on
    before = await redis.info("commandstats")
    await pool.put((await pool.take("main", "a")).lease, good=1)
    after = await redis.info("commandstats")
    assert after["cmdstat_evalsha"]["calls"] - before["cmdstat_evalsha"]["calls"] == 2
    assert after.get("cmdstat_eval") == before.get("cmdstat_eval")


@pytest.fixture
def spawn(redis_server, tmp_path):
    started = []

    def run(*arguments):
        command = [sys.executable, str(TAKER), redis_server.url, str(tmp_path), *map(str, arguments)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_no_session_is_used_more_often_than_it_may_be(spawn):
    """Fifty takers at once in each of four processes, five uses a session."""
    processes = [spawn("race", 50) for _ in range(4)]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * 4
    names = [name for process in processes for name in process.communicate("go\n", timeout=60)[0].split()]
    uses = Counter(names)
    assert sum(uses.values()) == 200
    assert uses.pop("none", 0) == 0
    assert max(uses.values()) == 5
    assert len(uses) >= 40


@pytest.mark.slow
async def test_what_a_killed_process_held_comes_back_after_its_lease(spawn, redis_server, make):
    process = spawn("hold")
    held = process.stdout.readline().strip()
    async with Redis.from_url(redis_server.url) as client:
        pool = make(
            replace(TERMS, lease=1.2, wait=20), backend=RedisPool(client, "shop", replace(TERMS, lease=1.2, wait=20))
        )
        with pytest.raises(SessionExhaustedError):
            await pool.take("main", "other", wait=2, patient=False)  # it is kept alive for as long as its holder lives
        process.kill()
        process.wait()
        hold = await pool.take("main", "other")
        assert hold.lease.session_id == held
        await pool.close()
