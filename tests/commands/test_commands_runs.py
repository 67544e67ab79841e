"""``scrapy runs`` with nothing else running: this machine's own platform, an SQLite file."""

from __future__ import annotations

import argparse
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys

import pytest
from scrapy.utils.project import get_project_settings

from fetchworker.commands.runs import Command
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


@pytest.fixture
def here(project, monkeypatch, capsys):
    """Does in this process what starts nothing: a process takes seconds to begin; gives code, output, complaints."""
    for name in os.environ.keys() - project.environment().keys():
        monkeypatch.delenv(name)
    for name, value in project.environment().items():
        monkeypatch.setenv(name, value)

    def run(*arguments, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        command, parser = Command(), argparse.ArgumentParser()
        command.settings = get_project_settings()
        command.add_options(parser)
        try:
            opts, rest = parser.parse_known_args([*arguments])
            command.run(rest, opts)
        except SystemExit as exc:
            command.exitcode = exc.code
        return command.exitcode, *capsys.readouterr()

    return run


def test_a_run_is_started_watched_and_looked_at(home, here):
    done = home.scrapy("runs", "start", "instagram", "-a", "user=nasa", "--workspace", "shop")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].endswith("run  new → queued  (jobs: 1)")
    [run_id] = {line.split()[0] for line in lines if re.match("[0-9a-f]{24} ", line)}
    assert f"{run_id}  " in here("list", "--workspace", "shop")[1]
    assert here("list", "--workspace", "other")[1] == ""
    shown = json.loads(here("show", run_id, "--json")[1])
    assert (shown["state"], shown["jobList"][0]["exitCause"]) == ("succeeded", "ok")
    assert f"{run_id}  " in here("show", run_id)[1]
    items = [json.loads(line) for line in here("items", run_id)[1].splitlines()]
    assert len(items) == shown["items"] > 0
    assert "Spider closed" in here("log", run_id)[1]
    events = [line for line in lines if re.match("[0-9]{4}-", line)]
    assert here("events", run_id)[1].splitlines() == events
    assert here("resume", run_id, "--detach")[0] == 2
    assert here("deliveries")[:2] == (0, "")


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
def test_bad_use_is_told(here, arguments, told):
    if arguments[:1] == ("show",):
        assert here("migrate")[0] == 0
    code, output, complaint = here(*arguments)
    assert (code, output) == (2, "")
    assert told in complaint
    assert "Traceback" not in complaint


def test_nothing_is_made_to_look_at_nothing(here, project):
    code, _, complaint = here("list")
    assert (code, "does not exist yet" in complaint) == (1, True)
    assert not (project.folder / "state" / "fetchworker.db").exists()


def test_schedules_are_kept_and_told(here):
    run = {"workspaceId": "w", "runs": [{"actor": "instagram", "input": {"user": "nasa"}}]}
    body = json.dumps({"name": "nightly", "cron": "30 2 * * *", "timezone": "Europe/Berlin", "run": run})
    code, output, complaint = here("schedules", "add", "-", stdin=body)
    assert code == 0, complaint
    name = output.split()[0]
    assert "w/nightly  30 2 * * * Europe/Berlin" in here("schedules", "list")[1]
    assert here("schedules", "off", name)[1].rstrip().endswith("next off")
    assert here("schedules", "drop", name)[0] == 0
    assert here("schedules", "list")[1] == ""
    code, _, complaint = here("schedules", "add", "-", stdin=body.replace("30 2 * * *", "30 2"))
    assert (code, "cron: " in complaint) == (2, True)
