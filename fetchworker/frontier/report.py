"""How the namespaces of a spider stand, for operators: nothing here changes anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import msgpack

from fetchworker.errors import CorruptEntryError
from fetchworker.frontier import codec
from fetchworker.frontier.entry import Entry, read_entry
from fetchworker.frontier.keys import registry
from fetchworker.redis import script

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.frontier.keys import Namespace
    from fetchworker.redis import Client

#: bytes of a leased entry that are looked at: enough for an address
HEAD = 8192
_STARTS: tuple[Literal["none", "running", "done"], ...] = ("none", "running", "done")


@dataclass(frozen=True, slots=True)
class Level:
    """A priority that holds something; ``unserved``: seconds since something of it was handed out, or came in first."""

    priority: int
    entries: int
    unserved: float


@dataclass(frozen=True, slots=True)
class Held:
    """What a worker has on lease; ``entry`` is its beginning, None for one that this queue could not have written."""

    token: str
    priority: int
    age: float
    size: int
    entry: Entry | None

    @property
    def url(self) -> str | None:
        """The address of a request, None for a seed and where it cannot be read."""
        if self.entry is None or self.entry.kind == "seed":
            return None
        return codec.url_of(self.entry.payload)


@dataclass(frozen=True, slots=True)
class Holder:
    """A worker that Redis has heard of; ``lapses``: seconds until its leases lapse, negative when they have."""

    owner: str
    lapses: float
    held: list[Held]


@dataclass(frozen=True, slots=True)
class Report:
    """How a namespace stands. Times are seconds from now.

    Attributes:
        names: the namespace.
        levels: its priorities, the highest first.
        delayed: requests that are tried again later; ``due``: when the first is, None when there is none.
        seeds: how many wait; None when their key is neither list, set nor sorted set (``seeds_kind``: what it is).
        staged: children of pages under way that are in Redis already.
        committed: pages that are done and whose children join the queue in parts; ``parts``: how many are left.
        workers: who has something on lease.
        dead: dead letters.
        counts: what was counted since the namespace began: enqueued, done, dead, redelivered.
        start: whether the requests of ``start()`` are queued; ``started``: how many.
        expires: when what is left of an ended private namespace goes, None for one in use.
        seen: fingerprints in the seen-set.
    """

    names: Namespace
    levels: list[Level]
    delayed: int
    due: float | None
    seeds: int | None
    seeds_kind: str
    staged: int
    committed: int
    parts: int
    workers: list[Holder]
    dead: int
    start: Literal["none", "running", "done"]
    started: int
    expires: float | None
    seen: int
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def queued(self) -> int:
        """Requests that can be handed out now."""
        return sum(level.entries for level in self.levels) + self.parts

    @property
    def leased(self) -> int:
        """Requests on lease."""
        return sum(len(worker.held) for worker in self.workers)

    @property
    def unserved(self) -> float | None:
        """Seconds that the priority has waited which has waited longest; None when nothing waits."""
        return max((level.unserved for level in self.levels), default=None)

    @property
    def alive(self) -> list[Holder]:
        """The workers whose leases have not lapsed."""
        return [worker for worker in self.workers if worker.lapses > 0]

    @property
    def waits(self) -> int:
        """All that is still to be done, seeds left out."""
        return self.queued + self.leased + self.delayed

    @property
    def nothing(self) -> bool:
        """Whether there is no trace of the namespace."""
        things = (self.waits, self.seeds != 0, self.committed, self.dead, self.workers, self.counts, self.seen)
        return not any(things) and self.start == "none"


async def read_report(redis: Client, names: Namespace) -> Report:
    """How a namespace stands."""
    lua = files(__package__) / "lua"
    report = script(redis, f"{(lua / 'lib.lua').read_text()}\n{(lua / 'report.lua').read_text()}")
    return _report(names, msgpack.unpackb(await report(names.keys, [HEAD]), raw=True))


async def private_ids(redis: Client, spider: str) -> list[str]:
    """The ids of a spider's private namespaces, the one that was used last first."""
    found: Any = await redis.zrevrange(registry(spider), 0, -1)
    return [id_.decode() for id_ in found]


def _report(names: Namespace, raw: list[Any]) -> Report:
    levels, delayed, due, seeds, parts, workers, dead, counts, start, ttl, seen, now = raw
    return Report(
        names,
        levels=[_level(level, now) for level in reversed(levels or [])],
        delayed=delayed,
        due=None if float(due) < 0 else _ahead(due, now),
        seeds=None if seeds[1] < 0 else seeds[1],
        seeds_kind=seeds[0].decode(),
        staged=parts[0],
        committed=parts[1],
        parts=parts[2],
        workers=[Holder(owner.decode(), _ahead(lapse, now), _held(held, now)) for owner, lapse, held in workers or []],
        dead=dead,
        start=_STARTS[start[0]],
        started=int(start[1]),
        expires=None if ttl < 0 else float(ttl),
        seen=int(seen),
        counts=_counts(counts or []),
    )


def _level(raw: list[Any], now: int) -> Level:
    priority, entries, served = raw
    return Level(int(priority), entries, max(0.0, -_ahead(served, now)) if float(served) >= 0 else 0.0)


def _held(held: Any, now: int) -> list[Held]:
    found = [
        Held(token.decode(), int(level), max(0.0, -_ahead(since, now)), size, _entry(head))
        for token, since, level, size, head in held or []
    ]
    return sorted(found, key=lambda one: int(one.token))


def _entry(head: bytes) -> Entry | None:
    try:
        return read_entry(head)
    except CorruptEntryError:
        return None


def _counts(flat: list[bytes]) -> dict[str, int]:
    pairs = zip(flat[::2], flat[1::2], strict=True)
    return {name.decode(): int(value) for name, value in pairs if name != b"token"}


def _ahead(milliseconds: bytes, now: int) -> float:
    return (float(milliseconds) - now) / 1000
