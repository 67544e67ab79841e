"""From rows of the tables to what is told of them (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, select

from fetchworker.db.runtables import scrape_attempts, scrape_jobs
from fetchworker.runs.models import ENDED, EventView, JobView, RejectView, Row, RunOptions, RunView, UsageSums
from fetchworker.telemetry.redaction import MASK, is_secret_name, redact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Row as Found

    from fetchworker.runs.models import UsageView

_A, _J = scrape_attempts.c, scrape_jobs.c
#: jobs with what is known of their latest attempts
JOBS = (
    select(scrape_jobs, _A.node, _A.exit_code, _A.signal, _A.peak_rss, _A.attempt_id)
    .join_from(scrape_jobs, scrape_attempts, and_(_A.job_id == _J.job_id, _A.number == _J.attempt))
    .order_by(_J.number)
)


def run_view(
    run: Found[Any],
    jobs: Sequence[Found[Any]] | None = None,
    usage: tuple[UsageView, Mapping[str, UsageSums]] | None = None,
) -> RunView:
    """A run, with its jobs and what it has used, all together and by their ids, or without."""
    same = (
        *("run_id", "workspace_id", "conversation_id", "skill_id", "state", "reasons", "exit_causes", "jobs"),
        *("items", "rejects", "generation", "version", "created_at", "started_at", "deadline_at", "ended_at"),
    )
    told = {name: getattr(run, name) for name in same}
    aborting = run.abort_at is not None and run.state not in ENDED
    whole, each = usage or (None, {})
    listed = None if jobs is None else [_job_view(job, each.get(job.job_id) or UsageSums()) for job in jobs]
    return RunView(**told, aborting=aborting, usage=whole, job_list=listed)


def _job_view(job: Found[Any], usage: UsageSums) -> JobView:
    same = (
        *("job_id", "number", "actor", "state", "exit_cause", "reasons", "attempt", "node", "exit_code"),
        *("signal", "peak_rss", "items", "rejects", "created_at", "started_at", "ended_at"),
    )
    options = RunOptions(
        memory_mb=job.memory_mb, timeout_sec=job.timeout_sec, priority=job.priority, node_tags=list(job.tags)
    )
    told = {name: getattr(job, name) for name in same}
    return JobView(**told, input=without_secrets(job.input), options=options, usage=usage)


def without_secrets(value: Any, name: str = "") -> Any:
    """An input as it may be shown: what its names or its words tell to be a secret is masked."""
    if value is not None and is_secret_name(name):
        return MASK
    if isinstance(value, dict):
        return {key: without_secrets(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [without_secrets(one) for one in value]
    return redact(value) if isinstance(value, str) else value


def event_view(event: Found[Any]) -> EventView:
    """An event."""
    names = ("seq", "at", "type", "job_id", "attempt", "state_from", "state_to", "detail")
    return EventView(**{name: getattr(event, name) for name in names})


def reject_view(line: Found[Any]) -> RejectView:
    """A refused line; bytes that are no text are shown as such."""
    names = ("job_id", "attempt_id", "line_offset", "line_bytes", "reason")
    return RejectView(
        **{name: getattr(line, name) for name in names}, line=line.line.decode("utf-8", "backslashreplace")
    )


def row_view(row: Found[Any]) -> Row:
    """A row of a data set."""
    names = ("run_id", "seq", "item_id", "job_id", "workspace_id", "conversation_id", "skill_id", "item")
    return Row.model_construct(**{name: getattr(row, name) for name in names})
