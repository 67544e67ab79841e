"""What documents say, kept by the hash of their bytes, so that no file is read twice."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from fetchworker.db.faults import translated
from fetchworker.db.retry import patiently
from fetchworker.db.store import TRY_TIMEOUT, ItemStore
from fetchworker.db.tables import documents

if TYPE_CHECKING:
    from collections.abc import Mapping


class DocumentKey(NamedTuple):
    """The bytes of a file, what read them (with its version), and what they were taken for."""

    sha256: str
    reader: str
    read_as: str


class DocumentStore(ItemStore):
    """The documents of a database; opened and closed like its items."""

    async def known(self, key: DocumentKey) -> dict[str, Any] | None:
        """What a file says, None when nobody has read it.

        Raises:
            StorageError: the database does not answer.
        """
        table = documents.c
        same = and_(table.sha256 == key.sha256, table.reader == key.reader, table.read_as == key.read_as)
        rows = await self._read(select(table.reading).where(same))
        return dict(rows[0].reading) if rows else None

    async def remember(self, key: DocumentKey, reading: Mapping[str, Any]) -> None:
        """Keep what a file says; what is there already stays.

        Raises:
            StorageError: it is not kept.
        """
        await patiently(lambda: self._remember(key, reading), patience=self._patience)

    async def _remember(self, key: DocumentKey, reading: Mapping[str, Any]) -> None:
        dialect: Any = postgresql if self._engine.dialect.name == "postgresql" else sqlite
        row = {**key._asdict(), "first_read": datetime.now(UTC).isoformat(), "reading": dict(reading)}
        try:
            async with asyncio.timeout(TRY_TIMEOUT), self._engine.begin() as connection:
                await connection.execute(dialect.insert(documents).on_conflict_do_nothing(), [row])
        except (SQLAlchemyError, OSError) as exc:  # TimeoutError is an OSError
            raise translated(exc, self._label) from exc
