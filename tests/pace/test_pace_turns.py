"""One process's turns: asked for without waiting, given back when nobody wants them, and what happens without Redis."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from fetchworker.pace import Lane, Pace, Terms, Turns
from fetchworker.pace._redis import RedisPace
from fetchworker.pace.keys import pace_keys
from fetchworker.pace.turns import ASKED

LANE = Lane("a.test")
SLOW = Terms(delay=60, concurrency=10)
ONE = Terms(concurrency=1)


class Queue:
    """The queue of a downloader's slot: asks, and is told when to look again."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.looks = asyncio.Queue()

    def wait(self, terms=SLOW, lane=LANE):
        return self.turns.wait(self, lane, lambda: terms, lambda: self.looks.put_nowait(None))


async def settled(turns: Turns) -> None:
    while turns._tasks:
        await asyncio.wait(set(turns._tasks))


class Eager(Queue):
    """Takes its turn in the very moment in which it is told of it, as the downloader does."""

    def __init__(self, turns: Turns) -> None:
        super().__init__(turns)
        self.taken = []

    def wait(self, terms=SLOW, lane=LANE):
        def look() -> None:
            if self.turns.wait(self, lane, lambda: terms, lambda: None) == 0:
                self.taken.append(self.turns.take(self, lane))
            self.looks.put_nowait(None)

        return self.turns.wait(self, lane, lambda: terms, look)


@pytest.fixture
def make(make_pace):
    return lambda **options: Turns(make_pace, **options)


@pytest.fixture
def turns(make):
    return make()


@pytest.fixture
def leases(redis):
    async def members():
        return await redis.zrange(pace_keys("shop", LANE)[0], 0, -1)

    return members


async def test_the_first_request_starts_and_the_next_one_has_its_time(make):
    one, two = Eager(make()), Eager(make())
    assert one.wait() == ASKED
    assert one.wait() == ASKED, "asked once"
    await one.looks.get()
    assert len(one.taken) == 1
    assert two.wait() == ASKED
    await two.looks.get()
    assert 50 < two.wait() <= 60
    assert two.taken == []


async def test_nothing_to_keep_is_nothing_to_ask(turns, redis):
    assert Eager(turns).wait(Terms(concurrency=1)) == 0
    assert turns.take("nobody", LANE) is None
    assert await redis.keys("*") == []


async def test_unless_all_is_asked_for(make):
    one, two = Eager(make(always=True)), Eager(make(always=True))
    one.wait(ONE)
    await one.looks.get()
    two.wait(ONE)
    await two.looks.get()
    assert 0 < two.wait(ONE) < 1
    assert Pace(turns=make(always=True)).free is False
    assert Pace(turns=make()).free is True


async def test_a_place_that_becomes_free_here_is_asked_for_at_once(make):
    queue = Eager(make(always=True))
    queue.wait(ONE)
    await queue.looks.get()
    queue.wait(ONE)
    await queue.looks.get()
    queue.turns.release(queue.taken[0])
    assert queue.wait(ONE) == ASKED
    await queue.looks.get()
    assert len(queue.taken) == 2


@pytest.mark.parametrize("when", ["asked", "waiting"])
async def test_who_no_longer_wants_its_turn_gives_it_back(make, leases, when):
    first, gone, next_one = (Eager(make()) for _ in range(3))
    first.wait()
    await first.looks.get()
    gone.wait()
    if when == "waiting":
        await gone.looks.get()
    gone.turns.drop(gone)
    await settled(gone.turns)
    assert [member.decode() for member in await leases()] == [first.taken[0].permit]
    next_one.wait()
    await next_one.looks.get()
    (turn,) = next_one.turns._open[next_one].values()
    assert turn.at == first.taken[0].at + 60_000_000, "as if nobody had come between"


async def test_a_turn_that_nobody_takes_is_given_back(turns, leases):
    queue = Queue(turns)  # looks too late
    queue.wait()
    await queue.looks.get()
    await settled(turns)
    assert await leases() == []


async def test_the_end_gives_back_what_is_open(make, leases):
    first, second = Eager(make()), Eager(make())
    first.wait()
    await first.looks.get()
    second.wait()
    await second.turns.close()
    first.turns.release(first.taken[0])
    await first.turns.close()
    assert await leases() == []


async def test_a_pause_is_told_to_the_others_once_they_could_know_of_it(make, redis):
    one, two = make(), make()
    pace = Pace(turns=one)
    pace.pause("a.test", "x", 100)
    assert not one._tasks, "nobody has asked here yet, so nobody shares anything"
    queue = Eager(one)
    queue.wait()
    await queue.looks.get()
    pace.pause("a.test", "x", 1000)
    await settled(one)
    other = Eager(two)
    other.wait()
    await other.looks.get()
    assert 900 < other.wait() <= 1000


class TestWithoutRedis:
    @pytest.fixture
    async def client(self, own_redis):
        async with Redis(unix_socket_path=own_redis.socket, retry=Retry(NoBackoff(), 0)) as client:
            yield client

    @pytest.fixture
    def clock(self):
        return Clock()

    @pytest.fixture
    def turns(self, client, clock):
        async def connect():
            return client

        return Turns(lambda: RedisPace("shop", connect, timeout=0.2), clock=clock)

    @pytest.fixture(params=["stop", "hang"])
    def away(self, request, own_redis):
        """Ends Redis, or lets it hang; and what brings it back."""

        def hang(sign):
            with contextlib.suppress(ProcessLookupError):
                own_redis.process.send_signal(sign)

        if request.param == "stop":
            yield own_redis.stop, own_redis.start
        else:
            yield lambda: hang(signal.SIGSTOP), lambda: hang(signal.SIGCONT)
            hang(signal.SIGCONT)

    async def test_each_goes_on_by_itself_and_comes_back_by_itself(self, turns, clock, away, caplog):
        leave, come = away
        caplog.set_level(logging.INFO, "fetchworker.pace")
        queue = Eager(turns)
        queue.wait(lane=Lane("b.test"))
        await queue.looks.get()
        leave()
        for host in ("c.test", "d.test"):
            queue.wait(lane=Lane(host))
        for _ in range(2):
            await queue.looks.get()
        assert queue.taken[1:] == [None, None], "they start, and have nothing to give back"
        assert queue.wait(lane=Lane("e.test")) == 0, "nobody asks in vain"
        turns.release(queue.taken[0])
        clock.now += 1
        assert queue.wait(lane=Lane("e.test")) == ASKED, "but one looks"
        assert queue.wait(lane=Lane("f.test")) == 0
        await queue.looks.get()
        assert [record.levelname for record in caplog.records] == ["WARNING"], "told once"
        come()
        clock.now += 10
        queue.wait(lane=Lane("g.test"))
        await queue.looks.get()
        assert queue.taken[-1] is not None
        assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
        await turns.close()

    async def test_a_turn_that_was_booked_is_kept_and_then_starts(self, turns, clock, client, own_redis):
        queue = Eager(turns)
        for _ in range(2):
            queue.wait()
            await queue.looks.get()
        own_redis.stop()
        queue.wait(lane=Lane("b.test"))
        await queue.looks.get()
        assert 50 < queue.wait() <= 60, "what Redis has said holds"
        turns._ask_again = clock.now + 1000
        clock.now += 60
        assert queue.wait() == 0
        assert turns.take(queue, LANE) is None

    async def test_whatever_goes_wrong_nobody_waits_for_ever(self, clock):
        def broken():
            raise ValueError("no pace at all")

        queue = Eager(Turns(broken, clock=clock))
        assert queue.wait() == ASKED
        await queue.looks.get()
        assert queue.taken == [None]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now
