"""Does each identity's cookie come by the identity's own exit, whatever happens on the way?

A crawl of many requests, of names and of strangers, with retries, blocks, redirects and pictures, through two gateways
that give each token an exit of its own. The site gives every newcomer a cookie and knows by which address it was
fetched; whoever brings it by another one is a violation. Everything runs on this machine.

    python benchmarks/exits.py --requests 10000
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from fetchworker.demo import GatewayServer, UpstreamServer
from fetchworker.demo.model import Reply
from fetchworker.demo.redis import RedisServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response

    from fetchworker.demo.model import RequestInfo

SITE = "https://lab.example"
NAMES = 50
BACKOFF = {"first": 0.01, "factor": 2, "max": 0.2, "retry_after_max": 0.1}
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(64)


class Custodian:
    """Gives newcomers a cookie and remembers the address that each was given by."""

    def __init__(self) -> None:
        self.homes: dict[str, str] = {}
        self.violations: list[tuple[str, str, str]] = []
        self.seen: Counter[str] = Counter()
        self._visits: Counter[str] = Counter()

    def __call__(self, request: RequestInfo) -> Reply:
        who = request.cookies().get("who")
        headers: list[tuple[str, str]] = [("content-type", "text/html")]
        if who is None:
            who = f"v{len(self.homes) + 1}"
            self.homes[who] = request.peer
            headers.append(("set-cookie", f"who={who}; Path=/"))
        elif self.homes.get(who) != request.peer:
            self.violations.append((who, self.homes.get(who, "nowhere"), request.peer))
        return self._answer(request, headers)

    def _answer(self, request: RequestInfo, headers: list[tuple[str, str]]) -> Reply:
        kind, _, rest = request.route.lstrip("/").partition("/")
        self._visits[request.path] += 1
        self.seen[kind] += 1
        first = self._visits[request.path] == 1
        number = int(rest.partition("/")[0] or 0)
        if kind == "page" and first and number % 7 == 0:
            return Reply(503, headers, b"busy")
        if kind == "page" and first and number % 11 == 0:
            return Reply(403, headers, b"no")
        if kind == "page" and number % 5 == 0:
            return Reply(302, [*headers, ("location", f"/end/{number}")], b"")
        if kind == "picture":
            return Reply(200, [("content-type", "image/png"), *headers[1:]], PICTURE)
        return Reply(200, headers, f"<p>page {number}</p>".encode())


class Walk(scrapy.Spider):
    """Names and strangers in turn; each page's picture is fetched by the identity that had the page."""

    name = "walk"
    pages = 0
    failed = 0

    async def start(self) -> AsyncIterator[Any]:
        for number in range(1, self.pages + 1):
            meta = {"fw_session": f"n{number % NAMES}"} if number % 3 else {}
            yield scrapy.Request(f"{SITE}/page/{number}", meta=meta, errback=self.lost, dont_filter=True)

    def parse(self, response: Response) -> Iterator[Any]:
        number = response.url.rpartition("/")[2]
        meta: dict[str, Any] = {"fw_media": True, "fw_destination": "image"}
        name = response.meta.get("fw_session")
        if name:
            meta["fw_session"] = name
        else:
            meta["fw_identity"] = response.meta["fw_wire"].session
        yield scrapy.Request(
            f"{SITE}/picture/{number}", self.done, meta=meta, errback=self.lost, dont_filter=True, priority=1
        )

    def done(self, response: Response) -> None:
        """The picture is there."""

    def lost(self, failure: Any) -> None:
        """A request that came to nothing."""
        self.failed += 1
        self.logger.warning("lost: %s", failure)


async def measure(pages: int, folder: Path, redis_url: str) -> dict[str, Any]:
    """Run the crawl; what was seen."""
    site = Custodian()
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(UpstreamServer(site, hosts=("lab.example",)))
        gateways = [
            await stack.enter_async_context(GatewayServer(server.host_map(), network=60 + number, **options))
            for number, options in enumerate(({"product": "datacenter"}, {"provider": "decodo"}))
        ]
        _configure(folder, server, gateways, redis_url)
        crawler = Crawler(Walk, _settings())
        started = time.monotonic()
        await crawler.crawl_async(pages=pages)
        seconds = time.monotonic() - started
    stats = crawler.stats.get_stats()
    assert isinstance(crawler.spider, Walk)
    return {
        "requests": sum(site.seen.values()),
        "seen": dict(site.seen),
        "identities": len(site.homes),
        "exits": sum(len(gateway.exits) for gateway in gateways),
        "retries": sum(value for name, value in stats.items() if name.startswith("fetchworker/retry/")),
        "rotated": stats.get("fetchworker/rotated/walk", 0),
        "lost": crawler.spider.failed,
        "violations": len(site.violations),
        "shown": site.violations[:5],
        "seconds": round(seconds, 1),
    }


def _configure(folder: Path, server: UpstreamServer, gateways: list[GatewayServer], redis_url: str) -> None:
    entry = {"proxy": "required", "robots": "ignore", "concurrency": 16, "retries": 4, "backoff": BACKOFF}
    (folder / "sites.yaml").write_text(json.dumps({"sites": {"walk": entry}}))
    told = {
        "SITES_FILE": str(folder / "sites.yaml"),
        "STATE_DIR": str(folder / "state"),
        "CA_FILE": server.ca_pem_path,
        "HOST_MAP": json.dumps(server.host_map()),
        "PROXIES": "\n".join(gateway.entry() for gateway in gateways),
        "REDIS_URL": redis_url,
        "FRONTIER": "memory",
    }
    os.environ |= {f"FETCHWORKER_{name}": value for name, value in told.items()}


def _settings() -> Settings:
    settings = Settings()
    settings.setmodule("fetchworker.settings", priority="project")
    own = {
        "ADDONS": {}, "SPIDER_MODULES": [], "ASYNCIO_EVENT_LOOP": None, "EXTENSIONS": {}, "LOG_LEVEL": "ERROR",
        "CONCURRENT_REQUESTS": 16, "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    }  # fmt: skip
    settings.setdict(own, priority="cmdline")
    return settings


def main() -> int:
    """Run the command line; 1 where a cookie came by another exit, or a request was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000, help="about so many in all (default: 10000)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, RedisServer() as redis:
        # a page brings a picture; two in five are redirected, refused or busy first
        found = asyncio.run(measure(max(1, options.requests * 10 // 24), Path(folder), redis.url))
    print(json.dumps(found))
    return 1 if found["violations"] or found["lost"] else 0


if __name__ == "__main__":
    sys.exit(main())
