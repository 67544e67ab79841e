"""The shared queue's scheduler on a real Redis: what is queued, what stays in the process, what is put aside."""

from __future__ import annotations

import json
import sys

import pytest
from scrapy import Request, Spider
from scrapy.utils.test import get_crawler

from fetchworker.exports.completion import not_done
from fetchworker.frontier import codec
from fetchworker.frontier.scheduler import PriorityQueue, Scheduler
from fetchworker.frontier.vigil import Vigil
from fetchworker.redis import connect_sync, release, resolve_redis_url, stop_embedded, wait_for_redis


class ShopSpider(Spider):
    name = "shop"


@pytest.fixture
def endpoint(tmp_path):
    found = resolve_redis_url(None, tmp_path, keep_running=False)
    yield found
    release(found)


@pytest.fixture
def redis(endpoint):
    with connect_sync(endpoint) as client:
        yield client


@pytest.fixture
def make_scheduler(endpoint):
    made = []

    def make() -> Scheduler:
        settings = {
            "REDIS_URL": endpoint.url.get_secret_value(),
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "SCHEDULER_QUEUE_CLASS": "fetchworker.frontier.scheduler.PriorityQueue",
            "SCHEDULER_SERIALIZER": "fetchworker.frontier.codec",
            "SCHEDULER_PERSIST": True,
        }
        crawler = get_crawler(ShopSpider, settings)
        vigil = Vigil(lambda limit: wait_for_redis(endpoint, limit=limit), patience=30, changed=lambda: None)
        vigil.keep(crawler)
        scheduler = Scheduler.from_crawler(crawler)
        scheduler.open(ShopSpider.from_crawler(crawler))
        made.append(scheduler)
        return scheduler

    yield make
    for scheduler in made:
        scheduler.server.close()
        scheduler.df.server.close()


def ask(path: str, **options) -> Request:
    return Request(f"https://shop.example/{path}", dont_filter=True, **options)


def drained(scheduler: Scheduler) -> list[str]:
    found = []
    while (request := scheduler.next_request()) is not None:
        found.append(request.url.rpartition("/")[2])
    return found


def test_requests_come_by_priority_and_to_whoever_asks(make_scheduler):
    one, two = make_scheduler(), make_scheduler()
    for path, priority in (("b", 0), ("a", 5), ("c", -1)):
        one.enqueue_request(ask(path, priority=priority))
    assert len(two) == 3
    assert two.next_request().url.endswith("/a")
    assert drained(one) == ["b", "c"]
    assert not two.has_pending_requests()


def test_a_redirect_of_an_identity_that_is_not_stored_stays_here(make_scheduler, redis):
    one, two = make_scheduler(), make_scheduler()
    identity = object()
    one.enqueue_request(ask("queued"))
    one.enqueue_request(ask("hop", meta={codec.CARRIED: identity}))
    assert redis.zcard("shop:requests") == 1
    assert one.has_pending_requests()
    hop = one.next_request()
    assert hop.url.endswith("/hop")
    assert hop.meta[codec.CARRIED] is identity
    assert drained(two) == ["queued"]


def test_what_is_still_here_at_the_end_goes_to_the_others(make_scheduler):
    one, two = make_scheduler(), make_scheduler()
    one.enqueue_request(ask("hop", meta={codec.CARRIED: object()}))
    one.close("shutdown")
    request = two.next_request()
    assert request.url.endswith("/hop")
    assert codec.CARRIED not in request.meta


def test_duplicates_are_counted_out_for_all_workers(make_scheduler):
    one, two = make_scheduler(), make_scheduler()
    assert one.enqueue_request(Request("https://shop.example/a"))
    assert not two.enqueue_request(Request("https://shop.example/a"))


def test_closing_keeps_queue_and_filter(make_scheduler, redis):
    one = make_scheduler()
    one.enqueue_request(Request("https://shop.example/a"))
    one.close("shutdown")
    assert redis.zcard("shop:requests") == redis.scard("shop:dupefilter") == 1


def test_an_entry_that_is_no_request_is_put_aside(make_scheduler, redis):
    scheduler = make_scheduler()
    redis.zadd("shop:requests", {b"\x80\x04N.": -9, b"7": -8, json.dumps({"url": "nowhere"}): -7})
    scheduler.enqueue_request(ask("good"))
    assert drained(scheduler) == ["good"]
    records = [json.loads(record) for record in redis.lrange("shop:requests:dead", 0, -1)]
    assert [record.get("seed") for record in records] == [None, "7", '{"url": "nowhere"}']
    assert all(record["error"] for record in records)


def test_an_entry_that_breaks_in_a_way_nobody_foresaw_is_put_aside_too(make_scheduler, redis):
    scheduler = make_scheduler()
    redis.zadd("shop:requests", {json.dumps({"url": "https://shop.example/", "body": "x", "encoding": "\0"}): -9})
    redis.zadd("shop:requests", {"[" * 5000: -8, json.dumps({"url": "https://shop.example/", "priority": "1"}): -7})
    scheduler.enqueue_request(ask("good"))
    assert drained(scheduler) == ["good"]
    assert redis.llen("shop:requests:dead") == 3


async def test_what_is_queued_while_redis_is_away_waits_here(make_scheduler, endpoint, tmp_path):
    scheduler = make_scheduler()
    vigil = scheduler._vigil
    scheduler.enqueue_request(ask("before"))
    stop_embedded(tmp_path)
    assert scheduler.enqueue_request(Request("https://shop.example/during"))
    assert not vigil.up
    assert scheduler.enqueue_request(ask("hop", meta={codec.CARRIED: object()}))
    assert scheduler.next_request() is None
    assert scheduler.has_pending_requests()
    await vigil.wait()
    assert sorted(drained(scheduler)) == ["before", "during", "hop"]
    assert not scheduler.enqueue_request(Request("https://shop.example/during")), "the filter knows it"


async def test_what_cannot_be_queued_at_the_end_is_told(make_scheduler, tmp_path):
    scheduler = make_scheduler()
    told = []

    def note(request, error):
        told.append((request.url, type(error).__name__))

    scheduler._crawler.signals.connect(note, not_done)
    stop_embedded(tmp_path)
    scheduler.enqueue_request(ask("a"))
    scheduler.enqueue_request(ask("hop", meta={codec.CARRIED: object()}))
    scheduler.close("redis_unavailable")
    assert told == [(f"https://shop.example/{path}", "RedisUnavailableError") for path in ("a", "hop")]
    scheduler._vigil._task.cancel()


def test_no_class_is_imported_because_data_name_it():
    queue = PriorityQueue(None, ShopSpider(), "%(spider)s:requests", codec)
    raw = json.dumps({"url": "https://shop.example/", "method": "POST", "_class": "antigravity.Request"}).encode()
    request = queue._decode_request(raw)
    assert (type(request), request.method) == (Request, "POST")
    assert "antigravity" not in sys.modules
