"""What a worker has to tell the queue, in the order in which it may be told (no I/O)."""

from __future__ import annotations

import asyncio
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from fetchworker.frontier.entry import Finished, News, Numbered, Staged

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from fetchworker.frontier.entry import Child, Move
    from fetchworker.frontier.lease import Lease

    T = TypeVar("T")

#: children that one call to Redis carries; a page with more sends them in parts
MANY = 1000
#: parts that one call carries
_PARTS = 2


class Outbox:
    """Untold news. What is told is dropped only once the queue has it, so that it can be told again.

    Attributes:
        room: set while requests of ``start()`` may be added.
        start_from: how many of them are queued.
    """

    def __init__(self) -> None:
        self._finished: deque[Lease] = deque()
        self._moved: deque[Move] = deque()
        self._staged: deque[Staged] = deque()
        self._started: deque[Child] = deque()
        self._loose: deque[Child] = deque()
        self._loose_number = 0
        self._drained = asyncio.Event()
        self.start_from = 0
        self.room = asyncio.Event()
        self.room.set()

    def __len__(self) -> int:
        return len(self._finished) + len(self._moved) + len(self._staged) + len(self._started) + len(self._loose)

    def finish(self, lease: Lease) -> None:
        """A request is done."""
        self._finished.append(lease)

    def move(self, move: Move) -> None:
        """A request is not done."""
        self._moved.append(move)

    def child(self, lease: Lease, child: Child) -> bool:
        """A child of a page that is not done; whether there is a part of them to be told."""
        lease.children.append(child)
        if len(lease.children) < MANY:
            return False
        self._staged.append(Staged(lease.token, lease.staged, tuple(lease.children)))
        lease.staged += len(lease.children)
        lease.children.clear()
        return True

    def started(self, child: Child) -> None:
        """A request of ``start()``."""
        self._started.append(child)
        if len(self._started) >= 2 * MANY:
            self.room.clear()

    def loose(self, child: Child) -> None:
        """A request that belongs to no page."""
        self._loose.append(child)

    async def told_start(self) -> None:
        """Return once all requests of ``start()`` are told."""
        while self._started:
            self._drained.clear()
            await self._drained.wait()

    def gather(self) -> tuple[News, Callable[[], None]]:
        """What to tell now, at most :data:`MANY` requests or so, and what to do once it is told."""
        news = News(staged=_first(self._staged, _PARTS))
        parts = len(news.staged)
        if parts < len(self._staged):  # parts go before the page that they are of is done
            return news, lambda: _drop(self._staged, parts)
        news.finished = [Finished(one.token, tuple(one.children), one.staged) for one in self._done()]
        news.moved = _first(self._moved, MANY)
        if started := _first(self._started, MANY):
            news.started = Numbered(self.start_from, tuple(started))
        if loose := _first(self._loose, MANY):
            news.loose = Numbered(self._loose_number + 1, tuple(loose))
        return news, lambda: self._told(news)

    def _done(self) -> list[Lease]:
        """The first requests that are done, until their children fill a call."""
        found, room = [], MANY
        for lease in self._finished:
            if room <= 0:
                break
            found.append(lease)
            room -= 1 + len(lease.children)
        return found

    def _told(self, news: News) -> None:
        _drop(self._staged, len(news.staged))
        _drop(self._finished, len(news.finished))
        _drop(self._moved, len(news.moved))
        _drop(self._started, len(news.started.children) if news.started else 0)
        _drop(self._loose, len(news.loose.children) if news.loose else 0)
        self._loose_number += bool(news.loose)
        if len(self._started) < MANY:
            self.room.set()
        if not self._started:
            self._drained.set()


def _first(items: deque[T], most: int) -> list[T]:
    return list(islice(items, most))


def _drop(items: deque[T], count: int) -> None:
    for _ in range(count):
        items.popleft()
