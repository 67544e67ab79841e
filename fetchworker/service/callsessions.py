"""The store behind the service's sessions: named ones where crawls keep theirs, those of a single call in the process.

The second kind asks nothing of Redis: a call that names no session goes on without one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fetchworker.errors import ArgumentError
from fetchworker.sessions import MemorySessionStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from fetchworker.sessions import Session, SessionStore

#: seconds that a session of a call that was cut off is kept
_LIFE = 900.0


class CallSessions:
    """A :class:`~fetchworker.sessions.SessionStore`; the other store is opened when it is first needed."""

    #: begins the names of sessions that are one call's
    PREFIX = "call:"

    def __init__(self, shared: Callable[[], Awaitable[SessionStore]]) -> None:
        self._shared = shared
        self._own = MemorySessionStore(ttl=_LIFE)

    async def _of(self, session_id: str) -> SessionStore:
        return self._own if session_id.startswith(self.PREFIX) else await self._shared()

    async def load(self, site: str, session_id: str, /) -> Session | None:
        """See :class:`SessionStore`."""
        return await (await self._of(session_id)).load(site, session_id)

    async def save(self, session: Session, /) -> bool:
        """See :class:`SessionStore`."""
        return await (await self._of(session.id)).save(session)

    async def rotate(self, site: str, session_id: str, expected_identity: str, new: Session, /) -> Session:
        """See :class:`SessionStore`."""
        return await (await self._of(session_id)).rotate(site, session_id, expected_identity, new)

    async def touch(self, site: str, session_id: str, /) -> bool:
        """See :class:`SessionStore`."""
        return await (await self._of(session_id)).touch(site, session_id)

    async def delete(self, site: str, session_id: str, /) -> bool:
        """See :class:`SessionStore`."""
        return await (await self._of(session_id)).delete(site, session_id)

    async def ids(self, site: str, /) -> AsyncIterator[str]:
        """The names of the shared sessions of a site."""
        async for name in (await self._shared()).ids(site):
            yield name


def check_name(name: str) -> str:
    """``name``, if a caller may give it to a session.

    Raises:
        ArgumentError: it begins as those of single calls do.
    """
    if name.startswith(CallSessions.PREFIX):
        told = f"session_id: names that begin with {CallSessions.PREFIX!r} are the service's own"
        raise ArgumentError(told, fields=["session_id"])
    return name
