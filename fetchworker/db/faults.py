"""What an error of the database means: try again, leave the item out, or stop."""

from __future__ import annotations

import errno
import re
import sqlite3
from typing import Any

from sqlalchemy.exc import DBAPIError

from fetchworker.errors import RefusedError, StorageAwayError, StorageError


class PassingError(StorageError):
    """It may pass by itself: a lock, a lost connection, a server that starts."""


_SQLITE_PASSING = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_SCHEMA}
)
_SQLITE_REFUSED = frozenset({sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH})
#: the disk is full, broken, gone or read-only: somebody has to see to it, and then it may be done again
_SQLITE_AWAY = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN})
_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS})
_PRIMARY = 0xFF  # of an extended SQLite code, the part that names the error

# SQLSTATE: connection, rollback (deadlock), resources, lock not available, operator (shutdown, start-up, cancelled)
_PASSING = re.compile(r"08|40|53|55P03|57|25006")
#: disk full, and an error of the system below the server
_DISK_FULL = frozenset({"53100", "58030"})
# wrong values, broken constraints, more than the server's limits
_REFUSED = re.compile(r"22|23|54")
#: what a server answers to a connection that it will not take the next time either; these have no SQLSTATE
_WRONG_LOGIN = re.compile(
    r"authentication failed|does not exist|no pg_hba\.conf entry|permission denied|no password supplied|"
    r"certificate|does not support SSL|invalid \w+ value|invalid connection option",
    re.IGNORECASE,
)


def translated(error: BaseException, label: str) -> StorageError:
    """The typed error for what a driver raised, told with the database's label and without values."""
    return _judged(error)(f"{label}: {_told(error)}")


def _judged(error: BaseException) -> type[StorageError]:
    if isinstance(error, TimeoutError):
        return PassingError
    original = getattr(error, "orig", None) or error
    if isinstance(original, OSError) and original.errno in _DISK:
        return StorageAwayError
    code = getattr(original, "sqlite_errorcode", None)
    if code is not None:
        return _by_sqlite(code & _PRIMARY)
    if state := getattr(original, "sqlstate", None):
        return _by_state(state)
    if _is_connection(error, original):
        return StorageError if _WRONG_LOGIN.search(str(original)) else PassingError
    return StorageError


def _by_sqlite(code: int) -> type[StorageError]:
    if code in _SQLITE_PASSING:
        return PassingError
    if code in _SQLITE_AWAY:
        return StorageAwayError
    return RefusedError if code in _SQLITE_REFUSED else StorageError


def _by_state(state: str) -> type[StorageError]:
    if state in _DISK_FULL:
        return StorageAwayError
    if _PASSING.match(state):
        return PassingError
    return RefusedError if _REFUSED.match(state) else StorageError


def _is_connection(error: BaseException, original: Any) -> bool:
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return type(original).__name__ in ("OperationalError", "InterfaceError", "ConnectionTimeout") or isinstance(
        original, ConnectionError
    )


def _told(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    original = getattr(error, "orig", None) or error
    return " ".join(str(original).split()) or type(original).__name__
