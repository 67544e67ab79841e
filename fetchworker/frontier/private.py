"""The queue of a crawl with a call of its own where it is kept in memory: what is left there in the end is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.core.scheduler import Scheduler as StockScheduler

from fetchworker.errors import UnfinishedError
from fetchworker.exports.completion import not_done

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request

#: finish reasons of crawls that went as far as their settings asked for
_FAR_ENOUGH = frozenset({"closespider_itemcount", "closespider_pagecount", "closespider_timeout"})


class Scheduler(StockScheduler):
    """Scrapy's own; requests that a crawl did not come to are sent as :data:`not_done`."""

    def close(self, reason: str) -> Any:
        """Close; with a JOBDIR the requests are on disk for the next crawl."""
        if reason not in _FAR_ENOUGH and self.crawler is not None:
            for request in self.left():
                error = UnfinishedError(f"the crawl ended before it was done ({reason})")
                self.crawler.signals.send_catch_log(not_done, request=request, error=error)
        return super().close(reason)

    def left(self) -> Iterator[Request]:
        """Take out what is in memory still."""
        while (request := self.mqs.pop()) is not None:
            yield request
