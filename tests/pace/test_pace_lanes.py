"""When the next request may start, on a clock that the test turns."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fetchworker.pace import MINUTE, Pace, Waits


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def starts(pace: Pace, clock: Clock, count: int, *, host="a.test", exit_="x", delay=0.0) -> list[float]:
    """The times at which so many requests start that are all there from the beginning."""
    begun = clock.now
    times = []
    for _ in range(count):
        while (wait := pace.wait(host, exit_)) > 0:
            clock.now += wait
        pace.started(host, exit_, delay)
        times.append(clock.now - begun)
    return times


def test_without_anything_to_keep_nothing_waits_and_nothing_is_kept(clock):
    pace = Pace(clock=clock)
    assert pace.free
    assert starts(pace, clock, 100) == [0.0] * 100
    assert pace.free


def test_a_delay_lies_between_two_starts(clock):
    assert starts(Pace(clock=clock), clock, 4, delay=2.5) == [0.0, 2.5, 5.0, 7.5]


def test_each_host_has_its_own_pace(clock):
    pace = Pace(per_minute=1, clock=clock)
    pace.pause("a.test", "x", 30)
    assert pace.wait("a.test", "x") == 30
    assert pace.wait("b.test", "x") <= 0


class TestCeiling:
    def test_so_many_start_at_once_and_then_the_minute_is_full(self, clock):
        times = starts(Pace(per_minute=3, clock=clock), clock, 7)
        assert times == [0.0, 0.0, 0.0, MINUTE, MINUTE, MINUTE, 2 * MINUTE]

    def test_starts_that_are_a_minute_old_do_not_count(self, clock):
        pace = Pace(per_minute=2, clock=clock)
        starts(pace, clock, 1)
        clock.now += 40
        starts(pace, clock, 1)
        assert pace.wait("a.test", "x") == 20
        clock.now += 20
        assert pace.wait("a.test", "x") <= 0

    @example(ceiling=1, pauses=[1.003506552262083, 0.0, 0.0], delay=0.0)
    @given(ceiling=st.integers(1, 6), pauses=st.lists(st.floats(0, 50), min_size=1, max_size=40), delay=st.floats(0, 3))
    def test_no_minute_ever_sees_more(self, ceiling, pauses, delay):
        clock = Clock()
        pace = Pace(per_minute=ceiling, clock=clock)
        times = []
        for pause in pauses:
            clock.now += pause
            while (wait := pace.wait("a.test", "x")) > 0:
                clock.now += wait
            pace.started("a.test", "x", delay)
            times.append(clock.now)
        for first, last in zip(times, times[ceiling:], strict=False):
            assert last - first >= MINUTE - 1e-6
        assert all(later - earlier >= delay - 1e-6 for earlier, later in pairwise(times))


class TestPauses:
    @pytest.mark.parametrize(("per", "others"), [("host", 30), ("identity", 0)])
    def test_a_visitor_is_asked_to_wait(self, clock, per, others):
        pace = Pace(per, clock=clock)
        pace.pause("a.test", "x", 30)
        assert pace.wait("a.test", "x") == 30
        assert max(0, pace.wait("a.test", "y")) == others
        assert pace.wait("b.test", "x") <= 0

    @pytest.mark.parametrize("per", ["host", "identity"])
    def test_a_host_asks_everybody_to_wait(self, clock, per):
        pace = Pace(per, clock=clock)
        pace.pause("a.test", None, 30)
        assert pace.wait("a.test", "x") == pace.wait("a.test", "y") == 30

    def test_a_shorter_wait_does_not_shorten_a_longer_one(self, clock):
        pace = Pace(clock=clock)
        pace.pause("a.test", "x", 30)
        pace.pause("a.test", "x", 5)
        pace.pause("a.test", "x", 0)
        pace.started("a.test", "x", 1)
        assert pace.wait("a.test", "x") == 30

    def test_nothing_to_wait_for_leaves_nothing(self, clock):
        pace = Pace(clock=clock)
        pace.pause("a.test", "x", 0)
        assert pace.free


class TestSpace:
    @pytest.mark.parametrize("per", ["host", "identity"])
    def test_it_lies_between_all_requests_to_the_host(self, clock, per):
        pace = Pace(per, clock=clock)
        pace.started("a.test", "x", 0)
        pace.space("a.test", 10)
        assert pace.wait("a.test", "x") <= 0, "what came before does not count"
        pace.started("a.test", "x", 0)
        assert pace.wait("a.test", "y") == 10
        assert pace.wait("b.test", "x") <= 0

    def test_the_longer_of_delay_and_space_holds(self, clock):
        pace = Pace(clock=clock)
        pace.space("a.test", 10)
        assert starts(pace, clock, 3, delay=2) == [0, 10, 20]
        assert starts(pace, clock, 2, delay=15)[1] >= 15


def test_each_exit_has_its_delay_and_ceiling_where_the_site_counts_by_exit(clock):
    pace = Pace("identity", per_minute=2, clock=clock)
    for exit_ in ("x", "y", "z"):
        pace.started("a.test", exit_, 5)
        assert pace.wait("a.test", exit_) == 5
    clock.now += 5
    for exit_ in ("x", "y", "z"):
        pace.started("a.test", exit_, 5)
        assert pace.wait("a.test", exit_) == 55


def test_lanes_that_hold_nothing_back_are_forgotten(clock):
    pace = Pace("identity", per_minute=5, clock=clock)
    for number in range(5000):
        clock.now += 1
        pace.started("a.test", f"x{number}", 0)
    assert len(pace._lanes) <= 1024


def test_lanes_that_hold_something_back_are_kept_and_not_looked_through_again_and_again(clock):
    class Counting(Pace):
        looks = 0

        def _forget(self):
            self.looks += 1
            super()._forget()

    pace = Counting(clock=clock)
    for number in range(5000):
        pace.pause(f"{number}.test", None, 300)
    assert {pace.wait(f"{number}.test", "x") for number in range(5000)} == {300}
    assert pace.looks == 3
    clock.now += 300
    for number in range(5000):
        pace.pause(f"{number}.later.test", None, 300)
    assert len(pace._lanes) < 8192, "and once they are over, they go"


def test_the_crawl_delay_of_hosts_long_unasked_goes_first(clock, monkeypatch):
    monkeypatch.setattr("fetchworker.pace.local._MANY_GAPS", 2)
    pace = Pace(clock=clock)
    pace.space("a.test", 10)
    pace.space("b.test", 10)
    pace.started("a.test", "x", 0)
    pace.space("c.test", 10)
    clock.now += 60
    for host in ("a.test", "b.test", "c.test"):
        pace.started(host, "x", 0)
    assert [max(0, pace.wait(host, "x")) for host in ("a.test", "b.test", "c.test")] == [10, 0, 10]


class TestWaits:
    async def test_they_are_counted_while_they_last(self):
        seen = []
        waits = Waits(lambda: False, lambda: seen.append(waits.count))
        await asyncio.gather(waits.sleep(0.01), waits.sleep(0.01))
        assert seen == [1, 2]
        assert waits.count == 0

    async def test_nobody_waits_when_the_crawl_ends(self):
        await asyncio.wait_for(Waits(lambda: True, lambda: None).sleep(3600), 5)

    async def test_one_that_is_cancelled_counts_no_longer(self):
        waits = Waits(lambda: False, lambda: None)
        task = asyncio.ensure_future(waits.sleep(3600))
        await asyncio.sleep(0)
        assert waits.count == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert waits.count == 0
