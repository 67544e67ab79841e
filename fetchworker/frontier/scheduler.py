"""The shared queue of a site: scrapy-redis's scheduler and queue, mended where they lose or leak something.

Keys (scrapy-redis's names):
    ``<spider>:requests``       sorted set of requests as JSON; the score is the negative priority
    ``<spider>:requests:dead``  list of entries that are no request: JSON {seed | seed_base64, error, at}
    ``<spider>:dupefilter``     set of fingerprints
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object
from scrapy.utils.request import request_from_dict
from scrapy_redis.queue import PriorityQueue as StockQueue
from scrapy_redis.scheduler import Scheduler as StockScheduler

from fetchworker.frontier.codec import CARRIED
from fetchworker.frontier.seeds import dead_record

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.dupefilters import BaseDupeFilter

logger = logging.getLogger(__name__)


class PriorityQueue(StockQueue):  # type: ignore[misc]  # the library has no hints
    """Requests by priority; an entry that cannot be read is put aside with its reason and the next one taken."""

    def pop(self, timeout: int = 0) -> Request | None:  # noqa: ARG002  # the base's signature; it never waits
        """The request with the highest priority, None when there is none."""
        while popped := self.server.zpopmin(self.key):
            raw: bytes = popped[0][0]
            try:
                return self._decode_request(raw)
            except (ValueError, TypeError, LookupError, AttributeError) as exc:
                logger.warning("an entry of %s is no request, moved to %s:dead: %s", self.key, self.key, exc)
                self.server.rpush(f"{self.key}:dead", dead_record(raw, str(exc)))
        return None

    def _decode_request(self, raw: bytes) -> Request:
        values: dict[str, Any] = self.serializer.loads(raw)
        # a class named in data would be imported; the plain fields hold all that is sent
        values.pop("_class", None)
        return request_from_dict(values, spider=self.spider)


class Scheduler(StockScheduler):  # type: ignore[misc]  # as above
    """Keeps to itself what only this process can go on with: redirects of an identity that is not stored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._here: deque[Request] = deque()

    def open(self, spider: Spider) -> None:
        """Open queue and filter; what others left in the queue is gone on with."""
        self.spider = spider
        key = self.queue_key % {"spider": spider.name}
        self.queue = load_object(self.queue_cls)(server=self.server, spider=spider, key=key, serializer=self.serializer)
        if not self.df:
            self.df: BaseDupeFilter = load_object(self.dupefilter_cls).from_spider(spider)
        if self.flush_on_start:
            self.flush()
        elif waiting := len(self.queue):
            logger.info("%d requests wait in %s", waiting, key)

    def __len__(self) -> int:
        return len(self.queue) + len(self._here)

    def enqueue_request(self, request: Request) -> bool:
        """Queue a request; False for a duplicate."""
        if not request.dont_filter and self.df.request_seen(request):
            self.df.log(request, self.spider)
            return False
        if CARRIED in request.meta:
            self._here.append(request)
        else:
            self.queue.push(request)
        self.stats.inc_value("scheduler/enqueued/redis")
        return True

    def next_request(self) -> Request | None:
        """The next request, None when there is none now."""
        request: Request | None = self._here.popleft() if self._here else self.queue.pop()
        if request is not None:
            self.stats.inc_value("scheduler/dequeued/redis")
        return request

    def close(self, reason: str) -> None:
        """Leave the work that is still here to the others, who begin with another identity."""
        while self._here:
            self.queue.push(self._here.popleft())
        super().close(reason)
