"""How many calls are under way, how many wait for a place, and when the next one is told to come later."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from fetchworker.service.failures import ApiError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

#: seconds that a refused caller is asked to wait
RETRY_AFTER = 1


class Bodies:
    """Counts the bytes of bodies that lie here: they come before their calls have a place.

    Args:
        most: of all together.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.taken = 0

    def take(self, size: int) -> None:
        """Have room for so many bytes, which :meth:`give_back` ends.

        Raises:
            ApiError: OVERLOADED, there is none.
        """
        if self.taken + size > self._most:
            raise overloaded(f"the bodies of calls that are under way have {self.taken} bytes: come again later")
        self.taken += size

    def give_back(self, size: int) -> None:
        """They lie here no longer."""
        self.taken -= size


def overloaded(told: str) -> ApiError:
    """The refusal of a call that may come again soon."""
    return ApiError("OVERLOADED", told, headers={"retry-after": str(RETRY_AFTER)}, retry_after=RETRY_AFTER)


class Admission:
    """Places for calls, given in the order of asking.

    Scrapy's CONCURRENT_REQUESTS does not hold for what is asked of an engine directly.

    Args:
        places: calls under way at most.
        waiting: calls that may wait for a place; the next one is refused.
        told: why it is, where it is not for the calls that are under way.
    """

    def __init__(self, places: int, waiting: int, *, told: str = "") -> None:
        self._told = told
        self._places = places
        self._most = waiting
        self._queue: deque[asyncio.Future[None]] = deque()
        self.taken = 0

    @property
    def waiting(self) -> int:
        """Calls that wait for a place."""
        return len(self._queue)

    @property
    def idle(self) -> bool:
        """Whether nothing is under way and nothing waits."""
        return not self.taken and not self._queue

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place; it comes back however the block ends.

        Raises:
            ApiError: OVERLOADED, as too many wait already.
        """
        await self._take()
        try:
            yield
        finally:
            self._release()

    async def _take(self) -> None:
        if self.taken < self._places:
            self.taken += 1
            return
        if len(self._queue) >= self._most:
            told = f"{self.taken} calls are under way and {len(self._queue)} wait"
            raise overloaded(f"{self._told or told}: come again later")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():  # the place was handed over in the same moment
                self._release()
            else:
                with suppress(ValueError):  # a place that came back has passed it over already
                    self._queue.remove(turn)
            raise

    def _release(self) -> None:
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)  # the place goes over: `taken` stays
                return
        self.taken -= 1
