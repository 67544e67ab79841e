"""What docs/runs.md tells to type does what it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from tests.service.conftest import Serving

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = re.findall(r"^\$ (curl .*)$", (ROOT / "docs" / "runs.md").read_text(), re.MULTILINE)
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def documented(demo, tmp_path_factory):
    made = Serving(
        tmp_path_factory.mktemp("runs_docs"), FETCHWORKER_RUNS_CALLBACK_SECRET="a secret", FETCHWORKER_RUNS_TICK="0.5",
        FETCHWORKER_RUNS_TICKS="1000",
    )  # fmt: skip
    made.project.use(demo, proxies=False)
    places = json.loads(made.project.env["FETCHWORKER_HOST_MAP"])
    made.project.env["FETCHWORKER_HOST_MAP"] = json.dumps({**places, "caller.example:443": "127.0.0.1:9"})
    with made:
        yield made


def test_there_are_examples_of_all_that_it_does():
    for part in ("/runs ", "/items?workspace", "/rejects", "/sessions", "/log?", "event-stream", "x-ndjson", "/abort",
                 "/resume", "/schedules", "DELETE", "/deliveries?state", "/replay"):  # fmt: skip
        assert any(part in f"{command} " for command in COMMANDS), part


def test_every_curl_example_works(documented):
    names = _names(documented)
    for command in COMMANDS:
        meant = command.replace("http://127.0.0.1:8000", documented.url)
        told = {name.removeprefix("$"): value for name, value in names.items() if name.startswith("$")}
        if meant.endswith(("/abort", "/resume")):
            told["RUN"] = names["fresh"]
        if meant.endswith("/resume"):
            _ended(documented, names["fresh"])
        # by a shell, as a reader would
        done = subprocess.run(
            ["sh", "-c", meant.replace("curl ", "curl -sS -w '\\n%{http_code}' ", 1)],
            env={**os.environ, **told},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        body, status = done.stdout.rsplit("\n", 1)
        assert status in ("200", "201", "204"), f"{command}: {status} {body}"
    with documented.client() as client:
        client.post(f"/runs/{names['fresh']}/abort")


def _names(documented) -> dict[str, str]:
    """A run that has ended, with its callback; one that goes on; a schedule."""
    job = {"actor": "instagram", "input": {"user": "nasa"}}
    with documented.client() as client:
        done = client.post("/runs", json={
            "workspaceId": "w", "callbackWebhook": "https://caller.example/done", "runs": [job],
        }).json()["runId"]  # fmt: skip
        plan = {"name": "own", "cron": "0 0 1 1 *", "run": {"workspaceId": "w", "runs": [job]}}
        schedule = client.post("/schedules", json=plan).json()["scheduleId"]
        _ended(documented, done)
        [delivery] = client.get("/webhooks/deliveries", params={"run": done}).json()["deliveries"]
        tagged = job | {"options": {"timeoutSec": 600}}
        fresh = client.post("/runs", json={"workspaceId": "w", "runs": [tagged] * 30}).json()["runId"]
    return {"$RUN": done, "$SCHEDULE": schedule, "$DELIVERY": delivery["deliveryId"], "fresh": fresh}


def _ended(documented, run_id) -> None:
    end = time.monotonic() + 60
    while not documented.get(f"/runs/{run_id}").json()["endedAt"]:
        assert time.monotonic() < end
        time.sleep(0.05)
