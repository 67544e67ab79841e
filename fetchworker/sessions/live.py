"""Sessions in use in this process: one object per session, whoever asks for it.

A session is read from the store again after a moment (:data:`FRESH`), as soon as nobody here holds it, or when whoever
holds it alone has it from another process; it is written back when its cookies or tokens changed. Writes merge in the
store, so that two processes with one session lose nothing.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fetchworker.errors import SessionDamagedError

if TYPE_CHECKING:
    from fetchworker.sessions.model import Session
    from fetchworker.sessions.store import SessionStore

#: seconds for which a session is not read again
FRESH = 1.0
#: seconds after which an unchanged session is written again, so that it does not expire in use
TOUCH = 60.0

Mint = Callable[[], "Session"]
Damaged = Callable[[SessionDamagedError], None]


@dataclass(slots=True)
class _Entry:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    session: Session | None = None
    read: float = -math.inf
    seen: float = 0.0
    saved: float = -math.inf
    marks: tuple[object, ...] = ()
    users: int = 0


class LiveSessions:
    """The sessions that this process holds.

    Args:
        store: where they are kept.
        clock: seconds, monotonic.
    """

    def __init__(self, store: SessionStore, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._entries: dict[tuple[str, str], _Entry] = {}

    async def acquire(self, site: str, name: str, mint: Mint, *, damaged: Damaged | None = None) -> Session:
        """The session of that name, made by ``mint`` and stored when there is none. Give it back with ``release``.

        ``damaged`` is told of a record that cannot be read, in whose place another one is made.

        Raises:
            SessionDamagedError: a record cannot be read, and nobody would be told.
            SessionNewerError: a newer version wrote it.
        """
        entry = self._entries.setdefault((site, name), _Entry())
        entry.users += 1
        try:
            async with entry.lock:
                if entry.session is None or (entry.users == 1 and self._clock() - entry.read > FRESH):
                    await self._read(entry, site, name, mint, damaged)
                assert entry.session is not None
                return entry.session
        except BaseException:
            entry.users -= 1
            raise

    async def _read(self, entry: _Entry, site: str, name: str, mint: Mint, damaged: Damaged | None) -> None:
        try:
            session = await self._store.load(site, name)
        except SessionDamagedError as exc:
            if damaged is None:
                raise
            damaged(exc)
            await self._store.delete(site, name)
            session = None
        while session is None:
            fresh = mint()
            # another process may have stored one meanwhile: then its identity is the session's
            if await self._store.save(fresh):
                session, entry.saved = fresh, self._clock()
            else:
                session = await self._store.load(site, name)
        entry.session = session
        entry.marks = _marks(session)
        entry.read = entry.seen = self._clock()

    def renew(self, site: str, name: str) -> None:
        """Somebody else may have changed a session: it is read again when it is asked for next."""
        entry = self._entries.get((site, name))
        if entry is not None:
            entry.read = -math.inf

    async def release(self, site: str, name: str, session: Session) -> None:
        """Give a session back; what changed in it is stored."""
        entry = self._entries.get((site, name))
        if entry is None:
            return
        try:
            await self._save_changes(entry, session)
        finally:  # not before: who comes meanwhile must not read what is older
            entry.users = max(0, entry.users - 1)
            entry.seen = self._clock()
        self._forget_old()

    async def save(self, site: str, name: str, session: Session) -> None:
        """Store what changed in a session since it was given back."""
        entry = self._entries.get((site, name))
        if entry is not None:
            await self._save_changes(entry, session)

    async def _save_changes(self, entry: _Entry, session: Session) -> None:
        if entry.session is not session:
            # held since before it was read anew, or another identity by now: then the store refuses
            if await self._store.save(session):
                entry.read = -math.inf
        elif _marks(session) != entry.marks or self._clock() - entry.saved > TOUCH:
            marks = _marks(session)
            if await self._store.save(session):
                entry.marks, entry.saved = marks, self._clock()
            else:  # rotated or deleted by somebody else: read it anew
                entry.session = None

    async def drop(self, site: str, name: str) -> None:
        """Forget a session here and in the store."""
        self._entries.pop((site, name), None)
        await self._store.delete(site, name)

    async def put_back(self, site: str, name: str, before: Session | None) -> None:
        """Have under the name what was there before, whatever has become of it since; None: nothing."""
        if before is None:
            await self.drop(site, name)
            return
        self._entries.pop((site, name), None)
        now = await self._store.load(site, name)
        await self._store.rotate(site, name, now.identity if now is not None else "", before)

    async def rotate(self, site: str, name: str, blocked: Session, mint: Mint) -> Session:
        """Put a new identity under the name, unless somebody did so since ``blocked`` was in use."""
        entry = self._entries.setdefault((site, name), _Entry())
        async with entry.lock:
            if entry.session is not None and entry.session.identity != blocked.identity:
                return entry.session
            entry.session = await self._store.rotate(site, name, blocked.identity, mint())
            entry.marks = _marks(entry.session)
            entry.read = entry.seen = entry.saved = self._clock()
            return entry.session

    def _forget_old(self) -> None:
        if len(self._entries) < 1000:  # noqa: PLR2004  # small enough to keep
            return
        old = self._clock() - FRESH
        for key in [key for key, entry in self._entries.items() if not entry.users and entry.seen < old]:
            del self._entries[key]


def _marks(session: Session) -> tuple[object, ...]:
    return session.jar.version, session.proxy_id, frozenset(session.tokens.items())
