"""Whole runs on both databases, with jobs that are real processes."""

from __future__ import annotations

import pytest


async def test_a_run_of_several_jobs_brings_their_rows_home_once(runs, ask, nodes, ended, rows):
    run = await runs.start(ask("rows=3", "rows=2&first=10", "rows=0"))
    assert (run.state, run.jobs, len(run.job_list)) == ("queued", 3, 3)
    run = await ended(runs, run.run_id)
    assert (run.state, run.exit_causes, run.reasons) == ("succeeded", {"ok": 3}, [])
    found = await rows(runs, run.run_id)
    assert sorted(row.item_id for row in found) == ["i0", "i1", "i10", "i11", "i2"]
    assert [row.seq for row in found] == sorted(row.seq for row in found)
    assert (run.items, run.rejects, [job.items for job in run.job_list]) == (5, 0, [3, 2, 0])
    assert len(nodes.spawned()) == 3
    assert {job.state for job in run.job_list} == {"succeeded"}
