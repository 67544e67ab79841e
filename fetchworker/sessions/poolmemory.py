"""The pool of a site in this process, for crawls that know no Redis; lost with the process."""

from __future__ import annotations

import heapq
import math
import time
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Literal

from fetchworker.sessions.keys import check_session_id
from fetchworker.sessions.pool import (
    AFFINITY,
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
from fetchworker.sessions.poolrules import START, judged, order, worn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fetchworker.sessions.pool import Fresh


@dataclass(slots=True)
class _Pooled:
    """A session; ``place`` is its order while it is idle, ``due`` when its rest ends, ``lapse`` when its lease does.

    ``back``: when its exit may be used again, for which it waits.
    """

    id: str
    jar: str
    born: int
    used: int
    score: int = START
    uses: int = 0
    blocks: int = 0
    number: int = 0
    owner: str = ""
    reason: str | None = None
    reason_at: int | None = None
    until: int | None = None
    place: int | None = None
    due: int | None = None
    back: int | None = None
    lapse: int | None = None


@dataclass(slots=True)
class _Jar:
    """Heaps may hold what is true no longer: whoever takes from them compares."""

    sessions: dict[str, _Pooled] = field(default_factory=dict)
    idle: list[tuple[int, str]] = field(default_factory=list)
    rest: list[tuple[int, str]] = field(default_factory=list)
    idle_count: int = 0
    rest_count: int = 0
    away_count: int = 0

    @property
    def total(self) -> int:
        """Those that count."""
        return len(self.sessions) - self.away_count

    def away(self) -> list[_Pooled]:
        """Those that wait for their exits, the first to come back first."""
        waiting = [one for one in self.sessions.values() if one.back is not None] if self.away_count else []
        return sorted(waiting, key=lambda one: one.back or 0)


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
        self._jars: dict[str, _Jar] = {}
        self._leased: dict[str, _Pooled] = {}
        self._owned: dict[str, tuple[str, int]] = {}
        self._locks: dict[str, tuple[str, int, int]] = {}
        self._workers: dict[str, tuple[int, str]] = {}
        self._fence = count(1)
        self._totals = dict.fromkeys(("made", "dropped", "quarantined", "lapsed"), 0)

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
        holder: str = "",  # noqa: ARG002
        fresh: Fresh = "either",
        skip: Sequence[str] = (),
    ) -> Taken:
        """See the protocol."""
        now, home = self._now(), self._jars.setdefault(check_jar(jar), _Jar())
        check_session_id(owner)
        self._reap(now)
        had = home.sessions.get(self._had(owner, now) or "")
        if had is not None and had.owner == owner and had.id in self._leased:
            return Taken(self._give(had, owner, now))
        limit = self.terms.concurrency
        if limit is not None and len(self._leased) >= limit:
            return Taken(None, self._soonest(now, ()))
        self._rouse(home, now)
        self._recall(home, now)
        dropped: list[str] = []
        found = self._next(home, had, now, dropped, skip) if fresh != "new" else None
        if found is not None:
            found.uses += 1
            return Taken(self._give(found, owner, now), dropped=tuple(dropped))
        left_alone = sum(one in home.sessions and home.sessions[one].back is None for one in skip)
        if fresh != "used" and home.total - left_alone < self.terms.max_total:
            if home.away_count >= max(WAITING, self.terms.max_total):
                last = home.away()[-1]
                self._drop(last)
                dropped.append(last.id)
            made = _Pooled(new_id(jar), jar, now, now, uses=int(fresh != "new"))
            home.sessions[made.id] = made
            self._totals["made"] += 1
            return Taken(self._give(made, owner, now, new=True), dropped=tuple(dropped))
        return Taken(None, self._soonest(now, home.rest), tuple(dropped))

    async def aim(self, owner: str, session_id: str, /) -> None:
        """See the protocol."""
        self._owned[owner] = (session_id, self._now() + _micro(AFFINITY))

    def _had(self, owner: str, now: int) -> str | None:
        found = self._owned.get(owner)
        return found[0] if found and found[1] > now else None

    def _give(self, one: _Pooled, owner: str, now: int, *, new: bool = False) -> Lease:
        self._withdraw(one)
        one.owner, one.number, one.lapse = owner, next(self._fence), now + _micro(self.terms.lease)
        self._leased[one.id] = one
        if len(self._owned) > 2 * len(self._leased) + 1000:  # enough to look through
            self._owned = {name: had for name, had in self._owned.items() if had[1] > now}
        self._owned[owner] = (one.id, now + _micro(self.terms.lease + AFFINITY))
        return Lease(one.id, one.number, new)

    def _next(
        self, home: _Jar, had: _Pooled | None, now: int, dropped: list[str], skip: Sequence[str]
    ) -> _Pooled | None:
        if had is not None and had.id not in skip and had.place is not None and not self._worn(had, now):
            return had
        passed: list[tuple[int, str]] = []
        try:
            return self._first(home, now, dropped, skip, passed)
        finally:
            for one in passed:
                heapq.heappush(home.idle, one)

    def _first(
        self, home: _Jar, now: int, dropped: list[str], skip: Sequence[str], passed: list[tuple[int, str]]
    ) -> _Pooled | None:
        """The first in line that may be had, which is out of it then, as are those ``passed`` over."""
        while home.idle:
            place, name = heapq.heappop(home.idle)
            one = home.sessions.get(name)
            if one is None or one.place != place:
                continue
            if name in skip:
                passed.append((place, name))
                continue
            if not self._worn(one, now):
                return one
            self._drop(one)
            dropped.append(name)
        return None

    async def put(
        self, lease: Lease, /, *, good: int = 0, bad: int = 0, spare: int = 0
    ) -> tuple[bool, tuple[str, ...]]:
        """See the protocol."""
        now, one = self._now(), self._held(lease)
        if one is None:
            return False, ()
        one.score, one.used = judged(one.score, good=good, bad=bad), now
        self._owned.pop(one.owner, None)
        if self._worn(one, now):
            self._drop(one)
            return True, (one.id,)
        self._free(one)
        home = self._jars[one.jar]
        dropped: tuple[str, ...] = ()
        if home.idle_count + home.rest_count > self.terms.max_idle + spare:
            last = max((each for each in home.sessions.values() if each.place is not None), key=_line)
            self._drop(last)
            dropped = (last.id,)
        if self.terms.cooldown and one.place is not None:
            self._rest(one, now + _micro(self.terms.cooldown))
        return True, dropped

    async def quarantine(self, lease: Lease, reason: str, /, *, seconds: float | None = None) -> tuple[bool, bool]:
        """See the protocol."""
        now = self._now()
        one = self._held(lease) if lease.number else self._find(lease.session_id)
        if one is None:
            return False, False
        span = self.terms.quarantine if seconds is None else seconds
        self._owned.pop(one.owner, None)
        one.blocks += 1
        if not span or (self.terms.blocks and one.blocks >= self.terms.blocks):
            self._drop(one)
            return True, True
        self._totals["quarantined"] += 1
        one.score, one.used = judged(one.score, good=0, bad=1), now
        one.reason, one.reason_at, one.until = reason[:200], now, now + _micro(span)
        self._rest(one, one.until)
        return True, False

    async def rest(self, lease: Lease, reason: str, /, *, seconds: float) -> bool:
        """See the protocol."""
        now, one = self._now(), self._held(lease)
        if one is None:
            return False
        self._owned.pop(one.owner, None)
        self._withdraw(one)
        one.reason, one.reason_at, one.back = reason[:200], now, now + _micro(seconds)
        self._jars[one.jar].away_count += 1
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

    # ── locks ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def lock(self, session_id: str, owner: str, /, *, span: float | None = None) -> Taken:
        """See the protocol."""
        now = self._now()
        holder, _, until = self._locks.get(check_session_id(session_id), ("", 0, 0))
        if until > now and holder != owner:
            return Taken(None, (until - now) / 1e6)
        number = next(self._fence)
        self._locks[session_id] = (owner, number, now + _micro(span or self.terms.lease))
        return Taken(Lease(session_id, number))

    async def keep(self, lease: Lease, /, *, span: float | None = None) -> bool:
        """See the protocol."""
        owner, number, until = self._locks.get(lease.session_id, ("", 0, 0))
        good = number == lease.number and until > self._now()
        if good:
            self._locks[lease.session_id] = (owner, number, self._now() + _micro(span or self.terms.lease))
        return good

    async def unlock(self, lease: Lease, /) -> bool:
        """See the protocol."""
        _, number, until = self._locks.get(lease.session_id, ("", 0, 0))
        good = number == lease.number and until > self._now()
        if good:
            del self._locks[lease.session_id]
        return good

    # ── for people ───────────────────────────────────────────────────────────────────────────────────────────────

    async def counts(self, jar: str, /) -> Counts:
        """See the protocol."""
        home = self._jars.get(check_jar(jar), _Jar())
        return Counts(home.idle_count, home.rest_count, home.total)

    async def standings(self) -> list[Standing]:
        """See the protocol."""
        now = self._now()
        return [self._standing(one, now) for _, home in sorted(self._jars.items()) for one in home.sessions.values()]

    async def totals(self) -> dict[str, int]:
        """See the protocol."""
        return dict(self._totals)

    def _standing(self, one: _Pooled, now: int) -> Standing:
        quarantined = one.due is not None and one.until is not None and one.until > now
        until = next((at for at in (one.lapse, one.due, one.back) if at is not None), None)
        return Standing(
            id=one.id,
            jar=one.jar,
            state=_state(one, quarantined=quarantined),
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

    # ── where a session stands ───────────────────────────────────────────────────────────────────────────────────

    def _free(self, one: _Pooled) -> None:
        self._withdraw(one)
        home = self._jars[one.jar]
        one.place = order(self.terms.prefer, born=one.born, used=one.used, score=one.score)
        heapq.heappush(home.idle, (one.place, one.id))
        home.idle_count += 1

    def _rest(self, one: _Pooled, due: int) -> None:
        self._withdraw(one)
        home = self._jars[one.jar]
        one.due = due
        heapq.heappush(home.rest, (due, one.id))
        home.rest_count += 1

    def _withdraw(self, one: _Pooled) -> None:
        """Out of wherever it is."""
        home = self._jars[one.jar]
        home.idle_count -= one.place is not None
        home.rest_count -= one.due is not None
        home.away_count -= one.back is not None
        one.place = one.due = one.back = one.lapse = None
        one.owner, one.number = "", 0
        self._leased.pop(one.id, None)

    def _drop(self, one: _Pooled) -> None:
        self._withdraw(one)
        del self._jars[one.jar].sessions[one.id]
        self._totals["dropped"] += 1

    def _reap(self, now: int) -> None:
        for one in [one for one in self._leased.values() if (one.lapse or 0) <= now]:
            self._free(one)
            self._totals["lapsed"] += 1

    def _rouse(self, home: _Jar, now: int) -> None:
        while home.rest and home.rest[0][0] <= now:
            due, name = heapq.heappop(home.rest)
            one = home.sessions.get(name)
            if one is not None and one.due == due:
                self._free(one)

    def _recall(self, home: _Jar, now: int) -> None:
        """Those whose exits may be used again, as far as there is room."""
        due = [one for one in home.away() if (one.back or 0) <= now]
        for one in due[: max(0, self.terms.max_total - home.total)]:
            self._free(one)

    def _held(self, lease: Lease) -> _Pooled | None:
        one = self._leased.get(lease.session_id)
        good = one is not None and one.number == lease.number and (one.lapse or 0) > self._now()
        return one if good else None

    def _find(self, session_id: str) -> _Pooled | None:
        return next((home.sessions[session_id] for home in self._jars.values() if session_id in home.sessions), None)

    def _soonest(self, now: int, rest: Sequence[tuple[int, str]]) -> float:
        ends = [one.lapse for one in self._leased.values() if one.lapse]
        soonest = min([*ends, *(due for due, _ in rest[:1])], default=now + _micro(self.terms.lease))
        return max(0.0, (soonest - now) / 1e6)

    def _worn(self, one: _Pooled, now: int) -> bool:
        terms = self.terms
        return worn(uses=one.uses, age=(now - one.born) / 1e6, max_uses=terms.max_uses, max_age=terms.max_age)

    def _now(self) -> int:
        return _micro(self._clock() + self._epoch)

    def _posix(self, micros: int) -> float:
        return micros / 1e6


def _state(one: _Pooled, *, quarantined: bool) -> Literal["idle", "resting", "quarantined", "leased", "waiting"]:
    if one.lapse:
        return "leased"
    if one.back:
        return "waiting"
    return "quarantined" if quarantined else "resting" if one.due else "idle"


def _line(one: _Pooled) -> tuple[float, str]:
    return (math.inf if one.place is None else one.place, one.id)


def _micro(seconds: float) -> int:
    return round(seconds * 1e6)
