"""The queue of a crawl in Redis, as a crawl sets it up: settings, the way to its Redis, and patience with it."""

from __future__ import annotations

import asyncio
import logging
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from fetchworker.runtime.parts import redis_endpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from fetchworker.frontier.vigil import Vigil
    from fetchworker.redis import Client, RedisEndpoint
    from fetchworker.runtime.crawl import Runtime
    from fetchworker.sessions import SessionStore

logger = logging.getLogger(__name__)


class RedisQueue:
    """The queue of one crawl: the one that all workers of the site share, or a private one.

    Attributes:
        vigil: waits for Redis when it goes away.
    """

    def __init__(self, runtime: Runtime, crawler: Crawler) -> None:
        from fetchworker.frontier.link import Link, names_of, terms_of  # noqa: PLC0415  # Redis's library is heavy
        from fetchworker.frontier.vigil import Vigil  # noqa: PLC0415  # as above

        self._runtime = runtime
        self._crawler = crawler
        environment = runtime.environment
        # found when it is needed: a server of our own is started then
        self._endpoint: Callable[[], RedisEndpoint] = cache(partial(redis_endpoint, environment))
        self.vigil: Vigil = Vigil(self._look, patience=environment.redis_patience, changed=self._changed)
        crawl_id = runtime.crawl_id if runtime.private else None
        names = names_of(crawler, crawl_id)
        terms = terms_of(environment)
        Link(
            names, terms, self.vigil, self._endpoint, self._connect, self._disconnect, environment.worker,
            environment.grace,
        ).keep(crawler)  # fmt: skip

    @staticmethod
    def settings() -> dict[str, Any]:
        """Scrapy's settings for it."""
        return {
            "SCHEDULER": "fetchworker.frontier.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "fetchworker.frontier.dupefilter.RFPDupeFilter",
        }

    def patient(self, store: SessionStore) -> SessionStore:
        """The store of sessions, which waits for Redis like the queue."""
        from fetchworker.frontier.sessions import PatientStore  # noqa: PLC0415  # only crawls with sessions

        return PatientStore(store, self.vigil)

    async def _connect(self) -> Client:
        return await self._runtime.redis()

    async def _disconnect(self) -> None:
        """The runtime closes what it opened."""

    async def _look(self, limit: float) -> None:
        from fetchworker.redis import wait_for_redis  # noqa: PLC0415  # as above

        await wait_for_redis(await asyncio.to_thread(self._endpoint), limit=limit)

    def _changed(self) -> None:
        from fetchworker.frontier.link import end_of_patience  # noqa: PLC0415  # as above

        if self.vigil.lost is None:
            self._runtime.look_again()
        elif not self._runtime.ending():
            end_of_patience(self._crawler)
