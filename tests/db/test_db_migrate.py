"""Tables are made once, whoever starts first; a database of a newer version is left alone."""

from __future__ import annotations

import subprocess
import sys

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from fetchworker.db import migrate
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
    assert set(await in_transaction(store, columns)) == {"items", "observations", VERSION_TABLE}


async def test_the_steps_lead_back_too(store):
    await in_transaction(store, lambda connection: command.downgrade(migrate.config(connection), "base"))
    assert set(await in_transaction(store, columns)) == {VERSION_TABLE}
    await in_transaction(store, migrate.migrate)
    assert await in_transaction(store, differences) == []


def test_the_newest_step_is_the_one_that_the_code_is_written_for():
    assert ScriptDirectory.from_config(migrate.config()).get_heads() == [HEAD]


@pytest.mark.slow
def test_processes_that_start_together_make_the_tables_once(url):
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(6)
    ]
    for racer in racers:
        racer.stdout.readline()
    for racer in racers:
        racer.stdin.write(b"\n")
        racer.stdin.flush()
    told = [racer.communicate(timeout=50)[1].decode() for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * 6, told
    assert sum(text.count("Running upgrade") for text in told) == 1


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
