"""What a pace promises, whether one process keeps it or all workers together."""

from __future__ import annotations

import itertools

import pytest

from fetchworker.pace import MINUTE, Lane, Pace, Terms

#: seconds by which a clock that nobody turns may have gone on between two questions
SLACK = 5.0


class Local:
    """One process's pace, on a clock that stands still."""

    def __init__(self, per, per_minute):
        self.pace = Pace(per, per_minute=per_minute, clock=lambda: 1000.0)

    async def ask(self, host, exit_="x", *, delay=0.0):
        """Seconds to wait; 0: it has started."""
        wait = max(0.0, self.pace.wait(host, exit_))
        if not wait:
            self.pace.started(host, exit_, delay)
        return wait

    async def pause(self, host, exit_, seconds):
        self.pace.pause(host, exit_, seconds)

    async def space(self, host, seconds):
        self.pace.space(host, seconds)


class Shared:
    """The pace of many workers: each question is another one's."""

    def __init__(self, make_pace, per, per_minute):
        self.workers = itertools.cycle([make_pace(), make_pace()])
        self.per_identity = per == "identity"
        self.per_minute = per_minute
        self.gaps = {}
        self.numbers = itertools.count()

    def lane(self, host, exit_):
        return Lane(host, exit_ if self.per_identity else "")

    async def ask(self, host, exit_="x", *, delay=0.0):
        gap = self.gaps.get(host, 0.0)
        terms = Terms(delay=delay, gap=gap, concurrency=100, per_minute=self.per_minute)
        permit, lane, pace = f"w:{next(self.numbers)}", self.lane(host, exit_), next(self.workers)
        answer = await pace.acquire(permit, lane, terms)
        if answer.wait:
            await pace.release(permit, lane, terms, unused=answer.at)
        return answer.wait

    async def pause(self, host, exit_, seconds):
        lane = Lane(host) if exit_ is None else self.lane(host, exit_)
        await next(self.workers).pause(lane, seconds, whole_host=exit_ is None)

    async def space(self, host, seconds):
        self.gaps[host] = seconds


def about(seconds: float) -> object:
    """A wait of so long, of which a little may be over."""
    return pytest.approx(seconds - SLACK / 2, abs=SLACK / 2)


class Promises:
    async def test_nothing_to_keep_is_nothing_to_wait_for(self, make):
        pace = make()
        assert [await pace.ask("a.test") for _ in range(20)] == [0] * 20

    async def test_a_delay_holds_for_the_next_one_to_the_host(self, make):
        pace = make()
        assert await pace.ask("a.test", delay=60) == 0
        assert await pace.ask("a.test", "y", delay=60) == about(60)
        assert await pace.ask("b.test", delay=60) == 0

    async def test_a_delay_holds_for_the_exit_where_the_site_counts_by_exit(self, make):
        pace = make("identity")
        assert await pace.ask("a.test", "x", delay=60) == 0
        assert await pace.ask("a.test", "y", delay=60) == 0
        assert await pace.ask("a.test", "x", delay=60) == about(60)

    @pytest.mark.parametrize("per", ["host", "identity"])
    async def test_so_many_start_within_a_minute(self, make, per):
        pace = make(per, 3)
        assert [await pace.ask("a.test") for _ in range(3)] == [0] * 3
        assert await pace.ask("a.test") == about(MINUTE)
        assert await pace.ask("b.test") == 0

    async def test_each_exit_has_its_ceiling(self, make):
        pace = make("identity", 1)
        assert [await pace.ask("a.test", exit_) for exit_ in "xy"] == [0, 0]
        assert await pace.ask("a.test", "y") == about(MINUTE)

    @pytest.mark.parametrize(("per", "others"), [("host", 100), ("identity", 0)])
    async def test_a_visitor_is_asked_to_wait(self, make, per, others):
        pace = make(per)
        await pace.pause("a.test", "x", 100)
        assert await pace.ask("a.test", "x") == about(100)
        assert await pace.ask("a.test", "y") == (about(others) if others else 0)

    @pytest.mark.parametrize("per", ["host", "identity"])
    async def test_a_host_asks_everybody_to_wait_and_the_longer_pause_stays(self, make, per):
        pace = make(per)
        await pace.pause("a.test", None, 100)
        await pace.pause("a.test", None, 10)
        assert [await pace.ask("a.test", exit_) for exit_ in "xy"] == [about(100)] * 2
        assert await pace.ask("b.test") == 0

    @pytest.mark.parametrize("per", ["host", "identity"])
    async def test_a_crawl_delay_lies_between_all_requests_to_the_host(self, make, per):
        pace = make(per)
        await pace.space("a.test", 60)
        assert await pace.ask("a.test", "x") == 0
        assert await pace.ask("a.test", "y") == about(60)
        assert await pace.ask("b.test", "x") == 0

    async def test_the_longer_of_delay_and_crawl_delay_holds(self, make):
        pace = make()
        await pace.space("a.test", 60)
        assert await pace.ask("a.test", delay=100) == 0
        assert await pace.ask("a.test") == about(100)


class TestLocal(Promises):
    @pytest.fixture
    def make(self):
        return lambda per="host", per_minute=None: Local(per, per_minute)


class TestShared(Promises):
    @pytest.fixture
    def make(self, make_pace):
        return lambda per="host", per_minute=None: Shared(make_pace, per, per_minute)
