"""Scrapy's scheduler over a queue in Redis that loses nothing.

Requests are handed out on lease. A request is done when its callback is exhausted, its items have left the pipelines
and its children stand in the queue; that it is done, its children and the seen-set change in one step. What a worker
had that died is given to others. The keys are described in :mod:`fetchworker.frontier.keys`.

scrapy-redis's settings keep their meaning: ``SCHEDULER_QUEUE_KEY``, ``SCHEDULER_DUPEFILTER_KEY``,
``REDIS_START_URLS_KEY``, ``SCHEDULER_IDLE_BEFORE_CLOSE``, ``SCHEDULER_PERSIST``, ``SCHEDULER_FLUSH_ON_START``.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.defer import deferred_from_coro

from fetchworker.errors import (
    ConfigError,
    ExportError,
    FetchworkerError,
    RedisUnavailableError,
    StorageError,
    UnfinishedError,
)
from fetchworker.exports.completion import not_done
from fetchworker.frontier import codec, done
from fetchworker.frontier.codec import LEASE
from fetchworker.frontier.dupefilter import dupefilter_of
from fetchworker.frontier.ending import IDLE, settle
from fetchworker.frontier.entry import Child, Move
from fetchworker.frontier.keepalive import Keepalive
from fetchworker.frontier.keys import check_cluster
from fetchworker.frontier.lease import Lease, delay_of
from fetchworker.frontier.link import Link
from fetchworker.frontier.redisspider import idle_limit, stop_own_reader
from fetchworker.frontier.seedform import requests_of
from fetchworker.frontier.starting import START, starting
from fetchworker.frontier.store import Frontier, owner_name
from fetchworker.frontier.vigil import AWAY, REDIS_UNAVAILABLE
from fetchworker.frontier.worker import Worker

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)

#: seconds that the end of a crawl waits for Redis to take what is left to tell
_LAST_WORDS = 10.0


class Scheduler(BaseScheduler):
    """One worker's scheduler.

    Raises:
        ConfigError: ``DUPEFILTER_CLASS`` is one that workers cannot share, or keys lie in different slots of a cluster.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not is_asyncio_available():
            raise ConfigError("TWISTED_REACTOR: the queue in Redis needs asyncio; leave the setting out")
        self._crawler = crawler
        self._link = Link.of(crawler)
        self._filter = dupefilter_of(crawler)
        #: ready to be given out: what was leased, and what carries a lease on (retries, redirects)
        self._ready: deque[tuple[Request, Lease]] = deque()
        self._carried: deque[tuple[Request, Lease]] = deque()
        #: what the engine has: by the request's id, with the request so that the id stays its own
        self._out: dict[int, tuple[Request, Lease]] = {}
        self._keepalive: Keepalive | None = None
        self._worker: Worker | None = None
        self._watch: done.Watch | None = None
        self._grace: asyncio.TimerHandle | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it."""
        return cls(crawler)

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────

    def open(self, spider: Spider) -> Deferred[None]:
        """Connect, take back what a former process of this worker had, and begin to lease.

        Raises:
            CloseSpider: there is no Redis; RedisUnavailableError in another project.
        """
        self.spider = spider
        return deferred_from_coro(self._open())

    async def _open(self) -> None:
        link, settings = self._link, self._crawler.settings
        try:
            redis = await link.connect()
            if getattr(redis, "get_primaries", None) is not None:
                check_cluster(link.names)
            frontier = Frontier(redis, link.names, owner=owner_name(link.worker), terms=link.terms)
            if settings.getbool("SCHEDULER_FLUSH_ON_START") and not await frontier.workers():
                await frontier.purge()
            await frontier.enter()
            await frontier.prune()
            if returned := await frontier.reclaim():
                logger.info("%d requests of a worker that is gone went back to the queue", returned)
        except (RedisUnavailableError, *AWAY) as exc:
            if link.raises:
                raise RedisUnavailableError(str(exc)) from exc
            logger.error("%s: the crawl ends", exc)  # noqa: TRY400  # no bug of ours
            raise CloseSpider(REDIS_UNAVAILABLE) from exc
        self._begin(frontier, redis)

    def _begin(self, frontier: Frontier, redis: Any) -> None:
        settings, private = self._crawler.settings, self._link.names.id is not None
        engine = self._crawler.engine
        assert engine is not None
        self._watch = done.Watch(engine, self)
        idle = settings.getfloat("SCHEDULER_IDLE_BEFORE_CLOSE") or idle_limit(self.spider)
        stop_own_reader(self._crawler, self.spider)
        self._worker = Worker(
            frontier,
            redis,
            self._link.vigil,
            ahead=2 * settings.getint("CONCURRENT_REQUESTS") or 128,
            accept=self._accept,
            changed=self._watch.wake,
            seeds=not private,
            ends_after=0 if private else (idle or None),
            count=self._count,
        )
        done.replace_start(engine, lambda start: starting(start, self._worker, self._link.vigil))  # type: ignore[arg-type]
        self._keepalive = Keepalive(self._link.endpoint, frontier, lambda: bool(self._worker and self._worker.leases))
        self._crawler.signals.connect(self._spider_error, signals.spider_error)
        self._crawler.signals.connect(self._not_done, not_done)
        if not private:
            self._crawler.signals.connect(self._idle, signals.spider_idle)
        self._worker.start()
        self._keepalive.start()
        logger.info("queue %s, worker %s", self._link.names, frontier.owner)

    # ── what the engine asks ─────────────────────────────────────────────────────────────────────────────────────

    def __len__(self) -> int:
        return len(self._ready) + len(self._carried)

    def has_pending_requests(self) -> bool:
        """Whether there is work, here or anywhere in the namespace; unknown counts as yes."""
        worker = self._worker
        if worker is None:
            return False
        return bool(self._ready or self._carried or worker.leases or worker.untold) or not worker.ended

    def enqueue_request(self, request: Request) -> bool:
        """Take a request; False for one that no queue can keep. Duplicates are found out when Redis is told."""
        assert self._worker is not None
        owner = done.current.get()
        if owner is None and (lease := self._worker.leases.get(request.meta.get(LEASE, ""))) is not None:
            lease.open += 1  # a retry or a redirect of what is on lease
            self._carried.append((request, lease))
            return True
        request.meta.pop(LEASE, None)  # a child that was made of its page's meta
        try:
            child = self._child(request)
        except Exception as exc:  # noqa: BLE001  # as of a fingerprinter: Scrapy would lose the request without a word
            self._refuse(request, exc, owner)
            return False
        if owner is START:
            self._worker.started(child)
        elif isinstance(owner, Lease):
            self._worker.child(owner, child)
        else:
            self._worker.loose(child)
        return True

    def _refuse(self, request: Request, error: Exception, owner: done.Owner | None) -> None:
        logger.error("%s cannot be queued: %s", request, error)
        self._count("scheduler/unserializable", 1)
        if isinstance(owner, Lease):
            owner.fail(error)  # its page is not done without it
        else:
            self._crawler.signals.send_catch_log(not_done, request=request, error=error)

    def next_request(self) -> Request | None:
        """The next request, None when there is none now."""
        done.current.set(None)  # the engine may have been woken from within a callback
        queue = self._carried or self._ready
        if not queue:
            return None
        request, lease = queue.popleft()
        assert self._worker is not None
        if queue is self._ready:
            self._worker.ready -= 1
            self._worker.wants()
        request.meta[LEASE] = lease.token
        self._out[id(request)] = request, lease
        self._count("scheduler/dequeued/redis", 1)
        return request

    # ── what was leased ──────────────────────────────────────────────────────────────────────────────────────────

    def _accept(self, lease: Lease) -> None:
        assert self._worker is not None
        entry = lease.entry
        try:
            if entry.kind == "seed":
                self._sow(lease)
                return
            request = codec.decode(entry.payload, self.spider, priority=lease.priority)
            check = getattr(self.spider, "check_queued", None)
            if check is not None:
                check(request)
        except FetchworkerError as exc:
            self._bury(lease, str(exc))
            return
        except Exception as exc:  # noqa: BLE001  # a spider's own check: one entry must not stop the others
            self._bury(lease, f"{type(exc).__name__}: {exc}")
            return
        self._ready.append((request, lease))
        self._worker.ready += 1

    def _sow(self, lease: Lease) -> None:
        """A seed is done when its request stands in the queue."""
        assert self._worker is not None
        children = [self._child(request) for request in requests_of(lease.entry.payload, self.spider)]
        self._count("fetchworker/seeds/read", 1)
        for child in children:
            self._worker.child(lease, child)
        self._worker.finish(lease)

    def _child(self, request: Request) -> Child:
        return Child(request.priority, self._filter.fingerprint(request), codec.encode(request, self.spider))

    def _bury(self, lease: Lease, reason: str) -> None:
        assert self._worker is not None
        what = "bad seed" if lease.entry.kind == "seed" else "an entry that is no request"
        logger.warning("%s of %s goes to the dead letters: %s", what, self._link.names, reason.partition("\n")[0])
        self._count("frontier/dead", 1)
        self._worker.move(lease, Move(lease.token, dead=reason))

    # ── what became of it ────────────────────────────────────────────────────────────────────────────────────────

    def owner_of(self, request: Request) -> done.Owner | None:
        """See :class:`fetchworker.frontier.done.Listener`."""
        found = self._out.get(id(request))
        return found[1] if found else None

    def removed(self, request: Request) -> None:
        """See :class:`fetchworker.frontier.done.Listener`."""
        found = self._out.pop(id(request), None)
        if found is None:
            return
        lease = found[1]
        lease.open -= 1
        if lease.open == 0:
            self._ended(request, lease)

    def _ended(self, request: Request, lease: Lease) -> None:
        assert self._worker is not None
        if lease.back:
            self._worker.move(lease, Move(lease.token))
        elif lease.error is None:
            self._worker.finish(lease)
        else:
            self._failed(request, lease, lease.error)

    def _failed(self, request: Request, lease: Lease, error: BaseException) -> None:
        assert self._worker is not None
        terms, failures = self._link.terms, lease.entry.failures
        told = f"{type(error).__name__}: {error}"
        if failures + 1 < terms.attempts:
            delay = delay_of(failures, terms.pause)
            logger.warning("%s failed (%s), attempt %d in %.1f s", request.url, told, failures + 2, delay / 1000)
            self._count("frontier/retried", 1)
            self._worker.move(lease, Move(lease.token, delay=delay))
            return
        logger.error("%s failed %d times (%s): it goes to the dead letters", request.url, failures + 1, told)
        self._count("frontier/dead", 1)
        self._worker.move(lease, Move(lease.token, dead=told))
        request.meta.pop(LEASE, None)
        self._crawler.signals.send_catch_log(not_done, request=request, error=error)

    def _spider_error(self, failure: Any) -> None:
        owner = done.current.get()
        if owner is not None:
            owner.fail(failure.value)

    def _not_done(self, request: Request, error: BaseException) -> None:
        """Items were lost, or the crawl ends before the request was done."""
        assert self._worker is not None
        lease = self._worker.leases.get(request.meta.get(LEASE, ""))
        if lease is None:
            return
        if isinstance(error, UnfinishedError | ExportError) or type(error) is StorageError:
            lease.back = True  # nothing is wrong with it
        else:
            lease.fail(error)

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────

    def closing(self) -> None:
        """See :class:`fetchworker.frontier.done.Listener`."""
        assert self._worker is not None
        self._worker.stop_leasing()
        self._grace = asyncio.get_running_loop().call_later(self._link.grace, self._cut)

    def _cut(self) -> None:
        if not self._out:
            return
        logger.warning("%d requests are under way still: they go back to the queue", len(self._out))
        for _, lease in self._out.values():
            lease.back = True
        assert self._watch is not None
        self._watch.cut()

    def _idle(self) -> None:
        if self._worker is not None and self._worker.ended:
            raise CloseSpider(IDLE)

    def close(self, reason: str) -> Deferred[None] | None:
        """Tell what is left to tell; what is not done goes back to the queue."""
        return deferred_from_coro(self._close(reason)) if self._worker is not None else None

    async def _close(self, reason: str) -> None:
        worker = self._worker
        assert worker is not None
        assert self._keepalive is not None
        if self._grace is not None:
            self._grace.cancel()
        told = self._link.vigil.lost is None and await worker.stop(limit=_LAST_WORDS)
        self._keepalive.stop()
        if not told:
            logger.error("Redis has not taken the last news: what was under way is done again when its leases lapse")
        try:
            if told:
                await settle(worker.frontier, self._crawler, reason)
        except AWAY as exc:
            logger.warning("the namespace is not ended: %s", exc)
        finally:
            await self._link.disconnect()

    def _count(self, name: str, by: int) -> None:
        self._crawler.stats.inc_value(name, by)
