"""Runs of services that end, and of databases that go away: nothing is lost, and nobody is told a tale."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack

import pytest

from fetchworker.jobs.webhook import HEADER, signed
from tests.service.conftest import failure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

BODY = {"workspaceId": "w", "runs": [{"actor": "instagram", "input": {"user": "nasa"}}]}
#: items of calls would be stored there as well, and then a service waits for the database
QUICK = {"FETCHWORKER_STORE": "false", "FETCHWORKER_RUNS_TICK": "0.5", "FETCHWORKER_RUNS_TICKS": "1000"}


def ended(serving, run_id):
    end = time.monotonic() + 90
    while not (run := serving.get(f"/runs/{run_id}").json()).get("endedAt"):
        assert time.monotonic() < end, run
        time.sleep(0.1)
    return run


def test_a_run_goes_on_though_its_service_ends(make_service):
    with make_service(**QUICK) as serving, serving.client() as client:
        run_id = client.post("/runs", json=BODY).json()["runId"]
        with client.stream("GET", f"/runs/{run_id}/events", headers={"accept": "text/event-stream"}) as events:
            for line in events.iter_lines():
                if '"type":"spawn"' in line:
                    break
    with make_service(**QUICK) as serving:  # the first has ended, and drained in spite of who listened
        run = ended(serving, run_id)
        assert (run["state"], [job["attempt"] for job in run["jobList"]]) == ("succeeded", [1])
        assert len(serving.get(f"/runs/{run_id}/items").json()["rows"]) == run["items"] > 0


def test_while_the_database_is_away_runs_cannot_be_had_and_the_rest_goes_on(make_service):
    from fetchworker.demo.postgres import PostgresServer

    server = PostgresServer(fsync="off")
    with server:
        url = server.url("postgres")
        with make_service(FETCHWORKER_DATABASE_URL=url, **QUICK) as serving, serving.client() as client:
            serving.until(lambda health: not health["degraded"], 60)
            run_id = client.post("/runs", json=BODY, headers={"idempotency-key": "k"}).json()["runId"]
            server.kill()
            serving.until(lambda health: any(one["part"] == "runs" for one in health["degraded"]), 60)
            assert failure(client.post("/runs", json=BODY, headers={"idempotency-key": "k2"})) == (
                503, "STORAGE_UNAVAILABLE",
            )  # fmt: skip
            assert failure(client.get(f"/runs/{run_id}")) == (503, "STORAGE_UNAVAILABLE")
            assert serving.fetch("https://lab.example/").status_code == 200
            server.start()
            serving.until(lambda health: not health["degraded"], 60)
            again = client.post("/runs", json=BODY, headers={"idempotency-key": "k"})
            assert (again.status_code, again.json()["runId"]) == (201, run_id)
            assert ended(serving, run_id)["state"] == "succeeded"
            assert len(client.get("/runs").json()["runs"]) == 1
            server.kill()
        with make_service(FETCHWORKER_DATABASE_URL=url, **QUICK) as serving:  # begins, though there is none
            assert failure(serving.get("/runs")) == (503, "STORAGE_UNAVAILABLE")
            server.start()
            serving.until(lambda health: not health["degraded"], 60)
            assert serving.get(f"/runs/{run_id}").json()["state"] == "succeeded"


def test_a_word_of_an_end_that_is_told_again_to_the_next_service_changes_nothing(make_service):
    secret = "of nodes and control"
    with make_service(FETCHWORKER_CONTROL_SECRET=secret, **QUICK) as serving, serving.client() as client:
        run_id = client.post("/runs", json=BODY).json()["runId"]
        before = ended(serving, run_id)
        body = json.dumps({"job_id": f"{run_id}-0.1", "exit_cause": "failed", "ended_at": 1.0}).encode()
        headers = {HEADER: signed(secret, body, int(time.time())), "content-type": "application/json"}
        path = f"/jobs/{run_id}-0.1/complete"
        assert client.post(path, content=body, headers=headers).status_code == 204
        assert failure(client.post(path, content=body, headers=headers)) == (409, "CONFLICT")
    with make_service(FETCHWORKER_CONTROL_SECRET=secret, **QUICK) as serving, serving.client() as client:
        assert client.post(path, content=body, headers=headers).status_code == 204
        pages = [f"/runs/{run_id}/{part}?limit=1000" for part in ("events", "items")]
        events, rows = (client.get(page).json() for page in pages)
        assert client.get(f"/runs/{run_id}").json() == before
        assert [len(rows["rows"]), len(events["events"])] == [before["items"], events["next"]]


def test_those_who_listen_take_no_place_of_a_call_and_are_bounded(make_service):
    bounds = {"FETCHWORKER_SERVE_IN_FLIGHT": "1", "FETCHWORKER_SERVE_WAITING": "0", "FETCHWORKER_SERVE_LISTENERS": "2"}
    body = {"workspaceId": "w", "runs": [{"actor": "fetch", "input": "https://lab.example/slow?seconds=60"}]}
    with make_service(**bounds, **QUICK) as serving, serving.client() as client, ExitStack() as open_:
        run_id = client.post("/runs", json=body).json()["runId"]
        path, accept = f"/runs/{run_id}/events", {"accept": "text/event-stream"}

        def listen():
            stream = open_.enter_context(client.stream("GET", path, headers=accept))
            parts = stream.iter_raw()
            next(parts)
            return stream, parts  # the parts end with who reads them

        first = [listen(), listen()]
        assert [stream.status_code for stream, _ in first] == [200, 200]
        refused = client.get(path, headers=accept)
        assert failure(refused) == (429, "OVERLOADED")
        assert "FETCHWORKER_SERVE_LISTENERS" in refused.json()["message"]
        assert int(refused.headers["retry-after"]) > 0
        assert serving.fetch("https://lab.example/").status_code == 200, "there is one place, and it is for calls"
        assert client.get(path).status_code == 200
        first[0][0].close()
        serving.until(lambda _: listened(client, path, accept), 30)
        assert client.post(f"/runs/{run_id}/abort").status_code == 200
        assert ended(serving, run_id)["state"] == "aborted"


def listened(client, path, accept):
    with client.stream("GET", path, headers=accept) as stream:
        return stream.status_code == 200
