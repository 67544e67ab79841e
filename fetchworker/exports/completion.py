"""Tells when a response is done: its callback is exhausted, its items have left the pipelines, their lines are on disk.

This is the one seam between "scraped" and "done". It rests on public parts alone: a spider middleware's async
generator (Scrapy counts a request as in progress until it ends) and the three signals that end an item's way.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.exceptions import CloseSpider

from fetchworker.errors import ExportError
from fetchworker.exports.feeds import EXPORT_ERROR, feeds_durable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)


class _Progress:
    """Items of one response: how many went out, how many came to their end."""

    __slots__ = ("ended", "out", "wake")

    def __init__(self) -> None:
        self.out = 0
        self.ended = 0
        self.wake: asyncio.Event | None = None

    async def all_ended(self) -> None:
        while self.ended < self.out:
            self.wake = asyncio.Event()
            await self.wake.wait()


class CompletionMiddleware:
    """The outermost spider middleware: holds a response until everything it gave is stored."""

    def __init__(self) -> None:
        self._open: dict[int, _Progress] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it and listen for the ends of items."""
        middleware = cls()
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(middleware._item_ended, signal)
        return middleware

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Pass everything on, then wait until the items are stored and their lines durable.

        Raises:
            CloseSpider: the disk refuses.
        """
        progress = self._open[id(response)] = _Progress()
        try:
            async for output in result:
                if output is not None and not isinstance(output, Request):
                    progress.out += 1
                yield output
            if progress.out:
                await progress.all_ended()
                await feeds_durable()
        except ExportError as exc:
            logger.error("%s: the crawl stops, lines may be missing", exc)  # noqa: TRY400  # no bug of ours
            raise CloseSpider(EXPORT_ERROR) from exc
        finally:
            self._open.pop(id(response), None)

    def _item_ended(self, response: Response | None) -> None:
        progress = self._open.get(id(response))
        if progress is not None:
            progress.ended += 1
            if progress.wake is not None:
                progress.wake.set()
