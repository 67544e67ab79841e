"""A response is done when its items are stored and their lines on disk: not before, and not never."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from scrapy import Field, Item, Request, Spider, signals
from scrapy.exceptions import CloseSpider, DropItem
from scrapy.http import TextResponse
from scrapy.utils.test import get_crawler

from fetchworker.errors import ExportError
from fetchworker.exports.completion import CompletionMiddleware
from fetchworker.exports.feeds import LineFeedStorage
from fetchworker.items import Post, Profile
from fetchworker.pipelines.validate import ValidatePipeline
from fetchworker.runtime import Runtime

RESPONSE = TextResponse("https://shop.example/", body=b"x")


class Engine:
    """What a crawl's engine does with a callback's output, one step at a time."""

    def __init__(self) -> None:
        self.crawler = get_crawler(Spider, {"TWISTED_REACTOR_ENABLED": False})
        self.middleware = CompletionMiddleware.from_crawler(self.crawler)
        self.out: list[Any] = []

    def run(self, *outputs: Any, response: Any = RESPONSE) -> asyncio.Task[None]:
        async def callback():
            for output in outputs:
                if isinstance(output, Exception):
                    raise output
                yield output

        async def consume() -> None:
            async for output in self.middleware.process_spider_output(response, callback()):
                self.out.append(output)

        return asyncio.create_task(consume())

    def end(self, signal: Any = signals.item_scraped, response: Any = RESPONSE) -> None:
        told = {"item": {}, "response": response, "spider": None, "exception": None, "failure": None}
        self.crawler.signals.send_catch_log(signal, **told)


@pytest.fixture
def engine() -> Engine:
    return Engine()


async def settle(task: asyncio.Task[None]) -> bool:
    """Let everything run that can; whether the response is done."""
    for _ in range(5):
        await asyncio.sleep(0)
    return task.done()


async def test_the_last_item_ends_the_response(engine):
    task = engine.run({"n": 1}, {"n": 2}, Request("https://shop.example/next"))
    assert not await settle(task)
    assert len(engine.out) == 3, "nothing is held back"
    engine.end()
    assert not await settle(task)
    engine.end()
    assert await settle(task)


@pytest.mark.parametrize("signal", [signals.item_scraped, signals.item_dropped])
async def test_items_end_in_two_ways(engine, signal):
    task = engine.run({"n": 1})
    assert not await settle(task)
    engine.end(signal)
    assert await settle(task)


async def test_responses_do_not_end_each_other(engine):
    other = TextResponse("https://shop.example/", body=b"x")
    first, second = engine.run({"n": 1}), engine.run({"n": 1}, response=other)
    assert not await settle(first)
    engine.end(response=other)
    assert await settle(second)
    assert not first.done()
    engine.end()
    assert await settle(first)


async def test_what_is_no_item_is_not_waited_for(engine):
    assert await settle(engine.run(None, Request("https://shop.example/next"), None))
    assert await settle(engine.run())


async def test_a_callback_that_breaks_off_is_passed_on(engine):
    task = engine.run({"n": 1}, ValueError("a bug"))
    await settle(task)
    with pytest.raises(ValueError, match="a bug"):
        await task
    assert engine.middleware._open == {}


class TestOnDisk:
    @pytest.fixture
    def feed(self, tmp_path):
        storage = LineFeedStorage(str(tmp_path / "a.jsonl"), feed_options={"format": "jsonlines"})
        spider = Spider(name="shop")
        file = storage.open(spider)
        yield file
        with suppress(ExportError):  # a sync that failed is remembered
            storage.store(file)

    async def test_the_lines_are_synced_first(self, engine, feed, monkeypatch):
        synced = []
        real = os.fdatasync
        monkeypatch.setattr(os, "fdatasync", lambda fd: (synced.append(os.fstat(fd).st_size), real(fd)))
        task = engine.run({"n": 1})
        await settle(task)
        feed.write(b'{"n":1}\n')
        engine.end()
        assert synced == []
        await task
        assert synced == [8]

    async def test_many_responses_share_a_sync(self, engine, feed, monkeypatch):
        synced = []
        monkeypatch.setattr(os, "fdatasync", synced.append)
        responses = [TextResponse(f"https://shop.example/{number}") for number in range(20)]
        tasks = [engine.run({"n": 1}, response=response) for response in responses]
        await settle(tasks[-1])
        for response in responses:
            feed.write(b'{"n":1}\n')
            engine.end(response=response)
        await asyncio.gather(*tasks)
        assert len(synced) == 1

    async def test_a_disk_that_refuses_ends_the_crawl(self, engine, feed, monkeypatch):
        def full(fd):
            raise OSError(errno.ENOSPC, "No space left on device")

        task = engine.run({"n": 1})
        await settle(task)
        feed.write(b'{"n":1}\n')
        with monkeypatch.context() as patch:
            patch.setattr(os, "fdatasync", full)
            engine.end()
            with pytest.raises(CloseSpider) as caught:
                await task
        assert caught.value.reason == "export_error"
        assert engine.middleware._open == {}


class TestRejects:
    @pytest.fixture
    def pipeline(self, tmp_path, monkeypatch, quiet_process):
        (tmp_path / "sites.yaml").write_text('{"sites": {"shop": {}}}')
        monkeypatch.setenv("FETCHWORKER_SITES_FILE", str(tmp_path / "sites.yaml"))
        monkeypatch.setenv("FETCHWORKER_STATE_DIR", str(tmp_path))

        class ShopSpider(Spider):
            name = "shop"

        crawler = get_crawler(ShopSpider, {"TWISTED_REACTOR_ENABLED": False, "EXTENSIONS_BASE": {}})
        made = ValidatePipeline.from_crawler(crawler)
        made.crawler = crawler
        yield made
        Runtime.of(crawler).records.close()

    def drafted(self, **values):
        base = {"item_id": "1", "site": "shop", "operation": "profile", "fetched_at": "2026-01-31T10:00:00Z"}
        return Profile.draft(**{**base, **values})

    def test_a_good_item_passes_checked(self, pipeline):
        item = pipeline.process_item(self.drafted(followers=3))
        assert (type(item), item.followers) == (Profile, 3)

    def test_contact_data_are_kept_only_where_a_setting_asks_for_it(self, pipeline, monkeypatch):
        extra = {"tier": "pro", "contact": {"email": "mira@kiln.example"}}
        assert pipeline.process_item(self.drafted(extra=extra)).extra == {"tier": "pro"}
        with pytest.raises(DropItem):
            pipeline.process_item(self.drafted(extra=extra, followers=-1))
        assert b"kiln.example" not in Runtime.of(pipeline.crawler).records.rejects_path.read_bytes()
        asked = pipeline._runtime.environment.model_copy(update={"contact_data": True})
        monkeypatch.setattr(pipeline._runtime, "environment", asked)
        assert pipeline.process_item(self.drafted(extra=extra)).extra == extra

    @pytest.mark.parametrize(
        ("values", "reason"),
        [
            ({"followers": -1}, "followers"),
            ({"folowers": 1}, "folowers"),
            ({"item_id": ""}, "item_id"),
            ({"fetched_at": "yesterday"}, "fetched_at"),
        ],
    )
    def test_a_wrong_one_is_kept_with_its_reason_and_counted(self, pipeline, values, reason):
        runtime = Runtime.of(pipeline.crawler)
        with pytest.raises(DropItem, match=reason):
            pipeline.process_item(self.drafted(**values))
        (line,) = runtime.records.rejects_path.read_bytes().splitlines()
        record = json.loads(line)
        assert reason in record["reason"]
        assert record["item"] == {**self.drafted().__dict__, **values}
        assert pipeline.crawler.stats.get_value("fetchworker/rejected/profile") == 1

    def test_what_is_no_item_of_ours_is_rejected_too(self, pipeline):
        class Cake(Item):
            kind, size = Field(), Field()

        pipeline._foreign = False  # as for a site's own spider
        things = ({"kind": "cake", "size": 3}, {}, Post.draft(kind="post", media=[object()]), Cake(kind="cake", size=3))
        for thing in things:
            with pytest.raises(DropItem):
                pipeline.process_item(thing)
        assert Runtime.of(pipeline.crawler).records.rejects == 4

    def test_an_item_without_a_kind_of_a_spider_that_is_no_sites_passes_as_it_is(self, pipeline):
        @dataclass
        class Plain:
            size: int

        for thing in ({"size": 3}, Plain(3)):
            assert pipeline.process_item(thing) is thing
        with pytest.raises(DropItem, match="unknown kind 'cake'"):
            pipeline.process_item({"kind": "cake", "size": 3})
