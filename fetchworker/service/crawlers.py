"""One Scrapy crawler per site, without a reactor, on the service's own event loop.

A served spider makes no requests by itself and reads no queue: its crawler is there for its downloader middlewares, its
handler, its sessions and its item pipelines, which calls of the service go through as those of a crawl do.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.exceptions import DontCloseSpider

from fetchworker.errors import ConfigError
from fetchworker.runtime import Runtime
from fetchworker.service.callsessions import PREFIX, call_sessions
from fetchworker.sessions.live import LiveSessions
from fetchworker.spiders.base import SiteSpider
from fetchworker.spiders.paging import Duplicates

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from scrapy import Request
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler
    from scrapy.settings import Settings

    from fetchworker.limiter import Starts
    from fetchworker.runtime import Identities

logger = logging.getLogger(__name__)

#: seconds that crawlers may take to close
_CLOSING = 10.0


class Served(SiteSpider):
    """What a spider does differently in the service; :func:`served` mixes it in."""

    name = "served"
    crawlers: ClassVar[Crawlers]
    call_name: str | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider with a queue of its own, in memory, that stays empty."""
        spider = super(SiteSpider, cls).from_crawler(crawler, *args, **kwargs)
        spider.runtime = runtime = Runtime.open(crawler, site=cls.name, private=True)
        runtime.exits.waits = False  # callers are told at once that no proxy is left
        runtime.by_call = True
        runtime.limit = cls.crawlers.limit_of_all(runtime.limit)
        runtime.hold_sessions(LiveSessions(call_sessions(runtime.session_store)))
        crawler.signals.connect(cls._stay, signals.spider_idle)
        return spider

    @staticmethod
    def _stay() -> None:
        raise DontCloseSpider

    async def start(self) -> AsyncIterator[Any]:
        """Nothing: calls come from outside."""
        return
        yield

    def for_call(self, name: str) -> Self:
        """The spider for one call: what a call remembers over its pages is no other call's."""
        one = copy(self)
        one.call_name = name
        one._duplicates = Duplicates()  # noqa: SLF001  # its own
        return one

    @property
    def identities(self) -> Identities:
        """A session that a call keeps over its pages is this call's alone, and is kept in this process."""
        return super().identities._replace(crawl_id=f"{PREFIX}{self.call_name}")

    async def leave(self, request: Request) -> None:
        """The call is over, at its end or before: what was kept for its further pages goes."""
        await self._end(self.load_call(request.meta["fw_call"]), request.meta)


def served(cls: type[SiteSpider], crawlers: Crawlers) -> type[Served]:
    """The class of a site's spider for the service."""
    own = {"name": cls.name, "crawlers": crawlers}
    return cast("type[Served]", type(f"Served{cls.__name__}", (Served, cls), own))


class Crawlers:
    """The open crawlers of a process, by site. A site's is opened with its first call.

    Args:
        settings: of the project.
        spiders: the sites that are served.
        redis_patience: seconds that a call waits for a Redis which does not answer.
    """

    def __init__(self, settings: Settings, spiders: Mapping[str, type[SiteSpider]], *, redis_patience: float) -> None:
        own = settings.copy()
        # as if given with -s: a place for the queue that needs no Redis, and no lines about an idle crawl
        own.set("FETCHWORKER_FRONTIER", "memory", priority="cmdline")
        own.set("FETCHWORKER_REDIS_PATIENCE", redis_patience, priority="cmdline")
        own.set("LOGSTATS_INTERVAL", 0, priority="cmdline")
        own.set("FEEDS", {}, priority="cmdline")
        self._runner = AsyncCrawlerRunner(own)
        self._spiders = spiders
        self._open: dict[str, Crawler] = {}
        self._opening: dict[str, asyncio.Lock] = {}
        self.limit: Starts | None = None

    @property
    def sites(self) -> list[str]:
        """The sites that are served."""
        return list(self._spiders)

    @property
    def need_redis(self) -> bool:
        """Whether a crawler here has used Redis."""
        runtimes = (cast("Served", crawler.spider).runtime for crawler in self._open.values())
        return any(runtime is not None and runtime.has_redis for runtime in runtimes)

    def limit_of_all(self, limit: Starts | None) -> Starts | None:
        """The limit that all crawlers here have in common: the first one's, so that they keep it together."""
        self.limit = self.limit or limit
        return self.limit

    async def get(self, site: str) -> tuple[Served, ExecutionEngine]:
        """The spider and the engine of a site.

        Raises:
            ConfigError: the crawler cannot be opened as configured.
        """
        crawler = self._open.get(site)
        if crawler is None:
            async with self._opening.setdefault(site, asyncio.Lock()):
                crawler = self._open.get(site) or await self._start(site)
        assert crawler.engine is not None
        return cast("Served", crawler.spider), crawler.engine

    async def _start(self, site: str) -> Crawler:
        crawler = self._runner.create_crawler(served(self._spiders[site], self))
        opened = asyncio.Event()
        crawler.signals.connect(opened.set, signals.engine_started, weak=False)
        running = self._runner.crawl(crawler)
        waiting = asyncio.ensure_future(opened.wait())
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not opened.is_set():
            waiting.cancel()
            error = running.exception()
            raise error if error is not None else ConfigError(f"the crawler of {site} ended at its start")
        self._open[site] = crawler
        return crawler

    async def close(self) -> None:
        """Close all crawlers."""
        self._open.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING):
                await self._runner.stop()
                await self._runner.join()
