"""Whole crawls of a site with a pool: scopes, workers together, workers that die, sessions for one alone."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections import Counter, defaultdict

import pytest

from fetchworker.demo import tiktok_shop
from fetchworker.demo.lab import text

pytestmark = pytest.mark.slow
URL = "https://lab.example"
MUG = str(tiktok_shop.FIRST + 2)
POOL = {"max_total": 2, "max_idle": 2}
HEAD = "fw:pool:{fetch}"


class Visitors:
    """A site that gives every visitor a cookie, and notes who asked for what."""

    def __init__(self):
        self.lock = threading.Lock()
        self.visits = defaultdict(list)
        self.made = 0

    def __call__(self, request):
        names = [pair.removeprefix("who=") for pair in (request.header("cookie") or "").split("; ")]
        with self.lock:
            if names[0]:
                who, told = names[0], ()
            else:
                self.made += 1
                who = f"v{self.made}"
                told = (("Set-Cookie", f"who={who}"),)
            self.visits[who].append(request.path)
        return text(who, headers=told)


@pytest.fixture
def visitors(lab):
    lab.app = Visitors()
    return lab.app


@pytest.fixture
def short_leases(project):
    project.env["FETCHWORKER_LEASE"] = "1.5"


def test_calls_share_the_sessions_of_the_pool(sites, serve, queue, visitors):
    sites(pool=POOL)
    done = serve(*(f"{URL}/{n}" for n in range(12)))
    assert done.code == 0, done.log
    assert len(done.items) == 12
    assert 1 <= len(visitors.visits) <= 2, "so many sessions there are"
    assert sum(map(len, visitors.visits.values())) == 12
    assert queue.zcard(f"{HEAD}:leases") == 0
    assert queue.zcard(f"{HEAD}:idle:main") == len(visitors.visits)
    assert int(queue.hget(HEAD, "made")) == len(visitors.visits)


def test_a_small_pool_serves_many_calls(sites, serve, visitors):
    """More requests than sessions and places wait in turn, and none fails for it."""
    sites(pool={"max_total": 1, "max_idle": 1, "wait": 20}, concurrency=8)
    done = serve(*(f"{URL}/{n}" for n in range(60)))
    assert done.code == 0, done.log
    assert len(done.items) == 60
    assert not done.failed
    assert len(visitors.visits) == 1


def test_without_redis_the_pool_is_the_crawls_own(sites, fetch, visitors, project):
    sites(pool=POOL)
    project.env["FETCHWORKER_FRONTIER"] = "memory"
    assert fetch(f"{URL}/x").code == 0
    assert not (project.folder / "state" / "redis").exists(), "no Redis was started for it"


def test_other_numbers_than_those_of_a_living_worker_end_the_crawl(sites, start, serve, queue):
    sites(pool=POOL)
    queue.rpush("fetch:start_urls", f"{URL}/one")
    running = start("fetch")
    while not queue.exists(f"{HEAD}:workers"):
        assert running.poll() is None
    sites(pool={"max_total": 9, "max_idle": 2})
    done = serve(f"{URL}/two")
    assert done.code == 1
    assert "sites.fetch.pool.max_total is 9 here and 2 there" in done.log
    assert "pool_conflict" in done.log


@pytest.mark.usefixtures("short_leases")
def test_what_a_killed_worker_held_comes_back(sites, start, serve, queue, lab):
    sites(pool={"max_total": 1, "max_idle": 1, "lease": 1.5, "wait": 20})
    held, let_go = threading.Event(), threading.Event()

    async def app(request):
        if not held.is_set():
            held.set()
            await asyncio.to_thread(let_go.wait, 30)
        return text("ok")

    lab.app = app
    queue.rpush("fetch:start_urls", f"{URL}/held")
    worker = start("fetch")
    assert held.wait(30), worker.poll()
    leased = queue.zrange(f"{HEAD}:leases", 0, -1)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    let_go.set()
    done = serve()
    assert done.code == 0, done.log
    assert [item["url"] for item in done.items] == [f"{URL}/held"]
    assert int(queue.hget(HEAD, "lapsed")) == 1
    assert queue.zrange(f"{HEAD}:born:main", 0, -1) == leased, "the very session, wherever it rests now"
    assert not queue.exists(f"{HEAD}:leases")


def test_a_session_for_one_alone_is_no_other_workers_meanwhile(sites, start, lab, queue, project):
    """Two workers, each of which asks that `ann` be its own: the site never has two of her requests at once."""
    sites(pool=None)
    project.env["FETCHWORKER_LEASE"] = "5"
    inside, most, lock = [0], [0], threading.Lock()

    async def app(request):
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        await asyncio.sleep(0.05)
        with lock:
            inside[0] -= 1
        return text("ok")

    lab.app = app
    for n in range(10):
        queue.rpush("fetch:start_urls", json.dumps({"url": f"{URL}/{n}", "session": "ann", "exclusive": True}))
    workers = [start("fetch", "-s", "SCHEDULER_IDLE_BEFORE_CLOSE=1") for _ in range(2)]
    for worker in workers:
        _, log = worker.communicate(timeout=80)
        assert worker.returncode == 0, log.decode()
    assert len(lab.requests) == 10
    assert most[0] == 1
    assert queue.exists("fw:session:{fetch}:ann")
    assert not queue.exists(f"{HEAD}:lock:ann")


# A chain


@pytest.fixture
def shop(project, calm, queue):
    """Crawls the shop with a pool; the process's end, the lines, and the sessions of the pool."""
    project.use(calm)

    def run(*arguments, **pool):
        path = project.folder / "sites.yaml"
        sites = json.loads(path.read_text())["sites"]
        told = {"prefer": "oldest", "max_total": 5, **pool}
        sites["tiktok_shop"] = {**sites["tiktok_shop"], "warmup": True, "pool": told}
        path.write_text(json.dumps({"sites": sites}))
        pairs = [part for argument in arguments for part in ("-a", argument)]
        done = project.scrapy("crawl", "tiktok_shop", *pairs, "-O", str(project.folder / "out.jsonl"))
        assert "Traceback" not in done.stderr, done.stderr
        return done, project.lines("out.jsonl"), _sessions(queue)

    return run


def _sessions(queue):
    keys = sorted(queue.scan_iter("fw:pool:{tiktok_shop}:s:*"))
    return [{name.decode(): value.decode() for name, value in queue.hgetall(key).items()} for key in keys]


def test_a_chain_has_one_identity_over_its_legs_and_gives_it_back(shop, calm):
    done, items, sessions = shop("operation=reviews", f"product={MUG}")
    assert done.returncode == 0, done.stderr
    assert Counter(item["kind"] for item in items) == {"review": 45, "page": 4}
    (one,) = sessions
    assert (one["uses"], "owner" in one) == ("1", False)
    done, items, sessions = shop("operation=reviews", f"product={MUG}")
    assert [session["uses"] for session in sessions] == ["2"], "the next call has it again"
    warmups = [record for record in calm.log("request") if record["path"] == "/"]
    assert len(warmups) == 1, "and it is warm"
