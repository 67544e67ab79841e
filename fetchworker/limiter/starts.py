"""Permits for requests that stand in queues: a queue asks for one, and is called when it has it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from fetchworker.limiter.limiter import Limiter, Permit

logger = logging.getLogger(__name__)
#: seconds after which a queue that was given an error asks again
_PAUSE = 1.0


@dataclass(slots=True, eq=False)
class _Owner:
    ready: deque[Permit] = field(default_factory=deque)
    asking: set[asyncio.Task[None]] = field(default_factory=set)


class Starts:
    """The permits that queues wait for or have in hand.

    Args:
        make: gives the limiter; called when it is first needed.
    """

    def __init__(self, make: Callable[[], Limiter]) -> None:
        self._make = make
        self._limiter: Limiter | None = None
        self._owners: dict[Hashable, _Owner] = {}
        self._taken: dict[Hashable, Permit] = {}

    @property
    def away(self) -> bool:
        """Whether the permits of all processes cannot be asked for at the moment."""
        return self._limiter is not None and self._limiter.away

    def ready(self, owner: Hashable, wanted: int, answered: Callable[[], None]) -> bool:
        """Whether the owner has a permit in hand; else, or if it wants more, they are asked for.

        Args:
            owner: whose queue it is.
            wanted: how many of its requests could start now.
            answered: called when one has come.
        """
        mine = self._owners.setdefault(owner, _Owner())
        for _ in range(wanted - len(mine.ready) - len(mine.asking)):
            task = asyncio.get_running_loop().create_task(self._ask(mine, answered))
            mine.asking.add(task)
            task.add_done_callback(mine.asking.discard)
        return bool(mine.ready)

    def take(self, owner: Hashable, request: Hashable) -> None:
        """The request starts with one of the owner's permits, until :meth:`release`."""
        self._taken[request] = self._owners[owner].ready.popleft()

    def release(self, request: Hashable) -> None:
        """The request has ended (or had no permit)."""
        permit = self._taken.pop(request, None)
        if permit is not None and self._limiter is not None:
            self._limiter.release(permit)

    def drop(self, owner: Hashable) -> None:
        """None of the owner's requests can start now: others may have its permits."""
        mine = self._owners.pop(owner, None)
        if mine is None:
            return
        for task in list(mine.asking):
            task.cancel()
        for permit in mine.ready:
            assert self._limiter is not None
            self._limiter.release(permit)
        mine.ready.clear()

    async def close(self) -> None:
        """Give everything back."""
        for owner in list(self._owners):
            self.drop(owner)
        if self._limiter is not None:
            await self._limiter.close()

    async def _ask(self, mine: _Owner, answered: Callable[[], None]) -> None:
        try:
            self._limiter = self._limiter or self._make()
            mine.ready.append(await self._limiter.acquire())
        except Exception:  # whatever it is, nobody must wait for this permit for ever
            logger.exception("no permit could be asked for")
            await asyncio.sleep(_PAUSE)
        mine.asking.discard(asyncio.current_task())
        answered()
