"""Stops requests of a site that has used up its budget of bytes before anything is done for them.

The download handler looks again when a request that had to wait is to be sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from fetchworker.download.budget import BudgetStop

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class BudgetMiddleware:
    """Asks :class:`~fetchworker.download.budget.BudgetStop`."""

    def __init__(self, crawler: Crawler) -> None:
        stop = BudgetStop.of(crawler)
        if stop is None:
            raise NotConfigured
        self._stop = stop

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware.

        Raises:
            NotConfigured: the site has no budget.
        """
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Let the request pass.

        Raises:
            UnfinishedError: the budget is used up.
        """
        await self._stop.learn()
        self._stop.check(request.url)
