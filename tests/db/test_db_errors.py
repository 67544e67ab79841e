"""What errors of databases mean, and for how long they are tried again."""

from __future__ import annotations

import sqlite3
from types import SimpleNamespace

import pytest
from sqlalchemy.exc import OperationalError

from fetchworker.db import retry
from fetchworker.db.faults import PassingError, translated
from fetchworker.errors import RefusedError, StorageAwayError, StorageError


def wrapped(**attributes) -> OperationalError:
    original = sqlite3.OperationalError("told") if "sqlite_errorcode" in attributes else Exception("told")
    for name, value in attributes.items():
        setattr(original, name, value)
    return OperationalError("SELECT secret", {}, original)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (wrapped(sqlite_errorcode=sqlite3.SQLITE_BUSY), PassingError),
        (wrapped(sqlite_errorcode=sqlite3.SQLITE_BUSY_SNAPSHOT), PassingError),
        (wrapped(sqlite_errorcode=sqlite3.SQLITE_LOCKED), PassingError),
        (wrapped(sqlite_errorcode=sqlite3.SQLITE_FULL), StorageAwayError),
        (wrapped(sqlite_errorcode=sqlite3.SQLITE_IOERR_WRITE), StorageAwayError),
        (wrapped(sqlite_errorcode=sqlite3.SQLITE_READONLY), StorageAwayError),
        (wrapped(sqlite_errorcode=sqlite3.SQLITE_CANTOPEN), StorageAwayError),
        (OSError(28, "No space left on device"), StorageAwayError),
        (wrapped(sqlite_errorcode=sqlite3.SQLITE_CORRUPT), StorageError),
        (wrapped(sqlite_errorcode=sqlite3.SQLITE_TOOBIG), RefusedError),
        (wrapped(sqlite_errorcode=sqlite3.SQLITE_CONSTRAINT_CHECK), RefusedError),
        (wrapped(sqlstate="08006"), PassingError),
        (wrapped(sqlstate="40001"), PassingError),
        (wrapped(sqlstate="40P01"), PassingError),
        (wrapped(sqlstate="53300"), PassingError),
        (wrapped(sqlstate="53100"), StorageAwayError),
        (wrapped(sqlstate="58030"), StorageAwayError),
        (wrapped(sqlstate="55P03"), PassingError),
        (wrapped(sqlstate="57P01"), PassingError),
        (wrapped(sqlstate="25006"), PassingError),
        (wrapped(sqlstate="28P01"), StorageError),
        (wrapped(sqlstate="42501"), StorageError),
        (wrapped(sqlstate="22P05"), RefusedError),
        (wrapped(sqlstate="23514"), RefusedError),
        (wrapped(sqlstate="54000"), RefusedError),
        (TimeoutError(), PassingError),
        (ConnectionResetError("reset"), PassingError),
        (PermissionError("no"), StorageError),
    ],
)
def test_what_an_error_means(error, kind):
    told = translated(error, "sqlite:///x")
    assert type(told) is kind
    assert str(told).startswith("sqlite:///x: ")
    assert "secret" not in str(told)


class TestPatience:
    @pytest.fixture
    def clock(self, monkeypatch):
        made = SimpleNamespace(now=0.0, pauses=[])

        async def sleep(seconds):
            made.pauses.append(seconds)
            made.now += seconds

        monkeypatch.setattr(retry, "time", SimpleNamespace(monotonic=lambda: made.now))
        monkeypatch.setattr(retry, "asyncio", SimpleNamespace(sleep=sleep))
        monkeypatch.setattr(retry, "random", SimpleNamespace(uniform=lambda _, high: high))
        return made

    async def test_pauses_grow_to_a_limit_and_end_with_the_patience(self, clock):
        async def away():
            raise PassingError("gone")

        with pytest.raises(StorageError, match=r"gone \(tried for 30 s\)"):
            await retry.patiently(away, patience=30)
        assert clock.pauses[:4] == [0.05, 0.1, 0.2, 0.4]
        assert max(clock.pauses) <= retry.LONGEST_PAUSE
        assert sum(clock.pauses) == pytest.approx(30)

    async def test_no_patience_is_one_try(self, clock):
        tries = []

        async def away():
            tries.append(1)
            raise PassingError("gone")

        with pytest.raises(StorageError):
            await retry.patiently(away, patience=0)
        assert (len(tries), clock.pauses) == (1, [])

    async def test_other_errors_are_not_tried_again(self, clock):
        async def full():
            raise StorageError("full")

        with pytest.raises(StorageError, match=r"^full$"):
            await retry.patiently(full, patience=30)
        assert clock.pauses == []

    async def test_what_works_in_the_end_is_returned(self, clock):
        tries = iter([PassingError("gone"), PassingError("gone"), None])

        async def work():
            if (error := next(tries)) is not None:
                raise error
            return "done"

        assert await retry.patiently(work, patience=30) == "done"
