"""Named sessions that somebody in this process has to himself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fetchworker.sessions.line import Line
from fetchworker.sessions.pool import GRACE, Lease, Taken

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Lock(NamedTuple):
    owner: str
    number: int
    until: int


_FREE = _Lock("", 0, 0)


class Locks:
    """One lock a name, and a line of those who wait for it. Times are microseconds.

    Args:
        fence: gives the tokens.
    """

    def __init__(self, fence: Iterator[int]) -> None:
        self._fence = fence
        self._locks: dict[str, _Lock] = {}
        self._lines: dict[str, Line] = {}

    def take(self, name: str, owner: str, waits: int | None, now: int, span: int) -> Taken:
        """The lock for ``span``, or how things stand; ``waits`` None: the owner takes no place in the line."""
        held, line = self._locks.get(name, _FREE), self._lines.get(name) or Line(round(GRACE * 1e6))
        since = now - (waits or 0)
        before = line.ahead(owner, since, now)
        taken = held.until > now
        if not (taken and held.owner == owner) and (taken or before):
            if waits is not None:
                self._lines[name] = line
                line.stand(owner, since, now)
            return Taken(None, max(0, held.until - now) / 1e6, before=before, turn=held.number)
        self.quit(name, owner)
        number = next(self._fence)
        self._locks[name] = _Lock(owner, number, now + span)
        return Taken(Lease(name, number))

    def quit(self, name: str, owner: str) -> None:
        """The owner waits no longer."""
        line = self._lines.get(name)
        if line is not None:
            line.leave(owner)
            if not len(line):
                del self._lines[name]

    def keep(self, lease: Lease, now: int, span: int) -> bool:
        """Hold a lock for longer; whether it counted."""
        held = self._locks.get(lease.session_id, _FREE)
        good = held.number == lease.number and held.until > now
        if good:
            self._locks[lease.session_id] = held._replace(until=now + span)
        return good

    def free(self, lease: Lease, now: int) -> bool:
        """Give a lock back; whether it counted."""
        held = self._locks.get(lease.session_id, _FREE)
        good = held.number == lease.number and held.until > now
        if good:
            del self._locks[lease.session_id]
        return good
