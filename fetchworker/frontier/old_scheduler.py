"""The shared queue of a site: scrapy-redis's scheduler and queue, mended where they lose or leak something.

Keys (scrapy-redis's names):
    ``<spider>:requests``       sorted set of requests as JSON; the score is the negative priority
    ``<spider>:requests:dead``  list of entries that are no request: JSON {seed | seed_base64, error, at}
    ``<spider>:dupefilter``     set of fingerprints

While Redis is away nothing is given out, and what is to be queued waits here; what still waits when the crawl ends goes
to the failures (:data:`~fetchworker.exports.completion.not_done`).
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object
from scrapy.utils.request import request_from_dict
from scrapy_redis.queue import PriorityQueue as StockQueue
from scrapy_redis.scheduler import Scheduler as StockScheduler

from fetchworker.errors import RedisUnavailableError
from fetchworker.exports.completion import not_done
from fetchworker.frontier.codec import CARRIED
from fetchworker.frontier.seeds import dead_record, reason_of
from fetchworker.frontier.vigil import AWAY, Vigil

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter

logger = logging.getLogger(__name__)


class PriorityQueue(StockQueue):  # type: ignore[misc]  # the library has no hints
    """Requests by priority; an entry that cannot be read is put aside with its reason and the next one taken."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: records on their way to the dead list
        self.dead: deque[bytes] = deque()

    def pop(self, timeout: int = 0) -> Request | None:  # noqa: ARG002  # the base's signature; it never waits
        """The request with the highest priority, None when there is none."""
        self.bury()
        while popped := self.server.zpopmin(self.key):
            raw: bytes = popped[0][0]
            try:
                return self._decode_request(raw)
            except Exception as exc:  # noqa: BLE001  # whatever it is: one entry must not stop the others
                reason = reason_of(exc)
                logger.warning("an entry of %s is no request, moved to %s:dead: %s", self.key, self.key, reason)
                self.dead.append(dead_record(raw, reason))
                self.bury()
        return None

    def bury(self) -> None:
        """Bring the records to the dead list."""
        while self.dead:
            self.server.rpush(f"{self.key}:dead", self.dead[0])
            self.dead.popleft()

    def _decode_request(self, raw: bytes) -> Request:
        values: dict[str, Any] = self.serializer.loads(raw)
        # a class named in data would be imported; the plain fields hold all that is sent
        values.pop("_class", None)
        request = request_from_dict(values, spider=self.spider)
        check = getattr(self.spider, "check_queued", None)
        if check is not None:
            check(request)
        return request


class Scheduler(StockScheduler):  # type: ignore[misc]  # as above
    """Keeps to itself what only this process can go on with: redirects of an identity that is not stored."""

    _crawler: Crawler
    _vigil: Vigil

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._here: deque[Request] = deque()
        #: what could not be queued so far
        self._waiting: deque[Request] = deque()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it, with the crawl's vigil over Redis."""
        made: Self = super().from_crawler(crawler)
        made._crawler, made._vigil = crawler, Vigil.of(crawler)
        return made

    def open(self, spider: Spider) -> None:
        """Open queue and filter; what others left in the queue is gone on with."""
        self.spider = spider
        key = self.queue_key % {"spider": spider.name}
        self.queue = load_object(self.queue_cls)(server=self.server, spider=spider, key=key, serializer=self.serializer)
        if not self.df:
            self.df: BaseDupeFilter = load_object(self.dupefilter_cls).from_spider(spider)
        if self.flush_on_start:
            self.flush()
        elif waiting := len(self):
            logger.info("%d requests wait in %s", waiting, key)

    def __len__(self) -> int:
        return self._queued() + len(self._here) + len(self._waiting)

    def has_pending_requests(self) -> bool:
        """Whether there is work; nobody knows while Redis is away, so that the crawl must not end for lack of it."""
        return bool(self._here or self._waiting) or self._queued() > 0 or not self._vigil.up

    def _queued(self) -> int:
        try:
            return len(self.queue) if self._vigil.up else 0
        except AWAY as exc:
            self._vigil.failed(exc)
            return 0

    def enqueue_request(self, request: Request) -> bool:
        """Queue a request; False for a duplicate. What comes while Redis is away waits here."""
        try:
            if self._vigil.up:
                return self._enqueue(request)
        except AWAY as exc:
            self._vigil.failed(exc)
        self._waiting.append(request)
        return True

    def _enqueue(self, request: Request) -> bool:
        if not request.dont_filter and self.df.request_seen(request):
            self.df.log(request, self.spider)
            return False
        if CARRIED in request.meta:
            self._here.append(request)
        else:
            self._push(request)
        self.stats.inc_value("scheduler/enqueued/redis")
        return True

    def _push(self, request: Request) -> None:
        try:
            self.queue.push(request)
        except AWAY:
            request.dont_filter = True  # the filter has it by now and would take it for its own duplicate
            raise
        self._vigil.well()

    def next_request(self) -> Request | None:
        """The next request, None when there is none now."""
        if not self._vigil.up:
            return None
        try:
            self._enqueue_waiting()
            request: Request | None = self._here.popleft() if self._here else self._pop()
        except AWAY as exc:
            self._vigil.failed(exc)
            return None
        if request is not None:
            self.stats.inc_value("scheduler/dequeued/redis")
        return request

    def _pop(self) -> Request | None:
        request: Request | None = self.queue.pop()
        self._vigil.well()
        return request

    def _enqueue_waiting(self) -> None:
        while self._waiting:
            self._enqueue(self._waiting[0])
            self._waiting.popleft()

    def close(self, reason: str) -> None:
        """Leave the work that is still here to the others, who begin with another identity."""
        self._waiting.extend(self._here)
        self._here.clear()
        try:
            while self._waiting:
                self.queue.push(self._waiting[0])
                self._waiting.popleft()
            self.queue.bury()
            super().close(reason)
        except AWAY as exc:
            self._give_up(exc)

    def _give_up(self, error: BaseException) -> None:
        """Hand what could not be queued to whoever keeps failures."""
        told = RedisUnavailableError(f"no Redis to queue the request: {type(error).__name__}: {error}")
        for request in self._waiting:
            self._crawler.signals.send_catch_log(not_done, request=request, error=told)
        for record in self.queue.dead:
            logger.error("the dead list is out of reach, the entry was %s", record.decode())
