"""What was done on pages is kept without what was typed, and told to whose it is."""

from __future__ import annotations

import json

import pytest

from fetchworker.service.callers import hash_of
from tests.service.conftest import LAB, Serving, failure

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(180)]
TYPED = "correct horse battery"
STEPS = [
    {"type": "goto", "url": f"{LAB}/?token=not-for-the-log"},
    {"type": "screenshot"},
    {"type": "fill", "selector": "#nothing-like-it", "text": TYPED, "timeout": 0.2},
    {"type": "pdf"},
]
QUIET = {"FETCHWORKER_STORE": "false", "FETCHWORKER_RUNS_TICK": "0.5"}


@pytest.fixture(scope="module")
def browsing(demo, shell, tmp_path_factory):
    keys = [
        {"name": name, "hash": hash_of(f"fwk_{name}"), "scopes": ["fetch"], **whose}
        for name, whose in (("ann", {"workspace": "w-ann"}), ("bob", {"workspace": "w-bob"}), ("boss", {}))
    ]
    folder = tmp_path_factory.mktemp("browsing")
    made = Serving(folder, FETCHWORKER_BROWSER=shell, FETCHWORKER_SERVE_KEYS=json.dumps(keys), **QUIET)
    made.project.use(demo, proxies=False)
    with made:
        yield made


def call(browsing, method, path, who="ann", **more):
    headers = {"authorization": f"Bearer fwk_{who}", **more.pop("headers", {})}
    with browsing.client(headers=headers) as client:
        return client.request(method, path, **more)


def actions(browsing, who="ann", **query):
    answer = call(browsing, "GET", "/browser/actions", who, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def ran(browsing):
    body = {"url": f"{LAB}/", "actions": STEPS, "session_id": "ada", "keep_on_failure": []}
    headers = {"idempotency-key": "once"}
    first = call(browsing, "POST", "/browser/runs", json=body, headers=headers)
    assert first.status_code == 200, first.text
    assert first.json()["problems"] == []
    again = call(browsing, "POST", "/browser/runs", json=body, headers=headers)
    assert again.json() == first.json()
    return first.json()


def test_each_action_is_kept_once_with_its_outcome(browsing, ran):
    found = actions(browsing, request_id=ran["request_id"])["actions"]
    assert [(one["number"], one["kind"], one["outcome"], one["layer"]) for one in found] == [
        (0, "goto", "ok", None), (1, "screenshot", "ok", None), (2, "fill", "failed", "action"),
        (3, "pdf", "skipped", None),
    ]  # fmt: skip
    assert [one["artifact_id"] for one in found] == [one.get("artifact") for one in ran["actions"]]
    assert [one["ms"] for one in found] == [one["ms"] for one in ran["actions"]]
    assert {(one["workspace_id"], one["principal"], one["site"], one["session_id"]) for one in found} == {
        ("w-ann", "ann", "fetch", "ada")
    }


def test_nothing_that_was_typed_is_kept(browsing, ran):
    [file] = browsing.project.folder.glob("state/*.db")
    data = b"".join(path.read_bytes() for path in file.parent.glob(f"{file.name}*"))
    assert ran["request_id"].encode() in data
    assert TYPED.encode() not in data
    assert b"not-for-the-log" not in data


def test_a_key_sees_its_workspace_alone(browsing, ran):
    assert actions(browsing, "bob")["actions"] == []
    assert actions(browsing, "bob", request_id=ran["request_id"])["actions"] == []
    assert failure(call(browsing, "GET", "/browser/actions?workspace=w-ann", "bob")) == (403, "FORBIDDEN")
    assert len(actions(browsing, "boss", workspace="w-ann")["actions"]) == len(STEPS)
    assert failure(call(browsing, "GET", "/browser/actions", "nobody")) == (401, "UNAUTHENTICATED")


def test_they_are_paged_and_narrowed(browsing, ran):
    page = actions(browsing, limit=3)
    rest = actions(browsing, limit=3, after=page["next"])
    assert [one["number"] for one in page["actions"] + rest["actions"]] == [0, 1, 2, 3]
    assert rest["next"] is None
    assert [one["kind"] for one in actions(browsing, outcome="failed", kind="fill")["actions"]] == ["fill"]
    assert actions(browsing, outcome="failed", kind="pdf")["actions"] == []
    assert ran["outcome"] == "failed"


@pytest.mark.parametrize("query", ["kind=nothing", "outcome=good", "after=x", "limit=1001", "foo=1"])
def test_bad_queries_name_the_field(browsing, query):
    answer = call(browsing, "GET", f"/browser/actions?{query}")
    assert failure(answer) == (400, "VALIDATION_ERROR")
    assert answer.json()["context"]["fields"] == [query.partition("=")[0]]


def test_without_a_database_it_is_done_and_the_loss_is_told(make_service, shell):
    url = "postgresql://nobody@127.0.0.1:9/none"
    with make_service(FETCHWORKER_BROWSER=shell, FETCHWORKER_DATABASE_URL=url, **QUIET) as serving:
        with serving.client() as client:
            answer = client.post("/browser/runs", json={"url": f"{LAB}/", "actions": [{"type": "screenshot"}]})
        assert answer.status_code == 200, answer.text
        assert answer.json()["actions"][0]["outcome"] == "ok"
        assert [problem.partition(":")[0] for problem in answer.json()["problems"]] == ["the actions are not recorded"]
        assert failure(serving.get("/browser/actions")) == (503, "STORAGE_UNAVAILABLE")
