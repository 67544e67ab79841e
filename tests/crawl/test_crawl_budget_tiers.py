"""Whole crawls with a budget that closes tiers: what left by which exit, as the proxies themselves have counted it."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from fetchworker.demo.lab import lab_app, text

pytestmark = pytest.mark.slow
SIZE = 100_000
CHEAP, HOME = "127.0.0.11", "127.0.0.12"
SPENT = {"bytes_per_day": 250_000, "on_exceeded": "down_tier"}
LADDER = {"proxy": "required", "proxy_tiers": ["datacenter", "residential"], "retries": 1, "concurrency": 1}


@pytest.fixture(autouse=True)
def blocked(project, lab, serve, fetch, exits):
    """Addresses that are refused. A rest after a block is short."""
    project.env["FETCHWORKER_PROXY_COOLDOWN"] = "0.2"
    exits("datacenter", "residential")
    refused = {CHEAP}
    lab.app = lambda request: text("no", 403) if request.peer in refused else lab_app(request)
    return refused


@pytest.fixture
def exits(project, lab):
    """Takes these of the two exits, one of each tier, into the list."""

    def use(*tiers):
        known = dict(zip(("datacenter", "residential"), lab.exits, strict=True))
        entries = [{"url": known[tier].url, "provider": "evomi", "tier": tier} for tier in tiers]
        project.env["FETCHWORKER_PROXIES"] = json.dumps(entries)

    return use


def pages(name, count):
    return [f"https://lab.example/bytes/{SIZE + number}?{name}" for number in range(count)]


def by_exit(lab):
    return Counter(request.peer for request in lab.requests)


def carried(lab, number):
    """Bytes of bodies and heads that a proxy has carried."""
    return sum(each["up"] + each["down"] for each in lab.log("proxy_closed") if each["proxy"] == f"proxy{number}")


def test_what_waits_for_its_turn_leaves_by_no_tier_that_was_spent_meanwhile(serve, lab, sites, left):
    """All are led up by their block before the first page by the better tier is there."""
    sites(**LADDER, delay=0.3, budget=SPENT)
    done = serve(*pages("a", 8))
    assert by_exit(lab)[HOME] == 3, "the third page begins within the budget, and none after it"
    assert 3 * SIZE < carried(lab, 1) < 3.5 * SIZE
    assert len(done.items) == 3
    assert {failure["tier"] for failure in done.failed} <= {"datacenter"}
    assert len(done.failed) + len(left()) == 5


def test_a_new_worker_knows_what_was_spent_before_its_first_request(fetch, serve, lab, sites, blocked):
    sites(**LADDER, budget=SPENT)
    assert len(serve(*pages("b", 3)).items) == 3
    lab.server.log.clear()
    done = fetch(pages("c", 1)[0])
    assert set(by_exit(lab)) == {CHEAP}
    assert [failure["type"] for failure in done.failed] == ["UPSTREAM_BLOCKED"]
    blocked.clear()
    assert fetch(pages("d", 1)[0]).code == 0
    assert set(by_exit(lab)) == {CHEAP}


@pytest.mark.parametrize("on_block", ["rotate", "keep"])
def test_a_named_session_leaves_an_exit_that_may_not_be_used(serve, lab, sites, blocked, on_block):
    sites(**LADDER, budget=SPENT)
    assert len(serve(*({"url": url, "session": "ada"} for url in pages("e", 3))).items) == 3
    assert by_exit(lab)[HOME] == 3
    lab.server.log.clear()
    blocked.clear()
    sites(**LADDER, budget=SPENT, on_block=on_block)
    assert len(serve(*({"url": url, "session": "ada"} for url in pages("f", 2))).items) == 2
    assert by_exit(lab) == {CHEAP: 2}


@pytest.mark.parametrize("ladder", [True, False])
def test_sessions_of_a_full_pool_do_not_go_on_by_a_tier_that_was_spent(serve, lab, sites, exits, ladder):
    pool = {"max_total": 1, "quarantine": 1, "wait": 10}
    entry = {**LADDER, "pool": pool, "budget": SPENT} | ({} if ladder else {"proxy_tiers": None})
    exits("residential")
    sites(**{**entry, **({"proxy_tiers": ["residential"]} if ladder else {})})
    assert len(serve(*pages("g", 3)).items) == 3
    assert by_exit(lab) == {HOME: 3}
    lab.server.log.clear()
    lab.app = lab_app
    exits("datacenter", "residential")
    sites(**entry)
    assert len(serve(*pages("h", 3)).items) == 3
    assert by_exit(lab) == {CHEAP: 3}


def test_where_no_exit_is_left_that_may_be_used_the_crawl_ends_and_keeps_its_work(serve, lab, sites, left, exits):
    exits("residential")
    sites(proxy="required", retries=1, concurrency=1, delay=0.2, budget=SPENT)
    done = serve(*pages("i", 6))
    assert done.code == 3
    assert "ended (budget)" in done.log
    assert (by_exit(lab), done.failed) == ({HOME: 3}, [])
    assert len(left()) == 3
    sites(proxy="preferred", retries=1, concurrency=1, budget=SPENT)
    assert len(serve().items) == 3
    assert by_exit(lab)[HOME] == 3, "what does not need a proxy goes on without"
