"""The seam between Scrapy's engine and the queue: whose work is going on, and when a request is done.

Scrapy has no hook for "this request, its items and its children are finished". Three private parts of it are watched
here, and nowhere else (tests/frontier/test_frontier_done.py is the contract with the pinned Scrapy):

* ``engine._start``: what ``start()`` gives is marked as such while the engine schedules it;
* ``scraper._scrape``: callback or errback, spider middlewares, pipelines and children of a request, all in it;
* ``engine._slot.remove_request``: the last that the engine does with a request, after all that.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from scrapy.exceptions import IgnoreRequest
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine

    from scrapy import Request
    from scrapy.core.engine import ExecutionEngine
    from scrapy.http import Response


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


#: whose callback runs in this task; what the engine schedules meanwhile are its children
current: ContextVar[Owner | None] = ContextVar("fetchworker_owner", default=None)


def watch(engine: ExecutionEngine, listener: Listener) -> None:
    """Tell ``listener`` of what the engine does; once, while the spider opens."""
    engine.scraper._scrape = _watched(engine.scraper._scrape, listener)  # type: ignore[method-assign,assignment]  # noqa: SLF001
    slot = engine._slot  # noqa: SLF001
    assert slot is not None
    remove = slot.remove_request

    def removed(request: Request) -> None:
        try:
            listener.removed(request)
        finally:
            remove(request)

    slot.remove_request = removed  # type: ignore[method-assign]


def replace_start(engine: ExecutionEngine, wrap: Callable[[AsyncIterator[Any]], AsyncIterator[Any]]) -> None:
    """Put something around what ``start()`` gives."""
    if engine._start is not None:  # noqa: SLF001
        engine._start = wrap(engine._start)  # noqa: SLF001


def _watched(
    scrape: Callable[[Response | Failure, Request], Awaitable[None]], listener: Listener
) -> Callable[[Response | Failure, Request], Coroutine[Any, Any, None]]:
    async def watched(result: Response | Failure, request: Request) -> None:
        owner = listener.owner_of(request)
        current.set(owner)  # this coroutine is a task of its own, with its own context
        try:
            await scrape(result, request)
        except BaseException as exc:
            if owner is not None:
                owner.fail(exc)
            raise
        if owner is not None and isinstance(result, Failure) and _unanswered(result, request):
            owner.fail(result.value or RuntimeError("no reason given"))

    return watched


def _unanswered(failure: Failure, request: Request) -> bool:
    """Whether a download error went to nobody; one that says "ignore this" is an answer."""
    return request.errback is None and not isinstance(failure.value, IgnoreRequest)
