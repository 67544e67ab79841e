"""Who waits in this process for a session of a jar: one after the other, and only the first one asks."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fetchworker.sessions.pool import Taken

#: seconds after which the first one asks again, as another process may have given a session back
LOOK = 1.0
#: seconds between two looks at least
_LEAST = 0.01


class Turnstile:
    """One line of those who wait. ``waiting`` says how many stand in it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.waiting = 0
        self._first = asyncio.Lock()
        self._freed = asyncio.Event()
        self._clock = clock
        self._served = -float("inf")

    def freed(self) -> None:
        """Something was given back here."""
        self._freed.set()

    async def pass_(
        self,
        ask: Callable[[], Awaitable[Taken]],
        *,
        limit: float,
        patient: bool,
        ending: Callable[[], bool],
        halted: Callable[[], bool] = lambda: False,
    ) -> Taken:
        """What ``ask`` gives, asked again until it is a lease, the limit is over, or the crawl ends.

        Args:
            ask: takes a session, or says when to ask again.
            limit: seconds to wait.
            patient: they count from when somebody in the line was last served, so that a line that moves waits on.
            ending: whether nobody should wait any longer.
            halted: whether no wait counts now; a patient one counts from the end of that.
        """
        began = self._clock()
        self.waiting += 1
        try:
            async with self._first:
                while True:
                    self._freed.clear()
                    taken = await ask()
                    if taken.lease is not None:
                        self._served = self._clock()
                        return taken
                    if halted():
                        self._served = self._clock()
                    since = max(began, self._served) if patient else began
                    left = since + limit - self._clock()
                    if left <= 0 or ending():
                        return taken
                    await self._look(max(_LEAST, min(taken.wait, left, LOOK)))
        finally:
            self.waiting -= 1

    async def _look(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._freed.wait()
        except TimeoutError:
            return
