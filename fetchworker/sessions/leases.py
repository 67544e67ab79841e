"""Leases and locks that this process holds: taken in turn, kept alive in the background, given back once.

:class:`SessionPool` is what crawls and services use. An *owner* is whoever a session is for (a try, a call, a crawl, a
client of a service): the same owner has one session at a time, and gets it again from any process.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from fetchworker.errors import (
    RedisUnavailableError,
    SessionBusyError,
    SessionError,
    SessionExhaustedError,
    UnfinishedError,
)
from fetchworker.sessions.hold import Heartbeat, Hold
from fetchworker.sessions.pool import BLOCK_SPAN, Lease, Taken
from fetchworker.sessions.poolkeys import MAIN
from fetchworker.sessions.turnstile import Turnstile

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from fetchworker.sessions.pool import Fresh, PoolBackend, PoolTerms

logger = logging.getLogger(__name__)

#: seconds for giving back what is held at the end
_LAST = 10.0
#: sessions that are left alone at most
_MOST_FOREIGN = 256
_AWAY = (RedisUnavailableError, SessionError)


async def _nothing(_: str) -> None:
    return


async def _at_once(work: Callable[[], Awaitable[Any]]) -> Any:
    return await work()


class SessionPool:
    """The pool of one site as this process uses it.

    Args:
        backend: gives the back end; called when it is first needed.
        terms: the pool's numbers.
        site: whose pool it is, for errors.
        forget: deletes the stored record of a session that the pool has dropped.
        patiently: does what it is given again as long as Redis is away.
        count: adds to a stat.
        ending: whether nobody should wait any longer.
        halted: whether the crawl stands still, so that no wait counts.
    """

    def __init__(
        self,
        backend: Callable[[], Awaitable[PoolBackend]],
        terms: PoolTerms,
        *,
        site: str,
        forget: Callable[[str], Awaitable[None]] = _nothing,
        patiently: Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]] = _at_once,
        count: Callable[[str], None] = lambda _: None,
        ending: Callable[[], bool] = lambda: False,
        halted: Callable[[], bool] = lambda: False,
    ) -> None:
        self.terms = terms
        self.worker = secrets.token_hex(6)
        self._make = backend
        self._site = site
        self._forget = forget
        self._patiently = patiently
        self._count = count
        self._ending = ending
        self._halted = halted
        self._backend: PoolBackend | None = None
        self._opening = asyncio.Lock()
        self._holds: dict[str, Hold] = {}
        self._owners: dict[str, str] = {}
        self._foreign: dict[str, None] = {}
        self._taking: dict[str, asyncio.Lock] = {}
        self._lines: dict[str, Turnstile] = {}
        self._heart: Heartbeat | None = None
        self._tasks: set[asyncio.Task[object]] = set()

    # ── leases that this process keeps alive ─────────────────────────────────────────────────────────────────────

    @asynccontextmanager
    async def lease(self, jar: str = MAIN, *, wait: float | None = None) -> AsyncIterator[Lease]:
        """A session for as long as the block lasts; an exception in it counts as a bad answer.

        Raises:
            SessionExhaustedError: none came free in ``wait`` seconds (None: as the terms say).
        """
        owner = f"block.{secrets.token_hex(8)}"
        hold = await self.take(jar, owner, wait=wait, patient=False)
        hold.users += 1
        try:
            yield hold.lease
        except Exception:
            hold.bad += 1
            raise
        else:
            hold.good += 1
        finally:
            hold.users -= 1
            await self._surely(self.release(owner))

    @asynccontextmanager
    async def exclusive(self, session_id: str, *, wait: float | None = None) -> AsyncIterator[Lease]:
        """A named session to oneself for as long as the block lasts.

        Raises:
            SessionBusyError: somebody else has had it for ``wait`` seconds (None: as the terms say).
        """
        owner = f"block.{secrets.token_hex(8)}"
        span = min(BLOCK_SPAN, self.terms.lease)
        hold = await self.lock(session_id, owner, wait=wait, patient=False, span=span)
        hold.users += 1
        try:
            yield hold.lease
        finally:
            hold.users -= 1
            await self._surely(self.release(owner))

    async def take(
        self,
        jar: str,
        owner: str,
        *,
        wait: float | None = None,
        patient: bool = True,
        brief: bool = False,
        fresh: Fresh = "either",
    ) -> Hold:
        """The owner's session, leased when it has none. Give it back with :meth:`release` or :meth:`quarantine`.

        Raises:
            SessionExhaustedError: none came free in ``wait`` seconds; with ``patient``, since one last did here.
            UnfinishedError: the crawl ends.
        """

        async def ask(backend: PoolBackend) -> Taken:
            return await backend.take(jar, owner, holder=self.worker, fresh=fresh, skip=tuple(self._foreign))

        return await self._hold(Hold(owner, Lease("", 0), brief=brief), f"jar:{jar}", ask, wait, patient=patient)

    async def lock(
        self,
        session_id: str,
        owner: str,
        *,
        wait: float | None = None,
        patient: bool = True,
        span: float | None = None,
    ) -> Hold:
        """The named session for this owner alone. Give it back with :meth:`release`.

        ``span``: seconds for which it counts unless it is kept alive, as it is here (None: as the terms say).

        Raises:
            SessionBusyError: somebody else has had it all the time.
            UnfinishedError: the crawl ends.
        """

        async def ask(backend: PoolBackend) -> Taken:
            return await backend.lock(session_id, owner, span=span)

        hold = Hold(owner, Lease(session_id, 0), locks=True, span=span)
        return await self._hold(hold, f"lock:{session_id}", ask, wait, patient=patient)

    async def _hold(
        self,
        hold: Hold,
        line: str,
        ask: Callable[[PoolBackend], Awaitable[Taken]],
        wait: float | None,
        *,
        patient: bool,
    ) -> Hold:
        try:
            async with self._taking.setdefault(hold.owner, asyncio.Lock()):
                found = self._holds.get(hold.owner)
                if found is None or not (
                    found.users or found.brief or await self._patiently(partial(self._still, found))
                ):
                    limit = self.terms.wait if wait is None else wait
                    taken = await self._in_turn(line, partial(self._asked, ask, locks=hold.locks), limit, patient)
                    found = self._held(hold, taken)
                found.used = time.monotonic()
                return found
        finally:
            if hold.owner not in self._holds:
                self.hand_over(hold.owner)

    async def _still(self, hold: Hold) -> bool:
        """Whether a lease that nothing here has used for a while is ours yet: the owner may have gone on elsewhere."""
        assert self._backend is not None
        if hold.locks:
            counted = await self._backend.keep(hold.lease, span=hold.span)
        else:
            counted = (await self._backend.extend([hold.lease]))[0]
        if not counted:
            self.hand_over(hold.owner)
        return counted

    def _held(self, hold: Hold, taken: Taken) -> Hold:
        assert taken.lease is not None
        hold.lease, hold.stored = taken.lease, not taken.lease.new
        self._holds[hold.owner] = hold
        self._owners[hold.lease.session_id] = hold.owner
        return hold

    async def _in_turn(self, line: str, ask: Callable[[], Awaitable[Taken]], limit: float, patient: bool) -> Taken:
        turnstile = self._lines.setdefault(line, Turnstile())
        try:
            taken = Taken(None) if turnstile.waiting else await ask()
            if taken.lease is None:
                taken = await turnstile.pass_(
                    ask, limit=limit, patient=patient, ending=self._ending, halted=self._halted
                )
        finally:
            if not turnstile.waiting and line.startswith("lock:"):
                self._lines.pop(line, None)
        if taken.lease is not None:
            return taken
        if self._ending():
            raise UnfinishedError("the crawl was ended while it waited for a session")
        raise self._over(line, taken, limit)

    def _over(self, line: str, taken: Taken, limit: float) -> SessionError:
        kind, _, name = line.partition(":")
        soon = f"the next in {taken.wait:.1f} s at the latest"
        if kind == "lock":
            self._count(f"pool/{self._site}/busy")
            return SessionBusyError(f"session {name} of {self._site} is somebody else's for {limit:g} s now: {soon}")
        self._count(f"pool/{self._site}/exhausted")
        return SessionExhaustedError(
            f"no session of {self._site} ({name}) came free in {limit:g} s ({soon}): raise "
            f"sites.{self._site}.pool.max_total or concurrency, or send fewer requests at once"
        )

    async def _asked(self, ask: Callable[[PoolBackend], Awaitable[Taken]], *, locks: bool) -> Taken:
        """The back end's answer; a lease that comes when nobody wants it any longer goes back at once."""

        async def work() -> Taken:
            return await ask(await self._open(enter=not locks))

        task = asyncio.ensure_future(self._patiently(work))
        try:
            taken: Taken = await asyncio.shield(task)
        except asyncio.CancelledError:
            self._spawn(self._unwanted(task, locks=locks))
            raise
        for session_id in taken.damaged:
            logger.warning("session %s of %s is dropped: its entry in the pool cannot be read", session_id, self._site)
            self._count(f"pool/{self._site}/damaged")
        for session_id in taken.dropped:
            self._foreign.pop(session_id, None)
            await self._forget(session_id)
        return taken

    async def _unwanted(self, task: asyncio.Task[Taken], *, locks: bool) -> None:
        with suppress(*_AWAY):  # then it comes back by itself
            taken = await task
            if taken.lease is not None and self._backend is not None:
                await (self._backend.unlock(taken.lease) if locks else self._backend.put(taken.lease))

    # ── what becomes of them ─────────────────────────────────────────────────────────────────────────────────────

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

    def waits(self) -> int:
        """How many wait here for a session."""
        return sum(line.waiting for line in self._lines.values())

    def idle_holds(self) -> int:
        """How many leases are held here by owners that have nothing under way."""
        return sum(not hold.users for hold in self._holds.values())

    async def release(self, owner: str) -> bool:
        """Give back what an owner has; whether the lease counted to the last."""
        hold = self.hand_over(owner)
        if hold is None or self._backend is None:
            return False
        dropped: tuple[str, ...] = ()
        try:
            if hold.locks:
                counted = await self._backend.unlock(hold.lease)
            else:
                counted, dropped = await self._backend.put(
                    hold.lease, good=hold.good, bad=hold.bad, spare=len(self._foreign)
                )
            await self.came_back(dropped)
        except _AWAY as exc:
            logger.warning("session %s of %s comes back by itself: %s", hold.lease.session_id, self._site, exc)
            return False
        if not counted:
            self._count(f"pool/{self._site}/late")
        return counted

    async def quarantine(self, owner: str, reason: str, *, seconds: float | None = None) -> bool:
        """Take what an owner has out of use; ``seconds`` 0: for good. Whether the lease counted to the last."""
        hold = self.hand_over(owner)
        if hold is None or hold.locks or self._backend is None:
            return False
        try:
            counted, dropped = await self._backend.quarantine(hold.lease, reason, seconds=seconds)
            await self.came_back((hold.lease.session_id,) if dropped else ())
        except _AWAY as exc:
            logger.warning("session %s of %s comes back by itself: %s", hold.lease.session_id, self._site, exc)
            return False
        self._count(f"pool/{self._site}/{'dropped' if dropped else 'quarantined'}")
        return counted

    async def rest(self, owner: str, reason: str, *, seconds: float) -> bool:
        """Leave what an owner has alone until its exit is back, without blame; whether the lease counted."""
        hold = self.hand_over(owner)
        if hold is None or hold.locks or self._backend is None:
            return False
        try:
            counted = await self._backend.rest(hold.lease, reason, seconds=seconds)
            await self.came_back()
        except _AWAY as exc:
            logger.warning("session %s of %s comes back by itself: %s", hold.lease.session_id, self._site, exc)
            return False
        self._count(f"pool/{self._site}/waited")
        return counted

    async def leave_alone(self, owner: str) -> bool:
        """Give back what an owner has and cannot read, for those who can: it is leased here no more."""
        hold = self.held(owner)
        if hold is not None:
            self._foreign[hold.lease.session_id] = None
            if len(self._foreign) > _MOST_FOREIGN:
                del self._foreign[next(iter(self._foreign))]
        return await self.release(owner)

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

    async def came_back(self, dropped: tuple[str, ...] = ()) -> None:
        """Something was given back: those who wait look at once; what the pool has dropped is forgotten."""
        for session_id in dropped:
            await self._forget(session_id)
        for line in self._lines.values():
            line.freed()

    # ── the process's part ───────────────────────────────────────────────────────────────────────────────────────

    async def open(self) -> PoolBackend:
        """The back end, which knows of this worker from now on.

        Raises:
            ConfigError: another worker uses the pool by other numbers.
            RedisUnavailableError: there is no Redis.
        """
        return await self._open()

    async def _open(self, *, enter: bool = True) -> PoolBackend:
        async with self._opening:
            if self._backend is None or self._heart is None:
                self._backend = await self._make()
                self._heart = Heartbeat(self._backend, self.terms, self.worker, self._holds, self._lost)
            if enter:
                await self._heart.enter()
            self._heart.start()
            return self._backend

    def _lost(self, hold: Hold) -> None:
        # where nothing is under way its owner may have gone on in another process
        level = logging.WARNING if hold.users else logging.DEBUG
        logger.log(level, "session %s of %s is no longer ours", hold.lease.session_id, self._site)
        self._count(f"pool/{self._site}/{'lost' if hold.users else 'passed_on'}")
        self.hand_over(hold.owner)

    async def close(self) -> None:
        """Give back all that is held here, and leave."""
        for owner in list(self._holds):
            self._spawn(self.release(owner))
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_LAST)  # what is not given back by then lapses
        if self._heart is not None:
            try:
                await self._heart.stop()
            except _AWAY as exc:
                logger.info("%s", exc)
        self._backend = self._heart = None

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
