"""The pool of a site in this process, for crawls that know no Redis; lost with the process."""

from __future__ import annotations

import time
from itertools import count
from typing import TYPE_CHECKING

from fetchworker.sessions.keys import check_session_id
from fetchworker.sessions.line import Line
from fetchworker.sessions.memorylocks import Locks
from fetchworker.sessions.pool import (
    AFFINITY,
    GRACE,
    WAITING,
    WORKER_SPAN,
    Counts,
    Lease,
    PoolTerms,
    Standing,
    Taken,
    conflict,
)
from fetchworker.sessions.poolkeys import check_jar, new_id
from fetchworker.sessions.poolplaces import Jar, Jars, Pooled, in_line, state_of
from fetchworker.sessions.poolrules import judged

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fetchworker.sessions.pool import Fresh


class MemoryPool:
    """See :class:`~fetchworker.sessions.pool.PoolBackend`.

    Args:
        site: whose pool it is.
        terms: its numbers.
        clock: seconds, never going back.
    """

    def __init__(self, site: str, terms: PoolTerms, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.terms = terms
        self._site = site
        self._clock = clock
        self._epoch = time.time() - clock()
        self._places = Jars(terms)
        self._owned: dict[str, tuple[str, int]] = {}
        self._workers: dict[str, tuple[int, str]] = {}
        self._fence = count(1)
        self._locks = Locks(self._fence)
        self._line = Line(_micro(GRACE))
        self._lines: dict[str, Line] = {}
        self._turns: dict[str, int] = {}

    # ── workers ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def enter(self, worker: str, /) -> None:
        """See the protocol."""
        now, mine = self._now(), self.terms.shared()
        for other, (until, terms) in self._workers.items():
            if other != worker and until > now and terms != mine:
                raise conflict(self._site, self.terms, terms, other)
        self._workers[worker] = (now + _micro(WORKER_SPAN), mine)

    async def leave(self, worker: str, /) -> None:
        """See the protocol."""
        self._workers.pop(worker, None)

    # ── leases ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def take(
        self,
        jar: str,
        owner: str,
        /,
        *,
        holder: str = "",
        fresh: Fresh = "either",
        skip: Sequence[str] = (),
        waits: float | None = None,
    ) -> Taken:
        """See the protocol."""
        now, home = self._now(), self._places.home(check_jar(jar))
        check_session_id(owner)
        self._places.reap(now)
        had = home.sessions.get(self._had(owner, now) or "")
        if had is not None and had.owner == owner and had.id in self._places.leased:
            return Taken(self._give(had, owner, now, holder))
        ask = _Ask(jar, owner, waits, now, holder)
        limit = self.terms.concurrency
        before = self._line.ahead(owner, ask.since, now)
        if limit is not None and len(self._places.leased) + before >= limit:
            return self._refused(ask, self._places.soonest(now, ()), before, full=True)
        self._places.rouse(home, now)
        self._places.recall(home, now)
        dropped: list[str] = []
        before = self._line_of(jar).ahead(owner, ask.since, now)
        if not before or before < self._places.there(home, fresh, skip):
            lease = self._given(ask, had, fresh, skip, dropped)
            if lease is not None:
                return Taken(lease, dropped=tuple(dropped))
        return self._refused(ask, self._places.soonest(now, home.rest), before, dropped)

    def _given(
        self, ask: _Ask, had: Pooled | None, fresh: Fresh, skip: Sequence[str], dropped: list[str]
    ) -> Lease | None:
        home = self._places.home(ask.jar)
        found = self._places.next(home, had, ask.now, dropped, skip) if fresh != "new" else None
        if found is not None:
            found.uses += 1
            return self._give(found, ask.owner, ask.now, ask.holder)
        if fresh == "used" or not self._places.room(home, skip):
            return None
        if home.away_count >= max(WAITING, self.terms.max_total):
            last = home.away()[-1]
            self._places.drop(last)
            dropped.append(last.id)
        made = Pooled(new_id(ask.jar), ask.jar, ask.now, ask.now, uses=int(fresh != "new"))
        home.sessions[made.id] = made
        self._places.totals["made"] += 1
        return self._give(made, ask.owner, ask.now, ask.holder, new=True)

    def _refused(
        self, ask: _Ask, wait: float, before: int, dropped: Sequence[str] = (), *, full: bool = False
    ) -> Taken:
        if ask.waits is not None:
            self._line_of(ask.jar).stand(ask.owner, ask.since, ask.now)
            if full:
                self._line.stand(ask.owner, ask.since, ask.now)
            else:
                self._line.leave(ask.owner)
        turn = self._turns.get("" if full else ask.jar, 0)
        return Taken(None, wait, tuple(dropped), before=before, turn=turn)

    def _line_of(self, jar: str) -> Line:
        return self._lines.setdefault(jar, Line(_micro(GRACE)))

    async def quit(self, jar: str, owner: str, /) -> None:
        """See the protocol."""
        self._line.leave(owner)
        self._line_of(check_jar(jar)).leave(owner)

    async def aim(self, owner: str, session_id: str, /) -> None:
        """See the protocol."""
        self._owned[owner] = (session_id, self._now() + _micro(AFFINITY))

    def _had(self, owner: str, now: int) -> str | None:
        found = self._owned.get(owner)
        return found[0] if found and found[1] > now else None

    def _give(self, one: Pooled, owner: str, now: int, holder: str, *, new: bool = False) -> Lease:
        self._places.withdraw(one)
        known, one.last = not new and one.last == holder != "", holder
        one.owner, one.number, one.lapse = owner, next(self._fence), now + _micro(self.terms.lease)
        self._places.leased[one.id] = one
        if len(self._owned) > 2 * len(self._places.leased) + 1000:  # enough to look through
            self._owned = {name: had for name, had in self._owned.items() if had[1] > now}
        self._owned[owner] = (one.id, now + _micro(self.terms.lease + AFFINITY))
        self._turns[""] = one.number
        if len(self._line_of(one.jar)):
            self._line.leave(owner)
            self._line_of(one.jar).leave(owner)
            self._turns[one.jar] = one.number
        return Lease(one.id, one.number, new, known=known)

    async def put(
        self, lease: Lease, /, *, good: int = 0, bad: int = 0, spare: int = 0
    ) -> tuple[bool, tuple[str, ...]]:
        """See the protocol."""
        now, one = self._now(), self._held(lease)
        if one is None:
            return False, ()
        one.score, one.used = judged(one.score, good=good, bad=bad), now
        self._owned.pop(one.owner, None)
        if self._places.worn(one, now):
            self._places.drop(one)
            return True, (one.id,)
        self._places.free(one)
        home = self._places.jars[one.jar]
        dropped: tuple[str, ...] = ()
        if home.idle_count + home.rest_count > self.terms.max_idle + spare:
            last = max((each for each in home.sessions.values() if each.place is not None), key=in_line)
            self._places.drop(last)
            dropped = (last.id,)
        if self.terms.cooldown and one.place is not None:
            self._places.rest(one, now + _micro(self.terms.cooldown))
        return True, dropped

    async def quarantine(self, lease: Lease, reason: str, /, *, seconds: float | None = None) -> tuple[bool, bool]:
        """See the protocol."""
        now = self._now()
        one = self._held(lease) if lease.number else self._places.find(lease.session_id)
        if one is None:
            return False, False
        span = self.terms.quarantine if seconds is None else seconds
        self._owned.pop(one.owner, None)
        one.blocks += 1
        if not span or (self.terms.blocks and one.blocks >= self.terms.blocks):
            self._places.drop(one)
            return True, True
        self._places.totals["quarantined"] += 1
        one.score, one.used = judged(one.score, good=0, bad=1), now
        one.reason, one.reason_at, one.until = reason[:200], now, now + _micro(span)
        self._places.rest(one, one.until)
        return True, False

    async def rest(self, lease: Lease, reason: str, /, *, seconds: float) -> bool:
        """See the protocol."""
        now, one = self._now(), self._held(lease)
        if one is None:
            return False
        self._owned.pop(one.owner, None)
        self._places.withdraw(one)
        one.reason, one.reason_at, one.back = reason[:200], now, now + _micro(seconds)
        self._places.jars[one.jar].away_count += 1
        return True

    async def extend(self, leases: Sequence[Lease], /) -> list[bool]:
        """See the protocol."""
        until = self._now() + _micro(self.terms.lease)
        held = [self._held(lease) for lease in leases]
        for one in held:
            if one is not None:
                one.lapse = until
                self._owned[one.owner] = (one.id, until + _micro(AFFINITY))
        return [one is not None for one in held]

    async def owner(self, lease: Lease, /) -> str | None:
        """See the protocol."""
        one = self._held(lease)
        return one.owner if one is not None else None

    # ── locks ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def lock(
        self, session_id: str, owner: str, /, *, waits: float | None = None, span: float | None = None
    ) -> Taken:
        """See the protocol."""
        waited = None if waits is None else _micro(waits)
        return self._locks.take(check_session_id(session_id), owner, waited, self._now(), self._span(span))

    async def quit_lock(self, session_id: str, owner: str, /) -> None:
        """See the protocol."""
        self._locks.quit(session_id, owner)

    def _span(self, seconds: float | None) -> int:
        return _micro(seconds or self.terms.lease)

    async def keep(self, lease: Lease, /, *, span: float | None = None) -> bool:
        """See the protocol."""
        return self._locks.keep(lease, self._now(), self._span(span))

    async def unlock(self, lease: Lease, /) -> bool:
        """See the protocol."""
        return self._locks.free(lease, self._now())

    # ── for people ───────────────────────────────────────────────────────────────────────────────────────────────

    async def counts(self, jar: str, /) -> Counts:
        """See the protocol."""
        home = self._places.jars.get(check_jar(jar), Jar())
        return Counts(home.idle_count, home.rest_count, home.total)

    async def standings(self) -> list[Standing]:
        """See the protocol."""
        now = self._now()
        homes = [home for _, home in sorted(self._places.jars.items())]
        return [self._standing(one, now) for home in homes for one in home.sessions.values()]

    async def totals(self) -> dict[str, int]:
        """See the protocol."""
        return dict(self._places.totals)

    def _standing(self, one: Pooled, now: int) -> Standing:
        quarantined = one.due is not None and one.until is not None and one.until > now
        until = next((at for at in (one.lapse, one.due, one.back) if at is not None), None)
        return Standing(
            id=one.id,
            jar=one.jar,
            state=state_of(one, quarantined=quarantined),
            created_at=self._posix(one.born),
            used_at=self._posix(one.used),
            uses=one.uses,
            score=one.score,
            blocks=one.blocks,
            until=None if until is None else self._posix(until),
            owner=one.owner or None,
            reason=one.reason,
            reason_at=None if one.reason_at is None else self._posix(one.reason_at),
        )

    def _held(self, lease: Lease) -> Pooled | None:
        one = self._places.leased.get(lease.session_id)
        good = one is not None and one.number == lease.number and (one.lapse or 0) > self._now()
        return one if good else None

    def _now(self) -> int:
        return _micro(self._clock() + self._epoch)

    def _posix(self, micros: int) -> float:
        return micros / 1e6


def _micro(seconds: float) -> int:
    return round(seconds * 1e6)


class _Ask:
    """Who asks for a session: for how many seconds it has waited (None: it takes no place), and since when that is."""

    __slots__ = ("holder", "jar", "now", "owner", "since", "waits")

    def __init__(self, jar: str, owner: str, waits: float | None, now: int, holder: str) -> None:
        self.jar, self.owner, self.waits, self.now, self.holder = jar, owner, waits, now, holder
        self.since = now - _micro(waits or 0)
