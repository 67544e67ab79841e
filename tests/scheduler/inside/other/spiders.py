"""Plain spiders, as anybody writes them."""

import asyncio
import os
import time
from pathlib import Path
from typing import ClassVar

from scrapy import Request, Spider
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from other.pipelines import killed_once

SITE = os.environ["SITE"]


def wait_for(path):
    while not path.exists():
        time.sleep(0.05)


def item(response):
    return {"path": response.url.removeprefix(SITE), "depth": response.meta.get("depth")}


class PlainSpider(Spider):
    name = "plain"
    start_urls: ClassVar = [f"{SITE}{path}" for path in os.environ.get("START", "").split()]

    def parse(self, response):
        yield item(response)
        yield from response.follow_all(css="a")


class RulesSpider(CrawlSpider):
    name = "rules"
    start_urls: ClassVar = [f"{SITE}/list/1"]
    rules: ClassVar = [Rule(LinkExtractor(allow="/list/"), callback="parse_list", follow=True)]

    def parse_list(self, response):
        yield item(response)


class HangsSpider(PlainSpider):
    """A callback that never ends, one that fails."""

    name = "hangs"

    async def parse(self, response):
        if response.url.endswith("/hangs"):
            self.logger.info("it hangs")
            await asyncio.Event().wait()
        yield item(response)


class FailsSpider(PlainSpider):
    name = "fails"

    def parse(self, response):
        yield item(response)
        raise KeyError("this page")


class StartSpider(Spider):
    """Killed in the middle of start(), once; or held there until told."""

    name = "start"

    async def start(self):
        for number in range(10):
            if number == int(os.environ.get("KILLED_IN_START", "-1")):
                await self.crawler.engine.scheduler._worker.told_start()
                killed_once()
            yield Request(f"{SITE}/list/{number + 10}")
        if "START_WAITS_FOR" in os.environ:
            self.logger.info("start waits")
            await asyncio.to_thread(wait_for, Path(os.environ["START_WAITS_FOR"]))
            yield Request(f"{SITE}/late")

    def parse(self, response):
        yield item(response)
