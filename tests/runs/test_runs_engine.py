"""Whole runs on both databases, with jobs that are real processes."""

from __future__ import annotations

import os
import signal

import pytest
from sqlalchemy import select

from fetchworker.db.runtables import scrape_attempts, webhook_deliveries
from fetchworker.errors import RunStateError
from fetchworker.runs.models import RunRequest

from .conftest import ask, ended, opened, rows_of, until


async def test_a_run_of_several_jobs_brings_their_rows_home_once(runs, nodes):
    run = await runs.start(ask("rows=3", "rows=2&first=10", "rows=0"))
    assert (run.state, run.jobs, len(run.job_list)) == ("queued", 3, 3)
    run = await ended(runs, run.run_id)
    assert (run.state, run.exit_causes, run.reasons) == ("succeeded", {"ok": 3}, [])
    found = await rows_of(runs, run.run_id)
    assert sorted(row.item_id for row in found) == ["i0", "i1", "i10", "i11", "i2"]
    assert [row.seq for row in found] == sorted(row.seq for row in found)
    assert (run.items, run.rejects, [job.items for job in run.job_list]) == (5, 0, [3, 2, 0])
    assert len(nodes.spawned()) == 3
    assert {job.state for job in run.job_list} == {"succeeded"}


ENDS = [
    (["end=ok", "end=failed&why=boom"], "partial", {"failed": 1, "ok": 1}, ["succeeded", "failed"]),
    (["end=degraded&why=30%25+blocked"], "partial", {"degraded": 1}, ["partial"]),
    (["end=oom", "end=oom"], "failed", {"oom": 2}, ["failed", "failed"]),
    (["end=blocked", "end=timed_out"], "failed", {"blocked": 1, "timed_out": 1}, ["failed", "timed_out"]),
    (["end=timed_out"], "timed_out", {"timed_out": 1}, ["timed_out"]),
    (["end=no_egress", "end=storage_error"], "failed", {"no_egress": 1, "storage_error": 1}, ["failed", "failed"]),
]


@pytest.mark.parametrize(("queries", "state", "causes", "jobs"), ENDS, ids=["+".join(case[0]) for case in ENDS])
async def test_a_run_ends_as_its_jobs_did(runs, queries, state, causes, jobs):
    run = await ended(runs, (await runs.start(ask(*queries))).run_id)
    assert (run.state, run.exit_causes, [job.state for job in run.job_list]) == (state, causes, jobs)
    assert len(run.reasons) == 1 + sum(job != "succeeded" for job in jobs)
    if "boom" in queries[-1]:
        assert run.reasons == ["2 jobs: 1 failed, 1 ok", "job 1: failed: boom"]


async def test_every_change_is_an_event_in_order(runs, nodes):
    run = await runs.start(ask("rows=1&wait=go"))

    async def runs_now():
        return (await runs.get(run.run_id)).state == "running"

    await until(runs_now)
    nodes.go("go")
    await ended(runs, run.run_id)
    page = await runs.events(run.run_id)
    told = [(event.type, event.job_id is not None, event.state_from, event.state_to) for event in page.events]
    assert told == [
        ("state", False, None, "queued"),
        ("state", False, "queued", "spawning"),
        ("state", True, "queued", "spawning"),
        ("spawn", True, None, None),
        ("state", True, "spawning", "running"),
        ("state", False, "spawning", "running"),
        ("state", True, "running", "succeeded"),
        ("state", False, "running", "succeeded"),
    ]
    assert [event.seq for event in page.events] == list(range(1, 9))
    assert (await runs.events(run.run_id, after=6)).events == page.events[6:]


async def test_a_job_that_is_deaf_is_killed_and_only_then_the_run_is_aborted(url, nodes):
    async with opened(url, nodes, grace=0.5) as runs:
        run = await runs.start(ask("rows=2&wait=never&deaf=1", "rows=1&first=7"))

        async def runs_now():
            found = await runs.get(run.run_id)
            return [job.state for job in found.job_list] == ["running", "succeeded"]

        await until(runs_now)
        told = await runs.abort(run.run_id)
        assert (told.state, told.aborting, len(nodes.pids())) == ("running", True, 1)
        run = await ended(runs, run.run_id)
        assert nodes.pids() == []
        assert (run.state, run.aborting, run.exit_causes) == ("aborted", False, {"aborted": 1, "ok": 1})
        assert run.items == 3  # what it had written came home
        assert (await runs.abort(run.run_id)).state == "aborted"


async def test_what_has_not_begun_is_aborted_at_once(runs, nodes):
    nodes.down("n1")
    nodes.down("n2")
    run = await runs.start(ask("rows=1&wait=never"))

    async def waits():
        return (await runs.events(run.run_id)).events[-1].type == "waiting"

    await until(waits)
    nodes.up("n1")
    nodes.up("n2")
    await runs.abort(run.run_id)
    run = await ended(runs, run.run_id)
    assert run.state == "aborted"
    assert nodes.pids() == []


async def test_a_job_that_no_node_takes_waits_until_one_does(runs, nodes):
    nodes.down("n1")
    nodes.down("n2")
    run = await runs.start(ask("rows=2"))

    async def waits():
        return (await runs.get(run.run_id)).job_list[0].state == "spawning"

    await until(waits)
    nodes.up("n2")
    run = await ended(runs, run.run_id)
    assert (run.state, run.items, len(nodes.spawned())) == ("succeeded", 2, 1)


async def test_a_job_that_no_node_ever_takes_fails_and_says_why(runs, nodes):
    request = ask("rows=1", "rows=1").model_dump(by_alias=True)
    request["runs"][0]["options"]["nodeTags"] = ["never"]
    run = await ended(runs, (await runs.start(RunRequest.model_validate(request))).run_id)
    assert (run.state, run.exit_causes) == ("partial", {"failed": 1, "ok": 1})
    assert run.job_list[0].reasons == ["it cannot be begun: no node has the tag never"]


async def test_jobs_that_take_too_long_are_ended_and_have_timed_out(url, nodes):
    async with opened(url, nodes, runs_ticks=10) as runs:
        run = await ended(runs, (await runs.start(ask("rows=2&wait=never", "rows=1&first=7"))).run_id)
        assert (run.state, run.exit_causes, run.items) == ("partial", {"ok": 1, "timed_out": 1}, 3)
        assert nodes.pids() == []
        assert "the time that the run had" in run.job_list[0].reasons[0]


async def test_a_node_that_vanishes_loses_its_jobs_and_another_begins_them_anew(runs, nodes):
    run = await runs.start(ask("rows=3&wait=go&more=2"))

    async def home():
        return (await runs.get(run.run_id)).items == 3

    await until(home)  # rows come home while a job runs
    first = (await runs.get(run.run_id)).job_list[0].node
    nodes.down(first)

    async def anew():
        job = (await runs.get(run.run_id)).job_list[0]
        return job if job.attempt == 2 and job.node else None

    assert (await until(anew)).node not in (first, None)
    nodes.go("go")
    run = await ended(runs, run.run_id)
    assert (run.state, run.items, run.job_list[0].attempt) == ("succeeded", 5, 2)
    assert sorted(row.item_id for row in await rows_of(runs, run.run_id)) == ["i0", "i1", "i1000", "i1001", "i2"]
    types = [event.type for event in (await runs.events(run.run_id)).events]
    assert [name for name in types if name != "state"] == ["spawn", "node_silent", "lost", "spawn"]


async def test_a_lost_process_is_ended_when_its_node_is_back(runs, nodes):
    run = await runs.start(ask("rows=1&wait=never"))

    async def running():
        return (await runs.get(run.run_id)).job_list[0].state == "running"

    await until(running)
    [pid] = nodes.pids()
    node = (await runs.get(run.run_id)).job_list[0].node
    nodes.down(node)

    async def anew():
        return len(nodes.pids()) == 2

    await until(anew)
    nodes.up(node)

    async def gone():
        return pid not in nodes.pids()

    await until(gone)
    await runs.abort(run.run_id)
    assert (await ended(runs, run.run_id)).state == "aborted"


@pytest.mark.parametrize("policy", [{"runs_lost": "fail"}, {"runs_attempts": 1}], ids=str)
async def test_a_lost_job_that_is_not_begun_anew_fails(url, nodes, policy):
    async with opened(url, nodes, **policy) as runs:
        run = await runs.start(ask("rows=1&wait=never"))

        async def running():
            return (await runs.get(run.run_id)).job_list[0].state == "running"

        await until(running)
        nodes.down((await runs.get(run.run_id)).job_list[0].node)
        run = await ended(runs, run.run_id)
        assert (run.state, run.exit_causes) == ("failed", {"lost": 1})
        assert "has not answered for 0.3 s" in run.job_list[0].reasons[0]


async def test_an_abort_does_not_say_aborted_of_a_process_that_nobody_can_ask(runs, nodes):
    run = await runs.start(ask("rows=1&wait=never"))

    async def running():
        return (await runs.get(run.run_id)).job_list[0].state == "running"

    await until(running)
    nodes.down((await runs.get(run.run_id)).job_list[0].node)
    await runs.abort(run.run_id)
    run = await ended(runs, run.run_id)
    assert (run.state, run.exit_causes, len(nodes.pids())) == ("failed", {"lost": 1}, 1)


async def test_a_told_end_is_seen_at_once_and_an_untold_one_at_the_tick(url, nodes):
    async with opened(url, nodes, runs_tick=30) as runs:
        run = await runs.start(ask("rows=1&wait=go"))

        async def running():
            return (await runs.get(run.run_id)).job_list[0].state == "running"

        await until(running)
        nodes.go("go")

        async def over():
            return not nodes.pids()

        await until(over)
        await runs.complete(f"{run.run_id}-0.1")
        assert (await ended(runs, run.run_id, 15)).state == "succeeded"


async def test_an_engine_that_is_closed_in_the_middle_goes_on_at_the_next_start(url, nodes):
    async with opened(url, nodes) as runs:
        run = await runs.start(ask("rows=3&wait=go", "rows=2&first=5"))

        async def begun():
            return len(nodes.spawned()) == 2

        await until(begun)
    nodes.go("go")
    async with opened(url, nodes) as runs:
        run = await ended(runs, run.run_id)
        assert (run.state, run.items, len(nodes.spawned())) == ("succeeded", 5, 2)


async def test_what_a_process_without_an_engine_asks_for_is_done_by_the_one_that_has_it(url, nodes):
    async with opened(url, nodes) as leading, opened(url, nodes, engine=False) as asking:
        assert (leading.leads, asking.leads) == (True, False)
        run = await asking.start(ask("rows=1&wait=never"))

        async def running():
            return (await asking.get(run.run_id)).job_list[0].state == "running"

        await until(running)
        await asking.abort(run.run_id)
        assert (await ended(asking, run.run_id)).state == "aborted"


async def test_a_run_that_has_ended_badly_is_resumed_and_keeps_what_it_has(runs, nodes):
    run = await ended(runs, (await runs.start(ask("rows=2", "rows=3&first=7&end=failed"))).run_id)
    assert (run.state, run.generation) == ("partial", 1)
    again = await runs.resume(run.run_id)
    assert ([job.state for job in again.job_list], again.generation) == (["succeeded", "queued"], 2)
    with pytest.raises(RunStateError, match="has not ended"):
        await runs.resume(run.run_id)
    run = await ended(runs, run.run_id)
    assert (run.state, run.items, run.job_list[1].attempt) == ("partial", 5, 2)
    assert len(nodes.spawned()) == 3
    done = await ended(runs, (await runs.start(ask("rows=1"))).run_id)
    with pytest.raises(RunStateError, match="have succeeded"):
        await runs.resume(done.run_id)
    with pytest.raises(RunStateError, match="has ended: succeeded"):
        await runs.abort(done.run_id)


async def test_a_callback_is_put_into_the_outbox_with_the_end(runs):
    run = await runs.start(ask("rows=2", "end=failed", callbackWebhook="https://caller.example/done"))
    run = await ended(runs, run.run_id)
    [delivery] = await runs._store.read(select(webhook_deliveries))
    assert (delivery.run_id, delivery.state) == (run.run_id, "pending")  # nobody listens there
    assert (delivery.body["state"], delivery.body["items"], delivery.body["runId"]) == ("partial", 2, run.run_id)
    assert [job["exitCause"] for job in delivery.body["jobs"]] == ["ok", "failed"]


async def test_one_status_call_for_each_node_and_tick(url, nodes):
    async with opened(url, nodes, runs_tick=30, runs_spawning=8) as runs:
        run = await runs.start(ask(*["wait=never"] * 16))

        async def running():
            return {job.state for job in (await runs.get(run.run_id)).job_list} == {"running"}

        await until(running)
        nodes.calls.clear()
        await runs.complete(f"{run.run_id}-3.1")

        async def looked():
            return len(nodes.calls) >= 2

        await until(looked)
        assert sorted(call[:2] for call in nodes.calls) == [("statuses", "n1"), ("statuses", "n2")]
        assert sum(call[2] for call in nodes.calls) == 16


async def test_a_run_is_not_aborted_by_who_ends_one_of_its_jobs_on_its_node(runs, nodes):
    run = await runs.start(ask("rows=1&wait=never", "rows=1&first=3", "rows=1&first=5"))

    async def alone():
        return [job.state for job in (await runs.get(run.run_id)).job_list] == ["running", "succeeded", "succeeded"]

    await until(alone)
    [pid] = nodes.pids()
    os.kill(pid, signal.SIGTERM)
    run = await ended(runs, run.run_id)
    assert (run.state, run.exit_causes) == ("partial", {"aborted": 1, "ok": 2})
    assert [job.state for job in run.job_list] == ["aborted", "succeeded", "succeeded"]


@pytest.mark.parametrize(
    ("policy", "attempt", "state"), [({}, 2, "succeeded"), ({"runs_lost": "fail"}, 1, "failed")], ids=str
)
async def test_a_job_that_was_interrupted_is_begun_anew_as_a_lost_one_is(sqlite_url, nodes, policy, attempt, state):
    nodes.interrupts = True
    async with opened(sqlite_url, nodes, **policy) as runs:
        run = await runs.start(ask("rows=2&wait=go"))

        async def running():
            return (await runs.get(run.run_id)).items == 2

        await until(running)
        [pid] = nodes.pids()
        os.kill(pid, signal.SIGKILL)
        nodes.go("go")
        run = await ended(runs, run.run_id)
        assert (run.state, run.items, run.job_list[0].attempt) == (state, 2, attempt)
        first = select(scrape_attempts.c.exit_cause).where(scrape_attempts.c.number == 1)
        assert [row.exit_cause for row in await runs.store.read(first)] == ["killed"]
