"""A site's pace when several workers ask it, counted at the server and in Redis."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import pytest

from fetchworker.demo.lab import text
from fetchworker.pace import Lane
from fetchworker.pace.keys import pace_keys, pause_key

pytestmark = pytest.mark.slow
LAB, OTHER = "https://lab.example", "https://other.example"
LEASES = pace_keys("fetch", Lane("lab.example"))[0]
BRIEF = ("-s", "SCHEDULER_IDLE_BEFORE_CLOSE=1")


class Door:
    """Holds every request until it is opened, and counts how many it holds."""

    def __init__(self) -> None:
        self.open = False
        self.now = self.most = 0

    async def __call__(self, request):
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            while not self.open:  # noqa: ASYNC110 - opened by another thread
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.02)
        finally:
            self.now -= 1
        return text("here\n")


@pytest.fixture
def workers(start, project):
    """Starts so many workers of the shared queue."""

    def run(many: int, *options: str) -> list:
        return [start("fetch", "-O", str(project.folder / f"f{number}.jsonl"), *options) for number in range(many)]

    return run


def until(condition, processes) -> None:
    while not condition():
        for process in processes:
            assert process.poll() is None, process.stderr.read().decode()
        time.sleep(0.05)


def test_two_workers_are_never_more_than_the_limit_at_once(workers, sites, lab, queue, project):
    sites(concurrency=2, pace_scope="shared")
    lab.app = door = Door()
    queue.rpush("fetch:start_urls", *(f"{LAB}/{number}" for number in range(20)))
    started = workers(2, *BRIEF, "-s", "CONCURRENT_REQUESTS=4")
    until(lambda: len({member.partition(b":")[0] for member in queue.zrange(LEASES, 0, -1)}) == 2, started)
    until(lambda: door.now == 2, started)
    door.open = True
    assert [process.wait(60) for process in started] == [0, 0]
    assert door.most == 2
    assert len(project.lines("f0.jsonl")) + len(project.lines("f1.jsonl")) == 20
    assert queue.zrange(LEASES, 0, -1) == [], "all places are given back"


def test_the_delay_lies_between_the_starts_of_two_workers(workers, sites, lab, queue):
    sites(delay=0.2, per_minute=1000)
    queue.rpush("fetch:start_urls", *(f"{LAB}/echo/{number}" for number in range(30)))
    started = workers(2, "-s", "DOWNLOAD_DELAY_JITTER=0", "-s", "CONCURRENT_REQUESTS=2")
    booked = pace_keys("fetch", Lane("lab.example"))[5]  # what Redis has allowed within the last minute
    until(lambda: len({member.partition(b":")[0] for member in queue.zrange(booked, 0, -1)}) == 2, started)
    until(lambda: len(lab.requests) >= 12, started)
    for process in started:
        process.terminate()
        process.communicate(timeout=30)
    starts = [at for _, at in queue.zrange(booked, 0, -1, withscores=True)]
    assert len(starts) >= len(lab.requests)
    assert all(later - earlier >= 200_000 for earlier, later in pairwise(starts))


def test_without_being_told_to_plain_concurrency_is_each_workers_own(workers, sites, lab, queue):
    sites(concurrency=2)
    lab.app = door = Door()
    queue.rpush("fetch:start_urls", *(f"{LAB}/{number}" for number in range(20)))
    started = workers(2, *BRIEF, "-s", "CONCURRENT_REQUESTS=4")
    until(lambda: door.now == 4, started)
    door.open = True
    assert [process.wait(60) for process in started] == [0, 0]
    assert not queue.keys("{fetch:pace}:*"), "and costs nothing"


def test_what_one_worker_is_told_to_wait_holds_for_the_other(sites, lab, queue, start):
    sites(delay=0.01, concurrency=1, backoff={"first": 0.05, "factor": 2, "max": 2, "retry_after_max": 3000})
    lab.app = lambda request: (
        text("later\n", 503, [("retry-after", "2000")]) if request.host == "lab.example" else text("here\n")
    )
    queue.rpush("fetch:start_urls", f"{LAB}/1")
    first = start("fetch")
    pause = pause_key("fetch", Lane("lab.example"), whole_host=True)
    until(lambda: queue.hget(pause, "pause"), [first])
    first.terminate()
    first.communicate(timeout=30)
    queue.rpush("fetch:start_urls", f"{LAB}/2", f"{OTHER}/3")
    second = start("fetch")
    booked = pace_keys("fetch", Lane("lab.example"))[1]
    until(lambda: queue.zcard(booked) and any(request.host == "other.example" for request in lab.requests), [second])
    second.terminate()
    second.communicate(timeout=30)
    assert [request.path for request in lab.requests if request.host == "lab.example"] == ["/1"]
    assert not queue.zcard(booked), "who ends gives its turn back"


def test_a_worker_without_its_redis_keeps_its_own_pace(project, lab, sites):
    sites(delay=0.01)
    project.use(lab)
    project.env |= {"REDIS_URL": f"unix://{project.folder}/nobody.sock", "FETCHWORKER_FRONTIER": "memory"}
    done = project.scrapy("crawl", "fetch", "-a", f"url={LAB}/echo/1", "-O", str(project.folder / "f.jsonl"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("each worker keeps the pace by itself") == 1
    assert len(project.lines("f.jsonl")) == 1
