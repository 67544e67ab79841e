"""Ctrl-C: once, the crawl ends with what it has; twice, at once. Either way what was not done is written down."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from contextlib import closing, suppress

import pytest

pytestmark = pytest.mark.slow


def interrupt(process, log):
    """Send Ctrl-C, and read the log until it is heard."""
    process.send_signal(signal.SIGINT)
    for line in process.stderr:
        log.append(line)
        if b"Closing spider (shutdown)" in line:
            return


def rest(process, log) -> str:
    log.append(process.communicate(timeout=60)[1])
    return b"".join(log).decode()


def paging(project, demo):
    project.use(demo)
    entries = json.loads((project.folder / "sites.yaml").read_text())
    entries["sites"]["instagram"]["delay"] = 0.5  # it is at work for long
    (project.folder / "sites.yaml").write_text(json.dumps(entries))
    arguments = ("-a", "user=nasa", "-a", "operation=posts", "-a", "limit=2000", "-O", str(project.folder / "p.jsonl"))
    return project.start("crawl", "instagram", *arguments)


def has_two_pages(project) -> bool:
    return sum(item["kind"] == "page" for item in project.lines("p.jsonl")) >= 2


def test_paging_that_was_interrupted_can_be_gone_on_with(project, calm):
    process, log = paging(project, calm), []
    while not has_two_pages(project):
        with suppress(subprocess.TimeoutExpired):  # a file tells nobody that it has grown
            raise AssertionError(process.wait(0.05))
    interrupt(process, log)
    told = rest(process, log)
    assert process.returncode == 1, told
    assert "instagram ended (shutdown)" in told
    assert "trying the next" not in told
    (left,) = project.records("failures")
    last = [item for item in project.lines("p.jsonl") if item["kind"] == "page"][-1]
    assert (left["type"], left["operation"], left["cursor"]) == ("UNFINISHED", "posts", last["next_cursor"])
    assert left["params"]["user"] == "nasa"


@pytest.fixture
def silent():
    """A server that takes connections and never says a word."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.settimeout(60)
        yield server


@pytest.mark.parametrize(
    ("spider", "argument"), [("fetch", "url=https://www.instagram.com/nasa/"), ("instagram", "user=nasa")]
)
def test_a_crawl_that_was_killed_says_how_far_it_came(project, silent, spider, argument):
    project.sites(policy="none", timeout=60)
    project.env["FETCHWORKER_HOST_MAP"] = json.dumps({"www.instagram.com": f"127.0.0.1:{silent.getsockname()[1]}"})
    process, log = project.start("crawl", spider, "-a", argument, "-O", str(project.folder / "f.jsonl")), []
    with closing(silent.accept()[0]):
        interrupt(process, log)
        process.send_signal(signal.SIGINT)
        told = rest(process, log)
    assert process.returncode == 1, told
    assert f"{spider} ended (killed): 0 items" in told
    assert "trying the next" not in told
    (left,) = project.records("failures")
    name, _, value = argument.partition("=")
    assert (left["type"], left["params"][name]) == ("UNFINISHED", value)
