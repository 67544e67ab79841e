"""Where stored sessions live: in this process, or in Redis, where all processes and machines share them.

Many may hold the same session at once. A save sends what changed and merges it into what is stored, cookie by cookie;
it is refused when the stored identity is no longer the one that the holder has.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from fetchworker.errors import ConfigError, SessionError
from fetchworker.sessions._record import FENCED, SAVED, Record, apply, confirm, give_back, read, replace, take, take_all
from fetchworker.sessions.keys import session_id_of, session_key
from fetchworker.sessions.model import Session, newer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


@runtime_checkable
class SessionStore(Protocol):
    """What a store does.

    Every method raises ArgumentError for names that sessions may not have, SessionError when what is stored cannot be
    read or written, RedisUnavailableError when nothing answers.
    """

    async def load(self, site: str, session_id: str, /) -> Session | None:
        """The session, None when there is none. Each call gives an object of its own."""

    async def save(self, session: Session, /) -> bool:
        """Merge what changed into the stored session, which then lives for another TTL.

        False: nothing was written, since the identity was rotated, deleted, or has expired; load again. A session
        that is not ``stored`` is left alone, with True.
        """

    async def rotate(self, site: str, session_id: str, expected_identity: str, new: Session, /) -> Session:
        """Replace the identity ``expected_identity`` by ``new``; gives what is stored afterwards.

        That is ``new``, or another's session when that one was first. A missing session is created.
        """

    async def touch(self, site: str, session_id: str, /) -> bool:
        """Let the session live for another TTL; whether there is one."""

    async def delete(self, site: str, session_id: str, /) -> bool:
        """Forget the session; whether there was one. Saves by those who still hold it are refused."""

    def ids(self, site: str, /) -> AsyncIterator[str]:
        """The ids of a site's sessions, in no order; those that come or go meanwhile may be among them or not."""


class MemorySessionStore:
    """Sessions of this process, lost with it. ``ttl`` in seconds, None: for ever."""

    def __init__(self, *, ttl: float | None = None, clock: Callable[[], float] = time.time) -> None:
        self._ttl = float("inf") if ttl is None else check_ttl(ttl)
        self._clock = clock
        # The one that expires first comes first: each save puts its session at the end
        self._records: dict[str, tuple[float, Record]] = {}

    async def load(self, site: str, session_id: str, /) -> Session | None:
        """See :class:`SessionStore`."""
        record = self._record(session_key(site, session_id))
        return read(record, site, session_id, self._clock()) if record else None

    async def save(self, session: Session, /) -> bool:
        """See :class:`SessionStore`."""
        if not session.stored:
            return True
        key = session_key(session.site, session.id)
        record = self._record(key)
        changes = take(session, self._clock())
        answer = apply(record, changes)
        if answer == SAVED:
            self._keep(key, record)
        else:
            give_back(session, changes)
        return settle(session, answer)

    async def rotate(self, site: str, session_id: str, expected_identity: str, new: Session, /) -> Session:
        """See :class:`SessionStore`."""
        check_successor(site, session_id, new)
        key = session_key(site, session_id)
        record = self._record(key)
        if record and record[b"identity"].decode() != expected_identity:
            return read(record, site, session_id, self._clock())
        self._keep(key, replace(take_all(new, self._clock())))
        confirm(new)
        return new

    async def touch(self, site: str, session_id: str, /) -> bool:
        """See :class:`SessionStore`."""
        key = session_key(site, session_id)
        record = self._record(key)
        if record:
            self._keep(key, record)
        return bool(record)

    async def delete(self, site: str, session_id: str, /) -> bool:
        """See :class:`SessionStore`."""
        key = session_key(site, session_id)
        found = bool(self._record(key))
        self._records.pop(key, None)
        return found

    async def ids(self, site: str, /) -> AsyncIterator[str]:
        """See :class:`SessionStore`."""
        self._expire()
        prefix = session_key(site, "x")[:-1]
        for key in [key for key in self._records if key.startswith(prefix)]:
            yield session_id_of(site, key)

    def _record(self, key: str) -> Record:
        self._expire()
        return self._records[key][1] if key in self._records else {}

    def _keep(self, key: str, record: Record) -> None:
        self._records.pop(key, None)
        self._records[key] = (self._clock() + self._ttl, record)

    def _expire(self) -> None:
        now = self._clock()
        while self._records and (first := next(iter(self._records))) and self._records[first][0] <= now:
            del self._records[first]


def check_ttl(ttl: float) -> float:
    """``ttl``, if a session can live so long (seconds)."""
    if not 0 < ttl < float("inf"):
        raise ConfigError(f"the sessions' time to live must be a positive number of seconds, not {ttl!r}")
    return ttl


def check_successor(site: str, session_id: str, new: Session) -> None:
    """A session can only be followed by one of the same name."""
    if (new.site, new.id) != (site, session_id) or not new.stored:
        raise SessionError(f"{new!r} cannot take the place of session {session_id!r} of {site}")


def settle(session: Session, answer: int) -> bool:
    """What a store's answer to a save means for its caller."""
    if answer < FENCED:
        raise newer(-answer)
    if answer == SAVED:
        confirm(session)
    return answer == SAVED
