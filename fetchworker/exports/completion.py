"""Tells when a response is done: its callback is exhausted, its items have left the pipelines, their lines are on disk.

An item that a pipeline failed on (an error, not a ``DropItem``) keeps its response from being done: the generator ends
with an error, and :data:`not_done` tells whoever keeps the request.

This is the one seam between "scraped" and "done". It rests on public parts alone: a spider middleware's async
generator (Scrapy counts a request as in progress until it ends) and the three signals that end an item's way.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.exceptions import CloseSpider

from fetchworker.errors import ExportError, StorageError
from fetchworker.exports.ending import EXPORT_ERROR
from fetchworker.exports.feeds import feeds_durable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

#: sent with ``request`` and ``error`` when items of a response were lost: the request has to be done again
not_done = object()

logger = logging.getLogger(__name__)

#: meta keys that tell how a request's own tries went (middlewares, frontier and Scrapy's redirects write them)
_OF_TRIES = frozenset({
    "fw_wire", "fw_identity", "fw_slot", "fw_lease", "fw_tries", "fw_first", "fw_hop_of", "fw_restarts", "fw_refresh",
    "fw_refreshed", "fw_cookies_taken", "fw_cookies_host", "fw_warmup_failed", "fw_gate", "fw_recorded", "fw_evidence",
    "fw_render_steps",
    "redirect_times", "redirect_ttl", "redirect_urls", "redirect_reasons", "download_latency",
})  # fmt: skip


class _Progress:
    """Items of one response: how many went out, how many came to their end, and the error of one that was lost."""

    __slots__ = ("ended", "lost", "out", "wake")

    def __init__(self) -> None:
        self.out = 0
        self.ended = 0
        self.lost: BaseException | None = None
        self.wake: asyncio.Event | None = None

    async def all_ended(self) -> None:
        while self.ended < self.out:
            self.wake = asyncio.Event()
            await self.wake.wait()


class CompletionMiddleware:
    """The outermost spider middleware: holds a response until everything it gave is stored.

    The requests that a response gives begin their tries anew, whatever meta they were made of.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._open: dict[int, _Progress] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it and listen for the ends of items."""
        middleware = cls(crawler)
        for signal in (signals.item_scraped, signals.item_dropped):
            crawler.signals.connect(middleware._item_ended, signal)
        crawler.signals.connect(middleware._item_lost, signals.item_error)
        return middleware

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Pass everything on, then wait until the items are stored and their lines durable.

        Raises:
            CloseSpider: the disk or the database refuses; the crawl ends, the response is not done.
            StorageError: an item was lost in another way; the response is not done.
        """
        progress = self._open[id(response)] = _Progress()
        try:
            async for output in result:
                if isinstance(output, Request):
                    yield _of_its_own(output, response)
                    continue
                progress.out += output is not None
                yield output
            if progress.out:
                await progress.all_ended()
                await feeds_durable()
            if progress.lost is not None:
                self._not_done(response.request, progress.lost)
        except ExportError as exc:
            logger.error("%s: the crawl stops, lines may be missing", exc)  # noqa: TRY400  # no bug of ours
            self._crawler.signals.send_catch_log(not_done, request=response.request, error=exc)
            raise CloseSpider(EXPORT_ERROR) from exc
        finally:
            self._open.pop(id(response), None)

    def _not_done(self, request: Request | None, error: BaseException) -> None:
        self._crawler.signals.send_catch_log(not_done, request=request, error=error)
        if isinstance(error, StorageError):
            raise CloseSpider("storage_error") from error
        raise StorageError(f"an item was lost: {type(error).__name__}: {error}") from error

    def _item_lost(self, response: Response | None, failure: Failure) -> None:
        progress = self._open.get(id(response))
        if progress is not None:
            progress.lost = failure.value
        self._item_ended(response)

    def _item_ended(self, response: Response | None) -> None:
        progress = self._open.get(id(response))
        if progress is not None:
            progress.ended += 1
            if progress.wake is not None:
                progress.wake.set()


def _of_its_own(request: Request, response: Response) -> Request:
    """A request without what it has of its page's tries, as with ``meta=response.meta``: a retry would go there."""
    inherited = _OF_TRIES & request.meta.keys()
    if inherited and request is response.request:
        request = request.copy()  # the page's own request is in use still
    for key in inherited:
        del request.meta[key]
    return request
