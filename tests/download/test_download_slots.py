"""Which slot a request belongs to, and when the process takes no more requests."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from scrapy import Request

from fetchworker.download.downloader import Downloader
from fetchworker.frontier.codec import SLOT, VOLATILE


@pytest.fixture
def downloader() -> Downloader:
    made = object.__new__(Downloader)
    made.slots, made.active, made._waiting = {}, set(), {}
    made.total_concurrency, made.ip_concurrency, made.domain_concurrency = 4, 0, 2
    made._delay, made._jitter, made.per_slot_settings, made._slot_gc_loop = 0.0, 0.0, {}, object()
    made._runtime = SimpleNamespace(waits=SimpleNamespace(count=0), session_waits=lambda: 0, starved=lambda: False)
    return made


def queued(downloader: Downloader, request: Request) -> str:
    """What ``_enqueue_request`` does about the slot."""
    key, _ = downloader._get_slot(request)
    request.meta["download_slot"] = key
    return key


def test_the_slot_is_the_host(downloader):
    request = Request("https://a.test/1")
    assert queued(downloader, request) == "a.test"
    assert queued(downloader, request.copy()) == "a.test", "a retry has the meta of the last try"


def test_a_redirect_to_another_host_has_that_hosts_slot(downloader):
    first = Request("https://a.test/1")
    queued(downloader, first)
    second = first.replace(url="https://b.test/2")
    assert queued(downloader, second) == "b.test"
    assert queued(downloader, second.replace(url="https://a.test/3")) == "a.test"


def test_a_slot_that_the_spider_names_is_kept(downloader):
    request = Request("https://a.test/1", meta={"download_slot": "api"})
    assert queued(downloader, request) == "api"
    assert queued(downloader, request.replace(url="https://b.test/2")) == "api"


def test_the_mark_stays_in_the_process():
    assert SLOT in VOLATILE


def test_long_waits_do_not_count_but_not_without_end(downloader):
    downloader.active = {Request(f"https://a.test/{number}", dont_filter=True) for number in range(4)}
    assert downloader.needs_backout()
    downloader._waiting = {object(): 1}
    assert not downloader.needs_backout()
    downloader._waiting = {}
    downloader._runtime.waits.count = 2
    assert not downloader.needs_backout()
    downloader.active = {Request(f"https://a.test/{number}") for number in range(20)}
    downloader._runtime.waits.count = 20
    assert downloader.needs_backout(), "at most four times as many wait"


def test_who_waits_for_a_session_does_not_keep_out_who_has_one(downloader):
    downloader.active = {Request(f"https://a.test/{number}", dont_filter=True) for number in range(40)}
    runtime = downloader._runtime
    runtime.session_waits = lambda: 40
    assert downloader.needs_backout(), "nobody has one whose next request stands in the queue"
    runtime.starved = lambda: True
    assert not downloader.needs_backout()
    runtime.session_waits = lambda: 500
    assert downloader.needs_backout(), "not without end"


def test_no_limit_is_no_limit(downloader):
    downloader.total_concurrency = 0
    downloader.active = {Request("https://a.test/1")}
    assert not downloader.needs_backout()
