"""A store that keeps some sessions in this process and leaves the others to another store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from fetchworker.sessions.model import Session
    from fetchworker.sessions.store import SessionStore


class SplitStore:
    """A :class:`~fetchworker.sessions.store.SessionStore` of two.

    Args:
        own: where those of this process are.
        others: gives the store of all others; called when one is first asked for.
        is_own: whether a session of that name is of the first kind.
    """

    def __init__(
        self, own: SessionStore, others: Callable[[], Awaitable[SessionStore]], *, is_own: Callable[[str], bool]
    ) -> None:
        self._own = own
        self._others = others
        self._is_own = is_own

    async def _of(self, session_id: str) -> SessionStore:
        return self._own if self._is_own(session_id) else await self._others()

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
        for store in (self._own, await self._others()):
            async for name in store.ids(site):
                yield name
