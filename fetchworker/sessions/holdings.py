"""What of a pool is in this process's hands, by owner and by session."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from fetchworker.sessions.hold import Hold
from fetchworker.sessions.pool import Taken

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fetchworker.sessions.pool import Lease


class Holdings:
    """Who has what here.

    Args:
        renew: told of a session that somebody else may have changed before it came here.
    """

    def __init__(self, renew: Callable[[str], None] = lambda _: None) -> None:
        self._renew = renew
        self._holds: dict[str, Hold] = {}
        self._owners: dict[str, str] = {}
        self._taking: dict[str, asyncio.Lock] = {}
        self._tasks: set[asyncio.Task[object]] = set()

    def held(self, owner: str) -> Hold | None:
        """What an owner has here."""
        return self._holds.get(owner)

    def of(self, session_id: str) -> Hold | None:
        """Who has a session here."""
        return self._holds.get(self._owners.get(session_id, ""))

    def leave(self, session_id: str) -> None:
        """A request that was sent with a session of ours, or should have been, has ended."""
        hold = self.of(session_id)
        if hold is not None:
            hold.users, hold.used = max(0, hold.users - 1), time.monotonic()

    def idle_holds(self) -> int:
        """How many leases are held here by owners that have nothing under way."""
        return sum(not hold.users for hold in self._holds.values())

    def hand_over(self, owner: str) -> Hold | None:
        """What an owner has, which is kept alive here no longer: it lapses unless somebody else goes on with it."""
        hold = self._holds.pop(owner, None)
        if hold is not None:
            self._owners.pop(hold.lease.session_id, None)
        lock = self._taking.get(owner)
        if lock is not None and not lock.locked():
            del self._taking[owner]
        return hold

    def take_over(self, owner: str, lease: Lease) -> Hold:
        """Keep a lease alive here that somebody elsewhere has; the other way round is :meth:`hand_over`."""
        hold = self._held(Hold(owner, lease), Taken(lease))
        hold.stored = False  # its first request may be yet to come
        return hold

    def _held(self, hold: Hold, taken: Taken) -> Hold:
        assert taken.lease is not None
        hold.lease, hold.stored = taken.lease, not taken.lease.new
        self._holds[hold.owner] = hold
        self._owners[hold.lease.session_id] = hold.owner
        if not (hold.lease.new or hold.lease.known):
            self._renew(hold.lease.session_id)
        return hold

    async def _surely(self, work: Awaitable[bool]) -> None:
        """Done to its end, whoever is cancelled."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.shield(task)

    def _spawn(self, work: Awaitable[object]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
