"""What callers change of runs: start, abort, resume; each in one transaction."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from fetchworker.db.runtables import scrape_attempts, scrape_jobs, scrape_runs
from fetchworker.errors import RunStateError
from fetchworker.runs.ledger import add_attempts
from fetchworker.runs.models import ENDED
from fetchworker.runs.store import Event, locked, note, now

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from fetchworker.runs.inputs import JobDraft
    from fetchworker.runs.models import RunRequest

_A, _J, _R = scrape_attempts.c, scrape_jobs.c, scrape_runs.c
#: rows of an INSERT
_BATCH = 500


def new_run_id() -> str:
    """An id that sorts by the time it was made, and may stand in ids of jobs, file names and URLs."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(6)}"


@cache
def _version() -> str:
    try:
        return version("fetchworker")
    except PackageNotFoundError:
        return "unknown"


def hash_of(request: RunRequest) -> str:
    """What tells requests apart."""
    return hashlib.sha256(json.dumps(request.model_dump(), sort_keys=True).encode()).hexdigest()


async def start(
    connection: AsyncConnection,
    run_id: str,
    request: RunRequest,
    drafts: Sequence[JobDraft],
    *,
    principal: str | None,
    key: str | None,
) -> str:
    """Store a run with its jobs; its id, or that of the run that the same key has given.

    Raises:
        RunStateError: the key stands for another request.
    """
    digest, moment = hash_of(request), now()
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    counted = {"items": 0, "rejects": 0, "item_seq": 0, "event_seq": 0, "generation": 1, "jobs": len(drafts)}
    run: dict[str, Any] = {
        **counted,
        "run_id": run_id,
        "workspace_id": request.workspace_id,
        "conversation_id": request.conversation_id,
        "skill_id": request.skill_id,
        "callback_webhook": request.callback_webhook,
        "principal": principal,
        "idempotency_key": key,
        "request_hash": digest,
        "version": _version(),
        "state": "queued",
        "exit_causes": {},
        "reasons": [],
        "created_at": moment,
    }
    made = await connection.execute(dialect.insert(scrape_runs).on_conflict_do_nothing().returning(_R.run_id), [run])
    if made.scalar_one_or_none() is None:
        return await _same(connection, request, run_id, digest, key)
    await _add_jobs(connection, run_id, drafts, moment)
    detail = {"jobs": len(drafts)}
    await note(connection, run_id, [Event("state", state_to="queued", detail=detail)])
    return run_id


async def _same(connection: AsyncConnection, request: RunRequest, run_id: str, digest: str, key: str | None) -> str:
    """The run that is there already: by its id when a try of ours was not told that it had stored it, or by its key."""
    by_key = (_R.workspace_id == request.workspace_id) & (_R.idempotency_key == key)
    query = select(_R.run_id, _R.request_hash).where((_R.run_id == run_id) | by_key)
    found = (await connection.execute(query)).one()
    if found.request_hash != digest:
        raise RunStateError(f"the idempotency key stands for run {found.run_id}, which is another one", run_id=found[0])
    return str(found.run_id)


async def _add_jobs(connection: AsyncConnection, run_id: str, drafts: Sequence[JobDraft], moment: str) -> None:
    rows: list[dict[str, Any]] = [
        {
            "job_id": f"{run_id}-{number}",
            "run_id": run_id,
            "number": number,
            "actor": draft.actor,
            "input": draft.input,
            "memory_mb": draft.options.memory_mb,
            "timeout_sec": draft.options.timeout_sec,
            "priority": draft.options.priority,
            "tags": draft.options.node_tags,
            "state": "queued",
            "reasons": [],
            "attempt": 1,
            "created_at": moment,
            "items": 0,
            "rejects": 0,
        }
        for number, draft in enumerate(drafts)
    ]
    for first in range(0, len(rows), _BATCH):
        await connection.execute(insert(scrape_jobs), rows[first : first + _BATCH])
    await add_attempts(connection, [(run_id, row["job_id"], 1) for row in rows], 1)


async def abort(connection: AsyncConnection, run_id: str) -> None:
    """Wish that a run ends.

    Raises:
        RunStateError: it has ended otherwise.
    """
    run = await locked(connection, run_id)
    if run is None or run.state == "aborted":
        return
    if run.state in ENDED:
        raise RunStateError(f"run {run_id} has ended: {run.state}", run_id=run_id, state=run.state)
    if run.abort_at is None:
        moment = now()
        await connection.execute(update(scrape_runs).where(_R.run_id == run_id).values(abort_at=moment, wake_at=moment))
        await note(connection, run_id, [Event("abort")])


async def resume(connection: AsyncConnection, run_id: str) -> None:
    """Queue the jobs of an ended run anew that did not succeed.

    Raises:
        RunStateError: it has not ended, or all have succeeded.
    """
    run = await locked(connection, run_id)
    if run is None:
        return
    if run.state not in ENDED:
        raise RunStateError(f"run {run_id} has not ended: {run.state}", run_id=run_id, state=run.state)
    bad = (_J.run_id == run_id) & (_J.state != "succeeded")
    jobs = (await connection.execute(select(_J.job_id, _J.attempt, _J.state).where(bad).order_by(_J.number))).all()
    if not jobs:
        raise RunStateError(f"all jobs of run {run_id} have succeeded", run_id=run_id, state=run.state)
    generation = run.generation + 1
    fresh: dict[str, Any] = {"state": "queued", "exit_cause": None, "reasons": [], "started_at": None, "ended_at": None}
    await connection.execute(update(scrape_jobs).where(bad).values(**fresh, attempt=_J.attempt + 1))
    await add_attempts(connection, [(run_id, job.job_id, job.attempt + 1) for job in jobs], generation)
    anew: dict[str, Any] = {
        "state": "queued",
        "ended_at": None,
        "deadline_at": None,
        "abort_at": None,
        "exit_causes": {},
        "reasons": [],
    }
    await connection.execute(update(scrape_runs).where(_R.run_id == run_id).values(**anew, generation=generation))
    events = [Event("state", job.job_id, job.attempt + 1, job.state, "queued") for job in jobs]
    detail = {"generation": generation, "jobs": len(jobs)}
    await note(connection, run_id, [Event("resume", None, None, run.state, "queued", detail), *events])
