"""Ctrl-C: once, the crawl ends with what it has; twice, at once. Either way what was not done is written down."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
from contextlib import closing, suppress

import pytest

pytestmark = pytest.mark.slow

PAGING = ("-a", "user=nasa", "-a", "operation=posts", "-a", "limit=2000")


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


def paging(project, demo, *options):
    project.use(demo)
    entries = json.loads((project.folder / "sites.yaml").read_text())
    entries["sites"]["instagram"]["delay"] = 0.5  # it is at work for long
    (project.folder / "sites.yaml").write_text(json.dumps(entries))
    return project.start("crawl", "instagram", *PAGING, "-O", str(project.folder / "p.jsonl"), *options)


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
    assert project.records("failures") == [], "the queue keeps what was not done"
    (crawl_id,) = re.findall(r"FETCHWORKER_CRAWL_ID=(\S+) and the same command", told)
    project.env["FETCHWORKER_CRAWL_ID"] = crawl_id
    project.sites()
    done = project.scrapy("crawl", "instagram", *PAGING, "-o", str(project.folder / "p.jsonl"))
    assert done.returncode == 0, done.stderr
    pages = [item for item in project.lines("p.jsonl") if item["kind"] == "page"]
    assert len({page["next_cursor"] for page in pages}) == len(pages), "no page twice"
    assert pages[-1]["exhausted"]
    posts = {item["id"] for item in project.lines("p.jsonl") if item["kind"] == "post"}
    again = project.scrapy("crawl", "instagram", *PAGING, "-o", str(project.folder / "again.jsonl"))
    assert (again.returncode, project.lines("again.jsonl")) == (0, []), "it is over"
    emptied = project.scrapy("crawl", "instagram", *PAGING, "-O", str(project.folder / "p.jsonl"))
    assert emptied.returncode == 2, emptied.stderr
    assert "write -o instead of -O" in emptied.stderr
    assert posts == {item["id"] for item in project.lines("p.jsonl") if item["kind"] == "post"}, "nothing is emptied"
    assert f"crawl {crawl_id} goes on with what it has in the queue" in done.stderr
    assert f"crawl {crawl_id} is over, nothing is fetched: give another FETCHWORKER_CRAWL_ID" in again.stderr
    del project.env["FETCHWORKER_CRAWL_ID"]
    project.scrapy("crawl", "instagram", *PAGING, "-O", str(project.folder / "whole.jsonl"))
    assert posts == {item["id"] for item in project.lines("whole.jsonl") if item["kind"] == "post"}


@pytest.fixture
def silent():
    """A server that takes connections and never says a word."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.settimeout(60)
        yield server


@pytest.mark.parametrize("kept", ["redis", "memory"])
@pytest.mark.parametrize(
    ("spider", "argument"), [("fetch", "url=https://www.instagram.com/nasa/"), ("instagram", "user=nasa")]
)
def test_a_crawl_that_was_killed_says_how_far_it_came(project, silent, spider, argument, kept):
    project.env["FETCHWORKER_FRONTIER"] = kept
    project.env["FETCHWORKER_CRAWL_ID"] = "nightly"
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
    if kept == "redis":
        shown = json.loads(project.scrapy("queue", spider, "--crawl", "nightly", "--json").stdout)
        (namespace,) = shown["namespaces"]
        assert namespace["leased"] + namespace["queued"] == 1, "the queue has it still"
        assert project.records("failures") == []
        return
    (left,) = project.records("failures")
    name, _, value = argument.partition("=")
    assert (left["type"], left["params"][name]) == ("UNFINISHED", value)


EARLY = """
import os, signal
from scrapy import signals

class Signal:
    @classmethod
    def from_crawler(cls, crawler):
        def hit(*_, **__):
            os.kill(os.getpid(), getattr(signal, os.environ["FIRST_SIGNAL"]))
        moment = os.environ["FIRST_MOMENT"]
        crawler.signals.connect(hit, getattr(signals, moment), weak=False) if moment != "init" else hit()
        return cls()
"""


@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT"])
@pytest.mark.parametrize("moment", ["init", "spider_opened", "engine_started"])
def test_a_signal_while_the_crawl_begins_ends_it(project, calm, moment, number):
    (project.folder / "early.py").write_text(EARLY)
    project.env |= {"PYTHONPATH": str(project.folder), "FIRST_SIGNAL": number, "FIRST_MOMENT": moment}
    process = paging(project, calm, "-s", 'EXTENSIONS={"early.Signal": 0}')
    told = rest(process, [])
    assert "ended (shutdown)" in told or "Spider closed (shutdown)" in told, told
    assert process.returncode == 1
    assert "Traceback" not in told
    assert project.lines("p.jsonl") == []
