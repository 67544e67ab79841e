"""What follows a verdict or an error: pure decisions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.middlewares.policy import DELIVER, FAIL, pause_of, plan_error, plan_verdict, wait
from fetchworker.outcomes import Outcome, Verdict
from fetchworker.sites import Backoff

BACKOFF = Backoff(first=1.0, factor=2.0, max=10.0, retry_after_max=5.0)


def verdict(outcome, retry_after=None):
    return Verdict(Outcome(outcome), None, ("x",), 1.0, retry_after)


def plan(outcome, *, tries=1, retries=3, rotates=True, refreshed=False, retry_after=None, jitter=0.0, elsewhere=False):
    return plan_verdict(
        verdict(outcome, retry_after),
        tries=tries,
        retries=retries,
        backoff=BACKOFF,
        rotates=rotates,
        refreshed=refreshed,
        jitter=jitter,
        elsewhere=elsewhere,
    )


def test_ok_goes_up():
    assert plan("ok", tries=99) == DELIVER


@pytest.mark.parametrize("outcome", ["blocked", "challenge", "login_wall", "rate_limited"])
def test_a_block_rotates_and_waits_longer_each_time(outcome):
    delays = [plan(outcome, tries=tries).delay for tries in (1, 2, 3)]
    assert delays == [1.0, 2.0, 4.0]
    assert plan(outcome).rotate
    assert not plan(outcome, rotates=False).rotate
    assert plan(outcome, tries=4) == FAIL


@pytest.mark.parametrize("outcome", ["not_found", "gone", "private", "error"])
def test_final_outcomes_are_not_tried_again(outcome):
    assert plan(outcome) == FAIL


def test_the_sites_own_fault_keeps_the_identity():
    step = plan("transient")
    assert (step.step, step.rotate) == ("retry", False)


def test_a_stale_contract_is_refreshed_once_and_never_rotates():
    step = plan("stale_contract", tries=9)
    assert (step.step, step.refresh, step.rotate, step.delay) == ("retry", True, False, 0.0)
    assert plan("stale_contract", refreshed=True) == FAIL


def test_retry_after_is_honoured_and_capped():
    assert plan("rate_limited", retry_after=3.0).delay == 3.0
    assert plan("rate_limited", retry_after=86400.0).delay == 5.0


@pytest.mark.parametrize("outcome", ["rate_limited", "blocked", "transient"])
def test_a_site_that_says_0_is_not_asked_again_without_a_pause(outcome):
    assert [plan(outcome, retry_after=0.0, tries=tries).delay for tries in (1, 2, 3)] == [1.0, 2.0, 4.0]


def test_another_exit_need_not_wait_for_what_this_one_was_told():
    assert plan("rate_limited", retry_after=4.0, elsewhere=True).delay == 1.0
    assert plan("rate_limited", retry_after=4.0, elsewhere=True, rotates=False).delay == 4.0
    assert plan("transient", retry_after=4.0, elsewhere=True).delay == 4.0


@pytest.mark.parametrize(
    ("outcome", "retry_after", "pause"),
    [
        ("rate_limited", 3.0, (3.0, False)),
        ("rate_limited", 86400.0, (5.0, False)),
        ("rate_limited", 0.0, (1.0, False)),
        ("blocked", 0.0, (0.0, False)),
        ("rate_limited", None, (1.0, False)),
        ("blocked", 3.0, (3.0, False)),
        ("blocked", None, (0.0, False)),
        ("transient", 3.0, (3.0, True)),
        ("transient", None, (0.0, True)),
        ("not_found", 3.0, (0.0, False)),
        ("ok", None, (0.0, False)),
    ],
)
def test_who_else_has_to_wait_and_how_long(outcome, retry_after, pause):
    seconds, whole_host = pause_of(verdict(outcome, retry_after), BACKOFF)
    assert seconds == pause[0]
    assert not seconds or whole_host == pause[1]


@given(st.integers(1, 50), st.floats(0, 1))
def test_waits_grow_and_stay_below_the_maximum(tries, jitter):
    assert 0 < wait(tries, BACKOFF, jitter) <= BACKOFF.max
    assert wait(tries, BACKOFF, jitter) <= wait(tries + 1, BACKOFF, jitter)


def test_the_first_transport_error_keeps_the_exit_the_second_does_not():
    def step(**over):
        return plan_error(
            **{"tries": 1, "retries": 3, "backoff": BACKOFF, "proxied": True, "auth": False, "jitter": 0.0, **over}
        )

    assert not step().rotate
    assert step(tries=2).rotate
    assert not step(tries=2, proxied=False).rotate
    assert step(auth=True).rotate
    assert step(auth=True).delay == 0.0
    assert step(tries=4) == FAIL
