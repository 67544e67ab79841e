"""The rules of resting, as steps from state to state."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.proxies.health import (
    Breaker,
    HealthPolicy,
    ProxyHealth,
    ProxyResult,
    RecentBlocks,
    SiteHealth,
    anywhere,
    at_site,
    is_dead,
    rest_until,
)

POLICY = HealthPolicy(cooldown=60, cooldown_max=200, failure_rest=5, dead_after=3, probe=100, probe_max=300)
RESTING = (ProxyResult.BLOCKED, ProxyResult.RATE_LIMITED)
results = st.sampled_from(list(ProxyResult))


@pytest.mark.parametrize("result", RESTING)
def test_rest_at_a_site_grows_to_its_cap_and_ok_halves_it(result):
    health, now, rests = SiteHealth(), 1000.0, []
    for _ in range(4):
        health = at_site(health, result, now, POLICY)
        rests.append(health.rest_until - now)
        now = health.rest_until
    assert rests == [60, 120, 200, 200]
    halved = at_site(health, ProxyResult.OK, now, POLICY)
    assert at_site(halved, result, now, POLICY).rest_until - now == 200
    for _ in range(2):
        halved = at_site(halved, ProxyResult.OK, now, POLICY)
    assert at_site(halved, result, now, POLICY).rest_until - now == 60


def test_blocks_of_requests_under_way_count_once():
    first = at_site(SiteHealth(), ProxyResult.BLOCKED, 0.0, POLICY)
    assert at_site(first, ProxyResult.BLOCKED, 30.0, POLICY) == first
    assert at_site(first, ProxyResult.OK, 30.0, POLICY).rest_until == first.rest_until


def test_retry_after_is_kept_up_to_the_cap():
    assert at_site(SiteHealth(), ProxyResult.RATE_LIMITED, 0.0, POLICY, retry_after=90).rest_until == 90
    assert at_site(SiteHealth(), ProxyResult.RATE_LIMITED, 0.0, POLICY, retry_after=3).rest_until == 60
    assert at_site(SiteHealth(), ProxyResult.RATE_LIMITED, 0.0, POLICY, retry_after=86_400).rest_until == 200
    resting = at_site(SiteHealth(), ProxyResult.BLOCKED, 0.0, POLICY)
    longer = at_site(resting, ProxyResult.RATE_LIMITED, 10.0, POLICY, retry_after=100)
    assert (longer.rest_until, longer.cooldown) == (110, resting.cooldown)


@pytest.mark.parametrize("result", [ProxyResult.TRANSPORT_FAILURE, ProxyResult.AUTH_FAILED])
def test_the_proxys_own_faults_are_no_penalty_at_the_site(result):
    resting = at_site(SiteHealth(), ProxyResult.BLOCKED, 0.0, POLICY)
    assert at_site(SiteHealth(), result, 0.0, POLICY) == SiteHealth()
    assert at_site(resting, result, 100.0, POLICY) == resting


def test_transport_failures_in_a_row_end_in_death_and_probes():
    health, now, rests, dead = ProxyHealth(), 0.0, [], []
    for _ in range(6):
        health = anywhere(health, ProxyResult.TRANSPORT_FAILURE, now, POLICY)
        rests.append(health.down_until - now)
        dead.append(is_dead(health, POLICY))
        now = health.down_until
    assert rests == [5, 10, 100, 200, 300, 300]
    assert dead == [False, False, True, True, True, True]


def test_failures_of_requests_under_way_count_once():
    health = anywhere(ProxyHealth(), ProxyResult.TRANSPORT_FAILURE, 0.0, POLICY)
    assert anywhere(health, ProxyResult.TRANSPORT_FAILURE, 4.9, POLICY) == health
    assert anywhere(health, ProxyResult.TRANSPORT_FAILURE, 5.0, POLICY).failures == 2


@pytest.mark.parametrize("answer", [ProxyResult.OK, ProxyResult.BLOCKED, ProxyResult.RATE_LIMITED])
def test_an_answer_ends_the_row(answer):
    health = anywhere(ProxyHealth(), ProxyResult.TRANSPORT_FAILURE, 0.0, POLICY)
    health = anywhere(health, answer, 10.0, POLICY)
    assert health.failures == 0
    assert anywhere(health, ProxyResult.TRANSPORT_FAILURE, 10.0, POLICY).failures == 1


def test_refused_credentials_outlast_everything():
    health = anywhere(ProxyHealth(), ProxyResult.AUTH_FAILED, 0.0, POLICY)
    for result in ProxyResult:
        health = anywhere(health, result, 1e9, POLICY)
        assert rest_until(health, SiteHealth()) == math.inf


@given(st.lists(st.tuples(results, st.floats(0, 500), st.none() | st.floats(0, 1e6)), max_size=60))
def test_rests_are_bounded_and_never_cut_short(steps):
    here, everywhere, now = SiteHealth(), ProxyHealth(), 0.0
    for result, later, retry_after in steps:
        now += later
        new_here = at_site(here, result, now, POLICY, retry_after)
        new_everywhere = anywhere(everywhere, result, now, POLICY)
        assert here.rest_until <= new_here.rest_until <= max(here.rest_until, now + POLICY.cooldown_max)
        assert everywhere.down_until <= new_everywhere.down_until <= max(everywhere.down_until, now + POLICY.probe_max)
        here, everywhere = new_here, new_everywhere


def test_endless_failures_do_not_overflow():
    health = ProxyHealth(failures=100_000)
    assert anywhere(health, ProxyResult.TRANSPORT_FAILURE, 0.0, POLICY).down_until == POLICY.probe_max


@pytest.mark.parametrize(
    ("tried", "blocked", "trips"), [(4, 4, False), (5, 5, True), (10, 8, False), (10, 9, True), (0, 0, False)]
)
def test_breaker(tried, blocked, trips):
    assert Breaker(share=0.8, least=5).trips(tried, blocked) is trips


def test_recent_blocks_count_the_last_answer_of_each_within_the_window():
    recent = RecentBlocks(window=100)
    recent.record("a", blocked=True, now=0)
    recent.record("b", blocked=True, now=10)
    recent.record("a", blocked=False, now=20)
    assert recent.counts(20) == (2, 1)
    assert recent.counts(110) == (2, 1)
    assert recent.counts(111) == (1, 0)
    recent.keep([])
    assert recent.counts(111) == (0, 0)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), st.integers(0, 60)), max_size=40))
def test_recent_blocks_against_a_plain_count(answers):
    recent, plain, now = RecentBlocks(window=100), {}, 0
    for proxy_id, blocked, later in answers:
        now += later
        recent.record(proxy_id, blocked=blocked, now=now)
        plain[proxy_id] = (now, blocked)
        young = [was for at, was in plain.values() if now - at <= 100]
        assert recent.counts(now) == (len(young), sum(young))
