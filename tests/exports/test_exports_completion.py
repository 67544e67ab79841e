"""When a response is done: its items stored, its lines on disk; and never when an item was lost."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from scrapy import Request, signals
from scrapy.exceptions import CloseSpider, DropItem
from scrapy.http import Response
from scrapy.signalmanager import SignalManager
from twisted.python.failure import Failure

from fetchworker.errors import StorageError
from fetchworker.exports import completion
from fetchworker.exports.completion import CompletionMiddleware, not_done


@pytest.fixture
def crawler():
    made = SimpleNamespace()
    made.signals = SignalManager(made)
    return made


@pytest.fixture
def lost(crawler):
    """What was told to be done again."""
    told = []

    def hear(request, error):
        told.append((request, error))

    crawler.signals.connect(hear, not_done, weak=False)
    return told


@pytest.fixture
def middleware(crawler):
    return CompletionMiddleware.from_crawler(crawler)


@pytest.fixture
def response():
    request = Request("https://site.example/")
    return Response(request.url, request=request)


async def outputs(*given):
    for each in given:
        yield each


class Walk:
    """A response on its way: all its output taken, then waiting."""

    def __init__(self, crawler, middleware, response, *items):
        self.crawler, self.response, self.taken = crawler, response, []
        self.task = asyncio.create_task(self.run(middleware, items))

    async def run(self, middleware, items):
        async for output in middleware.process_spider_output(self.response, outputs(*items)):
            self.taken.append(output)

    async def wait_for(self, count):
        while len(self.taken) < count:  # noqa: ASYNC110  # a few turns of the loop
            await asyncio.sleep(0)

    async def end(self, signal, **values):
        await self.crawler.signals.send_catch_log_async(signal, response=self.response, spider=None, **values)

    async def turns(self):
        for _ in range(5):
            await asyncio.sleep(0)


async def test_it_is_done_when_all_items_have_left(crawler, middleware, response, lost):
    walk = Walk(crawler, middleware, response, {"n": 1}, Request("https://site.example/2"), {"n": 2}, {"n": 3})
    await walk.wait_for(4)
    await walk.end(signals.item_scraped, item={"n": 1})
    await walk.end(signals.item_dropped, item={"n": 2}, exception=DropItem("wrong"))
    await walk.turns()
    assert not walk.task.done()
    await walk.end(signals.item_scraped, item={"n": 3})
    await walk.task
    assert lost == []


async def test_it_is_done_at_once_without_items(crawler, middleware, response, lost):
    await Walk(crawler, middleware, response, Request("https://site.example/2")).task
    assert lost == []


async def test_an_item_that_could_not_be_stored_ends_the_crawl_and_is_not_done(crawler, middleware, response, lost):
    walk = Walk(crawler, middleware, response, {"n": 1}, {"n": 2})
    await walk.wait_for(2)
    error = StorageError("disk full")
    await walk.end(signals.item_error, item={"n": 1}, failure=Failure(error))
    await walk.turns()
    assert not walk.task.done(), "the other item is on its way still"
    await walk.end(signals.item_scraped, item={"n": 2})
    with pytest.raises(CloseSpider) as caught:
        await walk.task
    assert caught.value.reason == "storage_error"
    assert lost == [(response.request, error)]


async def test_an_item_that_another_pipeline_lost_is_not_done_and_the_crawl_goes_on(
    crawler, middleware, response, lost
):
    walk = Walk(crawler, middleware, response, {"n": 1})
    await walk.wait_for(1)
    error = ZeroDivisionError("oops")
    await walk.end(signals.item_error, item={"n": 1}, failure=Failure(error))
    with pytest.raises(StorageError, match="an item was lost: ZeroDivisionError: oops"):
        await walk.task
    assert lost == [(response.request, error)]


async def test_lines_are_on_disk_before_it_is_done(crawler, middleware, response, monkeypatch):
    synced = asyncio.Event()
    monkeypatch.setattr(completion, "feeds_durable", synced.wait)
    walk = Walk(crawler, middleware, response, {"n": 1})
    await walk.wait_for(1)
    await walk.end(signals.item_scraped, item={"n": 1})
    await walk.turns()
    assert not walk.task.done()
    synced.set()
    await walk.task


async def test_items_of_other_responses_are_not_counted(crawler, middleware, response, lost):
    walk = Walk(crawler, middleware, response, {"n": 1})
    await walk.wait_for(1)
    other = Response("https://site.example/3", request=Request("https://site.example/3"))
    for signal, values in (
        (signals.item_scraped, {}),
        (signals.item_error, {"failure": Failure(StorageError("x"))}),
    ):
        await crawler.signals.send_catch_log_async(signal, response=other, item={}, spider=None, **values)
    await walk.turns()
    assert not walk.task.done()
    await walk.end(signals.item_scraped, item={"n": 1})
    await walk.task
    assert lost == []
