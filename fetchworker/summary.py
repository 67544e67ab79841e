"""What a crawl tells at its end: items, outcomes, failures and where they are written."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy import signals

from fetchworker.contracts import CAP, END, LIMIT, REPEATS
from fetchworker.errors import UnfinishedError
from fetchworker.exports.drift import MANIFEST
from fetchworker.exports.ending import LINES_LOST
from fetchworker.runtime import Runtime
from fetchworker.runtime.crawl import RECORDED

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)
#: how a paged call ended → in words
_ENDS = {END: "at the site's end", CAP: "at the site's cap", LIMIT: "at the limit", REPEATS: "where the pages repeat"}


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
        for line in drift(self._crawler.stats.get_stats()):
            logger.warning("%s; `scrapy parse-file --manifest %s` replays them", line, records.drift.folder / MANIFEST)
        if records.failures:
            logger.warning("%d requests failed, see %s", records.failures, records.failures_path)
        if records.rejects:
            logger.warning("%d items rejected, see %s", records.rejects, records.rejects_path)


def abandon(crawler: Crawler) -> None:
    """Write down what a crawl that was killed had in work, and say how far it came."""
    runtime, engine = Runtime.of(crawler), crawler.engine
    slot = engine._slot if engine else None  # noqa: SLF001  # no public way to see it
    if slot is None:
        return
    if runtime.queued:
        logger.warning("what was under way is still in the queue of crawl %s", runtime.crawl_id)
    else:
        left = getattr(slot.scheduler, "left", tuple)
        for request in [*slot.inprogress, *left()]:
            if not request.meta.get(RECORDED):
                runtime.record_failure(request, UnfinishedError("the crawl was killed before it was done"), None)
    runtime.records.close()
    logger.info("%s ended (killed): %s", runtime.site, summary(crawler.stats.get_stats()))
    if runtime.records.failures:
        logger.warning("%d requests failed, see %s", runtime.records.failures, runtime.records.failures_path)


def all_dropped(stats: dict[str, Any]) -> bool:
    """Whether a crawl has made items, and none was one (pure)."""
    return bool(stats.get("item_dropped_count")) and not stats.get("item_scraped_count")


def summary(stats: dict[str, Any]) -> str:
    """Items and outcomes of a crawl in one line (pure)."""
    items = stats.get("item_scraped_count", 0)
    outcomes = {
        name.rsplit("/", 1)[1]: count
        for name, count in sorted(stats.items())
        if name.startswith("fetchworker/outcome/")
    }
    told = ", ".join(f"{outcome} {count}" for outcome, count in outcomes.items()) or "no answers"
    return f"{items} items{_lost(stats)}; answers: {told}{_ended(stats)}"


def _lost(stats: dict[str, Any]) -> str:
    """How many lines the outputs did not take."""
    lost = stats.get(LINES_LOST, 0)
    return f", {lost} line{'s' if lost > 1 else ''} lost as the output could not be written" if lost else ""


def _ended(stats: dict[str, Any]) -> str:
    """How paged calls ended."""
    found = sorted(name for name in stats if name.startswith("fetchworker/ended/"))
    told = ", ".join(
        f"{operation} {_ENDS[how]} ({stats[name]})"
        for name, (operation, how) in ((name, name.rsplit("/", 2)[1:]) for name in found)
    )
    return f"; pages ended: {told}" if told else ""


def drift(stats: dict[str, Any]) -> list[str]:
    """Which operations met pages that lack what their contract promises, and how many of all (pure)."""
    lines = []
    for name, count in sorted(stats.items()):
        if not name.startswith("fetchworker/drift/"):
            continue
        _, _, site, operation, path = name.split("/", 4)
        pages = stats.get(f"fetchworker/parsed/{site}/{operation}", 0) + _drifted(stats, site, operation)
        lines.append(f"{site} {operation}: {count} of {pages} pages ({count / pages:.0%}) lack {path}")
    return lines


def _drifted(stats: dict[str, Any], site: str, operation: str) -> int:
    prefix = f"fetchworker/drift/{site}/{operation}/"
    return sum(count for name, count in stats.items() if name.startswith(prefix))
