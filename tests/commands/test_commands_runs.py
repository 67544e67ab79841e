"""``scrapy runs`` with nothing else running: this machine's own platform, an SQLite file."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess

import pytest

from fetchworker.jobs.processes import kill, marked
from tests.conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def home(project, calm):
    """A project whose jobs end with the test."""
    project.use(calm, proxies=False)
    yield project
    for job in (project.folder / "state" / "jobs").glob("[!.]*"):
        kill(marked(job))


def test_a_run_is_started_watched_and_looked_at(home):
    done = home.scrapy("runs", "start", "instagram", "-a", "user=nasa", "--workspace", "shop")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].endswith("run  new → queued  (jobs: 1)")
    [run_id] = {line.split()[0] for line in lines if re.match("[0-9a-f]{24} ", line)}
    assert f"{run_id}  " in home.scrapy("runs", "list", "--workspace", "shop").stdout
    shown = json.loads(home.scrapy("runs", "show", run_id, "--json").stdout)
    assert (shown["state"], shown["jobList"][0]["exitCause"]) == ("succeeded", "ok")
    items = [json.loads(line) for line in home.scrapy("runs", "items", run_id).stdout.splitlines()]
    assert len(items) == shown["items"] > 0
    assert "Spider closed" in home.scrapy("runs", "log", run_id).stdout
    events = [line for line in lines if re.match("[0-9]{4}-", line)]
    assert home.scrapy("runs", "events", run_id).stdout.splitlines() == events
    assert home.scrapy("runs", "watch", run_id).returncode == 0
    assert home.scrapy("runs", "resume", run_id).returncode == 2


def test_a_run_of_a_file_that_nobody_watches_yet_is_taken_up_by_watch_and_says_how_it_ended(home):
    entries = [{"actor": "instagram", "input": {"user": "nasa"}}, {"actor": "fetch", "input": "http://127.0.0.1:9/"}]
    request = json.dumps({"workspaceId": "w", "runs": entries})
    started = home.scrapy("runs", "start", "--request", "-", "--detach", "--key", "k1", stdin=request)
    assert started.returncode == 0, started.stderr
    run_id = started.stdout.strip()
    again = home.scrapy("runs", "start", "--request", "-", "--detach", "--key", "k1", stdin=request)
    assert again.stdout.strip() == run_id
    watched = home.scrapy("runs", "watch", run_id, "--json")
    assert watched.returncode == 3, watched.stderr
    [told] = watched.stdout.splitlines()
    assert (json.loads(told)["state"], json.loads(told)["exitCauses"]) == ("partial", {"ok": 1, "failed": 1})


def test_ctrl_c_leaves_the_run_and_abort_ends_it(home):
    home.env["FETCHWORKER_JOBS_SLOTS"] = "1"
    jobs = [{"actor": "instagram", "input": {"user": "nasa"}}] * 20  # one after the other
    path = home.folder / "run.json"
    path.write_text(json.dumps({"workspaceId": "w", "runs": jobs}))
    watching = home.start("runs", "start", "--request", str(path), stdout=subprocess.PIPE)
    while (line := watching.stdout.readline()) and b"running" not in line:
        pass
    watching.send_signal(signal.SIGINT)
    told = watching.communicate(timeout=60)[1].decode()
    assert watching.returncode == 130, told
    assert "goes on" in told
    [run] = map(json.loads, home.scrapy("runs", "list", "--json").stdout.splitlines())
    aborted = home.scrapy("runs", "abort", run["runId"], "--json")
    assert aborted.returncode == 0, aborted.stderr
    run = json.loads(aborted.stdout)
    assert run["state"] == "aborted", run["reasons"]
    assert not any(marked(job) for job in (home.folder / "state" / "jobs").glob("[!.]*"))


def test_a_terminal_has_a_table_in_its_place(home):
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            home.command("runs", "start", "instagram", "-a", "user=nasa"), cwd=ROOT,
            env=home.environment() | {"TERM": "xterm", "COLUMNS": "200"}, stdout=theirs, stderr=subprocess.PIPE,
        )  # fmt: skip
        os.close(theirs)
        shown = b""
        while part := _read(ours):
            shown += part
        assert process.wait(60) == 0, process.communicate()
        process.stderr.close()
    finally:
        os.close(ours)
    assert b"\x1b[" in shown  # it goes up, and writes anew
    assert b"instagram  succeeded (ok)" in shown


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # the other end is closed
        return b""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("start",), "name a spider"),
        (("start", "nope"), "runs[0].actor: there is no spider 'nope'"),
        (("start", "instagram", "-a", "usr=x"), "runs[0].input.usr"),
        (("start", "instagram", "-a", "user"), "NAME=VALUE"),
        (("start", "--request", "none.json"), "none.json: No such file"),
        (("start", "instagram", "--memory-mb", "1"), "runs[0].options.memoryMb: "),
        (("start", "instagram", "-a", "user=x", "--callback", "https://caller.example/"), "CALLBACK_SECRET"),
        (("show", "0" * 24), "there is no run"),
        (("show", "0" * 24, "-s", "A=B"), "-s: not understood"),
        (("fly",), "invalid choice"),
        ((), "required: ACT"),
    ],
)
def test_bad_use_is_told(home, arguments, told):
    if arguments[:1] == ("show",):
        assert home.scrapy("runs", "migrate").returncode == 0
    found = home.scrapy("runs", *arguments)
    assert found.returncode == 2, found.stdout
    assert told in found.stderr
    assert "Traceback" not in found.stderr


def test_nothing_is_made_to_look_at_nothing(home):
    found = home.scrapy("runs", "list")
    assert (found.returncode, "does not exist yet" in found.stderr) == (1, True)
    assert not (home.folder / "state" / "fetchworker.db").exists()


def test_schedules_are_kept_and_told(home):
    run = {"workspaceId": "w", "runs": [{"actor": "instagram", "input": {"user": "nasa"}}]}
    body = json.dumps({"name": "nightly", "cron": "30 2 * * *", "timezone": "Europe/Berlin", "run": run})
    added = home.scrapy("runs", "schedules", "add", "-", stdin=body)
    assert added.returncode == 0, added.stderr
    name = added.stdout.split()[0]
    assert "w/nightly  30 2 * * * Europe/Berlin" in home.scrapy("runs", "schedules", "list").stdout
    assert home.scrapy("runs", "schedules", "off", name).stdout.rstrip().endswith("next off")
    assert home.scrapy("runs", "schedules", "drop", name).returncode == 0
    assert home.scrapy("runs", "schedules", "list").stdout == ""
    bad = home.scrapy("runs", "schedules", "add", "-", stdin=body.replace("30 2 * * *", "30 2"))
    assert (bad.returncode, "cron: " in bad.stderr) == (2, True)
