"""A Downloader that keeps ``CONCURRENT_REQUESTS_PER_DOMAIN`` and the site's pace.

Scrapy 2.19 checks for a free place in a slot and then *schedules* the coroutine that takes it, one loop turn later, so
that every request queued in the same turn passes (28 at once under a limit of 4, counted at the server, 2026-11).

A slot is a host, as in Scrapy, and keeps the concurrency; when a request may start is :class:`~fetchworker.pace.Pace`'s
to say, for each exit where the site counts by exit, and after it :class:`~fetchworker.pace.Turns`' where all workers of
the site keep its pace together; where all processes share a limit, a request starts with one of its permits. Requests
that wait long do not count for ``CONCURRENT_REQUESTS``:
the other hosts go on. When the crawl ends they go back to the scheduler. A request whose caller is cancelled leaves the
queue, or ends its transfer, and its place is the next one's.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.exceptions import DownloadCancelledError
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import _process_pending_io
from scrapy.utils.httpobj import urlparse_cached

from fetchworker.download.wire import WIRE
from fetchworker.frontier.codec import SLOT
from fetchworker.outcomes import wait_asked
from fetchworker.pace import DIRECT, Terms
from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.core.downloader import Slot
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

    from fetchworker.pace import Lane, Turn

    Entry = tuple[Request, Deferred[Response]]

#: statuses whose Retry-After is meant for others too: for this visitor, for everybody
_TOO_MANY, _UNAVAILABLE = 429, 503
#: seconds above which a wait is a long one
_LONG = 1.0
#: so many times CONCURRENT_REQUESTS may wait long beside those that are under way
_MOST_WAITING = 4
#: so many may wait for a session, and it is gone on looking for the requests of those that have one
_MOST_STARVED = 500
#: seconds beyond its timeout for which a request counts among all workers', if its own dies
_LEASE_MARGIN = 10.0


class Downloader(ScrapyDownloader):
    """Takes the place in the slot before the transfer is scheduled, and starts transfers when it is their time."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._runtime = Runtime.of(crawler)
        self._pace = self._runtime.pace
        self._waiting: dict[Slot, int] = {}  # slots with requests that wait long, and how many
        self._under_way: dict[Request, asyncio.Task[None]] = {}
        self._turns = self._pace.turns
        self._limit = self._runtime.limit
        self._taken: dict[Request, Turn] = {}
        self._timeout = self.settings.getfloat("DOWNLOAD_TIMEOUT")

    def needs_backout(self) -> bool:
        """Whether no more requests should be taken from the scheduler."""
        active = len(self.active)
        if active < self.total_concurrency or not self.total_concurrency:
            return False
        pooled = self._runtime.session_waits()
        waiting = sum(self._waiting.values()) + self._runtime.waits.count + pooled
        if 0 < pooled < _MOST_STARVED and self._runtime.starved():
            return False  # what they wait for comes with a request that stands in the queue
        return active - min(waiting, _MOST_WAITING * self.total_concurrency) >= self.total_concurrency

    def get_slot_key(self, request: Request) -> str:
        """The request's host, or the slot that it names itself (what Scrapy wrote there for the last hop is none)."""
        named: str | None = request.meta.get(self.DOWNLOAD_SLOT)
        if named is not None and named != request.meta.get(SLOT):
            return named
        return urlparse_cached(request).hostname or ""

    def _get_slot(self, request: Request) -> tuple[str, Slot]:  # type: ignore[override]  # a deprecated parameter less
        key, slot = super()._get_slot(request)
        if request.meta.get(self.DOWNLOAD_SLOT) != key:
            request.meta[SLOT] = key
        return key, slot

    async def _enqueue_request(self, request: Request) -> Response:
        try:
            return await super()._enqueue_request(request)
        except asyncio.CancelledError:
            self._abandon(request)
            await self._give_back_session(request)
            raise

    async def _give_back_session(self, request: Request) -> None:
        """Middlewares hear of answers and errors, and being cancelled is neither."""
        wire, name = request.meta.get(WIRE), request.meta.get("fw_session")
        if wire is not None and wire.session.stored and name:
            self._runtime.leases.leave(name)
            await (await self._runtime.sessions()).release(self._runtime.site, name, wire.session)

    def _abandon(self, request: Request) -> None:
        """Nobody waits for it any longer: it is not sent, or not gone on with."""
        task = self._under_way.get(request)
        slot = self.slots.get(request.meta[self.DOWNLOAD_SLOT])
        if task is not None:
            task.cancel()
        elif slot is not None:
            slot.queue = deque(entry for entry in slot.queue if entry[0] is not request)
            self._drop_turn(slot, request)
            self._process_queue(slot)

    def _drop_turn(self, slot: Slot, request: Request) -> None:
        """Give the request's turn back unless another one in the queue may have it."""
        lane = self._lane(request)
        if self._turns is not None and all(self._lane(other) != lane for other, _ in slot.queue):
            self._turns.drop(slot, lane)

    def _process_queue(self, slot: Slot) -> None:
        if self._pace.free and self._limit is None and not slot.delay and slot not in self._waiting:
            while slot.queue and slot.free_transfer_slots() > 0:
                self._begin(slot, slot.queue.popleft())
        elif slot.queue:
            self._process_in_time(slot)
        else:
            self._nobody_waits(slot)

    def _nobody_waits(self, slot: Slot) -> None:
        self._wait_long(slot, 0)
        if self._turns is not None:
            self._turns.drop(slot)
        if self._limit is not None:
            self._limit.drop(slot)

    def _process_in_time(self, slot: Slot) -> None:
        if slot.latercall:
            slot.latercall.cancel()
            slot.latercall = None
        if self._runtime.ending():
            self._hand_back(slot)
            return
        early, soonest, long = self._begin_those_due(slot)
        slot.queue = deque([*early, *slot.queue])
        self._wait_long(slot, long if self._pace.by_identity or not long else len(slot.queue))
        if soonest < math.inf:
            slot.latercall = call_later(min(soonest, _LONG), self._latercall, slot)

    def _begin_those_due(self, slot: Slot) -> tuple[list[Entry], float, int]:
        """Those that came too early, the seconds until the first of them may start, and how many wait long."""
        early: list[Entry] = []
        soonest, long = math.inf, 0
        while slot.queue and slot.free_transfer_slots() > 0:
            entry = slot.queue.popleft()
            host, exit_ = _lane_of(entry[0])
            wait = self._pace.wait(host, exit_)
            if wait <= 0 and self._limit is not None:
                wait = self._permit_in(slot)
            if wait <= 0 and self._turns is not None:
                wait = self._turn_in(slot, entry[0])
            if wait <= 0:
                self._pace.started(host, exit_, self._take_turn(slot, entry[0]))
                self._begin(slot, entry)
                continue
            early.append(entry)
            soonest, long = min(soonest, wait), long + (_LONG < wait < math.inf)
            if not self._pace.by_identity:
                break  # the others wait for the same
        if self._limit is not None and 0 < soonest < math.inf:
            self._limit.drop(slot)  # others need not wait for a permit that waits here
        return early, soonest, long

    def _permit_in(self, slot: Slot) -> float:
        """0: a permit of all processes together is in hand; infinite while it is asked for."""
        assert self._limit is not None
        many = 1 if slot.delay or not self._pace.free else min(len(slot.queue) + 1, slot.free_transfer_slots())
        return 0.0 if self._limit.ready(slot, many, partial(self._process_queue, slot)) else math.inf

    def _turn_in(self, slot: Slot, request: Request) -> float:
        """Seconds until all workers together have it start; infinite while that is asked."""
        assert self._turns is not None
        terms = partial(self._terms, slot, request)
        return self._turns.wait(slot, self._lane(request), terms, partial(self._process_queue, slot))

    def _take_turn(self, slot: Slot, request: Request) -> float:
        """The request starts; the delay after it, seconds."""
        turn = self._turns.take(slot, self._lane(request)) if self._turns is not None else None
        if turn is None:
            return slot.download_delay()
        self._taken[request] = turn
        return turn.terms.delay

    def _terms(self, slot: Slot, request: Request) -> Terms:
        timeout = float(request.meta.get("download_timeout") or self._timeout)
        return Terms(
            delay=slot.download_delay(),
            gap=self._pace.gap(_lane_of(request)[0]),
            concurrency=slot.concurrency,
            per_minute=self._pace.per_minute,
            lease=timeout + _LEASE_MARGIN,
        )

    def _lane(self, request: Request) -> Lane:
        return self._pace.lane(*_lane_of(request))

    def _begin(self, slot: Slot, entry: Entry) -> None:
        request, answer = entry
        if self._limit is not None:
            self._limit.take(slot, request)
        slot.lastseen = monotonic()
        # ``_download`` adds it again, which a set takes in its stride
        slot.transferring.add(request)
        task = self._under_way[request] = asyncio.ensure_future(self._wait_for_download(slot, request, answer))
        task.add_done_callback(lambda done: self._ended(slot, request, done))

    def _ended(self, slot: Slot, request: Request, task: asyncio.Task[None]) -> None:
        if self._under_way.get(request) is task:
            del self._under_way[request]
        self._release_turn(request)
        if task.cancelled() and request in slot.transferring:  # before it had begun
            slot.transferring.remove(request)
            self._process_queue(slot)

    def _release_turn(self, request: Request) -> None:
        if self._limit is not None:
            self._limit.release(request)
        if self._taken and self._turns is not None and (turn := self._taken.pop(request, None)) is not None:
            self._turns.release(turn)

    async def _download(self, slot: Slot, request: Request) -> Response:
        """Scrapy's, but for Retry-After: who is next in the queue must know of it."""
        slot.transferring.add(request)
        try:
            response: Response = await self.handlers.download_request_async(request)
            if response.status in (_TOO_MANY, _UNAVAILABLE):
                self._heed(request, response)
            spider = self.crawler.spider
            self.signals.send_catch_log(signals.response_downloaded, response=response, request=request, spider=spider)
        except Exception:
            await _process_pending_io()
            raise
        else:
            return response
        finally:
            slot.transferring.remove(request)
            self._release_turn(request)
            self._process_queue(slot)
            self.signals.send_catch_log(signals.request_left_downloader, request=request, spider=self.crawler.spider)

    def _heed(self, request: Request, response: Response) -> None:
        asked, date = (response.headers.get(name) for name in (b"Retry-After", b"Date"))
        if asked is not None:
            wait = wait_asked(asked.decode("latin-1"), date.decode("latin-1") if date else None) or 0.0
            host, exit_ = _lane_of(request)
            most = self._runtime.config.backoff.retry_after_max
            self._pace.pause(host, None if response.status == _UNAVAILABLE else exit_, min(wait, most))

    def _wait_long(self, slot: Slot, count: int) -> None:
        before = self._waiting.pop(slot, 0)
        if count:
            self._waiting[slot] = count
        if count > before:
            self._runtime.look_again()

    def _hand_back(self, slot: Slot) -> None:
        """The crawl ends: what has not started is the scheduler's again."""
        self._nobody_waits(slot)
        while slot.queue:
            request, answer = slot.queue.popleft()
            if request.callback is NO_CALLBACK or request.meta.get("fw_warmup"):
                answer.errback(DownloadCancelledError("the crawl ended before its turn"))
            else:
                request.dont_filter = True
                answer.callback(request)  # type: ignore[arg-type]  # the engine takes it as it takes a redirect


def _lane_of(request: Request) -> tuple[str, str]:
    wire = request.meta.get(WIRE)
    return urlparse_cached(request).hostname or "", wire.exit if wire is not None else DIRECT
