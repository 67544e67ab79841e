"""Crawls and the Redis that they share: how many connections, and what is said when it is the wrong one."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from fetchworker.demo.redis import RedisServer

pytestmark = pytest.mark.slow
# four crawls in one process; tells the connections before and after all were cut, and at the end
CRAWLS = """
import asyncio, json, sys
import redis
from scrapy import Spider
from scrapy.crawler import AsyncCrawlerProcess, AsyncCrawlerRunner
from fetchworker.runtime import Runtime

url, mode = sys.argv[1:]
server, counts = redis.Redis.from_url(url, protocol=2), []

def count():
    counts.append(sum(each["name"] == "fetchworker" for each in server.client_list()))

class Other(Spider):
    name = "other"
    met = None

    async def start(self):
        Other.met = Other.met or asyncio.Barrier(4)
        client = await Runtime.of(self.crawler).redis()
        for _ in range(2):
            await asyncio.gather(*(client.incr("{other}:count") for _ in range(100)))
            async with Other.met as place:
                if place == 0:
                    count()
                    server.client_kill_filter(_type="normal", skipme=True)
            await Other.met.wait()
        for nothing in ():
            yield nothing

settings = {"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False}

async def run():
    runner = AsyncCrawlerRunner({**settings, "TWISTED_REACTOR_ENABLED": False})
    await asyncio.gather(*(runner.crawl(Other) for _ in range(4)))

if mode == "loop":
    asyncio.run(run())
else:
    process = AsyncCrawlerProcess(settings)
    for _ in range(4):
        process.crawl(Other)
    process.start()
count()
print(json.dumps([counts, int(server.get("{other}:count"))]))
"""


@pytest.mark.parametrize("mode", ["loop", "reactor"])
def test_crawls_of_one_process_share_two_connections(project, redis_server, mode):
    project.env["REDIS_URL"] = redis_server.url
    done = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", CRAWLS, redis_server.url, mode],
        env=project.environment(),
        cwd=project.folder,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.stdout, done.stderr
    (before, after, ended), sum_of_all = json.loads(done.stdout.splitlines()[-1])
    assert before == 2
    assert 1 <= after <= 2
    assert ended == 0
    assert sum_of_all == 800


def refused(project, url: str, patience: str) -> str:
    project.env |= {"REDIS_URL": url, "FETCHWORKER_REDIS_PATIENCE": patience}
    done = project.scrapy("crawl", "fetch")
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "secretword" not in done.stderr
    return done.stderr


def test_a_worker_says_what_is_wrong_with_sentinels(project, redis_sentinel):
    told = refused(project, redis_sentinel.url_of("other"), "60")
    assert "scrapy crawl fetch: Redis at redis+sentinel://" in told
    assert "the sentinels know no service 'other'; they know: main" in told


def test_a_worker_says_what_is_wrong_with_a_cluster(project, redis_server):
    told = refused(project, f"redis+cluster://127.0.0.1:{redis_server.port}", "60")
    assert "it is no cluster: write redis://" in told


@pytest.mark.parametrize("form", ["redis+cluster://ada:secretword@{}", "redis+sentinel://ada:secretword@{}/main"])
def test_a_worker_waits_for_nobody_for_ever(project, form):
    with RedisServer() as server:
        pass
    told = refused(project, form.format(f"127.0.0.1:{server.port}"), "0.1")
    assert "scrapy crawl fetch: no Redis at redis+" in told
