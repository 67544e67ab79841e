"""What is deleted when its time has come, while nodes are silent, come back, or never do."""

from __future__ import annotations

import asyncio
import time
from types import MethodType

import pytest
from dbos import DBOS
from sqlalchemy import select, update

from fetchworker.db.runtables import scrape_attempts, scrape_runs
from fetchworker.errors import PlatformError, RunNotFoundError
from fetchworker.runs import cleaning
from fetchworker.runs.cleaning import Cleaner
from fetchworker.runs.models import RunRequest
from fetchworker.runs.store import at
from fetchworker.runs.terms import Terms

from .conftest import ask, ended, opened, until

KEEP = Terms(keep=3600)


def on(node: str, *queries: str) -> RunRequest:
    """A run whose jobs go to one node."""
    request = ask(*queries).model_dump(by_alias=True)
    for job in request["runs"]:
        job["options"]["nodeTags"] = [node]
    return RunRequest.model_validate(request)


async def ended_ago(runs, request: RunRequest, seconds: float) -> str:
    """A run that has ended so long ago."""
    run_id = (await ended(runs, (await runs.start(request)).run_id)).run_id
    ago = update(scrape_runs).where(scrape_runs.c.run_id == run_id).values(ended_at=at(time.time() - seconds))
    await runs.store.execute(ago)
    return run_id


async def left(runs) -> set[str]:
    return {row.run_id for row in await runs.store.read(select(scrape_runs.c.run_id))}


def asked(nodes, *names: str) -> list[tuple]:
    return [call for call in nodes.calls if call[0] in names]


async def test_a_node_that_says_nothing_holds_up_no_run(sqlite_url, nodes):
    async with opened(sqlite_url, nodes, runs_keep=1) as runs:
        reached = asyncio.Event()

        async def forget(self, node, job_id):
            reached.set()
            await asyncio.Event().wait()

        nodes.forget = MethodType(forget, nodes)
        await ended_ago(runs, on("n2", "rows=1"), 2)
        async with asyncio.timeout(30):
            await reached.wait()
        assert (await ended(runs, (await runs.start(on("n1", "rows=1"))).run_id)).state == "succeeded"


async def test_a_node_that_does_not_answer_is_asked_once_and_its_runs_wait_for_it(url, nodes):
    async with opened(url, nodes) as runs:
        away = [await ended_ago(runs, on("n2", "rows=1", "rows=1&first=3"), 3602 - number) for number in range(2)]
        there = await ended_ago(runs, on("n1", "rows=1"), 3601)
        plain = nodes._check

        def check(self, node):  # it is said to be up, and is not
            if node == "n2":
                raise PlatformError("n2 does not answer")
            plain(node)

        nodes._check = MethodType(check, nodes)
        nodes.calls.clear()
        await Cleaner(runs.store, nodes, KEEP).turn()
        assert await left(runs) == set(away)
        assert len([call for call in asked(nodes, "forget") if call[1].startswith(tuple(away))]) == 1
        with pytest.raises(RunNotFoundError):
            await runs.get(there)
        nodes._check = plain
        nodes.calls.clear()
        await Cleaner(runs.store, nodes, KEEP).turn()
        assert (await left(runs), len(asked(nodes, "forget"))) == (set(), 4)


async def test_a_node_that_is_known_to_be_down_is_not_asked(sqlite_url, nodes):
    async with opened(sqlite_url, nodes) as runs:
        waits = await ended_ago(runs, on("n2", "rows=1"), 3601)
        nodes.down("n2")
        nodes.calls.clear()
        await Cleaner(runs.store, nodes, KEEP).turn()
        assert (asked(nodes, "forget"), await left(runs)) == ([], {waits})


async def test_runs_that_wait_for_a_node_stand_in_no_others_way(sqlite_url, nodes, monkeypatch):
    monkeypatch.setattr(cleaning, "_RUNS", 1)
    async with opened(sqlite_url, nodes) as runs:
        waits = {await ended_ago(runs, on("n2", "rows=1"), 3610 - number) for number in range(3)}
        await ended_ago(runs, on("n1", "rows=1"), 3601)
        nodes.down("n2")
        await Cleaner(runs.store, nodes, KEEP).turn()
        assert await left(runs) == waits


async def test_a_run_waits_for_a_node_no_longer_than_it_was_kept(sqlite_url, nodes):
    async with opened(sqlite_url, nodes) as runs:
        await ended_ago(runs, on("n2", "rows=1"), 7201)
        nodes.down("n2")
        await Cleaner(runs.store, nodes, KEEP).turn()
        assert await left(runs) == set()


async def test_a_job_that_a_node_does_not_let_go_keeps_its_own_run_alone(sqlite_url, nodes):
    async with opened(sqlite_url, nodes) as runs:
        first, second = [await ended_ago(runs, on("n1", "rows=1"), 3602 - number) for number in range(2)]
        plain = nodes.forget

        async def forget(self, node, job_id):
            if job_id.startswith(first):
                raise PlatformError("it has not ended: cancel it first")
            await plain(node, job_id)

        nodes.forget = MethodType(forget, nodes)
        await Cleaner(runs.store, nodes, KEEP).turn()
        assert await left(runs) == {first}
        assert second not in await left(runs)


async def lost(runs, run_id: str, node: str, count: int = 1) -> None:
    """Have the first attempts of a run be lost on a node."""
    table = scrape_attempts.c
    some = select(table.attempt_id).where(table.run_id == run_id).order_by(table.attempt_id).limit(count)
    values = {"state": "lost", "node": node, "cleared": False}
    await runs.store.execute(update(scrape_attempts).where(table.attempt_id.in_(some)).values(values))


async def test_a_run_stays_until_what_it_has_lost_is_gone(url, nodes):
    async with opened(url, nodes, engine=False) as runs:
        run_id = (await runs.start(ask("rows=1"))).run_id
        values = {"state": "failed", "ended_at": at(time.time() - 3601)}
        await runs.store.execute(update(scrape_runs).values(values))
        await lost(runs, run_id, "n2")
        nodes.down("n2")
        await Cleaner(runs.store, nodes, KEEP).turn()
        assert await left(runs) == {run_id}
        nodes.up("n2")
        await Cleaner(runs.store, nodes, KEEP).turn()
        assert await left(runs) == set()


async def test_the_lost_attempts_of_a_dead_node_stand_in_no_others_way(sqlite_url, nodes, monkeypatch):
    monkeypatch.setattr(cleaning, "_IDS", 100)
    async with opened(sqlite_url, nodes, engine=False, runs_jobs_max=2000) as runs:
        dead = (await runs.start(ask(*["rows=1"] * 1000))).run_id
        there = (await runs.start(ask(*["rows=1"] * 150))).run_id
        await lost(runs, dead, "n2", 1000)
        await lost(runs, there, "n1", 150)
        nodes.down("n2")
        await Cleaner(runs.store, nodes, KEEP).turn()
        cleared = select(scrape_attempts.c.run_id).where(scrape_attempts.c.cleared.is_(True))
        assert [row.run_id for row in await runs.store.read(cleared)] == [there] * 150


async def test_nothing_is_kept_of_the_workflows_of_a_run_that_is_deleted(url, nodes):
    async with opened(url, nodes) as runs:
        run_id = await ended_ago(runs, on("n1", "rows=1"), 3601)
        other = (await ended(runs, (await runs.start(on("n1", "rows=1"))).run_id)).run_id
        cleaner = runs._engine._cleaner
        cleaner._terms, cleaner._next = KEEP, 0.0
        await until(lambda: _is_gone(runs, run_id))
        kept = await runs._engine._workflows._ask(DBOS.list_workflows_async())
        assert {one.workflow_id.partition(":")[0] for one in kept} == {other}


async def _is_gone(runs, run_id: str) -> bool:
    return run_id not in await left(runs)
