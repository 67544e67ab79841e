"""Ends a crawl whose site has used up its budget of bytes (``budget`` in sites.yaml), or has it go on by cheap exits.

What is under way is finished; what is not done stays in the queue, or is told as unfinished where there is none.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from fetchworker.config.sizes import show_size
from fetchworker.errors import TierSpentError, UnfinishedError
from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler

    from fetchworker.proxies import Proxy
    from fetchworker.sites.budget import Budget

logger = logging.getLogger(__name__)

#: the finish reason of a crawl that has used up its budget
BUDGET = "budget"
#: seconds that the first request waits to learn what others have spent
_PATIENCE = 5.0

_stops: WeakKeyDictionary[Crawler, BudgetStop] = WeakKeyDictionary()


class BudgetStop:
    """Lets nothing be sent that the budget does not pay for; one for each crawl that has a budget."""

    def __init__(self, crawler: Crawler, budget: Budget) -> None:
        self._crawler = crawler
        self._runtime = Runtime.of(crawler)
        self._budget = budget
        self._learnt: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    def of(cls, crawler: Crawler) -> BudgetStop | None:
        """The crawl's; None where it has no budget."""
        budget = Runtime.of(crawler).config.budget
        if budget is None:
            return None
        stop = _stops.get(crawler)
        if stop is None:
            stop = _stops[crawler] = cls(crawler, budget)
        return stop

    async def learn(self) -> None:
        """Learn once what other workers have spent; if they cannot be asked now, the next batch tells."""
        if self._learnt is None:
            self._learnt = asyncio.get_running_loop().create_task(self._runtime.usage.sync())
        if not self._learnt.done():
            await asyncio.wait([self._learnt], timeout=_PATIENCE)

    def check_exit(self, url: str, proxy: Proxy | None) -> None:
        """See that a request may be sent by its exit.

        Raises:
            UnfinishedError: as :meth:`check`.
            TierSpentError: exits of this tier may not be used any more; the request needs another one.
        """
        self.check(url)
        if proxy is not None and not self._runtime.exits.allows(proxy):
            raise TierSpentError(f"the budget of the tier {proxy.tier} is spent: {url}", tier=proxy.tier)

    def check(self, url: str) -> None:
        """See that a request may be sent.

        Raises:
            UnfinishedError: the budget is used up; the crawl ends, and the request is to be done another time.
        """
        if self._runtime.spending.stopped or self._runtime.exits.used_up:
            self._end()
            raise UnfinishedError(f"the budget of {self._runtime.site} for today is used up: {url}")

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
