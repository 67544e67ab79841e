"""Runs over this machine's own platform: real crawls under supervisors, against the demo site."""

from __future__ import annotations

import os

import pytest
from sqlalchemy import select

from fetchworker.db.runtables import scrape_attempts
from fetchworker.jobs.processes import kill, marked
from fetchworker.jobs.store import Launch
from fetchworker.platforms.local import LocalPlatform
from fetchworker.runs.models import RunRequest

from .conftest import ended, opened, rows_of, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture
def jobs(project, calm, tmp_path, monkeypatch):
    """Where jobs are kept; the environment is that of the test's project."""
    project.use(calm)
    for name in os.environ.keys() - project.environment().keys():
        monkeypatch.delenv(name)
    for name, value in project.environment().items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "jobs"
    yield folder
    for job in folder.glob("[!.]*"):
        kill(marked(job))


def asked(*jobs) -> RunRequest:
    entries = [{"actor": actor, "input": given} for actor, given in jobs]
    return RunRequest.model_validate({"workspaceId": "w1", "conversationId": "c1", "skillId": "s1", "runs": entries})


async def test_crawls_bring_their_items_home_though_the_control_is_started_anew(sqlite_url, jobs):
    launch = Launch(grace=5)
    async with LocalPlatform(jobs, slots=2, launch=launch) as platform, opened(sqlite_url, platform) as runs:
        wanted = asked(("instagram", {"user": "nasa"}), ("fetch", "https://linktr.ee/nobody.here"))
        run = await runs.start(wanted)

        async def begun():
            return (await runs.get(run.run_id)).state == "running"

        await until(begun)
    async with LocalPlatform(jobs, slots=2, launch=launch) as platform, opened(sqlite_url, platform) as runs:
        run = await ended(runs, run.run_id, 60)
        lines = [line for path in jobs.glob("*/items.jsonl") for line in path.read_bytes().splitlines()]
        found = await rows_of(runs, run.run_id)
        assert run.items == len(found) == len(lines) > 0
        assert {(row.workspace_id, row.conversation_id, row.skill_id) for row in found} == {("w1", "c1", "s1")}
        assert [job.attempt for job in run.job_list] == [1, 1]
        assert run.job_list[0].exit_cause == "ok", run.reasons
        stats = [row.stats for row in await runs.store.read(select(scrape_attempts.c.stats))]
        assert run.usage.bytes_down == sum(found["fetchworker/bytes/down"] for found in stats) > 0
        assert {(way.site, way.operation) for way in run.usage.by} >= {("instagram", "profile"), ("fetch", "fetch")}
        assert run.usage.requests == sum(job.usage.requests for job in run.job_list) > 1
        assert all(job.usage.requests for job in run.job_list)
        assert b"".join([line async for line in runs.stream(run.run_id)]).count(b"\n") == len(lines)
        assert b"Spider closed" in (await runs.log(run.run_id, job=0)).data


async def test_an_aborted_crawl_is_gone(sqlite_url, jobs):
    launch = Launch(grace=5)
    async with LocalPlatform(jobs, slots=1, launch=launch) as platform, opened(sqlite_url, platform) as runs:
        run = await runs.start(
            asked(("instagram", {"user": "nasa"}), ("instagram", {"user": "nasa", "operation": "posts"}))
        )

        async def begun():
            return (await runs.get(run.run_id)).state == "running"

        await until(begun)
        await runs.abort(run.run_id)
        run = await ended(runs, run.run_id, 60)
        assert run.state == "aborted", run.reasons
        assert not any(marked(path) for path in jobs.glob("[!.]*"))
