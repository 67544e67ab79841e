"""Attempts that are spawned while answers are lost, somebody aborts, or others wait for a node of their own."""

from __future__ import annotations

from types import MethodType

import pytest

from fetchworker.platforms import JobState, JobStatus
from fetchworker.runs import spawner
from fetchworker.runs.models import RunRequest

from .conftest import ask, ended, opened, until


def tagged(*jobs):
    """A run with a job for each query and tag."""
    request = ask(*(query for query, _ in jobs)).model_dump(by_alias=True)
    for told, (_, tag) in zip(request["runs"], jobs, strict=True):
        told["options"]["nodeTags"] = [tag] if tag else []
    return RunRequest.model_validate(request)


async def test_a_job_whose_nodes_answer_was_lost_is_the_one_that_is_there(runs, nodes):
    nodes.mute = {"n1", "n2"}
    run = await ended(runs, (await runs.start(ask("rows=2", "rows=1&first=5"))).run_id)
    assert (run.state, run.items, len(nodes.spawned())) == ("succeeded", 3, 2)
    assert [job.attempt for job in run.job_list] == [1, 1]
    assert [job.reasons for job in run.job_list] == [[], []]


async def test_a_job_that_may_be_on_a_node_that_is_down_goes_nowhere_else_before_the_lease(url, nodes):
    nodes.mute = {"n1", "n2"}
    async with opened(url, nodes, runs_lease=3600) as runs:
        run = await runs.start(ask("rows=1&wait=go"))

        async def asked():
            job = (await runs.get(run.run_id)).job_list[0]
            return job.node if nodes.spawned() else None

        node = await until(asked)
        nodes.down(node)
    nodes.mute = set()
    async with opened(url, nodes, runs_lease=3600) as runs:  # another process goes on with it

        async def silent():
            return "node_silent" in [event.type for event in (await runs.events(run.run_id)).events]

        await until(silent)
        nodes.up(node)
        nodes.go("go")
        run = await ended(runs, run.run_id)
        assert (run.state, run.items, len(nodes.spawned()), run.job_list[0].node) == ("succeeded", 1, 1, node)


async def test_aborted_is_said_when_a_lost_attempt_is_gone_too(runs, nodes):
    runs._engine._cleaner._next = float("inf")  # nobody else clears up
    nodes.mute = {"n1"}
    nodes.down("n2")
    run = await runs.start(ask("rows=1&wait=never"))

    async def on(attempt):
        job = (await runs.get(run.run_id)).job_list[0]
        return job.attempt == attempt and job.state == "running"

    await until(lambda: on(1))
    nodes.down("n1")
    nodes.up("n2")
    await until(lambda: on(2))
    nodes.up("n1")
    assert len(nodes.pids()) == 2
    await runs.abort(run.run_id)
    run = await ended(runs, run.run_id)
    assert (run.state, nodes.pids()) == ("aborted", [])


async def test_an_abort_tells_of_a_lost_attempt_that_nobody_can_ask(runs, nodes):
    nodes.down("n2")
    run = await runs.start(ask("rows=1&wait=never"))

    async def on(attempt):
        job = (await runs.get(run.run_id)).job_list[0]
        return job.attempt == attempt and job.state == "running"

    await until(lambda: on(1))
    nodes.down("n1")
    nodes.up("n2")
    await until(lambda: on(2))
    await runs.abort(run.run_id)
    run = await ended(runs, run.run_id)
    assert (run.state, len(nodes.pids())) == ("failed", 1)
    assert run.reasons[-1].endswith("was lost and may run still: its node n1 does not answer")


async def test_an_abort_ends_the_spawning(url, nodes):
    async with opened(url, nodes, runs_spawning=1) as runs:
        plain = nodes.spawn

        async def spawn(self, spec, **where):
            placed = await plain(spec, **where)
            if len(self.spawned()) == 3:
                await runs.abort(spec.context["run_id"])
            return placed

        nodes.spawn = MethodType(spawn, nodes)
        run = await ended(runs, (await runs.start(ask(*["wait=never"] * 20))).run_id)
        assert (run.state, run.exit_causes, len(nodes.spawned())) == ("aborted", {"aborted": 20}, 3)


async def test_a_run_is_watched_while_it_is_spawned(url, nodes, monkeypatch):
    monkeypatch.setattr(spawner, "SLICE", 0.0)
    async with opened(url, nodes, runs_spawning=1, runs_tick=600) as runs:
        run = await runs.start(ask(*["rows=1"] * 5))

        async def all_spawned():
            return len(nodes.spawned()) == 5

        await until(all_spawned)
        names = [call[0] for call in nodes.calls]
        last = len(names) - 1 - names[::-1].index("spawn")
        assert "statuses" in names[names.index("spawn") : last]
        await runs.abort(run.run_id)
        await ended(runs, run.run_id)


async def test_jobs_that_wait_for_a_node_of_their_own_stop_no_others(url, nodes):
    async with opened(url, nodes, runs_spawning=1) as runs:
        request = tagged(("rows=1", "small"), ("rows=1", "small"), ("rows=1&first=3", ""), ("rows=1&first=5", "n2"))
        run = await runs.start(request)

        async def others():
            jobs = (await runs.get(run.run_id)).job_list
            return jobs if [job.state for job in jobs[2:]] == ["succeeded"] * 2 else None

        jobs = await until(others)
        assert [job.reasons for job in jobs] == [["no node is up"], ["no node is up"], [], []]
        assert len([event for event in (await runs.events(run.run_id)).events if event.type == "waiting"]) == 2
        await runs.abort(run.run_id)
        assert (await ended(runs, run.run_id)).state == "aborted"


async def test_a_node_that_knows_nothing_of_a_job_has_it_again_before_the_lease(url, nodes):
    async with opened(url, nodes, runs_lease=3600) as runs:
        run = await runs.start(ask("rows=1&wait=go"))

        async def running():
            return (await runs.get(run.run_id)).job_list[0].state == "running"

        await until(running)
        known = nodes._status
        nodes._status = lambda _node, job_id: JobStatus(job_id, JobState.UNKNOWN)

        async def told():
            return "job_unknown" in [event.type for event in (await runs.events(run.run_id)).events]

        await until(told)
        nodes._status = known
        nodes.go("go")
        run = await ended(runs, run.run_id)
        assert (run.state, run.job_list[0].attempt, len(nodes.spawned())) == ("succeeded", 1, 1)


@pytest.mark.parametrize(("told", "asked"), [({}, "fetchworker"), ({"jobs_project": "shop-2"}, "shop-2")])
async def test_nodes_are_asked_for_the_spiders_of_the_project_that_is_configured(sqlite_url, nodes, told, asked):
    async with opened(sqlite_url, nodes, **told) as runs:
        await ended(runs, (await runs.start(ask("rows=1", "rows=1"))).run_id)
    assert nodes.projects == {asked}
