"""The queue that all workers of a site share, as a crawl sees it: settings, seeds, and patience with its Redis."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.exceptions import CloseSpider

from fetchworker.errors import RedisUnavailableError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy.crawler import Crawler

    from fetchworker.frontier.vigil import Vigil
    from fetchworker.redis import RedisEndpoint
    from fetchworker.runtime.crawl import Runtime
    from fetchworker.sessions import SessionStore

logger = logging.getLogger(__name__)
T = TypeVar("T")
#: seconds until the scheduler's connection stands, and that a command of its may take: the loop stands still meanwhile
_CONNECT, _COMMAND = 2.0, 5.0


class SharedQueue:
    """The shared queue of one crawl.

    Attributes:
        vigil: waits for Redis when it goes away.
    """

    def __init__(self, runtime: Runtime, crawler: Crawler, endpoint: RedisEndpoint) -> None:
        from fetchworker.frontier.vigil import Vigil  # noqa: PLC0415  # Redis's library is heavy to import

        self._runtime = runtime
        self._crawler = crawler
        self._endpoint = endpoint
        self._closing: asyncio.Future[None] | None = None
        patience = runtime.environment.redis_patience
        self.vigil: Vigil = Vigil(self._look, patience=patience, changed=self._changed)
        self.vigil.keep(crawler)

    def settings(self) -> dict[str, Any]:
        """Scrapy's settings for it (scrapy-redis's classes and key names)."""
        from redis.backoff import NoBackoff  # noqa: PLC0415  # as above
        from redis.retry import Retry  # noqa: PLC0415  # as above

        return {
            "SCHEDULER": "fetchworker.frontier.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "SCHEDULER_QUEUE_CLASS": "fetchworker.frontier.scheduler.PriorityQueue",
            "SCHEDULER_SERIALIZER": "fetchworker.frontier.codec",
            "SCHEDULER_PERSIST": True,
            "REDIS_URL": self._endpoint.url.get_secret_value(),
            # the vigil waits, and leaves the loop free: a command that takes a request out must not be sent twice
            "REDIS_PARAMS": {
                "socket_connect_timeout": _CONNECT,
                "socket_timeout": _COMMAND,
                "retry_on_timeout": False,
                "retry": Retry(NoBackoff(), 0),
            },
        }

    async def seeds(self, parse: Callable[[bytes], T]) -> AsyncIterator[T]:
        """The seeds as they come.

        Raises:
            CloseSpider: there is no Redis any more.
        """
        from fetchworker.frontier.seeds import SeedReader  # noqa: PLC0415  # as above
        from fetchworker.frontier.vigil import REDIS_UNAVAILABLE  # noqa: PLC0415  # as above

        settings = self._crawler.settings
        key = settings.get("REDIS_START_URLS_KEY", "%(name)s:start_urls") % {"name": self._runtime.site}
        idle_close = settings.getfloat("SCHEDULER_IDLE_BEFORE_CLOSE")
        try:
            redis = await self._runtime.redis()
        except RedisUnavailableError as exc:
            logger.error("%s: the crawl ends", exc)  # noqa: TRY400  # no bug of ours
            raise CloseSpider(REDIS_UNAVAILABLE) from exc
        reader = SeedReader(redis, key, vigil=self.vigil, idle_close=idle_close, busy=self._busy)
        try:
            async for seed in reader.read(parse):
                self._runtime.count("seeds/read")
                yield seed
        except RedisUnavailableError:
            return  # the vigil closes the crawl

    def patient(self, store: SessionStore) -> SessionStore:
        """The store of sessions, which waits for Redis like the queue."""
        from fetchworker.frontier.sessions import PatientStore  # noqa: PLC0415  # only crawls of the shared queue

        return PatientStore(store, self.vigil)

    async def _look(self, limit: float) -> None:
        from fetchworker.redis import wait_for_redis  # noqa: PLC0415  # as above

        await wait_for_redis(self._endpoint, limit=limit)

    def _changed(self) -> None:
        from fetchworker.frontier.vigil import REDIS_UNAVAILABLE  # noqa: PLC0415  # as above

        if self.vigil.lost is None:
            self._runtime.look_again()
        elif not self._runtime.ending():
            assert self._crawler.engine
            ended = self._crawler.engine.close_spider_async(reason=REDIS_UNAVAILABLE)
            self._closing = asyncio.ensure_future(ended)

    def _busy(self) -> bool:
        engine = self._crawler.engine
        return engine is not None and bool(engine.downloader.active)
