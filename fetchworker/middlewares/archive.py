"""Keeps what a crawl fetches as WARC files; off unless FETCHWORKER_ARTIFACTS_WARC says otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from fetchworker.middlewares.recording import ARCHIVE, CrawlVolumes, Recorder, Volume, exchange_of
from fetchworker.runtime import Runtime
from fetchworker.tasks import within

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

#: seconds that the last volume may take to become an artifact
_LAST = 60.0
#: the flag of a page of the browser's
_RENDERED = "playwright"


class ArchiveMiddleware:
    """Sees every answer, decoded, before anything is made of it."""

    def __init__(self, runtime: Runtime) -> None:
        self._recorder = Recorder(runtime)
        self._volumes = CrawlVolumes(runtime, self._recorder) if not runtime.by_call else None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware.

        Raises:
            NotConfigured: nothing is to be archived.
        """
        runtime = Runtime.of(crawler)
        if not runtime.environment.artifacts_warc:
            raise NotConfigured
        made = cls(runtime)
        crawler.signals.connect(made._closed, signals.spider_closed)
        return made

    async def process_response(self, request: Request, response: Response) -> Response:
        """Write it down and let it pass; what a browser has made of a page did not come over the wire."""
        if _RENDERED in response.flags:
            return response
        volume: Volume | None = request.meta.get(ARCHIVE)
        if volume is not None:
            await volume.add(exchange_of(request, response))
        elif self._volumes is not None:
            await self._volumes.add(exchange_of(request, response))
        return response

    async def _closed(self) -> None:
        if self._volumes is not None:
            await within(_LAST, self._volumes.close(), "the archive")
