"""The seam between Scrapy's engine and the queue: whose work is going on, and when a request is done.

Scrapy has no hook for "this request, its items and its children are finished". Its private parts are watched here, and
nowhere else (tests/scheduler/test_scheduler_done.py is the contract with the pinned Scrapy):

* ``engine._start``: what ``start()`` gives is marked as such while the engine schedules it;
* ``scraper._scrape``: callback or errback, spider middlewares, pipelines and children of a request, all in it; and
  ``scraper.call_spider_async`` in it, where it shows whether an error of the download went to anybody;
* ``engine._slot``: ``remove_request`` is the last that the engine does with a request, after all that; ``close`` is
  where it stops to give out requests and waits for those under way; ``nextcall`` wakes it;
* ``downloader.fetch`` and ``scraper.start_itemproc_async``: what is downloaded and what is in the pipelines, so that
  such a wait can be cut.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from scrapy.exceptions import CloseSpider, IgnoreRequest
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy import Request
    from scrapy.core.engine import ExecutionEngine
    from scrapy.http import Response
    from twisted.internet.defer import Deferred


class Owner(Protocol):
    """Whose children the engine schedules at the moment."""

    def fail(self, error: BaseException) -> None:
        """The work cannot count as done."""


class Listener(Protocol):
    """Who wants to know."""

    def owner_of(self, request: Request) -> Owner | None:
        """Whose work a request is that the engine was given."""

    def removed(self, request: Request) -> None:
        """The engine has done with a request."""

    def closing(self) -> None:
        """The engine gives out no more requests; it waits for those under way."""


#: whose callback runs in this task; what the engine schedules meanwhile are its children
current: ContextVar[Owner | None] = ContextVar("fetchworker_owner", default=None)


def replace_start(engine: ExecutionEngine, wrap: Callable[[AsyncIterator[Any]], AsyncIterator[Any]]) -> None:
    """Put something around what ``start()`` gives."""
    if engine._start is not None:  # noqa: SLF001
        engine._start = wrap(engine._start)  # noqa: SLF001


class Watch:
    """Tells ``listener`` of what the engine does; made once, while the spider opens."""

    def __init__(self, engine: ExecutionEngine, listener: Listener) -> None:
        slot, scraper, downloader = engine._slot, engine.scraper, engine.downloader  # noqa: SLF001
        assert slot is not None
        self._listener = listener
        self._next = slot.nextcall
        self._was_cut = False
        #: by the request's id
        self._scraping: dict[int, asyncio.Task[None] | None] = {}
        self._fetching: set[Deferred[Any]] = set()
        self._storing: set[asyncio.Task[None] | None] = set()
        self._scrape, scraper._scrape = scraper._scrape, self._scraped  # type: ignore[method-assign]  # noqa: SLF001
        self._call, scraper.call_spider_async = scraper.call_spider_async, self._called  # type: ignore[method-assign]
        self._store, scraper.start_itemproc_async = scraper.start_itemproc_async, self._stored  # type: ignore[method-assign]
        self._remove, slot.remove_request = slot.remove_request, self._removed  # type: ignore[method-assign]
        self._close, slot.close = slot.close, self._closing  # type: ignore[method-assign]
        self._fetch: Any = downloader.fetch
        downloader.fetch = self._fetched  # type: ignore[method-assign,assignment]

    def wake(self) -> None:
        """Have the engine ask for requests at once, and see whether it is idle."""
        self._next.schedule()

    def cut(self) -> None:
        """Let the engine wait no longer: what is under way comes to its end without being done."""
        self._was_cut = True
        for fetching in list(self._fetching):
            fetching.cancel()
        for task in [*self._storing, *self._scraping.values()]:
            if task is not None:
                task.cancel()

    async def _scraped(self, result: Response | Failure, request: Request) -> None:
        if self._was_cut:
            return
        owner = self._listener.owner_of(request)
        current.set(owner)  # this coroutine is a task of its own, with its own context
        self._scraping[id(request)] = asyncio.current_task()
        try:
            await self._scrape(result, request)
        except BaseException as exc:
            if owner is not None:
                owner.fail(exc)
            if not self._was_cut:
                raise
        finally:
            del self._scraping[id(request)]

    async def _stored(self, item: Any, *, response: Response | Failure | None) -> None:
        if self._was_cut:
            return
        task = asyncio.current_task()
        self._storing.add(task)
        try:
            await self._store(item, response=response)
        except asyncio.CancelledError:
            if not self._was_cut:
                raise
        finally:
            self._storing.discard(task)

    async def _called(self, result: Response | Failure, request: Request) -> Any:
        try:
            return await self._call(result, request)
        except Exception as exc:
            if isinstance(result, Failure) and not isinstance(exc, IgnoreRequest | CloseSpider):
                self._unanswered(request, exc)  # one that says "ignore this" is an answer
            raise

    def _unanswered(self, request: Request, error: Exception) -> None:
        owner = self._listener.owner_of(request)
        if owner is not None:
            owner.fail(error)

    def _removed(self, request: Request) -> None:
        if id(request) in self._scraping:
            return  # its callback has downloaded it once more by itself
        try:
            self._listener.removed(request)
        finally:
            self._remove(request)

    def _fetched(self, request: Request, *spider: Any) -> Deferred[Any]:
        fetching: Deferred[Any] = self._fetch(request, *spider)
        self._fetching.add(fetching)

        def over(result: Any) -> Any:
            self._fetching.discard(fetching)
            return result

        return fetching.addBoth(over)

    async def _closing(self) -> None:
        self._listener.closing()
        await self._close()
