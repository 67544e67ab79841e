"""The spider of the chaos run: a plain Scrapy spider that gives an item a page and asks for all that the page lists."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, ClassVar

from scrapy import Request, Spider
from scrapy_redis.spiders import RedisSpider

from fetchworker import settings
from fetchworker.items import Post

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response


class Stamp:
    """Tells the upstream which worker asks."""

    def process_request(self, request: Request) -> None:
        request.headers["X-Worker"] = os.environ["CHAOS_WORKER"]


class ChaosSpider(Spider):
    name = "chaos"
    custom_settings: ClassVar = {"DOWNLOADER_MIDDLEWARES": {**settings.DOWNLOADER_MIDDLEWARES, Stamp: 40}}

    async def start(self) -> AsyncIterator[Request]:
        yield Request(f"{os.environ['CHAOS_URL']}/page/0", self.parse)

    def parse(self, response: Response) -> Iterator[Post | Request]:
        """Every other page hands its meta on, as many spiders do."""
        leaf = response.css("a[rel=leaf]::attr(href)").get()
        if leaf:
            yield response.follow(leaf, self.parse_leaf, dont_filter=True, priority=1)
        number = int(response.url.rpartition("/")[2])
        yield self.item("page", number)
        for link in response.css("a:not([rel])::attr(href)").getall():
            yield response.follow(link, self.parse, meta=response.meta if number % 2 else None)

    def parse_leaf(self, response: Response) -> Iterator[Post]:
        yield self.item("leaf", int(response.url.rpartition("/")[2]))

    def item(self, kind: str, number: int) -> Post:
        return Post.draft(
            item_id=f"{kind}-{number}",
            site=self.name,
            operation=kind,
            id=f"{kind}-{number}",
            url=f"https://chaos.example/{kind}/{number}",
            fetched_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            text=f"{kind} {number}",
        )


class SeedsSpider(RedisSpider):
    """The same, from seeds of the queue that all workers of the spider share."""

    name = "seeds"
    custom_settings = ChaosSpider.custom_settings
    parse, parse_leaf, item = ChaosSpider.parse, ChaosSpider.parse_leaf, ChaosSpider.item
