"""What runs ask for is checked against the spiders before anything is stored."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from scrapy.settings import Settings
from sqlalchemy import func, select

from fetchworker.db.runtables import scrape_jobs, scrape_runs
from fetchworker.errors import ArgumentError, RunNotFoundError, RunStateError
from fetchworker.runs.inputs import Actors, arguments_of
from fetchworker.runs.models import RunRequest

from .conftest import ask, ended


def actors(most: int = 1000) -> Actors:
    made = Settings()
    made.setmodule("fetchworker.settings", priority="project")
    return Actors(made, most=most)


def wanted(*jobs, **fields) -> RunRequest:
    entries = [{"actor": actor, "input": given} for actor, given in jobs]
    return RunRequest.model_validate({"workspaceId": "w", "runs": entries, **fields})


GOOD = ("linktree", {"user": "ann"})


def test_operation_parameters_addresses_and_seeds_name_calls():
    drafts = actors().drafts(
        wanted(
            GOOD,
            ("instagram", {"operation": "posts", "user": "ann", "limit": 20}),
            ("instagram", {"operation": "posts", "user": "ann", "limit": "20", "priority": 1}),
            ("fetch", "https://site.example/a"),
            ("linktree", {"seeds": ["https://linktr.ee/ann", {"user": "bob"}]}),
        )
    )
    assert [(draft.actor, dict(draft.arguments)) for draft in drafts] == [
        ("linktree", {"user": "ann"}),
        ("instagram", {"operation": "posts", "user": "ann", "limit": "20"}),
        ("instagram", {"operation": "posts", "user": "ann", "limit": "20", "priority": "1"}),
        ("fetch", {"url": "https://site.example/a"}),
        ("linktree", {"url": "https://linktr.ee/ann"}),
        ("linktree", {"user": "bob"}),
    ]


def test_an_input_is_told_to_the_spider_as_text():
    assert arguments_of({"a": "x", "n": 5, "yes": True, "many": ["a"]}) == {
        "a": "x",
        "n": "5",
        "yes": "true",
        "many": '["a"]',
    }


WRONG = [
    (("linktre", {"user": "ann"}), "runs[2].actor", "did you mean 'linktree'"),
    (("linktree", {"usr": "ann"}), "runs[2].input.usr", "usr"),
    (("instagram", {"operation": "posts", "user": "not a user!"}), "runs[2].input.user", "user"),
    (("instagram", {"operation": "nothing", "user": "ann"}), "runs[2].input.operation", "nothing"),
    (("linktree", {"user": None}), "runs[2].input.user", "null"),
    (("linktree", "https://elsewhere.example/x"), "runs[2].input", "elsewhere"),
    (("linktree", "no address"), "runs[2].input", "no address"),
    (("linktree", {}), "runs[2].input", "no arguments"),
    (("linktree", {"seeds": [{"user": "ann"}, {"usr": "x"}]}), "runs[2].input.seeds[1].usr", "usr"),
    (("linktree", {"seeds": [7]}), "runs[2].input.seeds[0]", "object of arguments"),
    (("linktree", {"seeds": []}), "runs[2].input.seeds", "seeds"),
    # JSON's own types
    (("linktree", {"user": 55555}), "runs[2].input.user", "text is expected, not int"),
    (("linktree", {"user": True}), "runs[2].input.user", "text is expected, not true or false"),
    (("linktree", {"seeds": [{"user": "ann"}, {"user": 55555}]}), "runs[2].input.seeds[1].user", "text is expected"),
    (("instagram", {"operation": "posts", "user": "ann", "limit": 5.0}), "runs[2].input.limit", "not float"),
    (("instagram", {"operation": "posts", "user": "ann", "limit": "5.0"}), "runs[2].input.limit", "int is"),
    (("instagram", {"operation": "posts", "user": "ann", "limit": " 5"}), "runs[2].input.limit", "int is"),
    (("instagram", {"operation": "posts", "user": "ann", "limit": "1_0"}), "runs[2].input.limit", "int is"),
    (("linktree", {"user": "ann", "session": 5}), "runs[2].input.session", "text is expected"),
    (("linktree", {"user": "ann", "priority": True}), "runs[2].input.priority", "whole number"),
]


@pytest.mark.parametrize(("job", "field", "told"), WRONG, ids=[case[1] + "-" + case[2] for case in WRONG])
def test_what_is_wrong_is_named_by_its_place(job, field, told):
    with pytest.raises(ArgumentError) as error:
        actors().drafts(wanted(GOOD, GOOD, job))
    assert error.value.context["fields"] == [field]
    assert field.rpartition(".")[0] in error.value.message
    assert told in error.value.message


def test_several_faults_are_told_together():
    with pytest.raises(ArgumentError) as error:
        actors().drafts(wanted(("linktree", {"usr": "x"}), GOOD, ("nobody", {})))
    assert error.value.context["fields"] == ["runs[0].input.usr", "runs[2].actor"]


def test_too_many_jobs_are_refused_with_the_limit_named():
    with pytest.raises(ArgumentError, match=r"10000 jobs, and one call may start 1000 \(FETCHWORKER_RUNS_JOBS_MAX\)"):
        actors().drafts(wanted(*[GOOD] * 10_000))
    with pytest.raises(ArgumentError, match="3 jobs, and one call may start 2"):
        actors(2).drafts(wanted(GOOD, ("linktree", {"seeds": ["https://linktr.ee/a", "https://linktr.ee/b"]})))


@pytest.mark.parametrize(
    "body",
    [
        {"runs": [{"actor": "fetch", "input": {}}]},
        {"workspaceId": "w", "runs": []},
        {"workspaceId": "w", "runs": [{"actor": "fetch", "input": 5}]},
        {"workspaceId": "w", "runs": [{"actor": "fetch", "input": {}, "options": {"memoryMB": 5}}]},
        {"workspaceId": "w", "runs": [{"actor": "fetch", "input": {}, "options": {"memoryMb": 1}}]},
        {"workspaceId": "../w", "runs": [{"actor": "fetch", "input": {}}]},
    ],
)
def test_a_request_of_another_form_is_refused(body):
    with pytest.raises(ValidationError):
        RunRequest.model_validate(body)


async def test_a_refused_request_leaves_nothing(runs):
    request = RunRequest.model_validate(
        {
            "workspaceId": "w1",
            "runs": [{"actor": "fetch", "input": "https://site.example/"}, {"actor": "nobody", "input": {}}],
        }
    )
    with pytest.raises(ArgumentError):
        await runs.start(request)
    for table in (scrape_runs, scrape_jobs):
        assert (await runs._store.read(select(func.count()).select_from(table)))[0][0] == 0


async def test_the_same_key_gives_the_same_run_and_another_request_is_refused(runs, nodes):
    first = await runs.start(ask("rows=1"), idempotency_key="k1")
    assert (await runs.start(ask("rows=1"), idempotency_key="k1")).run_id == first.run_id
    assert (await runs.start(ask("rows=1", workspaceId="w2"), idempotency_key="k1")).run_id != first.run_id
    with pytest.raises(RunStateError, match=first.run_id):
        await runs.start(ask("rows=2"), idempotency_key="k1")
    await ended(runs, first.run_id)
    assert nodes.spawned().count(f"{first.run_id}-0.1") == 1


async def test_a_caller_sees_the_runs_of_its_workspaces(runs):
    mine = await runs.start(ask("rows=1"))
    other = await runs.start(ask("rows=1", workspaceId="w2"))
    assert [run.run_id for run in (await runs.list(workspaces=["w1"])).runs] == [mine.run_id]
    assert {run.run_id for run in (await runs.list()).runs} == {mine.run_id, other.run_id}
    for asked in (runs.get, runs.items, runs.events, runs.log, runs.abort, runs.resume, runs.rejects):
        with pytest.raises(RunNotFoundError):
            await asked(other.run_id, workspaces=["w1"])
    with pytest.raises(RunNotFoundError):
        await runs.get("nothing")
    with pytest.raises(RunNotFoundError):
        await runs.complete("nothing-0.1")


@pytest.mark.parametrize(("name", "value"), [("memoryMb", "512"), ("timeoutSec", "9"), ("priority", True)])
def test_options_are_numbers(name, value):
    job = {"actor": "fetch", "input": "https://site.example/a", "options": {name: value}}
    with pytest.raises(ValidationError, match=name):
        RunRequest.model_validate({"workspaceId": "w", "runs": [job]})
    job["options"] = {name: 512}
    assert RunRequest.model_validate({"workspaceId": "w", "runs": [job]})


def test_an_input_that_is_nested_too_deep_is_refused():
    deep: object = 1
    for _ in range(200):
        deep = [deep]
    with pytest.raises(ArgumentError, match="more than 200 objects and lists lie in each other") as caught:
        actors().drafts(wanted(GOOD, ("fetch", {"url": "https://site.example/", "headers": deep})))
    assert caught.value.context["fields"] == ["runs[1].input"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"user": "an\x00n"}, "runs[0].input.user"),
        ("https://site.example/\x00", "runs[0].input"),
        ({"us\x00er": "ann"}, "runs[0].input"),
        ({"seeds": [{"user": "ann"}, {"user": ["a", {"b": "\x00"}]}]}, "runs[0].input.seeds[1].user[1].b"),
        ({"user": "\ud800"}, "runs[0].input.user"),
    ],
)
def test_a_text_that_no_job_can_be_told_is_refused_by_its_place(given, field):
    with pytest.raises(ArgumentError, match="holds a NUL or half a character") as caught:
        actors().drafts(wanted(("linktree", given)))
    assert caught.value.context["fields"] == [field]
