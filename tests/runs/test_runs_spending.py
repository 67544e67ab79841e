"""What attempts have cost is stored with their ends, once, and told by run, by job and by way."""

from __future__ import annotations

import os
import signal
import time

import pytest
from sqlalchemy import func, select

from fetchworker.actions import ActionOutcome
from fetchworker.db.runtables import scrape_attempts, sessions, usage
from fetchworker.errors import RunNotFoundError
from fetchworker.platforms import JobState, JobStatus
from fetchworker.runs import actionlog
from fetchworker.runs.cleaning import Cleaner
from fetchworker.runs.spending import cleared
from fetchworker.runs.terms import Terms

from .conftest import ask, control, ended, kill, opened, until

BYTES = 1 << 40


async def attempts_of(runs, table):
    return sorted(row[0] for row in await runs.store.read(select(table.c.attempt_id)))


async def test_a_run_tells_what_its_jobs_have_cost(runs):
    run = await ended(runs, (await runs.start(ask("spent=3", "spent=5", "rows=1"))).run_id)
    assert [(job.usage.requests, job.usage.bytes_down) for job in run.job_list] == [
        (6, 2 * BYTES), (10, 2 * BYTES), (0, 0),
    ]  # fmt: skip
    assert (run.usage.requests, run.usage.bytes_up, run.usage.browser_ms) == (16, 40, 14)
    assert [(way.operation, way.provider, way.tier, way.requests) for way in run.usage.by] == [
        ("fetch", "evomi", "residential", 8), ("warmup", "evomi", "residential", 8),
    ]  # fmt: skip
    assert (await runs.list()).runs[0].usage is None
    found = await runs.sessions(run.run_id, workspaces=["w1"])
    assert [(one.attempt_id, one.session_id, one.exit, one.country, one.outcomes) for one in found] == [
        (f"{run.run_id}-{number}.1", "ann", "evomi:gate.example:1", "DE", {"ok": 1}) for number in (0, 1)
    ]
    with pytest.raises(RunNotFoundError):
        await runs.sessions(run.run_id, workspaces=["another"])


async def test_each_attempt_counts_once_however_often_its_end_is_told(runs):
    run = await ended(runs, (await runs.start(ask("spent=3"))).run_id)
    attempt = f"{run.run_id}-0.1"
    await runs.complete(attempt)
    await runs.complete(attempt)
    [row] = await runs.store.read(select(scrape_attempts))
    told = {"provider": "x", "tier": "y", "requests": 900, "bytes_up": 1, "bytes_down": 1}
    cost = {**told, "operation": "fetch", "browser_ms": 0}
    status = JobStatus(attempt, JobState.ENDED, spent={"site": "fetch", "costs": [cost], "sessions": []})
    first = JobStatus(attempt, JobState.ENDED, spent=(await spent_again(runs, run.run_id)))
    await cleared(runs.store, row, first)
    assert (await runs.get(run.run_id)).usage == run.usage
    await cleared(runs.store, row, status)  # another word than the first
    assert (await runs.get(run.run_id)).usage == run.usage
    for odd in ({"site": "fetch"}, {"site": 5}, {**status.spent, "costs": [{**cost, "requests": -1}]}):
        await cleared(runs.store, row, JobStatus(attempt, JobState.ENDED, spent=odd))
    assert (await runs.get(run.run_id)).usage == run.usage


async def spent_again(runs, run_id):
    """What the node of a run's only job says of it."""
    [row] = await runs.store.read(select(scrape_attempts).where(scrape_attempts.c.run_id == run_id))
    statuses = await runs._platform.statuses(row.node, [row.attempt_id])
    return statuses[row.attempt_id].spent


async def test_a_job_begun_anew_has_the_cost_of_each_attempt_once(url, nodes):
    """The first is lost with its node, and told of when that is back."""
    async with opened(url, nodes) as runs:
        run_id = (await runs.start(ask("spent=3&wait=go"))).run_id

        async def running():
            run = await runs.get(run_id)
            return run if run.state == "running" else None

        run = await until(running)
        first = run.job_list[0].node
        nodes.down(first)

        async def second():
            job = (await runs.get(run_id)).job_list[0]
            return job.attempt == 2 and job.node is not None

        await until(second)
        nodes.go("go")
        run = await ended(runs, run_id)
        assert run.usage.requests == 6
        nodes.up(first)

        async def back():
            return (await runs.get(run_id)).usage.requests == 12

        await until(back)
        for _ in range(2):
            await Cleaner(runs.store, nodes, Terms(keep=0)).turn()
        assert await attempts_of(runs, usage) == sorted([f"{run_id}-0.1", f"{run_id}-0.2"] * 2)
        assert await attempts_of(runs, sessions) == [f"{run_id}-0.1", f"{run_id}-0.2"]


async def test_a_job_that_was_killed_has_cost_what_it_had_told(runs, nodes):
    run_id = (await runs.start(ask("spent=3&wait=never"))).run_id

    async def running():
        return (await runs.get(run_id)).state == "running"

    await until(running)
    for pid in nodes.pids():
        os.kill(pid, signal.SIGKILL)
    run = await ended(runs, run_id)
    assert (run.job_list[0].exit_cause, run.usage.requests) == ("killed", 6)


@pytest.mark.slow
async def test_nothing_is_counted_twice_though_the_control_is_killed(url, nodes):
    """Killed again and again while ends are written down."""
    async with opened(url, nodes, engine=False) as runs:
        run_ids = [(await runs.start(ask(*["spent=3&rows=2"] * 4))).run_id for _ in range(3)]
        for number in range(3):
            process = control(url, nodes)
            process.stdout.readline()

            async def enough(least=2 * number):
                return len(await attempts_of(runs, usage)) >= least

            await until(enough, 60)
            kill(process)
        control(url, nodes).stdout.readline()
        for run_id in run_ids:
            run = await ended(runs, run_id, 60)
            assert (run.state, run.usage.requests, run.usage.by[0].requests) == ("succeeded", 24, 12)
    assert len(nodes.spawned()) == len(set(nodes.spawned())) == 12


async def test_they_go_with_their_run(runs, nodes):
    run = await ended(runs, (await runs.start(ask("spent=3"))).run_id)
    await Cleaner(runs.store, nodes, Terms(keep=1e-6)).turn()
    with pytest.raises(RunNotFoundError):
        await runs.get(run.run_id)
    for table in (usage, sessions):
        assert (await runs.store.read(select(func.count()).select_from(table)))[0][0] == 0


async def test_what_was_done_on_pages_is_kept_for_as_long_as_runs_are(runs, nodes):
    done = [ActionOutcome(0, "fill", outcome="ok", ms=2.5, value="typed"), ActionOutcome(1, "pdf")]
    caller = actionlog.Caller("r1", "w1", "ann", "fetch", None)
    for age in (7200, 60):
        await actionlog.record(runs.store, caller, done, begun=time.time() - age)
    assert [row.number for row in await actionlog.listed(runs.store, {})] == [0, 1, 0, 1]
    await Cleaner(runs.store, nodes, Terms(keep=3600)).turn()
    [first, second] = await actionlog.listed(runs.store, {"workspace_id": "w1", "session_id": None})
    assert (first.kind, first.outcome, first.ms, second.outcome, second.ms) == ("fill", "ok", 2.5, "skipped", None)
    assert "typed" not in str(first)
    assert await actionlog.listed(runs.store, {}, after=(second.call_id, second.number)) == []
