"""One engine for a database: a lock that ends with its process."""

from __future__ import annotations

import asyncio
import fcntl
import os
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from fetchworker.db.faults import translated

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

    from fetchworker.db.place import Place

#: the number of PostgreSQL's advisory lock; always the same, and none of migrate's
LOCK = 0x66_65_74_63_68_72


class Leadership(Protocol):
    """The lock."""

    async def held(self) -> bool:
        """Whether we have it; takes it where nobody does.

        Raises:
            StorageError: the database cannot be asked.
        """

    async def release(self) -> None:
        """Give it back."""


def leadership(place: Place, engine: AsyncEngine) -> Leadership:
    """The lock of a database."""
    return (
        _Advisory(engine, place.label)
        if place.path is None
        else _File(place.path.with_name(place.path.name + ".engine"))
    )


class _File:
    """A lock on a file beside the database."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1

    async def held(self) -> bool:
        if self._fd >= 0:
            return True
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        self._fd = fd
        return True

    async def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class _Advisory:
    """PostgreSQL's advisory lock, which a connection of its own holds: the server frees it with the connection."""

    def __init__(self, engine: AsyncEngine, label: str) -> None:
        self._engine = engine
        self._label = label
        self._connection: AsyncConnection | None = None

    async def held(self) -> bool:
        try:
            async with asyncio.timeout(10):
                if self._connection is not None:
                    await self._connection.execute(text("SELECT 1"))
                    return True
                return await self._taken()
        except (SQLAlchemyError, OSError) as exc:
            await self.release()
            raise translated(exc, self._label) from exc

    async def _taken(self) -> bool:
        connection = await self._engine.connect()
        try:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            got = (await connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": LOCK})).scalar_one()
        except BaseException:
            await connection.invalidate()
            await connection.close()
            raise
        if not got:
            await connection.close()
            return False
        self._connection = connection
        return True

    async def release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            # closed, not given back to the pool: the lock is the session's
            await connection.invalidate()
            await connection.close()
