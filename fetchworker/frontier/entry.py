"""What travels between a worker and Redis, as plain values (pure)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import msgpack

from fetchworker.errors import CorruptEntryError

Kind = Literal["request", "seed"]
_KINDS: dict[int, Kind] = {ord("r"): "request", ord("s"): "seed"}
_HEAD = 3
#: characters of a reason that are kept
_REASON = 2000
#: a request that has not failed and was not handed out yet
FRESH = b"r\x00\x00"


@dataclass(frozen=True, slots=True)
class Child:
    """A request for the queue. ``fingerprint`` is a 64-bit integer, None for one that is not filtered."""

    priority: int
    fingerprint: int | None
    payload: bytes

    def packed(self) -> tuple[str, str, bytes]:
        """As the scripts take it."""
        seen = "" if self.fingerprint is None else str(self.fingerprint)
        return str(self.priority), seen, FRESH + self.payload


@dataclass(frozen=True, slots=True)
class Entry:
    """What the queue holds: a request or a seed, how often it failed, and how many workers went down with it."""

    kind: Kind
    failures: int
    deliveries: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Leased:
    """An entry that was handed out to this worker until it says what became of it."""

    token: str
    priority: int
    raw: bytes

    @property
    def entry(self) -> Entry:
        """What it is.

        Raises:
            CorruptEntryError: nothing that this queue could have written.
        """
        return read_entry(self.raw)


@dataclass(frozen=True, slots=True)
class Finished:
    """A request that is done, with its children; ``staged``: how many of them were sent before."""

    token: str
    children: tuple[Child, ...] = ()
    staged: int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """A request that is not done: ``back`` to where it was, ``delay`` in milliseconds, or ``dead`` with a reason."""

    token: str
    delay: int | None = None
    dead: str | None = None

    def packed(self) -> tuple[Any, ...]:
        """As the scripts take it."""
        if self.dead is not None:
            return self.token, "x", self.dead[:_REASON].encode("utf-8", "replace")
        return (self.token, "b") if self.delay is None else (self.token, "d", self.delay)


@dataclass(frozen=True, slots=True)
class Staged:
    """Children of a page that is not done, from a place on."""

    token: str
    place: int
    children: tuple[Child, ...]


@dataclass(frozen=True, slots=True)
class Numbered:
    """Requests that belong to no page: those of start() from a place on, or a numbered bundle."""

    number: int
    children: tuple[Child, ...]


@dataclass(slots=True)
class News:
    """What one worker has to tell the queue."""

    finished: list[Finished] = field(default_factory=list)
    moved: list[Move] = field(default_factory=list)
    staged: list[Staged] = field(default_factory=list)
    started: Numbered | None = None
    loose: Numbered | None = None

    def __bool__(self) -> bool:
        return bool(self.finished or self.moved or self.staged or self.started or self.loose)

    def packed(self) -> bytes:
        """As the scripts take it."""
        return bytes(
            msgpack.packb(
                [
                    [(one.token, _children(one.children), one.staged) for one in self.finished],
                    [one.packed() for one in self.moved],
                    [(one.token, one.place, _children(one.children)) for one in self.staged],
                    _numbered(self.started),
                    _numbered(self.loose),
                ],
                use_bin_type=False,  # Redis's msgpack knows the old strings alone
            )
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What a turn brought.

    Attributes:
        taken: what was handed out.
        finished: for each finished request whether the lease was still ours.
        moved: the same for each that was moved.
        new: how many children were no duplicates.
        started: how many requests of start() are queued; -1 when none were told.
        due: seconds until something that was put off falls due; None when nothing waits.
        suspects: requests that workers went down with, which wait for a worker that has nothing else.
    """

    taken: list[Leased]
    finished: list[bool]
    moved: list[bool]
    new: int
    started: int
    due: float | None
    suspects: int


@dataclass(frozen=True, slots=True)
class State:
    """How a namespace stands. ``seeds`` is None when the key of the seeds holds something else."""

    queued: int
    delayed: int
    leased: int
    seeds: int | None
    start: Literal["none", "running", "done"]
    due: float | None
    workers: int
    known: bool

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do, now or later, for any worker."""
        return not (self.queued or self.delayed or self.leased or self.seeds)


@dataclass(frozen=True, slots=True)
class Dead:
    """An entry that nobody will be given any more."""

    id: str
    reason: str
    at: float
    priority: int
    entry: Entry


def read_answer(raw: bytes) -> Answer:
    """What the turn script answered."""
    taken, finished, moved, new, started, due, suspects = msgpack.unpackb(raw, raw=True)
    return Answer(
        [Leased(token.decode(), int(level), entry) for token, level, entry in taken or ()],
        [bool(one) for one in finished or ()],
        [bool(one) for one in moved or ()],
        int(new),
        int(started),
        None if due < 0 else due / 1000,
        int(suspects),
    )


def read_state(raw: bytes) -> State:
    """What the look script answered."""
    queued, delayed, leased, seeds, start, due, workers, known = msgpack.unpackb(raw, raw=True)
    states: tuple[Literal["none", "running", "done"], ...] = ("none", "running", "done")
    return State(
        queued,
        delayed,
        leased,
        None if seeds < 0 else seeds,
        states[start],
        None if due < 0 else due / 1000,
        workers,
        bool(known),
    )


def read_entry(raw: bytes) -> Entry:
    """An entry of the queue.

    Raises:
        CorruptEntryError: it is none.
    """
    if len(raw) < _HEAD or raw[0] not in _KINDS:
        raise CorruptEntryError("no entry of this queue: it does not begin with a kind")
    return Entry(_KINDS[raw[0]], raw[1], raw[2], raw[_HEAD:])


def read_dead(id_: str, raw: bytes) -> Dead:
    """A record of the dead letters.

    Raises:
        CorruptEntryError: it is none.
    """
    try:
        reason, at, priority, entry = msgpack.unpackb(raw, raw=True)
        return Dead(id_, reason.decode("utf-8", "replace"), at / 1000, int(priority), read_entry(entry))
    except (ValueError, TypeError, AttributeError, msgpack.UnpackException) as exc:
        raise CorruptEntryError(f"dead letter {id_}: {type(exc).__name__}: {exc}") from None


def _children(children: tuple[Child, ...]) -> list[tuple[str, str, bytes]]:
    return [child.packed() for child in children]


def _numbered(bundle: Numbered | None) -> tuple[Any, ...]:
    return () if bundle is None else (bundle.number, _children(bundle.children))
