"""The store of sessions as a crawl of the shared queue uses it: it waits for a Redis that is away."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fetchworker.frontier.vigil import Vigil
    from fetchworker.sessions import Session, SessionStore


class PatientStore:
    """A :class:`SessionStore` around another one."""

    def __init__(self, store: SessionStore, vigil: Vigil) -> None:
        self._store = store
        self._patiently = vigil.patiently

    async def load(self, site: str, session_id: str, /) -> Session | None:
        """See :class:`SessionStore`."""
        found: Session | None = await self._patiently(partial(self._store.load, site, session_id))
        return found

    async def save(self, session: Session, /) -> bool:
        """See :class:`SessionStore`."""
        return bool(await self._patiently(partial(self._store.save, session)))

    async def rotate(self, site: str, session_id: str, expected_identity: str, new: Session, /) -> Session:
        """See :class:`SessionStore`."""
        work = partial(self._store.rotate, site, session_id, expected_identity, new)
        stored: Session = await self._patiently(work)
        return stored

    async def touch(self, site: str, session_id: str, /) -> bool:
        """See :class:`SessionStore`."""
        return bool(await self._patiently(partial(self._store.touch, site, session_id)))

    async def delete(self, site: str, session_id: str, /) -> bool:
        """See :class:`SessionStore`."""
        return bool(await self._patiently(partial(self._store.delete, site, session_id)))

    def ids(self, site: str, /) -> AsyncIterator[str]:
        """See :class:`SessionStore`."""
        return self._store.ids(site)
