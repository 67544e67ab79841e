"""Rows and refused lines into the database, each database by its quickest way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, column, insert, select, table, text
from sqlalchemy.dialects import postgresql, sqlite

from fetchworker.db.engine import Text as JsonText
from fetchworker.db.runtables import scrape_items, scrape_rejects

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from fetchworker.runs.lines import ItemLine, Refused

_SHARED = ("run_id", "job_id", "workspace_id", "conversation_id", "skill_id", "ingested_at")
_OWN = ("item_id", "seq", "site", "kind", "item")
#: of a connection, and empty outside of a transaction
_STAGE = text(
    "CREATE TEMPORARY TABLE IF NOT EXISTS fw_lines (item_id text, seq bigint, site text, kind text, item json) "
    "ON COMMIT DELETE ROWS"
)
_COPY = "COPY fw_lines (item_id, seq, site, kind, item) FROM STDIN"
_stage = table("fw_lines", *(column(name) for name in _OWN))
_POSTGRESQL = (
    postgresql.insert(scrape_items)
    .from_select(
        [*_SHARED, *_OWN],
        select(*(bindparam(name, type_=scrape_items.c[name].type) for name in _SHARED), *_stage.c),
    )
    .on_conflict_do_nothing()
)
_SQLITE = sqlite.insert(scrape_items).on_conflict_do_nothing()
#: what COPY's text has for what would end a value
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


async def add_rows(
    connection: AsyncConnection, shared: Mapping[str, Any], rows: Sequence[ItemLine], *, after: int
) -> int:
    """Store those of ``rows`` that the run does not have; how many they were.

    Args:
        connection: in a transaction that holds the lock of the run.
        shared: the columns that all have in common.
        rows: in their order.
        after: the number of the run's last row.
    """
    if not rows:
        return 0
    if connection.dialect.name == "postgresql":
        await _copy(connection, rows, after)
        return (await connection.execute(_POSTGRESQL.execution_options(preserve_rowcount=True), shared)).rowcount
    values = [
        {**shared, "item_id": row.item_id, "seq": after + place, "site": row.site, "kind": row.kind}
        | {"item": JsonText(row.text)}
        for place, row in enumerate(rows, 1)
    ]
    return (await connection.execute(_SQLITE, values)).rowcount


async def _copy(connection: AsyncConnection, rows: Sequence[ItemLine], after: int) -> None:
    """Put rows into the stage, by psycopg's own cursor, which SQLAlchemy has no word for."""
    await connection.execute(_STAGE)
    driver: Any = (await connection.get_raw_connection()).driver_connection
    async with driver.cursor() as cursor, cursor.copy(_COPY) as copy:
        await copy.write("".join(_line(row, after + place) for place, row in enumerate(rows, 1)))


def _line(row: ItemLine, seq: int) -> str:
    site, kind = (r"\N" if word is None else word.translate(_ESCAPES) for word in (row.site, row.kind))
    return f"{row.item_id.translate(_ESCAPES)}\t{seq}\t{site}\t{kind}\t{_escaped(row.text)}\n"


def _escaped(text: str) -> str:
    """Escaped JSON, of which most has nothing to be escaped: looking costs less than translating."""
    text = text.replace("\\", "\\\\") if "\\" in text else text
    return text.replace("\t", "\\t").replace("\r", "\\r") if "\t" in text or "\r" in text else text


async def add_refused(connection: AsyncConnection, shared: Mapping[str, Any], lines: Sequence[Refused]) -> None:
    """Store refused lines."""
    if not lines:
        return
    values = [
        {**shared, "line_offset": line.offset, "line_bytes": line.length, "reason": line.reason, "line": line.line}
        for line in lines
    ]
    await connection.execute(insert(scrape_rejects), values)
