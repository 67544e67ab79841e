"""Calls on one session come one after the other: within the process, and by a lock in Redis among processes."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager


class NameLock(Protocol):
    """Holds a session's name among all processes."""

    def hold(self, site: str, name: str, /) -> AbstractAsyncContextManager[object]:
        """A context in which nobody else holds the name."""


class SessionLocks:
    """Serialises calls by session.

    Args:
        shared: the lock among processes, None where this process is the only one.
    """

    def __init__(self, shared: NameLock | None = None) -> None:
        self._locks: dict[tuple[str, str], tuple[asyncio.Lock, int]] = {}
        self._shared = shared

    def __len__(self) -> int:
        return len(self._locks)

    @asynccontextmanager
    async def held(self, site: str, name: str | None) -> AsyncIterator[None]:
        """Hold the session; None: there is none to hold."""
        if name is None:
            yield
            return
        async with self._own(site, name):
            if self._shared is None:
                yield
                return
            async with self._shared.hold(site, name):
                yield

    @asynccontextmanager
    async def _own(self, site: str, name: str) -> AsyncIterator[None]:
        key = (site, name)
        lock, users = self._locks.get(key, (asyncio.Lock(), 0))
        self._locks[key] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            lock, users = self._locks[key]
            if users == 1:
                del self._locks[key]
            else:
                self._locks[key] = (lock, users - 1)
