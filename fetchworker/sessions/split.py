"""A store that keeps pooled sessions in this process and leaves named ones to another store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fetchworker.sessions.poolkeys import jar_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from fetchworker.sessions.model import Session
    from fetchworker.sessions.store import SessionStore


class SplitStore:
    """A :class:`~fetchworker.sessions.store.SessionStore` of two.

    Args:
        pooled: where sessions of the pool are.
        named: gives the store of all others; called when one is first asked for.
    """

    def __init__(self, pooled: SessionStore, named: Callable[[], Awaitable[SessionStore]]) -> None:
        self._pooled = pooled
        self._named = named

    async def _of(self, session_id: str) -> SessionStore:
        return self._pooled if jar_of(session_id) is not None else await self._named()

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
        """See :class:`SessionStore`."""
        for store in (self._pooled, await self._named()):
            async for name in store.ids(site):
                yield name
