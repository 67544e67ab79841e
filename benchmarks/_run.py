"""One crawl of one stack in a process of its own: ``_run.py STACK PORT CA BYTES PAGES OUT REDIS``; figures as JSON.

CPU is that of this process between the first request and the end of the crawl, user and system.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import time
from pathlib import Path

STACK, PORT, CA, SIZE, PAGES, OUT, REDIS = (
    sys.argv[1],
    int(sys.argv[2]),
    sys.argv[3],
    int(sys.argv[4]),
    int(sys.argv[5]),
    sys.argv[6],
    sys.argv[7],
)
SESSIONS = 16
ITEM = re.compile(rb'id="item">(\{.*?\})</script>')
URL = f"https://127.0.0.1:{PORT}/page/{SIZE}/"


def cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def rss() -> float:
    """Resident MiB now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class Clock:
    """Figures of the crawl in this process."""

    def __init__(self) -> None:
        self.rss: list[float] = []
        self.seen = 0
        self.wall = self.cpu = 0.0

    def start(self) -> None:
        self.wall, self.cpu = time.perf_counter(), cpu()

    def page(self) -> None:
        self.seen += 1
        if self.seen % max(1, PAGES // 10) == 0:
            self.rss.append(rss())

    def end(self, items: int) -> None:
        wall, used = time.perf_counter() - self.wall, cpu() - self.cpu
        print(
            json.dumps(
                {
                    "pages": self.seen,
                    "items": items,
                    "req_s": self.seen / wall,
                    "cpu_ms": used / self.seen * 1000,
                    "rss": self.rss,
                }
            ),
            flush=True,
        )


CLOCK = Clock()


def run(spider: type, settings: dict, **arguments: str) -> None:
    from scrapy.crawler import AsyncCrawlerProcess
    from scrapy.settings import Settings

    loaded = Settings()
    if STACK.startswith("fetchworker"):
        loaded.setmodule("fetchworker.settings", priority="project")
    loaded.setdict(
        {
            "LOG_LEVEL": "WARNING",
            "CONCURRENT_REQUESTS": SESSIONS,
            "CONCURRENT_REQUESTS_PER_DOMAIN": SESSIONS,
            **settings,
        },
        priority="cmdline",
    )
    loaded.set("FEEDS", {OUT: {"format": "jsonlines", "overwrite": True}}, priority="cmdline")
    process = AsyncCrawlerProcess(loaded)
    crawler = process.create_crawler(spider)
    process.crawl(crawler, **arguments)
    process.start()
    CLOCK.end(crawler.stats.get_value("item_scraped_count", 0))


def stock(settings: dict, meta: dict) -> None:
    from scrapy import Request, Spider

    class PageSpider(Spider):
        name = "pages"

        async def start(self):
            CLOCK.start()
            for number in range(PAGES):
                yield Request(f"{URL}{number}", meta={**meta, "cookiejar": number % SESSIONS}, dont_filter=True)

        def parse(self, response):
            CLOCK.page()
            item = json.loads(ITEM.search(response.body).group(1))
            yield {
                "kind": "post",
                "id": str(item["id"]),
                "text": item["title"],
                "likes": item["likes"],
                "url": response.url,
            }

    run(PageSpider, {"TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False, **settings})


def ours() -> None:
    import orjson

    from fetchworker.contracts import Call, Fetch, Params, Parsed
    from fetchworker.items import Post
    from fetchworker.spiders.base import SiteSpider, operation
    from fetchworker.spiders.operation import Started

    folder = Path(OUT).parent
    (folder / "sites.yaml").write_text(
        f"sites:\n  pages: {{proxy: none, robots: ignore, concurrency: {SESSIONS}, delay: 0}}\n"
    )
    os.environ |= {
        "FETCHWORKER_SITES_FILE": str(folder / "sites.yaml"),
        "FETCHWORKER_CA_FILE": CA,
        "FETCHWORKER_STATE_DIR": str(folder / "state"),
        "FETCHWORKER_EGRESS_ALLOW": f"127.0.0.1:{PORT}",
        "FETCHWORKER_FRONTIER": "redis" if STACK == "fetchworker-redis" else "memory",
    }
    if REDIS:
        os.environ["REDIS_URL"] = REDIS

    class PageParams(Params):
        number: int

    def parse(page, call):
        CLOCK.page()
        item = orjson.loads(ITEM.search(page.body).group(1))
        return Parsed([Post.draft(id=str(item["id"]), text=item["title"], likes=item["likes"])])

    class PagesSpider(SiteSpider):
        name = "pages"

        @operation(parse=parse, params=PageParams)
        def page(self, call):
            yield Fetch("page", f"{URL}{call.params.number}")

        async def start(self):
            CLOCK.start()
            for number in range(PAGES):
                yield self.request(
                    Started(Call("page", PageParams(number=number)), session=f"bench-{number % SESSIONS}")
                )

    run(PagesSpider, {"SPIDER_MODULES": []}, number="0", operation="page")


class AtOnce:
    """A handler that answers without a network."""

    lazy = False

    def __init__(self, crawler) -> None:
        from fetchworker.demo.bench import page

        self._body = page(SIZE, 7)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    async def download_request(self, request):
        from scrapy.http import HtmlResponse

        return HtmlResponse(
            request.url, headers={"content-type": "text/html; charset=utf-8"}, body=self._body, request=request
        )

    async def close(self) -> None:
        pass


IMPERSONATE = dict.fromkeys(("http", "https"), "scrapy_impersonate.ImpersonateDownloadHandler")
AS_CHROME = {"impersonate": "chrome", "impersonate_args": {"verify": False}}

match STACK:
    case "fetchworker" | "fetchworker-redis":
        ours()
    case "default":
        stock({}, {})
    case "impersonate":
        stock({"DOWNLOAD_HANDLERS": IMPERSONATE}, AS_CHROME)
    case "scrapy-redis":
        queue = {
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "REDIS_URL": REDIS,
        }
        stock({"DOWNLOAD_HANDLERS": IMPERSONATE, **queue}, AS_CHROME)
    case "ceiling":
        stock({"DOWNLOAD_HANDLERS": {"http": AtOnce, "https": AtOnce}}, {})
