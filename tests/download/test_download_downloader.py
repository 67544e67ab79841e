"""Concurrency and delay, counted where they matter: at the server."""

from __future__ import annotations

import asyncio
import time

import pytest
from scrapy import Request, Spider, signals
from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.exceptions import DownloadFailedError, DownloadTimeoutError
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.test import get_crawler

from fetchworker.demo.lab import text
from fetchworker.demo.model import HangUp
from fetchworker.demo.server import UpstreamServer
from fetchworker.download.downloader import Downloader

HOSTS = ("lab.example", "other.example")


class Counter:
    """Holds every request for a moment and counts how many it holds, by host."""

    def __init__(self) -> None:
        self.now: dict[str, int] = {}
        self.most: dict[str, int] = {}
        self.times: list[float] = []

    async def __call__(self, request):
        host = request.host
        self.times.append(time.monotonic())
        self.now[host] = self.now.get(host, 0) + 1
        self.most[host] = max(self.most.get(host, 0), self.now[host])
        try:
            if request.route == "/close":
                raise HangUp
            await asyncio.sleep(0.03)
        finally:
            self.now[host] -= 1
        return text("late\n")


@pytest.fixture
def counter():
    return Counter()


@pytest.fixture
async def lab(counter):
    # the server that ``environment`` maps the hosts to
    async with UpstreamServer(counter, hosts=HOSTS) as server:
        yield server


class LabSpider(Spider):
    name = "lab"


@pytest.fixture
async def make_downloader(environment):
    made = []

    def make(cls=Downloader, **settings):
        handlers = dict.fromkeys(("http", "https"), "fetchworker.download.curl.CurlDownloadHandler")
        base = {
            "TWISTED_REACTOR_ENABLED": False,
            "EXTENSIONS_BASE": {},
            "DOWNLOADER_MIDDLEWARES_BASE": {},
            "DOWNLOAD_HANDLERS": handlers,
            "DOWNLOAD_VERIFY_CERTIFICATES": True,
            "CONCURRENT_REQUESTS": 100,
        }
        crawler = get_crawler(LabSpider, {**base, **settings})
        crawler.spider = LabSpider.from_crawler(crawler)
        made.append(cls(crawler))
        return made[-1]

    yield make
    for downloader in made:
        downloader.close()
        await downloader.signals.send_catch_log_async(signals.engine_stopped)


async def fetch(downloader, *urls: str, **meta) -> list:
    """Start all requests in the same turn of the loop; statuses or errors."""
    asked = (maybe_deferred_to_future(downloader.fetch(Request(url, meta=meta))) for url in urls)
    answers = await asyncio.gather(*asked, return_exceptions=True)
    return [getattr(answer, "status", answer) for answer in answers]


async def test_forty_requests_are_never_more_than_four_at_once(make_downloader, counter):
    downloader = make_downloader(CONCURRENT_REQUESTS_PER_DOMAIN=4)
    assert await fetch(downloader, *(f"https://lab.example/?{number}" for number in range(40))) == [200] * 40
    assert counter.most == {"lab.example": 4}, "no more, and no fewer where there is work"


async def test_scrapys_own_downloader_lets_more_through(make_downloader, counter):
    # once this fails, Scrapy keeps its limit and ours may go
    downloader = make_downloader(ScrapyDownloader, CONCURRENT_REQUESTS_PER_DOMAIN=4)
    await fetch(downloader, *(f"https://lab.example/?{number}" for number in range(40)))
    assert counter.most["lab.example"] > 4


async def test_hosts_do_not_take_each_others_places(make_downloader, counter):
    downloader = make_downloader(CONCURRENT_REQUESTS_PER_DOMAIN=2)
    await fetch(downloader, *(f"https://{host}/?{number}" for number in range(10) for host in HOSTS))
    assert counter.most == {"lab.example": 2, "other.example": 2}


async def test_failed_and_late_requests_give_their_place_back(make_downloader, counter):
    downloader = make_downloader(CONCURRENT_REQUESTS_PER_DOMAIN=2)
    errors = await fetch(downloader, *["https://lab.example/close"] * 5)
    errors += await fetch(downloader, *["https://lab.example/late"] * 5, download_timeout=0.01)
    assert {type(error) for error in errors} == {DownloadFailedError, DownloadTimeoutError}
    assert await fetch(downloader, *["https://lab.example/"] * 6) == [200] * 6
    (slot,) = downloader.slots.values()
    assert (slot.transferring, slot.active, len(slot.queue)) == (set(), set(), 0)


async def test_the_delay_lies_between_the_starts(make_downloader, counter):
    delay, many = 0.05, 6
    downloader = make_downloader(DOWNLOAD_DELAY=delay, DOWNLOAD_DELAY_JITTER=0, CONCURRENT_REQUESTS_PER_DOMAIN=4)
    await fetch(downloader, "https://lab.example/warm")
    counter.times.clear()
    assert await fetch(downloader, *(f"https://lab.example/?{number}" for number in range(many))) == [200] * many
    # a server sees the starts a little shifted
    assert counter.times[-1] - counter.times[0] >= (many - 1.5) * delay


async def test_a_delay_does_not_lift_the_limit(make_downloader, counter):
    downloader = make_downloader(DOWNLOAD_DELAY=0.001, DOWNLOAD_DELAY_JITTER=0.5, CONCURRENT_REQUESTS_PER_DOMAIN=3)
    await fetch(downloader, *(f"https://lab.example/?{number}" for number in range(20)))
    assert counter.most == {"lab.example": 3}
