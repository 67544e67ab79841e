"""Holds requests back while no proxy leads to a site that requires one: nothing is sent, and no try is spent."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from fetchworker.download.budget import BudgetStop
from fetchworker.errors import UnfinishedError
from fetchworker.frontier.codec import LEASE
from fetchworker.media import MEDIA
from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: the finish reason of a crawl whose proxies stayed away
NO_EGRESS = "no_egress"
#: seconds between two looks whether an exit is back
_LOOK = 0.25
_ENDED = "the crawl ended before an exit was back"


class NoEgressMiddleware:
    """Waits for an exit before the request is given an identity; ends the crawl when none comes back in time."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._runtime = Runtime.of(crawler)
        self._patience = self._runtime.environment.no_egress_patience
        self._budget = BudgetStop.of(crawler)
        self._ending: asyncio.Task[None] | None = None
        self._keeps = bool(crawler.settings.get("JOBDIR"))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware."""
        return cls(crawler)

    async def process_request(self, request: Request) -> Request | None:
        """Let the request on when there is an exit for it; give it back when the crawl ends before.

        Raises:
            UnfinishedError: the crawl ends, and nobody would keep the request: it is a part of another one, which then
                goes back, or ``engine.download_async`` was asked for it. Or the budget is used up.
            IgnoreRequest: the crawl ends, and it was asked for by a middleware.
        """
        runtime, exits = self._runtime, self._runtime.exits
        while exits.needed and not exits.ask():
            if self._budget is not None:  # it may be spent while one waits: then no exit will do today
                self._budget.check(request.url)
            if runtime.private and exits.hopeless:
                return None  # fails as PROXY_EXHAUSTED: nobody else could do it later
            if exits.hopeless or exits.paused_for > self._patience:
                self._end()
            if runtime.ending() or self._ending is not None:
                return self._given_back(request)
            await runtime.waits.sleep(_LOOK)
        return None

    def _given_back(self, request: Request) -> Request:
        """The request, for the scheduler to keep; what somebody waits for fails."""
        if request.meta.get("fw_warmup") or request.meta.get(MEDIA):
            raise UnfinishedError(_ENDED)
        if request.callback is NO_CALLBACK:
            raise IgnoreRequest(_ENDED)  # no error for robots.txt's middleware; who waits for it comes here next
        if LEASE not in request.meta and not self._keeps:  # no scheduler would have it for a later crawl
            raise UnfinishedError(_ENDED)
        request.dont_filter = True
        return request

    def _end(self) -> None:
        if self._ending is None:
            logger.error("no_egress site=%s: no proxy came back in time, the crawl ends", self._runtime.site)
            self._ending = asyncio.get_running_loop().create_task(self._close())

    async def _close(self) -> None:
        with suppress(RuntimeError):  # it has closed meanwhile
            if self._crawler.engine is not None:
                await self._crawler.engine.close_spider_async(reason=NO_EGRESS)
