"""Up after blocks, down when they are old, and never beyond the budget."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fetchworker.proxies import Ladder, Pause, ProxyResult, TierPolicy

CHEAP, HOME, BEST = TIERS = ("datacenter", "residential", "core_residential")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Bill:
    def __init__(self) -> None:
        self.closed: set[str] = set()

    def may_use(self, site: str, tier: str) -> bool:
        assert site == "shop"
        return tier not in self.closed


@pytest.fixture
def clock() -> Clock:
    return Clock()


def ladder(clock, **options) -> Ladder:
    spending = options.pop("spending", None)
    return Ladder("shop", TierPolicy(TIERS, **options), spending=spending, clock=clock)


def test_a_blocked_request_goes_up_at_once_and_the_site_after_three(clock):
    it = ladder(clock)
    assert it.ways() == list(TIERS)
    for _ in range(2):
        assert it.blocked(CHEAP, ("captcha",)) == HOME
        assert it.tier == CHEAP
    assert it.ways(HOME) == [HOME, BEST]
    assert it.blocked(CHEAP, ("captcha",)) == HOME
    assert (it.tier, it.ways()) == (HOME, [HOME, BEST])


def test_an_answer_between_begins_the_row_anew(clock):
    it = ladder(clock)
    for _ in range(5):
        it.blocked(CHEAP, ())
        it.blocked(CHEAP, ())
        it.passed(CHEAP)
    assert it.tier == CHEAP


def test_a_bad_name_of_all_such_addresses_leads_the_site_up_at_once(clock):
    it = ladder(clock)
    assert it.blocked(CHEAP, ("ip_reputation",)) == HOME
    assert it.tier == HOME
    assert it.blocked(HOME, ("ip_reputation",)) == BEST
    assert it.blocked(BEST, ("ip_reputation",)) is None
    assert it.tier == BEST


def test_it_comes_down_step_by_step(clock):
    it = ladder(clock, cooldown=100)
    it.blocked(CHEAP, ("ip_reputation",))
    it.blocked(HOME, ("ip_reputation",))
    told = []
    for _ in range(4):
        told.append(it.tier)
        clock.now += 99
    assert told == [BEST, BEST, HOME, CHEAP]
    assert it.ways() == list(TIERS)


def test_the_budget_of_requests(clock):
    it = ladder(clock, requests=2)
    it.used(CHEAP)
    assert it.blocked(CHEAP, ("ip_reputation",)) == HOME
    it.used(HOME)
    it.used(HOME)
    assert it.escalated == 2
    assert it.blocked(HOME, ()) is None
    assert it.ways() == it.ways(HOME) == [CHEAP], "the site goes down rather than stand still"


def test_a_tier_that_may_cost_no_more_is_left_out(clock):
    bill = Bill()
    it = ladder(clock, spending=bill)
    assert it.ways() == list(TIERS)
    bill.closed.add(HOME)
    assert it.ways() == [CHEAP, BEST]
    assert it.blocked(CHEAP, ()) == BEST
    bill.closed.add(BEST)
    assert it.blocked(CHEAP, ()) is None
    assert it.ways() == [CHEAP]
    bill.closed.add(CHEAP)
    assert it.ways() == it.ways(BEST) == [], "the first tier may be closed as well"
    bill.closed.remove(HOME)
    assert it.ways(BEST) == [HOME], "below, where there is nothing else"


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["block", "bad", "pass", "use", "wait"]), st.sampled_from([*TIERS, None]))))
def test_there_is_always_a_way_within_the_budget(steps):
    clock = Clock()
    it = ladder(clock, requests=3)
    for step, tier in steps:
        if step == "use":
            if tier in it.ways():
                it.used(tier)
        elif step == "wait":
            clock.now += 400
        elif step == "pass":
            it.passed(tier)
        else:
            above = it.blocked(tier, ("ip_reputation",) if step == "bad" else ())
            assert above is None or it.affords(above)
        assert it.ways()
        assert all(it.affords(name) for name in it.ways())
        assert it.escalated <= 3


# ── the pause ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_site_pauses_once_and_one_at_a_time_finds_out(clock):
    it = Pause(trial=10, clock=clock)
    assert it.ask(usable=True) == "go"
    assert [it.ask(usable=False) for _ in range(3)] == ["wait"] * 3
    clock.now = 5
    assert (it.times, it.lasts) == (1, 5)
    assert [it.ask(usable=True) for _ in range(3)] == ["go", "wait", "wait"]
    assert not it.told(ProxyResult.TRANSPORT_FAILURE)
    assert [it.ask(usable=True) for _ in range(2)] == ["go", "wait"]
    clock.now = 15  # nothing was heard of that one
    assert [it.ask(usable=True) for _ in range(2)] == ["go", "wait"]
    assert not it.told(ProxyResult.BLOCKED)
    assert it.ask(usable=False) == "wait"
    assert it.told(ProxyResult.OK)
    assert [it.ask(usable=True) for _ in range(3)] == ["go"] * 3
    assert (it.times, it.lasts) == (1, 0)


def test_a_pause_finds_out_now_and_then_though_no_exit_is_due(clock):
    it = Pause(trial=10, every=30, clock=clock)
    assert not it.due()
    it.ask(usable=False)
    clock.now = 29
    assert not it.due()
    clock.now = 30
    assert [it.due(), it.due()] == [True, False]
    assert it.ask(usable=True) == "go"
    clock.now = 60
    assert it.due(), "nothing was heard of the last one"
    assert it.ask(usable=True) == "go"
    it.every, clock.now = 1, 65
    assert not it.due(), "one at a time"


def test_exits_that_all_fail_are_no_short_rest_for_ever(clock):
    it = Pause(short=10, clock=clock)
    for clock.now in (0, 9):
        it.ask(usable=False, serious=False, failing=True)
        it.told(ProxyResult.TRANSPORT_FAILURE)
    it.told(ProxyResult.OK)
    for clock.now in (10, 19):
        it.ask(usable=False, serious=False, failing=True)
    assert it.times == 0
    clock.now = 20
    it.ask(usable=False, serious=False)
    assert it.times == 0, "those that the site asked to wait are"
    it.ask(usable=False, serious=False, failing=True)
    assert it.times == 1


def test_a_short_rest_is_waited_for_without_a_pause(clock):
    it = Pause(clock=clock)
    assert it.ask(usable=False, serious=False) == "wait"
    assert (it.times, it.since) == (0, None)
    assert it.ask(usable=True) == "go"
    assert not it.told(ProxyResult.OK)
