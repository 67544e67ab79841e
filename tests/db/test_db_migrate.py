"""Tables are made once, whoever starts first; a database of a newer version is left alone."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from fetchworker.db import migrate, runtables  # noqa: F401  # its tables are part of the metadata
from fetchworker.db.tables import HEAD, VERSION_TABLE, metadata
from fetchworker.errors import StorageError

OPEN = """\
import asyncio, logging, sys
from pydantic import SecretStr
from fetchworker.db import place_of
from fetchworker.db.store import ItemStore

logging.basicConfig(level=logging.INFO)

async def main():
    store = await ItemStore.open(place_of(SecretStr(sys.argv[1])))
    await store.close()

print("ready", flush=True)
sys.stdin.readline()
asyncio.run(main())
"""


async def in_transaction(store, work):
    async with store._engine.begin() as connection:
        return await connection.run_sync(work)


def differences(connection) -> list:
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "compare_type": True})
    return compare_metadata(context, metadata)


def columns(connection) -> dict[str, set[str]]:
    found = inspect(connection)
    return {name: {column["name"] for column in found.get_columns(name)} for name in found.get_table_names()}


async def test_a_new_database_has_the_tables_as_they_are_described(store):
    assert await in_transaction(store, migrate.revision) == HEAD
    assert await in_transaction(store, differences) == []
    assert set(await in_transaction(store, columns)) == {*metadata.tables, VERSION_TABLE}


async def test_the_steps_lead_back_too(store):
    await in_transaction(store, lambda connection: command.downgrade(migrate.config(connection), "base"))
    assert set(await in_transaction(store, columns)) == {VERSION_TABLE}
    await in_transaction(store, migrate.migrate)
    assert await in_transaction(store, differences) == []


def test_the_newest_step_is_the_one_that_the_code_is_written_for():
    assert ScriptDirectory.from_config(migrate.config()).get_heads() == [HEAD]


def steps() -> int:
    return len(list(ScriptDirectory.from_config(migrate.config()).walk_revisions()))


def race(url: str, processes: int = 6) -> list[str]:
    """Processes that open the database at the same moment; what each has logged."""
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(processes)
    ]
    for racer in racers:
        racer.stdout.readline()
    for racer in racers:
        racer.stdin.write(b"\n")
        racer.stdin.flush()
    told = [racer.communicate(timeout=50)[1].decode() for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * processes, told
    return told


@pytest.mark.slow
def test_processes_that_start_together_make_the_tables_once(url):
    assert sum(text.count("Running upgrade") for text in race(url)) == steps()


OLD_ITEM = {
    "kind": "profile",
    "item_id": "w0",
    "operation": "profile",
    "followers": 5,
    "author": {"id": "1", "name": "x"},
}


async def make_first_version(store) -> None:
    """The tables and a row as the first version left them."""
    await in_transaction(store, lambda connection: command.downgrade(migrate.config(connection), "0001"))
    old = "'instagram', 'profile', '7', 'w0', 'profile', 'c0', NULL"
    time = "2026-01-01T09:00:00.000000Z"
    at = "2026-01-01T09:00:00Z"
    seen = json.dumps({"followers": at, "author": {"id": at, "name": at}})
    columns = "site, kind, id, item_id, operation, crawl_id, url, first_seen, last_seen, item, seen"
    row = f"INSERT INTO items ({columns}) VALUES ({old}, '{time}', '{time}', '{json.dumps(OLD_ITEM)}', '{seen}')"
    await in_transaction(store, lambda connection: connection.exec_driver_sql(row))


async def test_a_database_of_an_older_version_is_renewed_and_keeps_what_it_has(url, open_store, ann):
    async with open_store(url) as store:
        await make_first_version(store)
    async with open_store(url) as store:
        assert await in_transaction(store, migrate.revision) == HEAD
        assert await in_transaction(store, differences) == []
        assert (await store.state("instagram", "profile", "7")).values == OLD_ITEM
        await store.save([ann("w1", followers=None, name="Ann", extra={"x": 1})])
        state = await store.state("instagram", "profile", "7")
    assert (state.values["followers"], state.seen["followers"]) == (5, "2026-01-01T09:00:00Z")
    assert (state.values["name"], state.values["item_id"]) == ("Ann", "w1")
    assert (state.first_seen, state.last_seen) == ("2026-01-01T09:00:00Z", "2026-01-01T10:00:00Z")


@pytest.mark.slow
async def test_processes_that_start_together_renew_an_older_database_once(url, open_store):
    async with open_store(url) as store:
        await make_first_version(store)
    told = await asyncio.to_thread(race, url)
    assert sum(text.count("Running upgrade") for text in told) == steps() - 1
    async with open_store(url) as store:
        assert (await store.state("instagram", "profile", "7")).values == OLD_ITEM


async def test_a_step_that_fails_leaves_nothing(url, open_store, monkeypatch):
    upgrade = command.upgrade

    def upgrade_and_fail(config, to):
        upgrade(config, to)
        raise RuntimeError("power cut")

    monkeypatch.setattr(command, "upgrade", upgrade_and_fail)
    with pytest.raises(RuntimeError, match="power cut"):
        async with open_store(url):
            pass
    monkeypatch.undo()
    async with open_store(url) as store:
        assert await in_transaction(store, differences) == []


async def test_a_newer_database_is_told_and_left_alone(url, open_store):
    async with open_store(url) as store:
        await in_transaction(store, lambda c: c.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")))
        before = await in_transaction(store, columns)
    with pytest.raises(StorageError, match=f"newer fetchworker .*9999.*{HEAD}.*update fetchworker"):
        async with open_store(url):
            pass
    async with store._engine.begin() as connection:
        assert await connection.run_sync(columns) == before
        assert await connection.run_sync(migrate.revision) == "9999"
    await store.close()


async def test_tables_of_somebody_else_are_not_taken_for_ours(url, open_store):
    async with open_store(url) as store:
        await in_transaction(store, lambda c: c.execute(text(f"DROP TABLE {VERSION_TABLE}")))
    with pytest.raises(StorageError, match="already exists"):
        async with open_store(url):
            pass
