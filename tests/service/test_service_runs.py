"""/runs of a real service: asked for by keys of two workspaces, run by this machine's own platform."""

from __future__ import annotations

import json
import time
from datetime import datetime

import pytest

from fetchworker.jobs.webhook import HEADER, signed
from fetchworker.service.callers import hash_of
from tests.service.conftest import LAB, Serving, failure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SECRET = "of nodes and control"
KEYS = {name: f"fwk_{name}" for name in ("ann", "bob", "boss", "fetch")}


@pytest.fixture(scope="module")
def running(demo, tmp_path_factory):
    entries = [
        {"name": "ann", "hash": hash_of(KEYS["ann"]), "scopes": ["runs"], "workspace": "ann"},
        {"name": "bob", "hash": hash_of(KEYS["bob"]), "scopes": ["runs"], "workspace": "bob"},
        {"name": "boss", "hash": hash_of(KEYS["boss"]), "scopes": ["admin"]},
        {"name": "fetch", "hash": hash_of(KEYS["fetch"]), "scopes": ["fetch"]},
    ]
    made = Serving(
        tmp_path_factory.mktemp("runs"), FETCHWORKER_SERVE_KEYS=json.dumps(entries),
        FETCHWORKER_CONTROL_SECRET=SECRET, FETCHWORKER_RUNS_TICK="0.5", FETCHWORKER_RUNS_TICKS="1000",
    )  # fmt: skip
    made.project.use(demo, proxies=False)
    with made:
        yield made


@pytest.fixture
def api(running):
    """Calls by somebody's key."""

    def call(method, path, who="ann", **more):
        key = {"authorization": f"Bearer {KEYS.get(who, who)}"} if who else {}
        headers = {**key, **more.pop("headers", {})}
        with running.client() as client:
            return client.request(method, path, headers=headers, **more)

    return call


def asked(*jobs, workspace="ann", **more):
    entries = [{"actor": actor, "input": given} for actor, given in jobs]
    return {"workspaceId": workspace, "conversationId": "c1", "skillId": "s1", "runs": entries, **more}


def ended(api, run_id, who="ann"):
    end = time.monotonic() + 90
    while time.monotonic() < end:
        run = api("GET", f"/runs/{run_id}", who).json()
        if run["endedAt"]:
            return run
        time.sleep(0.1)
    pytest.fail(f"it did not end: {run}")


@pytest.fixture(scope="module")
def done(running):
    """A run of ann's that has ended."""
    headers = {"authorization": f"Bearer {KEYS['ann']}"}

    def call(method, path, _="ann", **more):
        with running.client(headers=headers) as client:
            return client.request(method, path, **more)

    body = asked(("instagram", {"user": "nasa"}), ("fetch", "http://127.0.0.1:9/"))
    started = call("POST", "/runs", json=body, headers={"idempotency-key": "one"})
    assert started.status_code == 201, started.text
    assert started.headers["location"] == f"/runs/{started.json()['runId']}"
    return ended(call, started.json()["runId"])


def test_a_run_is_started_and_tells_how_it_ended(done, api):
    assert done["state"] == "partial", done["reasons"]
    assert [job["exitCause"] for job in done["jobList"]] == ["ok", "failed"]
    assert (done["workspaceId"], done["conversationId"], done["skillId"]) == ("ann", "c1", "s1")
    again = api("POST", "/runs", json=asked(("instagram", {"user": "nasa"}), ("fetch", "http://127.0.0.1:9/")),
                headers={"idempotency-key": "one"})  # fmt: skip
    assert (again.status_code, again.json()["runId"]) == (201, done["runId"])
    other = api("POST", "/runs", json=asked(("instagram", {"user": "ann"})), headers={"idempotency-key": "one"})
    assert failure(other) == (409, "CONFLICT")


def test_rows_are_had_in_pages_in_lines_and_across_runs(done, api):
    path = f"/runs/{done['runId']}/items"
    first = api("GET", path, params={"limit": 1}).json()
    rows = api("GET", path).json()["rows"]
    assert len(rows) == done["items"] > 0
    assert first["rows"] == rows[:1]
    rest = api("GET", path, params={"after": first["next"]}).json()["rows"]
    assert first["rows"] + rest == rows
    lines = api("GET", path, headers={"accept": "application/x-ndjson"})
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert [json.loads(line) for line in lines.text.splitlines()] == [row["item"] for row in rows]
    across = api("GET", "/items", params={"conversation": "c1", "skill": "s1"}).json()
    assert [row for row in across["rows"] if row["runId"] == done["runId"]] == rows
    assert across["next"]
    assert api("GET", "/items", params={"after": across["next"]}).json() == {"rows": [], "next": None}
    assert api("GET", "/items", params={"skill": "other"}).json()["rows"] == []


def test_usage_and_sessions_are_told_of_a_run_and_its_jobs(done, api, running):
    run = api("GET", f"/runs/{done['runId']}").json()
    assert run["usage"]["requests"] == sum(job["usage"]["requests"] for job in run["jobList"]) > 0
    assert {"site": "instagram", "provider": "direct", "tier": "-"}.items() <= run["usage"]["by"][-1].items()
    assert api("GET", "/runs").json()["runs"][0]["usage"] is None
    told = running.project.scrapy("runs", "show", done["runId"]).stdout
    assert f"by direct (-): {run['usage']['by'][-1]['requests']} requests" in told
    body = asked(("instagram", {"user": "nasa", "session": "ada"}), workspace="carl")
    named = api("POST", "/runs", "boss", json=body).json()["runId"]
    ended(api, named, "boss")
    [session] = api("GET", f"/runs/{named}/sessions", "boss").json()["sessions"]
    assert (session["site"], session["sessionId"], session["exit"]) == ("instagram", "ada", None)
    assert session["requests"] == sum(session["outcomes"].values()) > 0
    assert failure(api("GET", f"/runs/{named}/sessions", "bob")) == (404, "NOT_FOUND")
    listed = running.project.scrapy("runs", "sessions", named, "--json").stdout
    assert json.loads(listed) == session


def test_events_are_had_in_pages_and_as_they_come(done, api, running):
    path = f"/runs/{done['runId']}/events"
    events = api("GET", path, params={"limit": 1000}).json()["events"]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["stateTo"] == "queued"
    assert events[-1]["stateTo"] == "partial"
    known = {"accept": "text/event-stream", "last-event-id": "2"}
    stream = api("GET", path, headers=known)
    assert stream.headers["content-type"].startswith("text/event-stream")
    told = [part.splitlines() for part in stream.text.split("\n\n") if part.startswith("id:")]
    assert [lines[0] for lines in told[:-1]] == [f"id: {event['seq']}" for event in events[2:]]
    assert told[-1][1] == "event: end"
    assert json.loads(told[-1][2].removeprefix("data: "))["state"] == "partial"


def test_the_log_is_had_by_its_parts(done, api):
    path = f"/runs/{done['runId']}/log"
    tail = api("GET", path, params={"job": 0, "offset": -100})
    assert len(tail.content) == 100
    size = int(tail.headers["x-size"])
    assert (int(tail.headers["x-offset"]), int(tail.headers["x-next-offset"])) == (size - 100, size)
    assert b"Spider closed" in api("GET", path, params={"job": 1}).content
    assert failure(api("GET", path, params={"job": 7})) == (404, "NOT_FOUND")


def test_a_key_sees_the_runs_of_its_workspace_alone(done, api):
    run = f"/runs/{done['runId']}"
    for method, path in [
        ("GET", run), ("GET", f"{run}/items"), ("GET", f"{run}/events"), ("GET", f"{run}/log"),
        ("GET", f"{run}/rejects"), ("POST", f"{run}/abort"), ("POST", f"{run}/resume"),
    ]:  # fmt: skip
        assert failure(api(method, path, "bob")) == (404, "NOT_FOUND"), path
    sse = api("GET", f"{run}/events", "bob", headers={"accept": "text/event-stream"})
    assert failure(sse) == (404, "NOT_FOUND")
    lines = api("GET", f"{run}/items", "bob", headers={"accept": "application/x-ndjson"})
    assert failure(lines) == (404, "NOT_FOUND")
    assert api("GET", "/runs", "bob").json()["runs"] == []
    assert api("GET", "/items", "bob").json()["rows"] == []
    assert [one["runId"] for one in api("GET", "/runs").json()["runs"]] == [done["runId"]]
    assert api("GET", run, "boss").status_code == 200
    assert failure(api("GET", "/runs", "bob", params={"workspace": "ann"})) == (403, "FORBIDDEN")
    assert failure(api("POST", "/runs", "bob", json=asked(("instagram", {"user": "x"})))) == (403, "FORBIDDEN")
    assert failure(api("GET", "/runs", "fetch")) == (403, "FORBIDDEN")
    assert failure(api("GET", "/runs", "fwk_nobody")) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"runs": [{"actor": "fetch", "input": 5}]}, ["workspaceId", "runs[0].input"]),
        (asked(("fetch", f"{LAB}/"), ("instagram", {"usr": "x"}), ("nope", {})),
         ["runs[1].input.usr", "runs[2].actor"]),
        (asked(("instagram", {"seeds": [{"user": "a"}] * 10_000})), ["runs"]),
        (asked(("fetch", f"{LAB}/"), callbackWebhook="https://caller.example/"), ["callbackWebhook"]),
        (asked(("fetch", f"{LAB}/"), workflow="x"), ["workflow"]),
        (asked(("fetch", f"{LAB}/")) | {"runs": []}, ["runs"]),
    ],
)  # fmt: skip
def test_bad_input_names_its_place_and_stores_nothing(api, body, fields):
    before = api("GET", "/runs", "boss").json()
    answer = api("POST", "/runs", "boss", json=body)
    assert failure(answer) == (400, "VALIDATION_ERROR")
    assert answer.json()["context"]["fields"] == fields
    assert api("GET", "/runs", "boss").json() == before


def test_too_many_jobs_are_told_with_the_limit(api):
    answer = api("POST", "/runs", json=asked(("instagram", {"seeds": [{"user": "a"}] * 10_000})))
    assert answer.json()["context"]["limit"] == 1000
    assert "10000 jobs" in answer.json()["message"]


def test_a_run_is_aborted_and_resumed(api):
    body = asked(("instagram", {"user": "nasa", "operation": "posts", "limit": 50}), workspace="bob")
    run = api("POST", "/runs", "bob", json=body).json()
    assert failure(api("POST", f"/runs/{run['runId']}/resume", "bob")) == (409, "CONFLICT")
    assert api("POST", f"/runs/{run['runId']}/abort", "bob").status_code == 200
    over = ended(api, run["runId"], "bob")
    assert over["state"] == "aborted", over["reasons"]
    again = api("POST", f"/runs/{run['runId']}/resume", "bob").json()
    assert (again["state"], again["generation"]) == ("queued", 2)
    assert ended(api, run["runId"], "bob")["generation"] == 2


def _complete(api, job_id, *, secret=SECRET, at=None, named=None):
    body = json.dumps({"job_id": named or job_id, "exit_cause": "ok", "ended_at": 1.0}).encode()
    signature = signed(secret, body, int(time.time() if at is None else at))
    headers = {"content-type": "application/json", HEADER: signature}
    return lambda: api("POST", f"/jobs/{job_id}/complete", "", content=body, headers=headers)


def test_a_jobs_end_is_taken_of_who_knows_the_secret_once(done, api):
    job = f"{done['runId']}-0.1"
    send = _complete(api, job, at=time.time() - 7)
    assert send().status_code == 204
    assert failure(send()) == (409, "CONFLICT")
    assert failure(_complete(api, job, secret="another")()) == (401, "UNAUTHENTICATED")
    assert failure(_complete(api, job, at=time.time() - 3600)()) == (401, "UNAUTHENTICATED")
    assert failure(_complete(api, job, named="other")()) == (400, "VALIDATION_ERROR")
    assert failure(_complete(api, "nobody-0.1")()) == (404, "NOT_FOUND")
    unsigned = api("POST", f"/jobs/{job}/complete", "", json={"job_id": job})
    assert failure(unsigned) == (401, "UNAUTHENTICATED")


def test_principals_of_the_database_are_known_by_the_same_keys(running, done, api):
    made = running.project.scrapy("runs", "principals", "add", "eve", "--workspace", "ann")
    assert made.returncode == 0, made.stderr
    key = made.stdout.strip()
    assert key.startswith("fwk_")
    end = time.monotonic() + 30
    while (answer := api("GET", f"/runs/{done['runId']}", key)).status_code == 401 and time.monotonic() < end:
        time.sleep(0.1)
    assert answer.status_code == 200
    assert failure(api("GET", "/artifacts", key)) == (403, "FORBIDDEN")
    twice = running.project.scrapy("runs", "principals", "add", "eve")
    assert (twice.returncode, "already" in twice.stderr) == (2, True)
    assert running.project.scrapy("runs", "principals", "revoke", "eve").returncode == 0
    while api("GET", "/runs", key).status_code == 200 and time.monotonic() < end:
        time.sleep(0.1)
    assert failure(api("GET", "/runs", key)) == (401, "UNAUTHENTICATED")
    listed = running.project.scrapy("runs", "principals", "list", "--json").stdout
    [told] = [json.loads(line) for line in listed.splitlines()]
    assert (told["name"], told["scopes"], told["workspaces"]) == ("eve", ["runs"], ["ann"])
    made, revoked = (datetime.fromisoformat(told[name]) for name in ("created_at", "revoked_at"))
    assert made < revoked
    assert datetime.fromisoformat(told["used_at"]) > made, "a service that has not heard of it yet lets the key in"
    assert key not in listed


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/items?workspace=ann&kind=%00", "kind"),
        ("/runs?after=a%00b", "after"),
        ("/runs/%00", "path"),
        ("/artifacts?x=1&site=%00", "site"),
    ],
)
def test_a_nul_is_refused_before_anybody_is_asked(api, path, field):
    answer = api("GET", path, "boss")
    assert (answer.status_code, answer.json()["type"]) == (400, "VALIDATION_ERROR")
    assert answer.json()["context"]["fields"] == [field]
