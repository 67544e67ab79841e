"""How a process asks the pool for sessions and locks: a line for each jar and name, and nothing is lost on the way."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from fetchworker.errors import (
    RedisUnavailableError,
    SessionBusyError,
    SessionError,
    SessionExhaustedError,
    UnfinishedError,
)
from fetchworker.sessions.pool import Taken
from fetchworker.sessions.turnstile import Turnstile

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fetchworker.sessions.pool import PoolBackend

logger = logging.getLogger(__name__)

#: what ends by itself when nobody answers
AWAY = (RedisUnavailableError, SessionError)


@dataclass(frozen=True, slots=True)
class Want:
    """What somebody asks for, and how.

    Attributes:
        name: of the jar, or of the session to be locked.
        locks: which of them it is.
        owner: whom it is for.
        ask: asks a back end, telling for how many seconds is waited (None: it is not).
        limit: seconds to wait.
        patient: they count from when somebody was last served.
        still: whether that is wanted yet.
    """

    name: str
    locks: bool
    owner: str
    ask: Callable[[PoolBackend, float | None], Awaitable[Taken]]
    limit: float
    patient: bool
    still: Callable[[], bool] = lambda: True


@dataclass(frozen=True, slots=True)
class Ways:
    """What of the pool the lines need: see :class:`~fetchworker.sessions.leases.SessionPool`."""

    site: str
    opened: Callable[[bool], Awaitable[PoolBackend]]
    here: Callable[[], PoolBackend | None]
    patiently: Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]
    gone: Callable[[str], Awaitable[None]]
    count: Callable[[str], None]
    ending: Callable[[], bool]
    halted: Callable[[], bool]
    spawn: Callable[[Awaitable[object]], None]


class Turns:
    """The lines of a process."""

    def __init__(self, ways: Ways) -> None:
        self._ways = ways
        self._lines: dict[str, Turnstile] = {}

    def waits(self) -> int:
        """How many wait here."""
        return sum(line.waiting for line in self._lines.values())

    def waits_for_lock(self, session_id: str) -> bool:
        """Whether somebody waits here for a named session."""
        line = self._lines.get(f"lock:{session_id}")
        return line is not None and line.waiting > 0

    def freed(self) -> None:
        """Something was given back here."""
        for line in self._lines.values():
            line.freed()

    async def taken(self, want: Want, began: float | None = None) -> Taken | None:
        """The lease, in turn; None when it is wanted no longer. ``began``: since when is waited (monotonic seconds).

        Raises:
            SessionExhaustedError: no session came free in time.
            SessionBusyError: the named session did not.
            UnfinishedError: the crawl ends.
        """
        line = f"{'lock' if want.locks else 'jar'}:{want.name}"
        turnstile = self._lines.setdefault(line, Turnstile())
        began = time.monotonic() if began is None else began
        taken: Taken | None = Taken(None)
        try:
            if not turnstile.waiting:
                taken = await self._asked(want, time.monotonic() - began)
            if taken is not None and taken.lease is None:
                taken = await self._passed(turnstile, want, began)
        finally:
            if not turnstile.waiting and want.locks:
                self._lines.pop(line, None)
            if (taken is None or taken.lease is None) and want.limit > 0:
                self._ways.spawn(self._quit(want))
        if taken is None or taken.lease is not None:
            return taken
        if self._ways.ending():
            raise UnfinishedError("the crawl was ended while it waited for a session")
        raise self._over(want, taken)

    async def _passed(self, turnstile: Turnstile, want: Want, began: float) -> Taken | None:
        return await turnstile.pass_(
            partial(self._asked, want),
            began=began,
            limit=want.limit,
            patient=want.patient,
            ending=self._ways.ending,
            halted=self._ways.halted,
            still=want.still,
        )

    def _over(self, want: Want, taken: Taken) -> SessionError:
        site, limit = self._ways.site, f"{want.limit:g} s"
        soon = f"the next in {taken.wait:.1f} s at the latest"
        if taken.before:
            soon = f"{taken.before} have waited for longer; {soon}"
        if want.locks:
            self._ways.count(f"pool/{site}/busy")
            return SessionBusyError(f"session {want.name} of {site} is somebody else's for {limit} now: {soon}")
        self._ways.count(f"pool/{site}/exhausted")
        return SessionExhaustedError(
            f"no session of {site} ({want.name}) came free in {limit} ({soon}): raise "
            f"sites.{site}.pool.max_total or concurrency, or send fewer requests at once"
        )

    async def _asked(self, want: Want, waited: float) -> Taken:
        """The back end's answer; a lease that comes when nobody wants it any longer goes back at once."""

        async def work() -> Taken:
            return await want.ask(await self._ways.opened(not want.locks), waited if want.limit > 0 else None)

        task = asyncio.ensure_future(self._ways.patiently(work))
        try:
            taken: Taken = await asyncio.shield(task)
        except asyncio.CancelledError:
            self._ways.spawn(self._unwanted(task, want))
            raise
        for name in taken.damaged:
            logger.warning("session %r of %s is dropped: its entry in the pool cannot be read", name, self._ways.site)
            self._ways.count(f"pool/{self._ways.site}/damaged")
        for session_id in taken.dropped:
            await self._ways.gone(session_id)
        return taken

    async def _unwanted(self, task: asyncio.Task[Taken], want: Want) -> None:
        with suppress(*AWAY):  # then it comes back by itself
            taken = await task
            if taken.lease is None:
                await self._quit(want)
                return
            backend = self._ways.here()
            if backend is not None:
                await (backend.unlock(taken.lease) if want.locks else backend.put(taken.lease))

    async def _quit(self, want: Want) -> None:
        with suppress(*AWAY):  # then the place lapses
            backend = self._ways.here()
            if backend is not None:
                await (backend.quit_lock if want.locks else backend.quit)(want.name, want.owner)
