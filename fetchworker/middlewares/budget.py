"""Ends a crawl whose site has used up its budget of bytes (``budget`` in sites.yaml).

What is under way is finished; what is not done stays in the queue, or is told as unfinished where there is none.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from fetchworker.config.sizes import show_size
from fetchworker.errors import UnfinishedError
from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: the finish reason of a crawl that has used up its budget
BUDGET = "budget"
#: seconds that the first request waits to learn what others have spent
_PATIENCE = 5.0


class BudgetMiddleware:
    """Lets nothing through once the budget is used up."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._runtime = Runtime.of(crawler)
        budget = self._runtime.config.budget
        if budget is None or budget.on_exceeded != "stop":
            raise NotConfigured
        self._budget = budget
        self._learnt: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware.

        Raises:
            NotConfigured: the site has no budget that stops it.
        """
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Let the request pass.

        Raises:
            UnfinishedError: the budget is used up; the crawl ends, and the request is to be done another time.
        """
        if self._learnt is None:
            self._learnt = asyncio.get_running_loop().create_task(self._runtime.usage.sync())
        if not self._learnt.done():
            await asyncio.wait([self._learnt], timeout=_PATIENCE)
        if self._runtime.spending.stopped:
            self._end()
            raise UnfinishedError(f"the budget of {self._runtime.site} for today is used up: {request.url}")

    def _end(self) -> None:
        engine = self._crawler.engine
        if self._closing is not None or engine is None or self._runtime.ending():
            return
        spent, site = self._runtime.spending.spent(self._runtime.site), self._runtime.site
        logger.warning(
            "%s has used %s of the %s of its budget for today (UTC): the crawl ends, what is not done is kept",
            site, show_size(spent), show_size(self._budget.bytes_per_day),
        )  # fmt: skip
        self._closing = asyncio.get_running_loop().create_task(_close(engine))


async def _close(engine: ExecutionEngine) -> None:
    with suppress(RuntimeError):  # it has closed meanwhile
        await engine.close_spider_async(reason=BUDGET)
