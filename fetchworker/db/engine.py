"""Engines: SQLite through aiosqlite, PostgreSQL through psycopg."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from fetchworker.db.place import Place

#: seconds that SQLite waits for another process's transaction before it says "locked"
BUSY = 10.0
#: seconds for a connection to PostgreSQL; a URL's own connect_timeout wins
CONNECT_TIMEOUT = 10
#: execution option of connections that only read: they do not take SQLite's write lock
READING = "fetchworker_reading"
#: connections of a process: one writes, and one may read meanwhile
CONNECTIONS = 2


class Text(str):
    """JSON that is a text already."""

    __slots__ = ()


def make_engine(place: Place, *, connections: int = CONNECTIONS) -> AsyncEngine:
    """An engine that has not connected yet, with so many connections at most.

    Raises:
        ConfigError: options of the URL are wrong.
    """
    common: dict[str, Any] = {"hide_parameters": True, "json_serializer": _dumps, "json_deserializer": json.loads}
    if place.path is not None:
        return _sqlite(place.path, connections, common)
    return create_async_engine(
        "postgresql+psycopg://",
        connect_args=_postgresql_options(place),
        pool_size=connections,
        max_overflow=0,
        pool_recycle=1800,  # firewalls forget connections that lie idle
        **common,
    )


async def prepare(place: Place) -> None:
    """Make an SQLite file ready; a driver's thread that fails to open one would outlive the attempt.

    Raises:
        sqlite3.Error, OSError: it cannot be opened, or is no database.
    """
    if place.path is not None:
        await asyncio.to_thread(_prepare, place.path)


def _prepare(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=BUSY)) as connection:
        # stays with the file: who reads does not wait for who writes
        connection.execute("PRAGMA journal_mode=WAL")


def _dumps(value: Any) -> str:
    return value if isinstance(value, Text) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _sqlite(path: Path, connections: int, common: dict[str, Any]) -> AsyncEngine:
    engine = create_async_engine(
        URL.create("sqlite+aiosqlite", database=str(path)),
        connect_args={"timeout": BUSY},
        pool_size=connections,
        max_overflow=0,
        **common,
    )
    event.listen(engine.sync_engine, "connect", _sqlite_connected)
    event.listen(engine.sync_engine, "begin", _sqlite_begins)
    return engine


def _sqlite_connected(connection: Any, _: Any) -> None:
    # else Python's driver decides when transactions begin, and lets DDL fall out of them
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous=FULL")  # in WAL mode the default loses commits in a power cut
    cursor.close()


def _sqlite_begins(connection: Connection) -> None:
    reading = connection.get_execution_options().get(READING)
    # a transaction that reads first and then writes fails when another one wrote between
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _postgresql_options(place: Place) -> dict[str, Any]:
    """Arguments of psycopg: the URL as libpq reads it, which knows all its options, and what it leaves open."""
    from psycopg import ProgrammingError  # noqa: PLC0415  # not installed where SQLite is enough
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415  # as above

    url = place.url.get_secret_value()
    try:
        given = conninfo_to_dict(url)
    except ProgrammingError:
        # libpq quotes the part that it does not understand
        told = "an option or the port cannot be read; see libpq's connection URIs"
        raise ConfigError(f"FETCHWORKER_DATABASE_URL: {told}") from None
    return {"connect_timeout": CONNECT_TIMEOUT, "application_name": "fetchworker", "keepalives_idle": 30, **given}
