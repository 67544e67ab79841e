"""Runs as lines for a terminal (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.runs.models import DeliveryView, EventView, JobView, RunView, SessionView
    from fetchworker.runs.schedulemodels import ScheduleView


def run_line(run: RunView) -> str:
    """A run in a line."""
    causes = ", ".join(f"{count} {cause}" for cause, count in run.exit_causes.items())
    state = f"{run.state} (aborting)" if run.aborting else run.state
    counts = f"{run.jobs} jobs, {run.items} items" + (f", {run.rejects} rejects" if run.rejects else "")
    return f"{run.run_id}  {run.created_at[:19]}  {run.workspace_id}  {state}  {counts}" + (
        f"  ({causes})" if causes else ""
    )


def usage_lines(run: RunView) -> Iterator[str]:
    """What a run has used, a line for each way."""
    for way in run.usage.by if run.usage is not None else ():
        browser = f", {way.browser_ms / 1000:.1f} s in a browser" if way.browser_ms else ""
        bytes_ = f"{way.bytes_up} bytes up, {way.bytes_down} down"
        yield f"  {way.site} {way.operation} by {way.provider} ({way.tier}): {way.requests} requests, {bytes_}{browser}"


def session_line(one: SessionView) -> str:
    """A session in a line."""
    out = f"{one.exit or one.provider}{f' ({one.country})' if one.country else ''}"
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in one.outcomes.items())
    return f"{one.attempt_id}  {one.site}  {one.session_id}  {out}  {one.requests} requests  {outcomes}".rstrip()


def job_lines(run: RunView) -> Iterator[str]:
    """The jobs of a run, a line each."""
    for job in run.job_list or ():
        yield job_line(job)


def job_line(job: JobView) -> str:
    """A job in a line."""
    cause = f" ({job.exit_cause})" if job.exit_cause else ""
    where = f" on {job.node}" if job.node else ""
    why = f": {'; '.join(job.reasons)}" if job.reasons else ""
    return f"  {job.number}  {job.actor}  {job.state}{cause}{where}  {job.items} items{why}"


def event_line(event: EventView) -> str:
    """An event in a line."""
    whose = "run" if event.job_id is None else f"job {event.job_id.rpartition('-')[2]}.{event.attempt}"
    change = event.type if event.state_to is None else f"{event.state_from or 'new'} → {event.state_to}"
    detail = ", ".join(f"{name}: {value}" for name, value in event.detail.items() if value not in ([], {}, ""))
    return f"{event.at[:19]}  {whose}  {change}" + (f"  ({detail})" if detail else "")


def delivery_line(one: DeliveryView) -> str:
    """A callback in a line."""
    last = one.error or (f"status {one.status}" if one.status else "")
    following = f", again at {one.next_at[:19]}" if one.state == "pending" and one.next_at else ""
    return f"{one.delivery_id}  {one.run_id}  {one.state}  {one.attempts} tries  {last}{following}".rstrip()


def schedule_line(one: ScheduleView) -> str:
    """A schedule in a line."""
    when = one.next_at[:19] if one.next_at else "off"
    error = f"  {one.error}" if one.error else ""
    rules = f"overlap {one.overlap}, misfire {one.misfire}"
    return f"{one.schedule_id}  {one.workspace_id}/{one.name}  {one.cron} {one.timezone}  {rules}  next {when}{error}"
