"""What is known of artifacts, as rows."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select
from sqlalchemy.exc import SQLAlchemyError

from fetchworker.db.faults import translated
from fetchworker.db.retry import patiently
from fetchworker.db.store import TRY_TIMEOUT, ItemStore
from fetchworker.db.tables import artifacts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Executable

_COLUMNS = [column.name for column in artifacts.c]


class ArtifactTable(ItemStore):
    """The artifacts of a database; opened and closed like its items."""

    async def insert(self, row: Mapping[str, Any]) -> None:
        """Keep a row: a value for each column, times as items write them.

        Raises:
            StorageError: it is not kept.
        """
        values = {name: _column(row.get(name)) for name in _COLUMNS}
        await patiently(lambda: self._run(insert(artifacts).values(values)), patience=self._patience)

    async def row(self, id_: str) -> dict[str, Any] | None:
        """The row of an artifact, None when there is none."""
        rows = await self._read(select(artifacts).where(artifacts.c.id == id_))
        return rows[0]._asdict() if rows else None

    async def page(self, wanted: Mapping[str, str], *, before: str | None, limit: int) -> list[dict[str, Any]]:
        """Rows, the latest first.

        Args:
            wanted: column → the value that it must have.
            before: an id; the rows are older.
            limit: rows at most.
        """
        query = select(artifacts).order_by(artifacts.c.id.desc()).limit(limit)
        for name, value in wanted.items():
            query = query.where(artifacts.c[name] == value)
        if before is not None:
            query = query.where(artifacts.c.id < before)
        return [row._asdict() for row in await self._read(query)]

    async def remove(self, id_: str) -> bool:
        """Drop a row; whether there was one."""
        statement = delete(artifacts).where(artifacts.c.id == id_)
        return bool(await patiently(lambda: self._run(statement), patience=self._patience))

    async def entries(self, sha256: str | None = None) -> list[tuple[str, str, int, float]]:
        """Id, hash, size and end (POSIX seconds) of all artifacts, or of those with this hash; the latest first."""
        table = artifacts.c
        query = select(table.id, table.sha256, table.size, table.expires_at).order_by(table.id.desc())
        if sha256 is not None:
            query = query.where(table.sha256 == sha256)
        return [(row.id, row.sha256, row.size, _seconds(row.expires_at)) for row in await self._read(query)]

    async def _run(self, statement: Executable) -> int:
        try:
            async with asyncio.timeout(TRY_TIMEOUT), self._engine.begin() as connection:
                return (await connection.execute(statement)).rowcount
        except (SQLAlchemyError, OSError) as exc:  # TimeoutError is an OSError
            raise translated(exc, self._label) from exc


def _column(value: Any) -> Any:
    """A text that a column can hold: PostgreSQL knows no NUL."""
    return value.replace("\x00", "\ufffd") if isinstance(value, str) else value


def _seconds(instant: str) -> float:
    return datetime.fromisoformat(instant).timestamp()
