"""Leases and locks that this process holds: taken in turn, kept alive in the background, given back once.

:class:`SessionPool` is what crawls and services use. An *owner* is whoever a session is for (a try, a call, a crawl, a
client of a service): the same owner has one session at a time, and gets it again from any process.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from fetchworker.sessions.exclusive import Exclusive
from fetchworker.sessions.hold import Heartbeat, Hold
from fetchworker.sessions.pool import Lease, Taken
from fetchworker.sessions.poolkeys import MAIN
from fetchworker.sessions.turns import AWAY, Turns, Want, Ways

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from fetchworker.sessions.pool import Fresh, PoolBackend, PoolTerms

logger = logging.getLogger(__name__)

#: seconds for giving back what is held at the end
_LAST = 10.0
#: sessions that are left alone at most
_MOST_FOREIGN = 256


async def _nothing(_: str) -> None:
    return


async def _at_once(work: Callable[[], Awaitable[Any]]) -> Any:
    return await work()


class SessionPool(Exclusive):
    """The pool of one site as this process uses it.

    Args:
        backend: gives the back end; called when it is first needed.
        terms: the pool's numbers.
        site: whose pool it is, for errors.
        forget: deletes the stored record of a session that the pool has dropped.
        renew: told of a session that comes here and that somebody else may have changed: what is known of it is old.
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
        renew: Callable[[str], None] = lambda _: None,
        patiently: Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]] = _at_once,
        count: Callable[[str], None] = lambda _: None,
        ending: Callable[[], bool] = lambda: False,
        halted: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(renew)
        self.terms = terms
        self.worker = secrets.token_hex(6)
        self._make = backend
        self._site = site
        self._forget = forget
        self._patiently = patiently
        self._count = count
        ways = Ways(site, self._open, self._here, patiently, self._gone, count, ending, halted, self._spawn)
        self._turns = Turns(ways)
        self._backend: PoolBackend | None = None
        self._opening = asyncio.Lock()
        self._foreign: dict[str, None] = {}
        self._heart: Heartbeat | None = None

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

    async def take(
        self,
        jar: str | Callable[[], str],
        owner: str,
        *,
        wait: float | None = None,
        patient: bool = True,
        brief: bool = False,
        lent: bool = False,
        fresh: Fresh = "either",
    ) -> Hold:
        """The owner's session, leased when it has none. Give it back with :meth:`release` or :meth:`quarantine`.

        Args:
            jar: the jar, or what says which one it is; that is asked again as long as the owner waits.
            owner: whom it is for.
            wait: seconds to wait (None: as the terms say).
            patient: they count from when somebody who waited was last served, in whichever process.
            brief: it is for one try.
            lent: others will use it, from any process.
            fresh: only a new one, or only a used one.

        Raises:
            SessionExhaustedError: none came free in ``wait`` seconds.
            UnfinishedError: the crawl ends.
        """
        which = jar if callable(jar) else lambda: jar
        limit = self.terms.wait if wait is None else wait

        async def taken() -> Taken:
            began, found = time.monotonic(), None
            while found is None:
                found = await self._turns.taken(self._wanted(which, owner, limit, patient, fresh, lent), began)
            return found

        return await self._hold(Hold(owner, Lease("", 0), brief=brief), taken)

    def _wanted(  # noqa: PLR0917  # as take() has them
        self, which: Callable[[], str], owner: str, limit: float, patient: bool, fresh: Fresh, lent: bool
    ) -> Want:
        jar, holder = which(), "" if lent else self.worker

        async def ask(backend: PoolBackend, waits: float | None) -> Taken:
            skip = tuple(self._foreign)
            return await backend.take(jar, owner, holder=holder, fresh=fresh, skip=skip, waits=waits)

        return Want(jar, False, owner, ask, limit, patient, lambda: which() == jar)

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
        await self._part(session_id)

        async def ask(backend: PoolBackend, waits: float | None) -> Taken:
            return await backend.lock(session_id, owner, waits=waits, span=span)

        limit = self.terms.wait if wait is None else wait

        async def taken() -> Taken:
            found = await self._turns.taken(Want(session_id, True, owner, ask, limit, patient))
            assert found is not None
            return found

        return await self._hold(Hold(owner, Lease(session_id, 0), locks=True, span=span), taken)

    async def _hold(self, hold: Hold, taken: Callable[[], Awaitable[Taken]]) -> Hold:
        try:
            async with self._taking.setdefault(hold.owner, asyncio.Lock()):
                found = self._holds.get(hold.owner)
                if found is None or not (
                    found.users or found.brief or await self._patiently(partial(self._still, found))
                ):
                    found = self._held(hold, await taken())
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

    async def _gone(self, session_id: str) -> None:
        self._foreign.pop(session_id, None)
        await self._forget(session_id)

    # ── what becomes of them ─────────────────────────────────────────────────────────────────────────────────────

    def waits(self) -> int:
        """How many wait here for a session."""
        return self._turns.waits()

    def _is_awaited(self, session_id: str) -> bool:
        return self._turns.waits_for_lock(session_id)

    async def release(self, owner: str) -> bool:
        """Give back what an owner has; whether the lease counted to the last."""
        hold, backend = self.hand_over(owner), self._backend
        if hold is None or backend is None:
            return False

        async def work() -> tuple[bool, tuple[str, ...]]:
            if hold.locks:
                return await backend.unlock(hold.lease), ()
            return await backend.put(hold.lease, good=hold.good, bad=hold.bad, spare=len(self._foreign))

        counted = await self._given_back(hold, work)
        if counted is False:
            self._count(f"pool/{self._site}/late")
        return bool(counted)

    async def quarantine(self, owner: str, reason: str, *, seconds: float | None = None) -> bool:
        """Take what an owner has out of use; ``seconds`` 0: for good. Whether the lease counted to the last."""
        hold, backend, what = self.hand_over(owner), self._backend, "quarantined"
        if hold is None or hold.locks or backend is None:
            return False

        async def work() -> tuple[bool, tuple[str, ...]]:
            nonlocal what
            counted, dropped = await backend.quarantine(hold.lease, reason, seconds=seconds)
            what = "dropped" if dropped else what
            return counted, (hold.lease.session_id,) if dropped else ()

        counted = await self._given_back(hold, work)
        if counted is not None:
            self._count(f"pool/{self._site}/{what}")
        return bool(counted)

    async def rest(self, owner: str, reason: str, *, seconds: float) -> bool:
        """Leave what an owner has alone until its exit is back, without blame; whether the lease counted."""
        hold, backend = self.hand_over(owner), self._backend
        if hold is None or hold.locks or backend is None:
            return False

        async def work() -> tuple[bool, tuple[str, ...]]:
            return await backend.rest(hold.lease, reason, seconds=seconds), ()

        counted = await self._given_back(hold, work)
        if counted is not None:
            self._count(f"pool/{self._site}/waited")
        return bool(counted)

    async def _given_back(self, hold: Hold, work: Callable[[], Awaitable[tuple[bool, tuple[str, ...]]]]) -> bool | None:
        """Whether the lease counted; None when nobody answers."""
        try:
            counted, dropped = await work()
            await self.came_back(dropped)
        except AWAY as exc:
            logger.warning("session %s of %s comes back by itself: %s", hold.lease.session_id, self._site, exc)
            return None
        return counted

    async def leave_alone(self, owner: str) -> bool:
        """Give back what an owner has and cannot read, for those who can: it is leased here no more."""
        hold = self.held(owner)
        if hold is not None:
            self._foreign[hold.lease.session_id] = None
            if len(self._foreign) > _MOST_FOREIGN:
                del self._foreign[next(iter(self._foreign))]
        return await self.release(owner)

    async def came_back(self, dropped: tuple[str, ...] = ()) -> None:
        """Something was given back: those who wait look at once; what the pool has dropped is forgotten."""
        for session_id in dropped:
            await self._forget(session_id)
        self._turns.freed()

    # ── the process's part ───────────────────────────────────────────────────────────────────────────────────────

    async def open(self) -> PoolBackend:
        """The back end, which knows of this worker from now on.

        Raises:
            ConfigError: another worker uses the pool by other numbers.
            RedisUnavailableError: there is no Redis.
        """
        return await self._open()

    def _here(self) -> PoolBackend | None:
        return self._backend

    async def _open(self, enter: bool = True) -> PoolBackend:
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
        self._moments.close()
        for owner in list(self._holds):
            self._spawn(self.release(owner))
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_LAST)  # what is not given back by then lapses
        if self._heart is not None:
            try:
                await self._heart.stop()
            except AWAY as exc:
                logger.info("%s", exc)
        self._backend = self._heart = None
