"""The limit that all processes of a Redis share holds over sites, hosts and workers."""

from __future__ import annotations

import asyncio
import json
import signal
import threading

import pytest

from fetchworker.demo.lab import lab_app, text

pytestmark = pytest.mark.slow
QUIT = ("-s", "SCHEDULER_IDLE_BEFORE_CLOSE=1")


class Counter:
    """How many requests are under way at once, and when they came."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.at: list[float] = []

    async def __call__(self, request):
        self.at.append(request.at)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(0.02)
            return text("hello\n") if request.route == "/page" else lab_app(request)
        finally:
            self.now -= 1


def seeds(many: int) -> list[str]:
    hosts = ("lab.example", "other.example")
    return [json.dumps({"url": f"https://{hosts[number % 2]}/page?{number}"}) for number in range(many)]


def test_two_workers_together_have_no_more_under_way(start, lab, queue, project, sites):
    lab.app = counter = Counter()
    project.env["FETCHWORKER_LIMIT_CONCURRENCY"] = "3"
    sites(concurrency=8)
    workers = []
    queue.rpush("fetch:start_urls", *seeds(80))
    for number in (1, 2):
        output = ("-O", str(project.folder / f"{number}.jsonl"))
        workers.append(start("fetch", *QUIT, *output))
    assert [worker.wait(60) for worker in workers] == [0, 0]
    assert len([*project.lines("1.jsonl"), *project.lines("2.jsonl")]) == 80
    assert counter.most <= 3
    assert counter.most > 1, "and it is used"
    assert queue.zcard("{fw:limit}:held") == queue.zcard("{fw:limit}:line") == 0


def test_the_rate_holds_for_redirects_too(serve, lab, project, sites):
    lab.app = counter = Counter()
    project.env["FETCHWORKER_LIMIT_RATE"] = "20/1"
    sites(concurrency=8)
    found = serve(*seeds(12), {"url": "https://lab.example/redirect/3"})
    assert len(found.items) == 13
    assert len(counter.at) == 16
    assert max(counter.at) - min(counter.at) >= 0.7, "15 times a twentieth of a second, but for the way there"


def test_pace_and_limit_hold_together(serve, lab, project, sites):
    lab.app = counter = Counter()
    project.env |= {"FETCHWORKER_LIMIT_RATE": "50", "FETCHWORKER_LIMIT_CONCURRENCY": "1"}
    sites(concurrency=4, delay=0.1)
    found = serve(*seeds(8))
    assert len(found.items) == 8
    assert counter.most == 1


def test_who_waits_for_a_permit_goes_back_to_the_queue_when_the_worker_ends(start, lab, queue, project, left):
    came = threading.Event()

    def note(request):
        came.set()
        return text("hello\n")

    lab.app = note
    project.env |= {"FETCHWORKER_LIMIT_RATE": "0.01/1", "FETCHWORKER_GRACE": "2"}
    queue.rpush("fetch:start_urls", *seeds(6))
    worker = start("fetch", *QUIT, "-O", str(project.folder / "f.jsonl"))
    assert came.wait(40)
    worker.send_signal(signal.SIGTERM)
    worker.communicate(timeout=40)
    assert len(left()) + len(project.lines("f.jsonl")) == 6
    assert queue.zcard("{fw:limit}:held") == queue.zcard("{fw:limit}:line") == 0


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("RATE", "fast", "FETCHWORKER_LIMIT_RATE: must be a rate, such as 50 (a second) or 50/100"),
        ("RATE", "0", "FETCHWORKER_LIMIT_RATE"),
        ("CONCURRENCY", "0", "FETCHWORKER_LIMIT_CONCURRENCY: must be greater than or equal to 1"),
    ],
)
def test_what_is_no_limit_refuses_the_start(fetch, project, name, value, told):
    project.env[f"FETCHWORKER_LIMIT_{name}"] = value
    done = project.scrapy("crawl", "fetch", "-a", "url=https://lab.example/")
    assert done.returncode != 0
    assert told in done.stderr
