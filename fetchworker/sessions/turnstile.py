"""Who waits in this process for a session of a jar: one after the other, and only the first one asks.

Where it stands among those of other processes the back end says (:class:`~fetchworker.sessions.pool.Taken`).
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from fetchworker.sessions.pool import GRACE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fetchworker.sessions.pool import Taken

#: seconds between two questions at most: who does not ask loses the place in the line
LOOK = GRACE / 2
#: seconds between two looks at least
_LEAST = 0.01
#: the first of the line asks again after this part of the time in which nobody was served, …
_PART = 0.1
#: … and after so many seconds at least and at most; those behind it less often
_SOON, _LATE = 0.02, 0.25


class Turnstile:
    """One line of those who wait.

    Attributes:
        waiting: how many stand in it.
        turn: the last one of the line of all processes that was heard of.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.waiting = 0
        self._first = asyncio.Lock()
        self._freed = asyncio.Event()
        self._clock = clock
        self._served = -float("inf")
        self.turn: int | None = None

    def freed(self) -> None:
        """Something was given back here."""
        self._freed.set()

    async def pass_(
        self,
        ask: Callable[[float], Awaitable[Taken]],
        *,
        began: float,
        limit: float,
        patient: bool,
        ending: Callable[[], bool],
        halted: Callable[[], bool] = lambda: False,
        still: Callable[[], bool] = lambda: True,
    ) -> Taken | None:
        """What ``ask`` gives, asked again until it is a lease, the limit is over, or the crawl ends.

        Args:
            ask: takes a session, or says how things stand; it is told for how many seconds is waited already.
            began: since when, by the clock.
            limit: seconds to wait.
            patient: they count from when somebody was last served, here or in another process, so that a line that
                moves waits on.
            ending: whether nobody should wait any longer.
            halted: whether no wait counts now; a patient one counts from the end of that.
            still: whether this is the right line yet; None is returned when it is not.
        """
        joined = self._clock()
        self.waiting += 1
        try:
            async with self._first:
                while still():
                    self._freed.clear()
                    taken = await ask(self._clock() - began)
                    if taken.lease is not None or halted() or taken.turn != self.turn:
                        self._served = self._clock()
                        self.turn = None if taken.lease is not None else taken.turn
                    if taken.lease is not None:
                        return taken
                    since = max(joined, self._served) if patient else began
                    left = since + limit - self._clock()
                    if left <= 0 or ending():
                        return taken
                    await self._look(max(_LEAST, min(taken.wait or LOOK, left, self._pace(taken.before))))
                return None
        finally:
            self.waiting -= 1

    def _pace(self, before: int) -> float:
        """Seconds until the first one here asks again."""
        pause = min(_LATE, max(_SOON, _PART * (self._clock() - self._served)))
        return min(LOOK, pause * (1 + before))

    async def _look(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._freed.wait()
        except TimeoutError:
            return
