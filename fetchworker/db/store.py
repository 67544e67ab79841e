"""Writes items and reads them back. One batch is one transaction: all of it is stored, or nothing."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import Row, and_, bindparam, cast, select, tuple_, update
from sqlalchemy import Text as TextType
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from fetchworker.db.engine import READING, Text, make_engine, prepare
from fetchworker.db.faults import translated
from fetchworker.db.lookup import locked_by_keys
from fetchworker.db.merge import Known, join
from fetchworker.db.migrate import migrate
from fetchworker.db.observation import fold
from fetchworker.db.retry import patiently
from fetchworker.db.tables import items, observations

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

    from fetchworker.db.observation import Batch, Key, Observation
    from fetchworker.db.place import Place

#: seconds that one try of one batch may take
TRY_TIMEOUT = 60.0

_UPDATE = update(items).where(
    and_(items.c.site == bindparam("k_site"), items.c.kind == bindparam("k_kind"), items.c.id == bindparam("k_id"))
)


class ItemStore:
    """The items of a database. Make it with :meth:`open`.

    Args:
        engine: an engine for a database whose tables are there.
        place: where the database is.
        patience: seconds for which errors that may pass are tried again.
    """

    def __init__(self, engine: AsyncEngine, place: Place, *, patience: float) -> None:
        self._engine = engine
        self._place = place
        self._label = place.label
        self._patience = patience
        dialect: Any = postgresql if engine.dialect.name == "postgresql" else sqlite
        self._insert = dialect.insert(items).on_conflict_do_nothing().returning(items.c.site, items.c.kind, items.c.id)
        observe = dialect.insert(observations)
        self._observe = observe.on_conflict_do_update(
            index_elements=[column.name for column in observations.primary_key],
            set_={column.name: observe.excluded[column.name] for column in observations.c if not column.primary_key},
            where=tuple_(observe.excluded.fetched_at, _text(observe.excluded.item, dialect))
            > tuple_(observations.c.fetched_at, _text(observations.c.item, dialect)),
        )

    @classmethod
    def engine_for(cls, place: Place) -> AsyncEngine:
        """The connections of a store."""
        return make_engine(place)

    @classmethod
    async def open(cls, place: Place, *, patience: float = 60.0) -> Self:
        """Connect, and make or renew the tables.

        Raises:
            ConfigError: the URL's options are wrong.
            StorageError: the database cannot be reached or opened, or belongs to a newer fetchworker.
        """
        store = cls(cls.engine_for(place), place, patience=patience)
        try:
            await patiently(store._migrate, patience=patience)
        except BaseException:
            await store.close()
            raise
        return store

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()

    async def _migrate(self) -> None:
        try:
            async with asyncio.timeout(TRY_TIMEOUT):
                await prepare(self._place)
                async with self._engine.begin() as connection:
                    await connection.run_sync(migrate)
        except (SQLAlchemyError, sqlite3.Error, OSError) as exc:
            raise translated(exc, self._label) from exc

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def save(self, batch: Iterable[Observation]) -> None:
        """Store observations and what they tell; doing it twice changes nothing.

        Raises:
            StorageError: nothing is stored: the database is away for longer than the store has patience, is full,
                or refuses (:class:`~fetchworker.errors.RefusedError`) what is in the batch.
        """
        folded = fold(batch)
        if not folded.observations:
            return
        await patiently(lambda: self._try(folded), patience=self._patience)

    async def _try(self, batch: Batch) -> None:
        try:
            async with asyncio.timeout(TRY_TIMEOUT), self._engine.begin() as connection:
                await self._save_states(connection, dict(batch.states))
                await connection.execute(self._observe, [_observation_row(each) for each in batch.observations])
        except (SQLAlchemyError, OSError) as exc:  # TimeoutError is an OSError
            raise translated(exc, self._label) from exc

    async def _save_states(self, connection: AsyncConnection, states: dict[Key, Known]) -> None:
        """Join with what is stored. Another process may make a row meanwhile: then it is joined in the next round."""
        while states:
            stored = await self._locked(connection, list(states))
            changed = {key: join(stored[key], states.pop(key)) for key in stored}
            if changed:
                rows = [_state_row(key, known, prefix="k_") for key, known in changed.items()]
                await connection.execute(_UPDATE, rows)
            if states:
                new = [_state_row(key, known) for key, known in states.items()]
                for made in (await connection.execute(self._insert, new)).all():
                    del states[(made.site, made.kind, made.id)]

    async def _locked(self, connection: AsyncConnection, keys: Sequence[Key]) -> dict[Key, Known]:
        """The stored states of some things, in the order of their keys, locked until the transaction ends."""
        query, parameters = locked_by_keys(keys, connection.dialect.name)
        rows = (await connection.execute(query, parameters)).all()
        return {(row.site, row.kind, row.id): _known(row) for row in rows}

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def state(self, site: str, kind: str, id_: str) -> Known | None:
        """What is known of one thing, None when nothing is."""
        query = select(items).where(and_(items.c.site == site, items.c.kind == kind, items.c.id == id_))
        rows = await self._read(query)
        return _known(rows[0]) if rows else None

    async def states(self, *, site: str | None = None, kind: str | None = None, limit: int = 100) -> list[Known]:
        """What was seen last, the latest first."""
        query = select(items).order_by(items.c.last_seen.desc(), items.c.site, items.c.kind, items.c.id).limit(limit)
        for column, value in ((items.c.site, site), (items.c.kind, kind)):
            query = query if value is None else query.where(column == value)
        return [_known(row) for row in await self._read(query)]

    async def history(self, site: str, kind: str, id_: str, *, limit: int = 100) -> list[dict[str, Any]]:
        """The items that tell of one thing, as they were, the latest first."""
        table = observations.c
        query = select(table.item).where(and_(table.site == site, table.kind == kind, table.id == id_))
        rows = await self._read(query.order_by(table.fetched_at.desc(), table.item_id).limit(limit))
        return [row.item for row in rows]

    async def _read(self, query: Any) -> Sequence[Row[Any]]:
        try:
            async with asyncio.timeout(TRY_TIMEOUT), self._engine.connect() as connection:
                await connection.execution_options(**{READING: True})
                return (await connection.execute(query)).all()
        except (SQLAlchemyError, OSError) as exc:
            raise translated(exc, self._label) from exc


def _text(item: Any, dialect: Any) -> Any:
    """The JSON of a row, to be compared as Python compares texts: byte by byte."""
    return cast(item, TextType).collate("C" if dialect is postgresql else "BINARY")


def _known(row: Row[Any]) -> Known:
    return Known(row.item, row.seen, row.first_seen, row.last_seen, row.crawl_id, row.strands or {})


def _state_row(key: Key, known: Known, *, prefix: str = "") -> dict[str, Any]:
    return {
        f"{prefix}site": key[0],
        f"{prefix}kind": key[1],
        f"{prefix}id": key[2],
        "item_id": _column(known.values["item_id"]),
        "operation": _column(known.values["operation"]),
        "crawl_id": known.crawl_id,
        "url": _column(known.values.get("url")),
        "first_seen": known.first_seen,
        "last_seen": known.last_seen,
        "item": known.values,
        "seen": known.seen,
        "strands": known.strands or None,
    }


def _observation_row(each: Observation) -> dict[str, Any]:
    values = each.told.values
    return {
        "item_id": each.item_id,
        "round_id": each.round_id,
        "site": each.site,
        "kind": each.kind,
        "id": each.key[2] if each.key else None,
        "operation": _column(values["operation"]),
        "crawl_id": each.told.crawl_id,
        "url": _column(values.get("url")),
        "fetched_at": each.told.last_seen,
        "item": Text(each.text),
    }


def _column(text: str | None) -> str | None:
    """A text that a column can hold: PostgreSQL knows no NUL. The item's own JSON keeps it."""
    return text.replace("\x00", "\ufffd") if text else text
