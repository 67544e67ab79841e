"""What the state of a job follows from, and what that of a run (pure)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fetchworker.platforms.base import JobState
from fetchworker.runs.models import ENDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.platforms.base import JobStatus

#: exit cause of a job → its state; every other cause is a failure
_STATES = {"ok": "succeeded", "degraded": "partial", "timed_out": "timed_out", "aborted": "aborted"}
#: causes that a process which we have told to end may show
_STOPPED = frozenset({"aborted", "killed", "failed", "timed_out"})
#: reasons that a run tells of its jobs at most
_MOST_REASONS = 20

Verdict = Literal["wait", "running", "ended", "lost"]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended. ``state`` is one of those of models.ENDED."""

    state: str
    exit_cause: str
    reasons: tuple[str, ...] = ()


def ended_as(cause: str, reasons: Sequence[str], stop_why: str | None) -> Ended:
    """How a job ended whose process ended with ``cause`` after it was told to stop for ``stop_why`` (or was not)."""
    if stop_why == "deadline" and cause in _STOPPED:
        told = "it ran at the end of the time that the run had; it was ended"
        return Ended("timed_out", "timed_out", (told, *reasons))
    if stop_why == "abort" and cause in _STOPPED:
        return Ended("aborted", "aborted", tuple(reasons))
    return Ended(_STATES.get(cause, "failed"), cause, tuple(reasons))


def with_rejects(end: Ended, rejects: int) -> Ended:
    """The end of a job whose data set holds lines that are no items: it has not brought all that it should."""
    if not rejects or end.exit_cause not in {"ok", "degraded"}:
        return end
    told = f"{rejects} line{'s' if rejects > 1 else ''} of its data set could not be read"
    return Ended("partial", "degraded", (*end.reasons, told))


def judged(status: JobStatus | None, *, silent_for: float | None, lease: float) -> Verdict:
    """What to make of what a node says of an attempt.

    Args:
        status: what it says; None: it does not answer.
        silent_for: seconds for which it has said nothing of it, None while it does.
        lease: seconds that it may be silent.
    """
    if status is None or status.state is JobState.UNKNOWN:  # a node with an empty store may be the wrong one
        return "lost" if silent_for is not None and silent_for >= lease else "wait"
    if status.state is JobState.ENDED:
        return "ended"
    return "running" if status.state is JobState.RUNNING else "wait"


@dataclass(frozen=True, slots=True)
class JobEnd:
    """What a run's end follows from."""

    number: int
    state: str
    exit_cause: str | None
    reasons: Sequence[str]


@dataclass(frozen=True, slots=True)
class RollUp:
    """How a run ended."""

    state: str
    exit_causes: dict[str, int]
    reasons: list[str]


def rolled_up(jobs: Sequence[JobEnd], astray: Sequence[str] = (), *, abort: bool = False) -> RollUp:
    """How a run ended whose jobs have all ended; ``astray`` tells of former attempts that may run still.

    It is ``aborted`` when that was asked for (``abort``), a job was, and no job or attempt is lost, whose process may
    run still. Otherwise jobs that ended alike give it their state; where some have brought what they should and others
    have not, it is ``partial``; where none has, ``failed``, as where jobs were ended on their nodes.
    """
    assert all(job.state in ENDED for job in jobs)
    causes = Counter(job.exit_cause or "ok" for job in jobs)
    states = {job.state for job in jobs}
    if abort and "aborted" in states and not causes["lost"] and not astray:
        state = "aborted"
    elif len(states) == 1 and "aborted" not in states:
        state = states.pop()
    else:
        state = "partial" if states & {"succeeded", "partial"} else "failed"
    return RollUp(state, dict(sorted(causes.items())), [*_reasons(jobs, causes), *astray[:_MOST_REASONS]])


def _reasons(jobs: Sequence[JobEnd], causes: Counter[str]) -> list[str]:
    bad = [job for job in jobs if job.state != "succeeded"]
    if not bad:
        return []
    counts = ", ".join(f"{count} {cause}" for cause, count in sorted(causes.items()))
    told = [f"job {job.number}: {job.exit_cause}{': ' if job.reasons else ''}{'; '.join(job.reasons)}" for job in bad]
    more = [f"and {len(told) - _MOST_REASONS} more"] if len(told) > _MOST_REASONS else []
    return [f"{len(jobs)} jobs: {counts}" if len(jobs) > 1 else f"1 job: {counts}", *told[:_MOST_REASONS], *more]
