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
from fetchworker.pace import Lane
from fetchworker.pace.keys import pace_keys, pause_key
from fetchworker.redis import connect_sync, release, resolve_redis_url, stop_embedded

HOSTS = ("lab.example", "other.example")


class Counter:
    """Holds every request for a moment and counts how many it holds, by host."""

    def __init__(self) -> None:
        self.now: dict[str, int] = {}
        self.most: dict[str, int] = {}
        self.times: list[float] = []
        self.routes: list[str] = []
        self.held = asyncio.Event()

    async def __call__(self, request):
        host = request.host
        self.times.append(time.monotonic())
        self.routes.append(request.route)
        self.now[host] = self.now.get(host, 0) + 1
        self.most[host] = max(self.most.get(host, 0), self.now[host])
        try:
            if request.route == "/close":
                raise HangUp
            if request.route == "/held":
                self.held.set()
                await asyncio.Event().wait()
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


class TestWhenNobodyWaitsAnyLonger:
    """One place, and a request in it that is never answered."""

    @pytest.fixture
    def downloader(self, make_downloader):
        return make_downloader(CONCURRENT_REQUESTS_PER_DOMAIN=1)

    def ask(self, downloader, route: str) -> asyncio.Future:
        return asyncio.ensure_future(fetch(downloader, f"https://lab.example{route}"))

    async def in_the_queue(self, downloader, *routes: str) -> list[asyncio.Future]:
        """Requests, once they have come so far."""
        reached = asyncio.Queue()

        def note(request) -> None:
            reached.put_nowait(request)

        downloader.signals.connect(note, signals.request_reached_downloader)
        asked = [self.ask(downloader, route) for route in routes]
        for _ in routes:
            await reached.get()
        return asked

    def at_rest(self, downloader) -> bool:
        (slot,) = downloader.slots.values()
        leftover = (slot.transferring, slot.active, slot.queue, downloader._waiting, downloader._under_way)
        return not any(leftover)

    async def test_a_transfer_gives_its_place_back(self, downloader, counter):
        held = self.ask(downloader, "/held")
        await counter.held.wait()
        (second,) = await self.in_the_queue(downloader, "/2")
        held.cancel()
        assert await second == [200]
        assert self.at_rest(downloader)

    async def test_what_has_not_begun_is_never_sent(self, downloader, counter):
        held = self.ask(downloader, "/held")
        await counter.held.wait()
        gone, third = await self.in_the_queue(downloader, "/gone", "/3")
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        held.cancel()
        assert await third == [200]
        assert counter.routes == ["/held", "/3"]
        assert self.at_rest(downloader)

    async def test_what_waits_long_no_longer_counts(self, downloader, counter):
        downloader._pace.pause("lab.example", None, 3600)
        (gone,) = await self.in_the_queue(downloader, "/gone")
        assert sum(downloader._waiting.values()) == 1
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        assert not counter.routes
        assert self.at_rest(downloader)

    async def test_a_transfer_that_has_not_run_a_step(self, make_downloader, counter):
        class Hasty(Downloader):
            def _begin(self, slot, entry):
                super()._begin(slot, entry)
                if entry[0].url.endswith("/gone"):
                    self._abandon(entry[0])

        downloader = make_downloader(Hasty, CONCURRENT_REQUESTS_PER_DOMAIN=1)
        gone, second = await self.in_the_queue(downloader, "/gone", "/2")
        assert await second == [200]
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        assert counter.routes == ["/2"]
        assert self.at_rest(downloader)


class TestAllWorkersTogether:
    """Two downloaders on one Redis, as two workers have them."""

    LANE = Lane("lab.example")

    @pytest.fixture
    def redis(self, environment, tmp_path, monkeypatch):
        endpoint = resolve_redis_url(None, tmp_path / "redis", keep_running=False)
        monkeypatch.setenv("FETCHWORKER_REDIS_URL", endpoint.url.get_secret_value())
        with connect_sync(endpoint) as client:
            yield client
        release(endpoint)
        stop_embedded(tmp_path / "redis")

    @pytest.fixture
    def make(self, redis, make_downloader):
        def make_worker(delay=0.001, limit=2, jitter=0):
            names = ("DOWNLOAD_DELAY", "CONCURRENT_REQUESTS_PER_DOMAIN", "DOWNLOAD_DELAY_JITTER")
            return make_downloader(**dict(zip(names, (delay, limit, jitter), strict=True)))

        return make_worker

    def held(self, redis) -> list[bytes]:
        leases, turns, *_ = pace_keys("lab", self.LANE)
        return redis.zrange(leases, 0, -1) + redis.zrange(turns, 0, -1)

    async def given_back(self, *downloaders) -> None:
        for downloader in downloaders:
            await downloader._pace.turns.close()

    async def test_they_are_never_more_than_the_limit_at_once(self, make, redis, counter):
        one, two = make(), make()
        answers = await asyncio.gather(
            *(fetch(each, *(f"https://lab.example/{number}" for number in range(10))) for each in (one, two))
        )
        assert answers == [[200] * 10] * 2
        assert counter.most == {"lab.example": 2}
        await self.given_back(one, two)
        assert self.held(redis) == []

    async def test_failed_and_cancelled_requests_give_their_place_back(self, make, redis, counter):
        downloader = make(limit=1)
        (error,) = await fetch(downloader, "https://lab.example/close")
        assert isinstance(error, DownloadFailedError)
        held = asyncio.ensure_future(fetch(downloader, "https://lab.example/held"))
        await counter.held.wait()
        assert len(self.held(redis)) == 1
        held.cancel()
        assert await fetch(make(limit=1), "https://lab.example/2") == [200]

    async def test_what_is_cancelled_while_it_waits_gives_its_turn_back_and_is_never_sent(self, make, redis, counter):
        redis.hset(pause_key("lab", self.LANE, whole_host=True), "pause", (redis.time()[0] + 3600) * 1_000_000)
        downloader = make()
        gone = asyncio.ensure_future(fetch(downloader, "https://lab.example/gone"))
        while not downloader._waiting:  # noqa: ASYNC110 - the answer's turn
            await asyncio.sleep(0)
        assert self.held(redis)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        await self.given_back(downloader)
        assert self.held(redis) == []
        assert counter.routes == []
        assert not downloader._waiting

    async def test_one_that_is_cancelled_leaves_its_turn_to_the_next_in_the_queue(self, make, redis, counter):
        first = make(delay=0.2)
        await fetch(first, "https://lab.example/1")
        asked = [asyncio.ensure_future(fetch(first, f"https://lab.example/{name}")) for name in ("gone", "2")]
        (slot,) = first.slots.values()
        while len(slot.queue) < 2:  # noqa: ASYNC110 - both are there
            await asyncio.sleep(0)
        asked[0].cancel()
        assert await asked[1] == [200]
        assert counter.routes == ["/1", "/2"]

    async def test_two_exits_or_hosts_have_turns_of_their_own(self, make, redis, counter):
        downloader = make(delay=0.01)
        answers = await fetch(downloader, *(f"https://{host}/{number}" for number in range(4) for host in HOSTS))
        assert answers == [200] * 8
        assert redis.exists(*(pace_keys("lab", Lane(host))[3] for host in HOSTS)) == 2

    async def test_without_redis_they_go_on(self, make, redis, counter, tmp_path, caplog):
        downloader = make()
        assert await fetch(downloader, "https://lab.example/1") == [200]
        stop_embedded(tmp_path / "redis")
        assert await fetch(downloader, *(f"https://lab.example/{number}" for number in range(6))) == [200] * 6
        assert counter.most == {"lab.example": 2}
        assert caplog.text.count("each worker keeps the pace by itself") == 1

    async def test_what_has_nothing_to_keep_asks_nobody(self, make, redis, counter):
        downloader = make(delay=0)
        assert await fetch(downloader, *(f"https://lab.example/{number}" for number in range(6))) == [200] * 6
        assert redis.keys("*") == []
