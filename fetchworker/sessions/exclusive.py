"""A named session to oneself for a block, with the lock kept for a moment after it."""

from __future__ import annotations

import secrets
import time
from abc import ABC, abstractmethod
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fetchworker.sessions.holdings import Holdings
from fetchworker.sessions.moments import Moments
from fetchworker.sessions.pool import BLOCK_SPAN

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from fetchworker.sessions.hold import Hold
    from fetchworker.sessions.pool import Lease, PoolTerms


class Exclusive(Holdings, ABC):
    """What of a pool is in this process's hands, and blocks that have a named session alone."""

    terms: PoolTerms

    def __init__(self, renew: Callable[[str], None] = lambda _: None) -> None:
        super().__init__(renew)
        self._moments = Moments(lambda hold: self._spawn(self.release(hold.owner)))

    @abstractmethod
    async def lock(
        self,
        session_id: str,
        owner: str,
        *,
        wait: float | None = None,
        patient: bool = True,
        span: float | None = None,
    ) -> Hold:
        """The named session for this owner alone."""

    @abstractmethod
    async def release(self, owner: str) -> bool:
        """Give back what an owner has; whether the lease counted to the last."""

    @abstractmethod
    def _is_awaited(self, session_id: str) -> bool:
        """Whether somebody waits here for a named session."""

    @asynccontextmanager
    async def exclusive(self, session_id: str, *, wait: float | None = None) -> AsyncIterator[Lease]:
        """A named session to oneself for as long as the block lasts.

        Raises:
            SessionBusyError: somebody else has had it for ``wait`` seconds (None: as the terms say).
        """
        hold = await self._again(session_id) or await self._alone(session_id, wait)
        hold.users += 1
        try:
            yield hold.lease
        except BaseException:
            hold.users -= 1
            await self._surely(self.release(hold.owner))
            raise
        hold.users -= 1
        if self._is_awaited(session_id) or not self._moments.keep(hold):
            await self._surely(self.release(hold.owner))

    async def _alone(self, session_id: str, wait: float | None) -> Hold:
        owner = f"block.{secrets.token_hex(8)}"
        span = min(BLOCK_SPAN, self.terms.lease)
        hold = await self.lock(session_id, owner, wait=wait, patient=False, span=span)
        hold.since = time.monotonic()
        return hold

    async def _again(self, session_id: str) -> Hold | None:
        """The lock that was kept for a moment, if it is still ours; otherwise it goes back."""
        hold, late = self._moments.again(session_id)
        if hold is None or (not late and self._holds.get(hold.owner) is hold):
            return hold
        await self._surely(self.release(hold.owner))
        return None

    async def _part(self, session_id: str) -> None:
        """A lock that is kept for a moment goes back now."""
        hold, _ = self._moments.again(session_id)
        if hold is not None:
            await self._surely(self.release(hold.owner))
