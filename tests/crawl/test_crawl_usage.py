"""What crawls used, as `scrapy usage` tells it: all workers together, attributed, and as much as the proxy carried."""

from __future__ import annotations

import json

import pytest

from fetchworker.demo.lab import text

#: bytes of a head and a handshake with a proxy, more or less, which its log leaves out
_CONNECT = 700


@pytest.fixture
def usage(project):
    def ask(*options):
        done = project.scrapy("usage", "--json", *options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


@pytest.fixture
def tiers(project, lab):
    """The lab's proxies, of a provider with tiers."""
    entries = [
        {"url": proxy.url, "provider": "evomi", "tier": tier}
        for proxy, tier in zip(lab.exits, ("datacenter", "residential"), strict=True)
    ]
    project.env["FETCHWORKER_PROXIES"] = json.dumps(entries)


def rows(answer, *parts):
    return {tuple(row[part] for part in parts): row for row in answer["rows"]}


def test_all_that_went_through_the_proxies_is_there(serve, tiers, lab, sites, usage):
    sites(proxy="required")
    done = serve(*(f"https://lab.example/bytes/{size}" for size in (1000, 50_000, 200_000)))
    assert len(done.items) == 3
    answer = usage("--by", "provider,tier")
    assert answer["total"]["transfers"] == 3
    assert {row["provider"] for row in answer["rows"]} == {"evomi"}
    carried = lab.log("proxy_closed")
    up, down = sum(each["up"] for each in carried), sum(each["down"] for each in carried)
    assert up < answer["total"]["bytes_up"] <= up + _CONNECT * 3
    assert down * 0.99 < answer["total"]["bytes_down"] <= down + _CONNECT * 3


def test_whose_bytes_they_are(serve, tiers, lab, sites, usage):
    sites(robots="obey", retries=1)
    lab.robots["lab.example"] = lambda: text("User-agent: *\nAllow: /\n")
    done = serve(
        {"url": "https://lab.example/bytes/1000", "session": "ann"},
        "https://lab.example/status/503",
        "https://lab.example/redirect/1",
    )
    assert len(done.items) == 2, done.log
    by = rows(usage("--by", "operation,outcome"), "operation", "outcome")
    assert ("robots", "ok") in by
    assert by["robots", "ok"]["bytes_down"] > 1000
    assert by["fetch", "transient"]["transfers"] == 2, by.keys()
    assert by["fetch", "ok"]["transfers"] >= 2
    sessions = rows(usage("--by", "session"), "session")
    assert sessions["ann",]["bytes_down"] > 1000


def test_failed_tries_are_used_bytes_too(fetch, lab, sites, usage, queue):
    sites(retries=1, proxy="none")
    done = fetch("https://lab.example/truncated")
    assert done.items == []
    by = rows(usage("--by", "provider,outcome"), "provider", "outcome")
    row = by["direct", "data_loss"]
    assert row["transfers"] == 2
    assert row["bytes_down"] > 2000


def test_the_table_is_for_people(fetch, lab, usage, project, queue):
    fetch("https://lab.example/bytes/100000")
    done = project.scrapy("usage", "fetch", "--by", "day,site")
    assert done.returncode == 0
    head, line = done.stdout.splitlines()
    assert head.split() == ["day", "site", "up", "down", "total", "transfers"]
    assert "KiB" in line
    assert line.split()[-1] == "1"
    assert project.scrapy("usage", "--day", "2020-01-01").stdout == "no usage of any site on 2020-01-01\n"


def test_wrong_arguments(project):
    for options, told in (
        (["--day", "yesterday"], "write a day as 2026-11-30"),
        (["nosuchsite"], "no site 'nosuchsite'"),
    ):
        done = project.scrapy("usage", *options)
        assert (done.returncode, done.stdout) == (2, "")
        assert told in done.stderr
        assert "Traceback" not in done.stderr


def test_a_user_of_one_site_s_keys_is_told_what_it_may_not_look_at(project, redis_server):
    redis_server.call("ACL", "SETUSER", "few", "reset", "on", ">pw", "~{fetch:*", "+@all")
    project.env["REDIS_URL"] = redis_server.url.replace("redis://", "redis://few:pw@")
    done = project.scrapy("usage")
    assert done.returncode == 0, done.stderr
    assert "may not look at" in done.stderr
    assert "instagram" in done.stderr
    assert "fetch" not in done.stderr


def test_no_queue_and_no_redis_is_no_trouble(fetch, lab, project):
    project.env["FETCHWORKER_FRONTIER"] = "memory"
    done = fetch("https://lab.example/bytes/1000")
    assert done.code == 0
    assert not (project.folder / "state" / "redis").exists()


@pytest.mark.timeout(180)  # four processes, one after the other
def test_a_budget_ends_the_crawl_and_what_is_not_done_stays_queued(serve, lab, sites, usage, left):
    sites(concurrency=1, budget={"bytes_per_day": "300 KiB"})
    urls = [f"https://lab.example/bytes/{200_000 + number}" for number in range(6)]
    done = serve(*urls)
    assert done.code == 3
    assert "the crawl ends, what is not done is kept" in done.log
    assert "ended (budget)" in done.log
    assert len(done.items) == 2
    assert done.failed == []
    assert len(left()) == 4
    again = serve()
    assert again.code == 3, "another worker on the same day sends nothing"
    assert len(lab.requests) == 2
    assert len(left()) == 4
    sites(budget={"bytes_per_day": "300 MiB"})
    assert serve().code == 0
    assert left() == set()
    assert len(lab.requests) == 6
    assert usage()["total"]["transfers"] == 6


def test_a_budget_without_a_queue_counts_this_process_and_tells_what_is_not_done(fetch, lab, sites, project):
    project.env["FETCHWORKER_FRONTIER"] = "memory"
    sites(proxy="none", budget={"bytes_per_day": 2000})
    done = fetch("https://lab.example/redirect/3")
    assert done.code == 3
    assert [failure["type"] for failure in done.failed] == ["UNFINISHED"]
    assert len(lab.requests) == 1
