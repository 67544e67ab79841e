"""Runs of services that end, and of databases that go away: nothing is lost, and nobody is told a tale."""

from __future__ import annotations

import time

import pytest

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
