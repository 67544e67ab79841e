"""The sessions of a pool that is a process's own, and where each of them stands."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from fetchworker.sessions.poolrules import START, order, worn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.sessions.pool import Fresh, PoolTerms


@dataclass(slots=True)
class Pooled:
    """A session; ``place`` is its order while it is idle, ``due`` when its rest ends, ``lapse`` when its lease does.

    ``back``: when its exit may be used again, for which it waits. ``last``: the process that had it last.
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
    last: str = ""
    reason: str | None = None
    reason_at: int | None = None
    until: int | None = None
    place: int | None = None
    due: int | None = None
    back: int | None = None
    lapse: int | None = None


@dataclass(slots=True)
class Jar:
    """Heaps may hold what is true no longer: whoever takes from them compares."""

    sessions: dict[str, Pooled] = field(default_factory=dict)
    idle: list[tuple[int, str]] = field(default_factory=list)
    rest: list[tuple[int, str]] = field(default_factory=list)
    idle_count: int = 0
    rest_count: int = 0
    away_count: int = 0

    @property
    def total(self) -> int:
        """Those that count."""
        return len(self.sessions) - self.away_count

    def away(self) -> list[Pooled]:
        """Those that wait for their exits, the first to come back first."""
        waiting = [one for one in self.sessions.values() if one.back is not None] if self.away_count else []
        return sorted(waiting, key=lambda one: one.back or 0)


class Jars:
    """The jars of a pool. Times are microseconds.

    Args:
        terms: the pool's numbers.
    """

    def __init__(self, terms: PoolTerms) -> None:
        self._terms = terms
        self.jars: dict[str, Jar] = {}
        self.leased: dict[str, Pooled] = {}
        self.totals = dict.fromkeys(("made", "dropped", "quarantined", "lapsed"), 0)

    def home(self, jar: str) -> Jar:
        """The jar of that name."""
        return self.jars.setdefault(jar, Jar())

    def find(self, session_id: str) -> Pooled | None:
        """The session of that name."""
        return next((home.sessions[session_id] for home in self.jars.values() if session_id in home.sessions), None)

    def free(self, one: Pooled) -> None:
        """It is idle."""
        self.withdraw(one)
        home = self.jars[one.jar]
        one.place = order(self._terms.prefer, born=one.born, used=one.used, score=one.score)
        heapq.heappush(home.idle, (one.place, one.id))
        home.idle_count += 1

    def rest(self, one: Pooled, due: int) -> None:
        """It rests until then."""
        self.withdraw(one)
        home = self.jars[one.jar]
        one.due = due
        heapq.heappush(home.rest, (due, one.id))
        home.rest_count += 1

    def withdraw(self, one: Pooled) -> None:
        """Out of wherever it is."""
        home = self.jars[one.jar]
        home.idle_count -= one.place is not None
        home.rest_count -= one.due is not None
        home.away_count -= one.back is not None
        one.place = one.due = one.back = one.lapse = None
        one.owner, one.number = "", 0
        self.leased.pop(one.id, None)

    def drop(self, one: Pooled) -> None:
        """It is no more."""
        self.withdraw(one)
        del self.jars[one.jar].sessions[one.id]
        self.totals["dropped"] += 1

    def reap(self, now: int) -> None:
        """What holders that are no more have held comes back."""
        for one in [one for one in self.leased.values() if (one.lapse or 0) <= now]:
            self.free(one)
            self.totals["lapsed"] += 1

    def rouse(self, home: Jar, now: int) -> None:
        """Those whose rest is over."""
        while home.rest and home.rest[0][0] <= now:
            due, name = heapq.heappop(home.rest)
            one = home.sessions.get(name)
            if one is not None and one.due == due:
                self.free(one)

    def recall(self, home: Jar, now: int) -> None:
        """Those whose exits may be used again, as far as there is room."""
        due = [one for one in home.away() if (one.back or 0) <= now]
        for one in due[: max(0, self._terms.max_total - home.total)]:
            self.free(one)

    def next(self, home: Jar, had: Pooled | None, now: int, dropped: list[str], skip: Sequence[str]) -> Pooled | None:
        """The session to be given, one that the owner ``had`` before others; who is worn goes to ``dropped``."""
        if had is not None and had.id not in skip and had.place is not None and not self.worn(had, now):
            return had
        passed: list[tuple[int, str]] = []
        try:
            return self._first(home, now, dropped, skip, passed)
        finally:
            for one in passed:
                heapq.heappush(home.idle, one)

    def _first(
        self, home: Jar, now: int, dropped: list[str], skip: Sequence[str], passed: list[tuple[int, str]]
    ) -> Pooled | None:
        """The first in line that may be had, which is out of it then, as are those ``passed`` over."""
        while home.idle:
            place, name = heapq.heappop(home.idle)
            one = home.sessions.get(name)
            if one is None or one.place != place:
                continue
            if name in skip:
                passed.append((place, name))
                continue
            if not self.worn(one, now):
                return one
            self.drop(one)
            dropped.append(name)
        return None

    def room(self, home: Jar, skip: Sequence[str]) -> int:
        """How many sessions may be made; those to ``skip`` take no place."""
        left_alone = sum(one in home.sessions and home.sessions[one].back is None for one in skip)
        return max(0, self._terms.max_total - home.total + left_alone)

    def there(self, home: Jar, fresh: Fresh, skip: Sequence[str]) -> int:
        """How many sessions could be given now."""
        room = 0 if fresh == "used" else self.room(home, skip)
        skipped = sum(one in home.sessions and home.sessions[one].place is not None for one in skip)
        return room if fresh == "new" else room + home.idle_count - skipped

    def soonest(self, now: int, rest: Sequence[tuple[int, str]]) -> float:
        """Seconds until a session comes back by itself."""
        ends = [one.lapse for one in self.leased.values() if one.lapse]
        soonest = min([*ends, *(due for due, _ in rest[:1])], default=now + round(self._terms.lease * 1e6))
        return max(0.0, (soonest - now) / 1e6)

    def worn(self, one: Pooled, now: int) -> bool:
        """Whether it has been used often or long enough."""
        terms = self._terms
        return worn(uses=one.uses, age=(now - one.born) / 1e6, max_uses=terms.max_uses, max_age=terms.max_age)


def state_of(one: Pooled, *, quarantined: bool) -> Literal["idle", "resting", "quarantined", "leased", "waiting"]:
    """What people are told of it."""
    if one.lapse:
        return "leased"
    if one.back:
        return "waiting"
    return "quarantined" if quarantined else "resting" if one.due else "idle"


def in_line(one: Pooled) -> tuple[float, str]:
    """By which the least wanted of those that are idle is the last."""
    return (math.inf if one.place is None else one.place, one.id)
