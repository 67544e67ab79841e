"""A crawl that is told to stop before its engine runs: Scrapy notes that and starts it all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


def heed_early_stop(crawler: Crawler) -> None:
    """End the crawl as its engine starts, if ``crawler.stop_async()`` (a SIGTERM, say) came before.

    Seen with Scrapy 2.19: until the engine runs, ``stop_async`` does no more than set ``crawling`` to False.
    """

    async def started() -> None:
        if not crawler.crawling and crawler.engine is not None:
            await crawler.engine.stop_async()

    crawler.signals.connect(started, signals.engine_started, weak=False)
