"""What a crawl tells at its end: items, outcomes, failures and where they are written."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy import signals

from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class Summary:
    """Logs one line when the spider closes."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._runtime = Runtime.of(crawler)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension."""
        return cls(crawler)

    def _closed(self, spider: Spider, reason: str) -> None:
        told = summary(self._crawler.stats.get_stats())
        records = self._runtime.records
        logger.info("%s ended (%s): %s", spider.name, reason, told)
        if records.failures:
            logger.warning("%d requests failed, see %s", records.failures, records.failures_path)
        if records.rejects:
            logger.warning("%d items rejected, see %s", records.rejects, records.rejects_path)


def summary(stats: dict[str, Any]) -> str:
    """Items and outcomes of a crawl in one line (pure)."""
    items = stats.get("item_scraped_count", 0)
    outcomes = {
        name.rsplit("/", 1)[1]: count
        for name, count in sorted(stats.items())
        if name.startswith("fetchworker/outcome/")
    }
    told = ", ".join(f"{outcome} {count}" for outcome, count in outcomes.items()) or "no answers"
    return f"{items} items; answers: {told}"
