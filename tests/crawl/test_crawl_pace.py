"""A site's pace, counted at the server: who waits after Retry-After, and that nobody else does."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter

import pytest

from fetchworker.demo.lab import text

pytestmark = pytest.mark.slow
LAB, OTHER = "https://lab.example", "https://other.example"
#: seconds that a host asks for in these tests: long against the rest of such a crawl
ASKED = 3
BACKOFF = {"first": 0.05, "factor": 2, "max": 2, "retry_after_max": ASKED}
TWO = ("-s", "CONCURRENT_REQUESTS=2")


def refuse_once(lab, status: int, *, asked: int = ASKED) -> list[str]:
    """The first request to lab.example is told to come later; the list holds its exit then."""
    refused: list[str] = []

    def app(request):
        if request.host == "lab.example" and not refused:
            refused.append(request.peer)
            return text("later\n", status, [("retry-after", str(asked))])
        return text("here\n")

    lab.app = app
    return refused


def after_the_refusal(lab) -> list:
    requests = lab.requests
    return requests[next(place for place, request in enumerate(requests) if request.host == "lab.example") + 1 :]


@pytest.mark.parametrize("status", [429, 503])
def test_other_requests_to_the_host_wait_too_and_other_hosts_go_on(serve, lab, sites, status):
    sites(concurrency=1, backoff=BACKOFF)
    refuse_once(lab, status)
    crawl = serve(*(f"{LAB}/{n}" for n in range(4)), *(f"{OTHER}/{n}" for n in range(8)), options=TWO)
    assert len(crawl.items) == 12
    hosts = [request.host for request in after_the_refusal(lab)]
    assert hosts[-4:] == ["lab.example"] * 4, "all of the other host came before"
    assert hosts.count("other.example") > 4


def test_another_exit_goes_on_where_the_site_counts_by_exit(serve, lab, sites):
    sites(pace="identity", concurrency=1, on_block="keep", proxy="required", backoff=BACKOFF)
    refused = refuse_once(lab, 429)
    seeds = [{"url": f"{LAB}/{name}/{n}", "session": name} for n in range(4) for name in ("ann", "bob")]
    crawl = serve(*seeds, options=("-s", "CONCURRENT_REQUESTS=8"))
    assert len(crawl.items) == 8
    exits = [request.peer for request in after_the_refusal(lab)]
    assert Counter(exits) == {refused[0]: 4, next(peer for peer in exits if peer != refused[0]): 4}
    assert exits[-4:] == [refused[0]] * 4, "the one that was asked to wait came last"


def test_a_host_that_is_down_is_down_for_every_exit(serve, lab, sites):
    sites(pace="identity", concurrency=1, on_block="keep", proxy="required", backoff=BACKOFF)
    refuse_once(lab, 503)
    seeds = [{"url": f"{LAB}/{name}/{n}", "session": name} for n in range(3) for name in ("ann", "bob")]
    crawl = serve(*seeds, *(f"{OTHER}/{n}" for n in range(6)), options=("-s", "CONCURRENT_REQUESTS=8"))
    assert len(crawl.items) == 12
    assert [request.host for request in after_the_refusal(lab)][-6:] == ["lab.example"] * 6


def test_a_retry_by_another_exit_does_not_wait_for_what_the_first_was_told(serve, lab, sites):
    sites(pace="identity", concurrency=1, proxy="required", retries=2, backoff={**BACKOFF, "retry_after_max": 3000})
    refused = refuse_once(lab, 429, asked=2000)
    crawl = serve({"url": f"{LAB}/a", "session": "ann"})
    assert crawl.item["attempts"] == 2
    assert lab.requests[-1].peer != refused[0]


class TestUntilStopped:
    """Crawls that would wait for a minute are stopped when all that may come has come."""

    @pytest.fixture
    def until(self, project, lab, queue):
        def run(seeds, options, enough, items: int | None = None) -> str:
            project.use(lab)
            for seed in seeds:
                queue.rpush("fetch:start_urls", seed)
            arguments = ("-O", str(project.folder / "f.jsonl"), *options)
            process = project.start("crawl", "fetch", *arguments)
            while not enough(Counter(request.host for request in lab.requests)):
                assert process.poll() is None, process.stderr.read().decode()
                time.sleep(0.05)
            while len(project.lines("f.jsonl")) < (len(lab.requests) if items is None else items):
                time.sleep(0.05)
            os.kill(process.pid, signal.SIGTERM)
            _, log = process.communicate(timeout=15)
            return log.decode()

        return run

    def test_no_more_than_the_ceiling_start_and_the_rest_goes_back(self, until, sites, lab, left):
        sites(per_minute=2)
        seeds = [*(f"{LAB}/echo/{n}" for n in range(5)), *(f"{OTHER}/echo/{n}" for n in range(2))]
        until(seeds, TWO, lambda seen: seen["lab.example"] >= 2 and seen["other.example"] == 2)
        assert Counter(request.host for request in lab.requests) == {"lab.example": 2, "other.example": 2}
        asked = {f"https://{request.host}{request.path}" for request in lab.requests}
        assert left() == set(seeds) - asked, "what had to wait is the queue's again"

    @pytest.mark.parametrize("written", ["30", "86400"])
    def test_crawl_delay_is_kept_where_robots_txt_is_obeyed(self, until, sites, lab, left, written):
        sites(robots="obey")
        lab.robots["lab.example"] = lambda: text(f"User-agent: *\nCrawl-delay: {written}\n")
        seeds = [*(f"{LAB}/echo/{n}" for n in range(3)), *(f"{OTHER}/echo/{n}" for n in range(3))]
        log = until(seeds, (), lambda seen: seen["lab.example"] >= 1 and seen["other.example"] == 3)
        assert Counter(request.host for request in lab.requests) == {"lab.example": 1, "other.example": 3}
        assert ("30 seconds" if written == "30" else "60 are kept") in log
        assert len(left()) == 2

    def test_a_crawl_that_waits_between_two_tries_ends_when_it_is_told_to(self, until, sites, lab, left):
        sites(backoff={**BACKOFF, "retry_after_max": 3000})
        lab.app = lambda request: text("later\n", 429, [("retry-after", "2000")])
        until([f"{LAB}/1", f"{LAB}/2"], (), lambda seen: seen["lab.example"] >= 1, items=0)
        assert left() == {f"{LAB}/1", f"{LAB}/2"}


def test_crawl_delay_is_nothing_to_who_ignores_robots_txt(serve, lab):
    lab.robots["lab.example"] = lambda: text("User-agent: *\nCrawl-delay: 30\n")
    assert len(serve(*(f"{LAB}/echo/{n}" for n in range(3))).items) == 3
