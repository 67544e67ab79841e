"""Crawls of one process that write down what Scrapy does, and when our scheduler takes a request for done.

Usage: contract.py loop|reactor NAME... (REDIS_URL and the queue's settings in the environment); prints a JSON object.
The engine's heartbeat is off: a crawl that nothing else wakes does not end.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from scrapy import Request, Spider, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.exceptions import CloseSpider, DontCloseSpider, DropItem, IgnoreRequest
from scrapy.utils.request import RequestFingerprinter

from fetchworker.frontier.codec import LEASE
from fetchworker.frontier.scheduler import Scheduler

ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 3600.0
MANY = 50_000
NOWHERE = "http://127.0.0.1:1/nowhere"


class Site(BaseHTTPRequestHandler):
    """/NAME: 200; /busy…: 503 the first time; /to/NAME: a redirect; robots.txt forbids /private."""

    seen: ClassVar[set[str]] = set()
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status, headers, body = 200, {}, b"page"
        if self.path == "/robots.txt":
            body = b"User-agent: *\nDisallow: /private\n"
        elif self.path.startswith("/to/"):
            status, headers = 302, {"Location": self.path[3:]}
        elif self.path.startswith("/busy") and self.path not in self.seen:
            status = 503
        self.seen.add(self.path)
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
SITE = f"http://127.0.0.1:{server.server_port}"


def short(url: str) -> str:
    return url.removeprefix("data:,").removeprefix(SITE)


class Noting(Scheduler):
    """Says how each request ended: done, back or failed, with what, and how many were on the lease."""

    def next_request(self):
        request = super().next_request()
        if request is not None:
            self.spider.told("out", short(request.url))
        return request

    def _ended(self, request, lease):
        how = "back" if lease.back else "done" if lease.error is None else f"failed {type(lease.error).__name__}"
        self.spider.told(how, short(request.url), lease.token)
        super()._ended(request, lease)


class Pipeline:
    @classmethod
    def from_crawler(cls, crawler):
        made = cls()
        made.crawler = crawler
        return made

    async def process_item(self, item):
        if item == {"n": "drop"}:
            raise DropItem("wrong")
        if item == {"n": "break"}:
            raise ZeroDivisionError("oops")
        for _ in range(20):
            await asyncio.sleep(0.001)
        self.crawler.spider.told("stored", item["n"])
        return item


class Middleware:
    async def process_spider_output(self, response, result):
        async for output in result:
            if output == {"n": "refused"}:
                raise LookupError("not this one")
            yield output


class Ignoring:
    async def process_request(self, request):
        if request.url == "data:,ignored":
            raise IgnoreRequest


class Fingerprinter(RequestFingerprinter):
    def fingerprint(self, request):
        if request.url == "data:,faceless":
            raise TypeError("no fingerprint")
        return super().fingerprint(request)


class Crawl(Spider):
    start_pages = ("data:,a",)
    custom_settings: ClassVar = {}

    async def start(self):
        for url in self.start_pages:
            yield Request(url)

    def told(self, what, which, token=None):
        self.notes.append([what, which, token])

    def parse(self, response):
        self.told("page", short(response.url))
        yield from self.read(response, short(response.url))

    def read(self, response, name):
        return ()


class Order(Crawl):
    """Items, a child in between, on a slow pipeline."""

    def read(self, response, name):
        if name == "a":
            yield {"n": 1}
            yield Request("data:,b")
            yield {"n": 2}


class Errback(Crawl):
    async def start(self):
        yield Request(NOWHERE, errback=self.missing, meta={"dont_retry": True})

    async def missing(self, failure):
        self.told("errback", short(failure.request.url))
        yield {"n": 1}
        yield Request("data:,b")


class Unanswered(Crawl):
    async def start(self):
        yield Request(NOWHERE, meta={"dont_retry": True})


class Unsilenced(Crawl):
    """An errback that only looks."""

    async def start(self):
        yield Request(NOWHERE, errback=self.look, meta={"dont_retry": True})

    def look(self, failure):
        return failure


class ErrbackRaises(Crawl):
    async def start(self):
        yield Request(NOWHERE, errback=self.look, meta={"dont_retry": True})

    def look(self, failure):
        raise KeyError("in the errback")


class RaisesBefore(Crawl):
    def parse(self, response):
        raise KeyError("at once")


class RaisesAfter(Crawl):
    def read(self, response, name):
        if name == "a":
            yield {"n": 1}
            yield Request("data:,b")
            raise KeyError("later")


class RaisesOnce(Crawl):
    tries = 0

    def read(self, response, name):
        self.tries += 1
        if self.tries == 1:
            raise KeyError("once")
        yield {"n": self.tries}


class RaisesInMiddleware(Crawl):
    def read(self, response, name):
        yield {"n": "refused"}


class Drops(Crawl):
    def read(self, response, name):
        yield {"n": "drop"}


class Breaks(Crawl):
    def read(self, response, name):
        yield {"n": "break"}


class Ignored(Crawl):
    start_pages = ("data:,ignored",)


class Robots(Crawl):
    start_pages = (f"{SITE}/private", f"{SITE}/open")
    custom_settings: ClassVar = {"ROBOTSTXT_OBEY": True}


class Inline(Crawl):
    """Further pages within a callback, one of them its own request again."""

    start_pages = (f"{SITE}/inline",)

    async def parse(self, response):
        self.told("page", "/inline")
        for request in (Request(f"{SITE}/to/inner", meta=response.meta), response.request):
            got = await self.crawler.engine.download_async(request)
            self.told("inner", short(got.url))
        yield {"n": 1}
        yield Request("data:,b")


class Neighbours(Crawl):
    """Pages that are retried beside a callback which downloads and fails in the end."""

    start_pages = (f"{SITE}/inline", *(f"{SITE}/busy/{number}" for number in range(6)))
    custom_settings: ClassVar = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}

    async def parse(self, response):
        self.told("page", short(response.url))
        if response.url.endswith("/inline"):
            await self.crawler.engine.download_async(Request(f"{SITE}/inner", dont_filter=True))
            raise KeyError("after all")
        yield {"n": short(response.url)}


class Closes(Crawl):
    """CloseSpider is the callback's own will: its page is done."""

    def read(self, response, name):
        yield {"n": 1}
        raise CloseSpider("enough")


class Carried(Crawl):
    start_pages = (f"{SITE}/to/there", f"{SITE}/busy")


class Extension(Crawl):
    """Requests that belong to no page: of a signal, of a task beside."""

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        made = super().from_crawler(crawler, *args, **kwargs)
        made.more = [Request("data:,of-idle")]
        crawler.signals.connect(made.idle, signals.spider_idle)
        crawler.signals.connect(made.opened, signals.spider_opened)
        return made

    async def opened(self):
        self.task = asyncio.create_task(self.beside())

    async def beside(self):
        await asyncio.sleep(0)
        self.crawler.engine.crawl(Request("data:,of-task"))

    def idle(self):
        if self.more:
            self.crawler.engine.crawl(self.more.pop())
            raise DontCloseSpider


class Many(Crawl):
    def read(self, response, name):
        if name != "a":
            raise CloseSpider("enough")
        for number in range(MANY):
            yield Request(f"data:,{number}")


class Lambda(Crawl):
    def read(self, response, name):
        yield {"n": 1}
        yield Request("data:,b", callback=lambda _: None)


class Faceless(Crawl):
    custom_settings: ClassVar = {"REQUEST_FINGERPRINTER_CLASS": Fingerprinter}

    def read(self, response, name):
        yield Request("data:,faceless")


class Copies(Crawl):
    """Children that are made of their page's meta, and one that is its page's request."""

    def read(self, response, name):
        self.told("lease", name, response.meta[LEASE])
        if name == "a":
            yield Request("data:,b", meta=response.meta)
            yield response.request.replace(url="data:,c")
        if name == "b" and "again" not in response.meta:
            response.request.meta["again"] = True
            response.request.dont_filter = True
            yield response.request


class Duplicates(Crawl):
    start_pages = ("data:,a", "data:,a", "data:,b")

    def read(self, response, name):
        if name == "a":
            yield Request("data:,b")
            yield Request("data:,b", dont_filter=True)
            yield Request("data:,c")
        if name == "c" and not response.meta.get("again"):
            yield response.request.replace(dont_filter=True, meta={"again": True})


def of(name: str) -> type[Crawl]:
    return {cls.__name__: cls for cls in Crawl.__subclasses__()}[name]


def settings(mode: str) -> dict:
    return {
        "LOG_LEVEL": "INFO",
        "TELNETCONSOLE_ENABLED": False,
        "TWISTED_REACTOR_ENABLED": mode == "reactor",
        "SCHEDULER": Noting,
        "DUPEFILTER_CLASS": "fetchworker.frontier.dupefilter.RFPDupeFilter",
        "SPIDER_MIDDLEWARES": {"fetchworker.exports.completion.CompletionMiddleware": 10, Middleware: 500},
        "DOWNLOADER_MIDDLEWARES": {Ignoring: 50},
        "ITEM_PIPELINES": {Pipeline: 100},
    }


def main(mode: str, *names: str) -> None:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    process, found = AsyncCrawlerProcess(settings(mode)), {}
    for name in names:
        spidercls = of(name)
        spidercls.name, spidercls.notes = name.lower(), []
        crawler = process.create_crawler(spidercls)
        found[name] = crawler, spidercls
        process.crawl(crawler)
    process.start()
    told = {
        name: {
            "notes": cls.notes,
            "reason": crawler.stats.get_value("finish_reason"),
            "filtered": crawler.stats.get_value("dupefilter/filtered", 0),
        }
        for name, (crawler, cls) in found.items()
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
