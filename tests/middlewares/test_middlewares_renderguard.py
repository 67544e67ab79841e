"""Browser steps are few: one for an identity, two for a request, and none for a while where they only fail."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest

from fetchworker.middlewares.renderguard import FAILURES, MOST, PAUSE, Guard


@pytest.fixture
def counts():
    return Counter()


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def guard(counts, now):
    """The guard of the site ``shop``."""
    runtime = SimpleNamespace(site="shop", count=lambda name: counts.update([name]))
    return Guard(runtime, clock=lambda: now[0])


def test_an_identity_has_one_step_for_a_request_and_a_request_has_two(guard):
    assert guard.allows("ann", [])
    assert not guard.allows("ann", ["ann"])
    assert guard.allows("bob", ["ann"])
    assert not guard.allows("cy", ["ann", "bob"])
    assert MOST == 2


def test_a_site_whose_steps_only_fail_has_none_for_a_while(guard, counts, now, caplog):
    for _ in range(FAILURES - 1):
        guard.told(good=False)
    assert guard.allows("ann", [])
    guard.told(good=False)
    assert guard.paused
    assert not guard.allows("ann", [])
    assert counts == {"render_paused/shop": 1}
    assert f"shop: {FAILURES} browser steps in a row failed" in caplog.text
    now[0] += PAUSE - 1
    assert not guard.allows("ann", [])
    now[0] += 1
    assert guard.allows("ann", [])


def test_a_good_step_makes_up_for_those_that_failed(guard):
    for good in (False, False, False, False, True, False, False, False, False):
        guard.told(good=good)
    assert not guard.paused


def test_a_pause_is_told_each_time(guard, counts, now):
    for _ in range(2):
        for _ in range(FAILURES):
            guard.told(good=False)
        now[0] += PAUSE
    assert counts == {"render_paused/shop": 2}
