"""What the state of a job and of a run follows from."""

from __future__ import annotations

import pytest

from fetchworker.platforms import JobState, JobStatus
from fetchworker.runs.states import JobEnd, ended_as, judged, rolled_up, with_rejects

CAUSES = {
    "ok": "succeeded",
    "degraded": "partial",
    "blocked": "failed",
    "failed": "failed",
    "oom": "failed",
    "killed": "failed",
    "timed_out": "timed_out",
    "lost": "failed",
    "no_egress": "failed",
    "storage_error": "failed",
    "aborted": "aborted",
}


@pytest.mark.parametrize(("cause", "state"), CAUSES.items())
def test_each_cause_has_its_state(cause, state):
    end = ended_as(cause, ["because"], None)
    assert (end.state, end.exit_cause, end.reasons) == (state, cause, ("because",))


@pytest.mark.parametrize("cause", ["aborted", "killed", "failed", "timed_out"])
def test_what_we_have_stopped_ends_as_we_meant_it(cause):
    assert ended_as(cause, (), "abort").exit_cause == "aborted"
    assert ended_as(cause, (), "deadline").exit_cause == "timed_out"


@pytest.mark.parametrize("cause", ["ok", "degraded", "oom", "blocked"])
def test_what_ended_by_itself_just_before_keeps_its_cause(cause):
    assert {ended_as(cause, (), why).exit_cause for why in ("abort", "deadline")} == {cause}


def test_a_node_may_be_silent_for_the_lease():
    assert judged(None, silent_for=None, lease=10) == "wait"
    assert judged(None, silent_for=9.9, lease=10) == "wait"
    assert judged(None, silent_for=10, lease=10) == "lost"


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        (JobState.QUEUED, "wait"),
        (JobState.RUNNING, "running"),
        (JobState.ENDED, "ended"),
        (JobState.UNKNOWN, "wait"),  # its node may have the wrong folder
    ],
)
def test_what_a_node_says_counts(state, verdict):
    assert judged(JobStatus("j", state), silent_for=0, lease=10) == verdict


def test_a_job_that_its_node_does_not_know_is_lost_after_the_lease():
    assert judged(JobStatus("j", JobState.UNKNOWN), silent_for=10, lease=10) == "lost"


def test_an_abort_is_none_while_a_lost_attempt_may_run():
    roll = rolled_up([JobEnd(0, "aborted", "aborted", [])], ["j-0.1 was lost and may run still"], abort=True)
    assert (roll.state, roll.reasons[-1]) == ("failed", "j-0.1 was lost and may run still")


@pytest.mark.parametrize(
    ("cause", "rejects", "told"),
    [("ok", 0, ("ok", 0)), ("ok", 2, ("degraded", 1)), ("degraded", 1, ("degraded", 2)), ("oom", 1, ("oom", 1))],
)
def test_lines_that_are_no_items_degrade_a_job_that_ended_well(cause, rejects, told):
    end = with_rejects(ended_as(cause, [] if cause == "ok" else ["why"], None), rejects)
    assert (end.exit_cause, len(end.reasons)) == told
    assert end.state == CAUSES[end.exit_cause]


ROLLS = [
    (["ok"], "succeeded"),
    (["ok", "degraded"], "partial"),
    (["degraded", "degraded"], "partial"),
    (["ok", "failed"], "partial"),
    (["ok", "timed_out", "lost"], "partial"),
    (["failed", "oom"], "failed"),
    (["failed", "timed_out"], "failed"),
    (["timed_out", "timed_out"], "timed_out"),
    (["aborted", "ok", "ok"], "partial"),
    (["aborted", "aborted"], "failed"),
]
ABORTS = [
    (["ok"], "succeeded"),
    (["aborted", "ok", "failed"], "aborted"),
    (["aborted", "lost"], "failed"),
    (["aborted", "lost", "ok"], "partial"),
]


@pytest.mark.parametrize(("causes", "state"), ABORTS, ids=["+".join(causes) for causes, _ in ABORTS])
def test_a_run_is_aborted_when_that_was_asked_for(causes, state):
    jobs = [JobEnd(number, CAUSES[cause], cause, ["why"]) for number, cause in enumerate(causes)]
    assert rolled_up(jobs, abort=True).state == state


@pytest.mark.parametrize(("causes", "state"), ROLLS, ids=["+".join(causes) for causes, _ in ROLLS])
def test_a_run_ends_as_its_jobs_have(causes, state):
    roll = rolled_up([JobEnd(number, CAUSES[cause], cause, ["why"]) for number, cause in enumerate(causes)])
    assert roll.state == state
    assert sum(roll.exit_causes.values()) == len(causes)
    bad = [cause for cause in causes if cause != "ok"]
    assert len(roll.reasons) == (1 + len(bad) if bad else 0)


def test_a_run_of_many_bad_jobs_tells_some_of_them():
    roll = rolled_up([JobEnd(number, "failed", "oom", ["900 MB"]) for number in range(100)])
    assert (roll.reasons[0], roll.reasons[1]) == ("100 jobs: 100 oom", "job 0: oom: 900 MB")
    assert (len(roll.reasons), roll.reasons[-1]) == (22, "and 80 more")
