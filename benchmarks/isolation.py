"""Do identities stay apart? Sessions and stateless tries with retries, redirects, rotations and images, by two proxies
and one gateway with many users, against a server that logs what a site could see; then the log is searched.

    python benchmarks/isolation.py [--requests 10000] [--sessions 50]

Prints figures as JSON; exit code 1 if anything ties two identities together or tears one apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from fetchworker.contracts import Fetch, Params, Parsed
from fetchworker.demo.isolation import IDENTITY, MarkingSite, identity_of, violations
from fetchworker.demo.proxy import ProxyServer
from fetchworker.demo.redis import RedisServer
from fetchworker.demo.server import UpstreamServer
from fetchworker.download.wire import WIRE
from fetchworker.spiders.base import SiteSpider, operation

HOSTS = ("lab.example", "other.example")
HERE, THERE = (f"https://{host}" for host in HOSTS)
#: destination and address of one visit's requests; the page before is their referer
VISIT = (
    ("navigate", f"{HERE}/page"),
    ("image", f"{HERE}/image"),
    ("image", f"{THERE}/image"),
    ("xhr", f"{HERE}/data"),
    ("navigate", f"{HERE}/flaky"),
    ("navigate", f"{HERE}/hops"),
    ("navigate", f"{HERE}/blocked"),
)


class Stamp:
    """Puts the identity that the session middleware chose on each try, between it and the one that dresses."""

    async def process_request(self, request: Request) -> None:
        request.headers[IDENTITY] = request.meta[WIRE].session.identity


class Nothing(Params):
    name: str = "x"


class IsolationSpider(SiteSpider):
    """Stays open; the visits below send the requests."""

    name = "fetch"

    @operation(parse=lambda _page, _call: Parsed([]), params=Nothing, default_for=("name",))
    def nothing(self, call: Any) -> Any:
        yield Fetch("nothing", HERE)

    async def start(self) -> Any:
        self.ended = asyncio.Event()
        await self.ended.wait()
        return
        yield


async def visit(crawler: Crawler, session: str | None, number: int, failed: list[str]) -> None:
    """One person's visit: a page, its parts, what goes wrong on the way."""
    for destination, url in VISIT:
        meta = {"fw_destination": destination, "fw_referer": None if url.endswith("/page") else f"{HERE}/page"}
        meta |= {"fw_session": session} if session else {}
        request = Request(f"{url}?{number}", meta=meta, dont_filter=True)
        try:
            await crawler.engine.download_async(request)
        except Exception as exc:  # noqa: BLE001  # a stateless try may be refused to its last; what counts is the log
            failed.append(f"{type(exc).__name__}: {exc}")


async def people(crawler: Crawler, log: Any, wanted: int, sessions: int) -> list[str]:
    """Visits by all sessions at once, and by strangers among them, until so many requests have come."""
    failed: list[str] = []

    async def one(session: str | None, first: int) -> None:
        number = first
        while log.request_count < wanted:
            await visit(crawler, session, number, failed)
            number += sessions

    guests = max(1, sessions // 5)
    names = [*(f"s{number}" for number in range(sessions)), *[None] * guests]
    await asyncio.gather(*(one(name, place) for place, name in enumerate(names)))
    return failed


def settings() -> Settings:
    made = Settings()
    made.setmodule("fetchworker.settings", priority="project")
    middlewares = {**made.getdict("DOWNLOADER_MIDDLEWARES"), Stamp: 725}
    own = {"ADDONS": {}, "SPIDER_MODULES": [], "ASYNCIO_EVENT_LOOP": None, "EXTENSIONS": {}, "LOG_ENABLED": False}
    made.setdict({**own, "DOWNLOADER_MIDDLEWARES": middlewares}, priority="cmdline")
    return made


async def run(wanted: int, sessions: int) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        redis = stack.enter_context(RedisServer())
        # connections that end soon make clients come back with their tickets
        server = await stack.enter_async_context(UpstreamServer(MarkingSite(HOSTS), hosts=HOSTS, goaway_after=5))
        exits = [{"source": f"127.0.0.{11 + number}"} for number in range(2)] + [{"gateway": True}]
        proxies = [
            await stack.enter_async_context(ProxyServer(server.host_map(), log=server.log, **options))
            for options in exits
        ]
        users = [proxies[-1].url_for(f"user-session{number}") for number in range(20)]
        backoff = {"first": 0.01, "factor": 1, "max": 0.02, "retry_after_max": 0}
        entry = {"proxy": "required", "robots": "ignore", "retries": 4, "backoff": backoff, "concurrency": 32}
        (folder / "sites.yaml").write_text(json.dumps({"sites": {"fetch": entry}}))
        told = {
            "SITES_FILE": str(folder / "sites.yaml"), "STATE_DIR": str(folder / "state"),
            "CA_FILE": server.ca_pem_path, "REDIS_URL": redis.url, "PROXY_COOLDOWN": "0",
            "PROXIES": "\n".join([*(proxy.url for proxy in proxies[:-1]), *users]),
        }  # fmt: skip
        os.environ.update({f"FETCHWORKER_{name}": value for name, value in told.items()})
        began = time.perf_counter()
        failed = await crawl(server.log, wanted, sessions)
        return figures(server.log, failed, time.perf_counter() - began)


async def crawl(log: Any, wanted: int, sessions: int) -> list[str]:
    crawler, opened = Crawler(IsolationSpider, settings()), asyncio.Event()

    def note() -> None:
        opened.set()

    crawler.signals.connect(note, signals.spider_opened)
    task = asyncio.create_task(crawler.crawl_async(name="x"))
    waiting = asyncio.create_task(opened.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        waiting.cancel()
        await task
    while not hasattr(crawler.spider, "ended"):  # noqa: ASYNC110  # nothing tells
        await asyncio.sleep(0)
    try:
        return await people(crawler, log, wanted, sessions)
    finally:
        crawler.spider.ended.set()
        await task


def figures(log: Any, failed: list[str], seconds: float) -> dict[str, Any]:
    records = log.records()
    connections = [record for record in records if record["type"] == "connection"]
    requests = [record for record in records if record["type"] == "request"]
    return {
        "requests": len(requests),
        "identities": len({identity_of(record) for record in requests}),
        "exits": len({record["peer"] for record in requests}),
        "connections": len(connections),
        "resumed": sum(record["resumed"] for record in connections),
        "with_cookies": sum(any(name == "cookie" for name, _ in record["headers"]) for record in requests),
        "failed": len(failed),
        "failures": sorted(set(failed))[:3],
        "seconds": round(seconds, 1),
        "violations": violations(records),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--requests", type=int, default=10_000, help="how many are sent at least (default: 10000)")
    parser.add_argument("--sessions", type=int, default=50, help="how many named sessions there are (default: 50)")
    told = parser.parse_args()
    result = asyncio.run(run(told.requests, told.sessions))
    print(json.dumps(result, indent=2))
    sys.exit(1 if result["violations"] else 0)
