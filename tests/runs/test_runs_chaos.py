"""The control process is killed again and again, a job and the database in the middle: every run ends right."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event, func, select

from fetchworker.db.runtables import scrape_items, webhook_deliveries
from fetchworker.errors import StorageAwayError

from .conftest import ask, control, ended, kill, opened, until

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 4


async def ask_patiently(ask: Any) -> Any:
    """What is asked for, however long the database is away."""
    while True:
        with contextlib.suppress(StorageAwayError):
            return await ask()


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_every_run_ends_right_whatever_is_killed(url, nodes):
    dice = random.Random(7)
    async with opened(url, nodes, engine=False) as runs:
        done = "https://caller.example/done"
        asked = [
            ask("rows=40&wait=go0&more=10", "rows=5&first=100", callbackWebhook=done),
            ask("rows=30&wait=go2&more=5", "rows=3&first=200&end=failed&why=boom", callbackWebhook=done),
            ask("rows=20&wait=never", "rows=2&first=300", callbackWebhook=done),  # its job is killed
        ]
        ids = [(await runs.start(request)).run_id for request in asked]
        for number in range(KILLS):
            process = control(url, nodes)
            await asyncio.to_thread(process.stdout.readline)
            await asyncio.sleep(dice.uniform(0, 0.6))
            kill(process)
            nodes.go(f"go{number}")
        process = control(url, nodes)
        try:
            assert await until(lambda: _all_begun(nodes, 6), 90)
            [victim] = nodes.folder.glob(f"n*/{ids[2]}-0.1")
            assert await until(lambda: _written(victim, 20), 60)
            os.kill(nodes.pid_of(victim), signal.SIGKILL)

            async def all_ended():
                found = [await runs.get(run_id) for run_id in ids]
                return found if all(run.ended for run in found) else None

            found = await until(all_ended, 90)
        finally:
            kill(process)
        assert [run.state for run in found] == ["succeeded", "partial", "partial"]
        assert [run.exit_causes for run in found] == [{"ok": 2}, {"failed": 1, "ok": 1}, {"killed": 1, "ok": 1}]
        assert [run.items for run in found] == [55, 38, 22]
        assert Counter(nodes.spawned()).most_common(1)[0][1] == 1
        assert len(nodes.spawned()) == 6
        query = select(scrape_items.c.run_id, func.count(), func.count(scrape_items.c.item_id.distinct()))
        stored = await runs._store.read(query.group_by(scrape_items.c.run_id).order_by(scrape_items.c.run_id))
        assert [tuple(row)[1:] for row in stored] == [(55, 55), (38, 38), (22, 22)]
        deliveries = await runs._store.read(select(webhook_deliveries.c.run_id))
        assert sorted(row.run_id for row in deliveries) == sorted(ids)


async def _written(folder: Path, lines: int) -> bool:
    path = folder / "items.jsonl"
    return path.exists() and path.read_bytes().count(b"\n") == lines


async def _all_begun(nodes: Any, count: int) -> bool:
    return len(nodes.spawned()) == count


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_database_that_goes_away_is_told_and_nothing_is_doubled(nodes):
    from fetchworker.demo.postgres import PostgresServer

    server = PostgresServer(fsync="off")
    with server:
        async with opened(server.create("runs"), nodes) as runs:
            run = await runs.start(ask("rows=30&wait=go&more=20", "rows=3&first=100"))

            async def home():
                return (await runs.get(run.run_id)).items == 33

            await until(home)
            await asyncio.to_thread(server.kill)
            with pytest.raises(StorageAwayError) as told:
                await runs.start(ask("rows=1"))
            assert told.value.type == "STORAGE_UNAVAILABLE"
            nodes.go("go")
            await asyncio.to_thread(server.start)
            found = await ask_patiently(lambda: ended(runs, run.run_id, 60))
            assert (found.state, found.items, len(nodes.spawned())) == ("succeeded", 53, 2)
            assert len((await runs.list()).runs) == 1
            assert runs.leads


async def test_a_full_disk_is_a_database_that_takes_nothing_until_it_does(sqlite_url, nodes):
    async with opened(sqlite_url, nodes, engine=False) as runs:
        run_id = (await runs.start(ask("rows=1"))).run_id
        assert not runs.store.full

        def limit(connection, _):
            cursor = connection.cursor()
            cursor.execute("PRAGMA max_page_count=1")  # SQLite's own limit of a file: no less than it has
            cursor.close()

        event.listen(runs.store.engine.sync_engine, "connect", limit)
        await runs.store.engine.dispose()
        with pytest.raises(StorageAwayError, match="disk is full") as caught:
            await runs.start(ask(*["rows=1"] * 500))
        assert (caught.value.type, runs.store.full) == ("STORAGE_UNAVAILABLE", True)
        assert (await runs.get(run_id)).state == "queued"  # what is there can be read
        event.remove(runs.store.engine.sync_engine, "connect", limit)
        await runs.store.engine.dispose()
        await runs.start(ask("rows=1"))
        assert not runs.store.full
