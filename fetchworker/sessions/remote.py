"""Sessions of a pool in the hands of somebody elsewhere, such as a client of a service, who has a token for each."""

from __future__ import annotations

import secrets
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fetchworker.errors import LeaseLostError
from fetchworker.sessions.pool import Lease
from fetchworker.sessions.poolkeys import MAIN

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fetchworker.sessions.hold import Hold
    from fetchworker.sessions.leases import SessionPool


class RemoteLeases:
    """Gives sessions out by token. A token is opaque text without secrets; times are POSIX seconds.

    Args:
        pool: where they are from.
    """

    def __init__(self, pool: SessionPool) -> None:
        self._pool = pool

    async def check_out(
        self, jar: str = MAIN, *, owner: str | None = None, wait: float | None = None
    ) -> tuple[str, float]:
        """A session: the lease's token, and when it ends unless it is extended.

        Raises:
            SessionExhaustedError: none came free in ``wait`` seconds (None: as the terms say).
        """
        name = owner or f"remote.{secrets.token_hex(8)}"
        lease = (await self._pool.take(jar, name, wait=wait, patient=False)).lease
        self._pool.hand_over(name)
        return lease.token, time.time() + self._pool.terms.lease

    async def extend(self, token: str) -> float:
        """Hold a session for longer: when the lease ends now.

        Raises:
            LeaseLostError: it is over, or somebody else's.
        """
        lease = Lease.of(token)
        if not (await (await self._pool.open()).extend([lease]))[0]:
            raise LeaseLostError(f"the lease of session {lease.session_id} is over")
        return time.time() + self._pool.terms.lease

    @asynccontextmanager
    async def borrowed(self, token: str) -> AsyncIterator[Hold]:
        """A session for requests of this process, as long as the block lasts; it stays with its holder.

        Raises:
            LeaseLostError: the lease is over, or somebody else's.
        """
        await self.extend(token)
        hold = self._pool.take_over(f"lease~{token}", Lease.of(token))
        try:
            yield hold
        finally:
            if self._pool.held(hold.owner) is hold:
                self._pool.hand_over(hold.owner)

    async def check_in(self, token: str, *, good: int = 0, bad: int = 0, quarantine: str | None = None) -> None:
        """Give a session back, or take it out of use for the reason in ``quarantine``.

        Raises:
            LeaseLostError: the lease is over, or somebody else's.
        """
        lease, backend = Lease.of(token), await self._pool.open()
        if quarantine is None:
            counted, dropped = await backend.put(lease, good=good, bad=bad)
        else:
            counted, gone = await backend.quarantine(lease, quarantine)
            dropped = (lease.session_id,) if gone else ()
        await self._pool.came_back(dropped)
        if not counted:
            raise LeaseLostError(f"the lease of session {lease.session_id} is over")
