"""Full disks, databases that go away, processes that are killed: what is stored is whole, and stored once."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys

import pytest
from sqlalchemy import event, text

from fetchworker.db import engine
from fetchworker.db import store as store_module
from fetchworker.errors import StorageAwayError, StorageError

SIZE = 5  # observations of a batch

#: stores batches w0, w1, … of items and says which are stored, until it is killed or the database fails
WRITER = """\
import asyncio, json, sys
from pydantic import SecretStr
from fetchworker.db import place_of
from fetchworker.db.observation import observe
from fetchworker.db.store import ItemStore
from fetchworker.errors import StorageError
from fetchworker.items import Profile

url, size, batches, text = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), "x" * int(sys.argv[4])

def one(batch, number):
    name = f"w{batch}-{number}"
    item = Profile(item_id=name, id=name, site="s", operation="profile", biography=text,
                   fetched_at="2026-01-01T10:00:00Z")
    return observe(item, crawl_id="c")

async def main():
    store = await ItemStore.open(place_of(SecretStr(url)), patience=0)
    try:
        for batch in range(batches):
            await store.save([one(batch, number) for number in range(size)])
            print(batch, flush=True)
    except StorageError as exc:
        print(json.dumps([type(exc).__name__, str(exc)]), flush=True)
    await store.close()

asyncio.run(main())
"""


def writer(url: str, batches: int, *, length: int = 10, **options) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, url, str(SIZE), str(batches), str(length)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)


async def stored(store) -> tuple[set[int], int]:
    """The batches that are there, each of them whole, and how many observations."""
    async with store._engine.connect() as connection:
        names = [name for (name,) in await connection.execute(text("SELECT item_id FROM observations"))]
        keys = [name for (name,) in await connection.execute(text("SELECT id FROM items"))]
    assert sorted(names) == sorted(keys)
    assert len(set(names)) == len(names)
    by_batch: dict[int, int] = {}
    for name in names:
        batch = int(name[1:].partition("-")[0])
        by_batch[batch] = by_batch.get(batch, 0) + 1
    assert set(by_batch.values()) <= {SIZE}, "no batch is half there"
    return set(by_batch), len(names)


# ── processes that are killed ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
async def test_a_killed_process_has_stored_what_it_was_told_and_whole_batches(url, open_store):
    process = writer(url, 10_000)
    acknowledged = [int(process.stdout.readline()) for _ in range(20)]
    process.kill()
    process.communicate()
    async with open_store(url) as store:
        batches, _ = await stored(store)
        assert batches >= set(acknowledged)
        again = writer(url, len(batches) + 3)
        assert len(again.communicate(timeout=50)[0].splitlines()) == len(batches) + 3
        assert await stored(store) == (set(range(len(batches) + 3)), SIZE * (len(batches) + 3)), "and nothing twice"


#: stores a first batch, then a second one, and ends as `kill -9` would, before or after the commit
KILLED = """\
import asyncio, os, signal, sys
from pydantic import SecretStr
from sqlalchemy import event
from fetchworker.db import place_of
from fetchworker.db.observation import observe
from fetchworker.db.store import ItemStore
from fetchworker.items import Profile

url, moment = sys.argv[1:]

def batch(number):
    for each in range(5):
        name = f"w{number}-{each}"
        item = Profile(item_id=name, id=name, site="s", operation="profile", fetched_at="2026-01-01T10:00:00Z")
        yield observe(item, crawl_id="c")

def end(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def statement(connection, cursor, statement, *_):
    if statement.startswith("INSERT INTO observations"):
        end()

async def main():
    store = await ItemStore.open(place_of(SecretStr(url)), patience=0)
    await store.save(batch(0))
    if moment == "states":
        event.listen(store._engine.sync_engine, "before_cursor_execute", statement)
    elif moment == "commit":
        event.listen(store._engine.sync_engine, "commit", end)
    await store.save(batch(1))
    end()

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize(("moment", "there"), [("states", {0}), ("commit", {0}), ("stored", {0, 1})])
async def test_a_process_killed_in_the_middle_of_a_batch_leaves_nothing_of_it(url, open_store, moment, there):
    command = [sys.executable, "-c", KILLED, url, moment]
    killed = await asyncio.to_thread(subprocess.run, command, check=False, timeout=50)
    assert killed.returncode == -signal.SIGKILL
    async with open_store(url) as store:
        assert await stored(store) == (there, SIZE * len(there))
        again = writer(url, 2)
        assert again.communicate(timeout=50)[0].splitlines() == ["0", "1"], "no lock outlives the process"
        assert await stored(store) == ({0, 1}, 2 * SIZE)


# ── disks that are full ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
async def test_a_file_that_cannot_grow_is_a_typed_error_and_nothing_is_half_written(sqlite_url, open_store):
    limit = 400_000  # bytes

    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    process = writer(sqlite_url, 1000, length=5000, preexec_fn=little_room)
    *acknowledged, error = process.communicate(timeout=50)[0].splitlines()
    assert process.returncode == 0
    assert json.loads(error)[0] == "StorageAwayError"
    assert "items.db" in json.loads(error)[1]
    assert acknowledged
    async with open_store(sqlite_url) as store:
        batches, _ = await stored(store)
        assert batches == {int(batch) for batch in acknowledged}
        async with store._engine.connect() as connection:
            assert (await connection.execute(text("PRAGMA integrity_check"))).scalar() == "ok"


async def test_a_full_database_is_told_and_can_be_read_and_freed(sqlite_url, open_store, ann):
    async with open_store(sqlite_url) as store:
        async with store._engine.connect() as connection:
            pages = (await connection.execute(text("PRAGMA page_count"))).scalar()
        async with limited(store, pages + 4):
            await store.save([ann("a", followers=1)])
            with pytest.raises(StorageError, match=r"items\.db: database or disk is full") as caught:
                await store.save([ann("b", id="8"), ann("c", id="9", biography="x" * 100_000)])
            assert type(caught.value) is StorageAwayError, "not tried again, and not the item's fault"
            assert [state.values["id"] for state in await store.states()] == ["7"]
        await store.save([ann("b", id="8")])
        assert len(await store.states()) == 2


@contextlib.asynccontextmanager
async def limited(store, pages: int):
    """SQLite's own limit of a file, which says the same as a full disk."""

    def limit(connection, _):
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA max_page_count={pages}")
        cursor.close()

    event.listen(store._engine.sync_engine, "connect", limit)
    await store._engine.dispose()
    yield
    event.remove(store._engine.sync_engine, "connect", limit)
    await store._engine.dispose()


# ── databases that are away ──────────────────────────────────────────────────────────────────────────────────────────


async def test_a_lock_that_is_held_for_long_is_waited_for(sqlite_url, open_store, ann, monkeypatch, caplog):
    monkeypatch.setattr(engine, "BUSY", 0.01)
    async with open_store(sqlite_url, patience=50) as store:
        other = sqlite3.connect(store._place.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        save = asyncio.create_task(store.save([ann("a")]))
        while "trying again" not in caplog.text:  # noqa: ASYNC110  # the log has no event
            await asyncio.sleep(0.01)
        assert not save.done()
        other.execute("COMMIT")
        other.close()
        await save
        assert len(await store.states()) == 1


async def test_a_lock_that_never_ends_is_an_error(sqlite_url, open_store, ann, monkeypatch):
    monkeypatch.setattr(engine, "BUSY", 0.01)
    async with open_store(sqlite_url, patience=0.05) as store:
        other = sqlite3.connect(store._place.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match=r"items\.db: database is locked \(tried for 0\.05 s\)"):
            await store.save([ann("a")])
        other.close()


async def test_lost_connections_are_made_again(postgres_url, open_store, ann):
    async with open_store(postgres_url) as store:
        await store.save([ann("a", followers=1)])
        async with open_store(postgres_url) as other, other._engine.begin() as connection:
            ended = await connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
            assert len(ended.all()) >= 1
        await store.save([ann("b", day=2, followers=2)])
        assert (await store.state("instagram", "profile", "7")).values["followers"] == 2


@pytest.fixture
def own_postgres(postgres):
    """A server that may be killed."""
    from fetchworker.demo.postgres import PostgresServer

    with PostgresServer() as server:
        yield server


@pytest.mark.slow
async def test_a_killed_server_that_comes_back_costs_nothing(own_postgres, open_store, ann, caplog):
    url = own_postgres.create("items")
    async with open_store(url, patience=50) as store:
        saved = []

        async def save_some():
            for batch in range(40):
                await store.save([ann(f"w{batch}-{n}", id=f"w{batch}-{n}") for n in range(SIZE)])
                saved.append(batch)

        task = asyncio.create_task(save_some())
        while len(saved) < 5:  # noqa: ASYNC110  # rows are counted, not waited for
            await asyncio.sleep(0.01)
        own_postgres.kill()
        await asyncio.to_thread(own_postgres.start)
        await task
        assert await stored(store) == (set(range(40)), 40 * SIZE)


@pytest.mark.slow
async def test_a_killed_server_that_stays_away_is_an_error_and_no_batch_is_half_there(own_postgres, open_store, ann):
    url = own_postgres.create("items")
    saved = []

    async def save_until_it_fails(store):
        for batch in range(100_000):
            await store.save([ann(f"w{batch}-{n}", id=f"w{batch}-{n}") for n in range(SIZE)])
            saved.append(batch)

    async with open_store(url, patience=0.2) as store:
        task = asyncio.create_task(save_until_it_fails(store))
        while len(saved) < 5:  # noqa: ASYNC110  # rows are counted, not waited for
            await asyncio.sleep(0.01)
        own_postgres.kill()
        with pytest.raises(StorageError, match=r"items: .*\(tried for 0\.2 s\)") as caught:
            await task
        assert "postgres@" not in str(caught.value)
    await asyncio.to_thread(own_postgres.start)
    async with open_store(url) as store:
        batches, _ = await stored(store)
    # a commit whose answer was lost may be there too
    assert set(saved) <= batches <= {*saved, len(saved)}


@pytest.mark.slow
async def test_a_server_that_hangs_is_given_up(own_postgres, open_store, ann, monkeypatch):
    url = own_postgres.create("items")
    async with open_store(url, patience=0) as store:
        await store.save([ann("a")])
        monkeypatch.setattr(store_module, "TRY_TIMEOUT", 0.3)
        own = [own_postgres.pid, *children(own_postgres.pid)]
        for pid in own:
            os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(StorageError, match="no answer in time"):
                await store.save([ann("b")])
        finally:
            for pid in own:
                os.kill(pid, signal.SIGCONT)


def children(pid: int) -> list[int]:
    import psutil

    return [child.pid for child in psutil.Process(pid).children()]


async def test_a_database_that_is_not_there_is_told(open_store):
    with pytest.raises(StorageError, match=r"postgresql://127\.0\.0\.1:1/items: .*refused.*tried for 0 s"):
        async with open_store("postgresql://u:p@127.0.0.1:1/items", patience=0):
            pass
