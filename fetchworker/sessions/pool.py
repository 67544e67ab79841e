"""What a pool of sessions is, wherever it is kept: its numbers, its leases, and what a back end does.

A pooled session is an ordinary stored session (:mod:`fetchworker.sessions.store`) that the pool gives to one holder at
a time. The back ends are :class:`~fetchworker.sessions.poolredis.RedisPool`, which all workers of a site share, and
:class:`~fetchworker.sessions.poolmemory.MemoryPool` for a process by itself; most code wants
:class:`~fetchworker.sessions.leases.SessionPool` on top of one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import orjson

from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.sessions.poolrules import Prefer

#: seconds for which it is known which session an owner had, after its lease is over
AFFINITY = 3600.0
#: seconds for which a worker's numbers hold without being said again
WORKER_SPAN = 90.0
#: seconds for which somebody in the line keeps a place without asking again
GRACE = 2.0
#: seconds that the lock of a block of code lasts unless it is kept: so long others wait for a process that was killed
BLOCK_SPAN = 12.0
#: sessions of a jar that may wait for their exits, where no more may be in use
WAITING = 100

Fresh = Literal["either", "new", "used"]


@dataclass(frozen=True, slots=True)
class PoolTerms:
    """The numbers of a pool; times in seconds, None: no limit. docs/configuration.md explains each."""

    min_idle: int = 0
    max_idle: int = 20
    max_total: int = 100
    concurrency: int | None = None
    cooldown: float = 0.0
    max_uses: int | None = None
    max_age: float | None = None
    prefer: Prefer = "best"
    quarantine: float = 600.0
    blocks: int = 3
    lease: float = 60.0
    hold: float = 300.0
    wait: float = 30.0

    def shared(self) -> str:
        """Those that all workers have to agree on, as JSON."""
        own = ("lease", "hold", "wait")
        return orjson.dumps(
            {name: value for name, value in asdict(self).items() if name not in own}, option=orjson.OPT_SORT_KEYS
        ).decode()


@dataclass(frozen=True, slots=True)
class Lease:
    """A session in one hand. ``new``: it has no stored record yet. ``number`` grows with every lease of the site.

    ``known``: the process that gets it had it last, so that nobody else has changed its record since.
    """

    session_id: str
    number: int
    new: bool = False
    known: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Taken:
    """The answer to a question for a session: a lease, or the seconds after which to ask again.

    ``dropped`` are sessions whose records are of no more use, ``damaged`` what could not be read and is gone.
    ``before`` have waited for longer; ``turn`` changes whenever somebody who waited was served, in whichever process.
    """

    lease: Lease | None
    wait: float = 0.0
    dropped: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    before: int = 0
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """How a pooled session stands; times are POSIX seconds, None where there is none. No secret is in it."""

    id: str
    jar: str
    state: Literal["idle", "resting", "quarantined", "leased", "waiting", "damaged"]
    created_at: float
    used_at: float
    uses: int
    score: int
    blocks: int = 0
    until: float | None = None
    owner: str | None = None
    reason: str | None = None
    reason_at: float | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many sessions a jar has; ``total`` without those that wait for their exits."""

    idle: int
    resting: int
    total: int


@runtime_checkable
class PoolBackend(Protocol):
    """What a back end does, of one site.

    Every method raises RedisUnavailableError when nothing answers.
    """

    async def enter(self, worker: str, /) -> None:
        """Say that this worker uses the pool, for :data:`WORKER_SPAN` seconds.

        Raises:
            ConfigError: another worker that lives uses it by other numbers; names the keys that differ.
        """

    async def leave(self, worker: str, /) -> None:
        """The worker uses the pool no longer."""

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
        """Lease the next session of a jar; the same owner gets the one that it has, and older tokens of it are void.

        ``holder``: the process that asks; empty when others will use the session.
        ``skip`` names sessions to leave alone; they take no place of those that may be. ``waits``: for how many seconds
        the owner has waited so far. It has a place in the line of all processes then, where whoever has waited for
        longest is served first, until it is served, quits, or does not ask for :data:`GRACE` seconds. None: it has no
        place, and is served when nobody waits whom that would deprive.
        """

    async def quit(self, jar: str, owner: str, /) -> None:
        """The owner waits no longer for a session of the jar."""

    async def aim(self, owner: str, session_id: str, /) -> None:
        """Let the owner's next :meth:`take` give this session, if it is idle then."""

    async def put(
        self, lease: Lease, /, *, good: int = 0, bad: int = 0, spare: int = 0
    ) -> tuple[bool, tuple[str, ...]]:
        """Give a session back: whether the lease counted, and sessions whose records are of no more use.

        ``spare``: so many more than ``terms.max_idle`` may be idle.
        """

    async def quarantine(self, lease: Lease, reason: str, /, *, seconds: float | None = None) -> tuple[bool, bool]:
        """Take a session out of use: whether the lease counted, and whether the session is dropped.

        ``seconds`` None: as the terms say; 0: it is dropped. A lease whose number is 0 stands for any holder.
        """

    async def rest(self, lease: Lease, reason: str, /, *, seconds: float) -> bool:
        """Leave a session alone that is not to blame, until its exit is back; whether the lease counted.

        It counts for no limit meanwhile, and comes back when there is room for it. ``terms.max_total`` sessions, or
        :data:`WAITING`, may wait so; of more the one whose wait is the longest is dropped when another one is made.
        """

    async def extend(self, leases: Sequence[Lease], /) -> list[bool]:
        """Hold leases for another ``terms.lease`` seconds: which of them counted."""

    async def owner(self, lease: Lease, /) -> str | None:
        """Who has a lease, None when it was given back or is somebody else's; one that has lapsed may tell yet."""

    async def lock(
        self, session_id: str, owner: str, /, *, waits: float | None = None, span: float | None = None
    ) -> Taken:
        """Have a named session to oneself for ``span`` (None: ``terms.lease``) seconds; its owner gets it again.

        ``waits``: as of :meth:`take`.
        """

    async def quit_lock(self, session_id: str, owner: str, /) -> None:
        """The owner waits no longer for the named session."""

    async def keep(self, lease: Lease, /, *, span: float | None = None) -> bool:
        """Hold a lock for another ``span`` (None: ``terms.lease``) seconds; whether it counted."""

    async def unlock(self, lease: Lease, /) -> bool:
        """Give a lock back; whether it counted."""

    async def counts(self, jar: str, /) -> Counts:
        """How many sessions a jar has."""

    async def standings(self) -> list[Standing]:
        """All sessions, by jar and age. For people, not for each request."""

    async def totals(self) -> dict[str, int]:
        """What was made, dropped, quarantined and lapsed so far."""


def conflict(site: str, ours: PoolTerms, theirs: str, worker: str) -> ConfigError:
    """The error for numbers that another worker does not have."""
    try:
        other = dict(orjson.loads(theirs))
    except (orjson.JSONDecodeError, TypeError, ValueError):
        other = {}
    mine = orjson.loads(ours.shared())
    differing = [
        f"sites.{site}.pool.{name} is {_said(mine.get(name))} here and {_said(other.get(name))} there"
        for name in sorted(mine.keys() | other.keys())
        if mine.get(name) != other.get(name)
    ]
    told = "; ".join(differing) or f"sites.{site}.pool differs"
    return ConfigError(
        f"{told}: worker {worker} uses the pool of {site} in this Redis by other numbers; give all workers of the site "
        f"the same ones, or end the others and wait {WORKER_SPAN:g} s"
    )


def _said(value: object) -> str:
    return "unset" if value is None else str(value)
