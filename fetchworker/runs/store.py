"""The database of runs: connections, transactions, and the counters that a run's row guards."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from sqlalchemy import insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from fetchworker.db.engine import make_engine
from fetchworker.db.faults import translated
from fetchworker.db.retry import patiently
from fetchworker.db.runtables import scrape_events, scrape_runs
from fetchworker.db.store import TRY_TIMEOUT, ItemStore
from fetchworker.errors import StorageAwayError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from sqlalchemy import Row
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

    from fetchworker.db.place import Place

T = TypeVar("T")
#: connections of a process: watchers write, callers read
_CONNECTIONS = 6
#: seconds that a caller waits for a database which does not answer
PATIENCE = 5.0
#: seconds for which it is remembered that the disk took nothing
_REMEMBERED = 60.0


class Event(NamedTuple):
    """A change to be noted."""

    type: str
    job_id: str | None = None
    attempt: int | None = None
    state_from: str | None = None
    state_to: str | None = None
    detail: dict[str, Any] = {}  # noqa: RUF012  # never changed


def now() -> str:
    """The time as the tables have it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def at(seconds: float) -> str:
    """A POSIX time as the tables have it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


def posix(moment: str) -> float:
    """A time of a table as a POSIX time."""
    return datetime.fromisoformat(moment).timestamp()


class RunStore(ItemStore):
    """Reads and writes the tables of runs; opened and closed like the store of items."""

    @classmethod
    def engine_for(cls, place: Place) -> AsyncEngine:
        """Connections for watchers and callers."""
        return make_engine(place, connections=_CONNECTIONS)

    @classmethod
    async def open(cls, place: Place, *, patience: float = PATIENCE) -> Self:
        """As for items."""
        return await super().open(place, patience=patience)

    @property
    def engine(self) -> AsyncEngine:
        """The connections."""
        return self._engine

    @property
    def label(self) -> str:
        """The database's URL without credentials."""
        return self._label

    @cached_property
    def _faults(self) -> tuple[type[Exception], ...]:
        """What a transaction raises; of the driver's own calls SQLAlchemy sees nothing."""
        if self._engine.dialect.name != "postgresql":
            return (SQLAlchemyError, OSError)
        from psycopg import Error  # noqa: PLC0415  # not installed where SQLite is enough

        return (SQLAlchemyError, OSError, Error)

    #: until when it is told that nothing could be written; monotonic
    _full_until = 0.0

    @property
    def full(self) -> bool:
        """Whether the disk has taken nothing lately, and nothing has been written since."""
        return time.monotonic() < self._full_until

    async def write(self, action: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Do something in a transaction, tried again while the error is one that may pass.

        Raises:
            StorageError: nothing is written.
        """
        return await patiently(lambda: self._transaction(action), patience=self._patience)

    async def execute(self, statement: Any) -> None:
        """Carry out one statement in a transaction, as :meth:`write` does."""
        await self.write(lambda connection: connection.execute(statement))

    async def read(self, query: Any) -> Sequence[Row[Any]]:
        """The rows of a query.

        Raises:
            StorageError: the database does not answer.
        """
        return await patiently(lambda: self._read(query), patience=self._patience)

    async def _transaction(self, action: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(TRY_TIMEOUT), self._engine.begin() as connection:
                done = await action(connection)
        except self._faults as exc:
            error = translated(exc, self._label)
            if isinstance(error, StorageAwayError):
                self._full_until = time.monotonic() + _REMEMBERED
            raise error from exc
        self._full_until = 0.0
        return done


async def locked(connection: AsyncConnection, run_id: str) -> Row[Any] | None:
    """The row of a run, locked until the transaction ends."""
    query = select(scrape_runs).where(scrape_runs.c.run_id == run_id).with_for_update()
    return (await connection.execute(query)).one_or_none()


async def note(connection: AsyncConnection, run_id: str, events: Sequence[Event]) -> None:
    """Add events to a run, in their order."""
    if not events:
        return
    table = scrape_runs.c
    counted = update(scrape_runs).where(table.run_id == run_id).values(event_seq=table.event_seq + len(events))
    last = (await connection.execute(counted.returning(table.event_seq))).scalar_one()
    moment = now()
    first = last - len(events) + 1
    rows = [
        {"run_id": run_id, "seq": first + place, "at": moment, **event._asdict()} for place, event in enumerate(events)
    ]
    await connection.execute(insert(scrape_events), rows)
