"""A running crawl to send requests through: the project's middlewares and handler, a real site, real proxies."""

from __future__ import annotations

import asyncio
import gc
import json
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from fetchworker.contracts import Fetch, Page, Params, Parsed
from fetchworker.demo.gateway import GatewayServer
from fetchworker.demo.lab import lab_app
from fetchworker.demo.proxy import ProxyServer
from fetchworker.demo.server import UpstreamServer
from fetchworker.download.wire import WIRE
from fetchworker.runtime import Runtime
from fetchworker.sessions import MemorySessionStore
from fetchworker.sessions.live import LiveSessions
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.telemetry.attribution import set_process

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from scrapy.http import Response

    from fetchworker.demo.model import App

URL = "https://lab.example"
BACKOFF = {"first": 0.01, "factor": 2, "max": 1, "retry_after_max": 0.5}


class Nothing(Params):
    name: str = "x"


def parse_nothing(page: Page, call: Any) -> Parsed:
    return Parsed([])


def read_tokens(page: Page) -> dict[str, str]:
    """``token: value`` lines of a page."""
    pairs = (line.partition(": ") for line in page.body.decode().splitlines())
    return {name: value for name, mark, value in pairs if mark}


class DrivenSpider(SiteSpider):
    """Does nothing by itself: tests send the requests."""

    name = "instagram"  # its rules know stale contracts
    warmup = Fetch("warmup", f"{URL}/tokens", harvest=True)
    extract_tokens = staticmethod(read_tokens)

    @operation(parse=parse_nothing, params=Nothing, default_for=("name",))
    def nothing(self, call: Any) -> Iterator[Fetch]:
        yield Fetch("nothing", URL)

    async def start(self) -> AsyncIterator[Any]:
        self.ended = asyncio.Event()
        await self.ended.wait()
        return
        yield


@pytest.fixture
def driven() -> type[DrivenSpider]:
    """The spider, for tests that change something about it."""
    return DrivenSpider


class Driven:
    """An open crawl: ``get`` sends a request through everything, as the engine would."""

    def __init__(self, crawler: Crawler, server: UpstreamServer, store: MemorySessionStore) -> None:
        self.crawler, self.server, self.store = crawler, server, store
        self.runtime = Runtime.of(crawler)
        self.runtime._sessions = LiveSessions(store)

    async def get(self, path: str, *, session: str | None = None, **options: Any) -> Response:
        meta = {**options.pop("meta", {}), **({"fw_session": session} if session else {})}
        url = path if path.startswith("http") else f"{URL}{path}"
        return await self.crawler.engine.download_async(Request(url, meta=meta, dont_filter=True, **options))

    async def stored(self, session: str) -> Any:
        return await self.store.load(self.crawler.spidercls.name, session)

    @property
    def requests(self) -> list[Any]:
        return self.server.log.requests

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    @property
    def stats(self) -> dict[str, Any]:
        return self.crawler.stats.get_stats()

    def in_use(self) -> int:
        """How many times sessions are taken and not given back."""
        return sum(entry.users for entry in self.runtime._sessions._entries.values())


def identity_of(response: Response) -> str:
    return response.meta[WIRE].session.identity


@pytest.fixture
def quiet_process() -> Iterator[None]:
    """Undoes what a crawl does to its process."""
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)
    set_process(crawl_id=None, trace_id=None)


@pytest.fixture
async def drive(
    quiet_process: None, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Callable[..., Any]]:
    """Opens crawls: ``async with drive(app, proxies=2, retries=1) as site``; the rest are values of sites.yaml."""

    @asynccontextmanager
    async def opened(
        app: App = lab_app,
        *,
        proxies: int = 0,
        broken: tuple[str, ...] = (),
        gateways: tuple[Mapping[str, Any], ...] = (),
        environment: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        spider: type[SiteSpider] = DrivenSpider,
        store: MemorySessionStore | None = None,
        **entry: Any,
    ) -> AsyncIterator[Driven]:
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(
                UpstreamServer(app, hosts=("lab.example", "other.example", "www.instagram.com"))
            )
            servers = [
                await stack.enter_async_context(ProxyServer(server.host_map(), source=f"127.0.0.{11 + number}"))
                for number in range(proxies)
            ]
            made = [
                await stack.enter_async_context(GatewayServer(server.host_map(), network=60 + number, **options))
                for number, options in enumerate(gateways)
            ]
            base = {"proxy": "preferred", "delay": 0, "robots": "ignore", "retries": 3, "backoff": BACKOFF}
            (tmp_path / "sites.yaml").write_text(json.dumps({"sites": {spider.name: {**base, **entry}}}))
            told = {
                "SITES_FILE": str(tmp_path / "sites.yaml"),
                "STATE_DIR": str(tmp_path / "state"),
                "CA_FILE": server.ca_pem_path,
                "HOST_MAP": json.dumps(server.host_map()),
                "PROXIES": "\n".join(
                    [*broken, *(proxy.url for proxy in servers), *(gateway.entry() for gateway in made)]
                ),
                "PROXY_COOLDOWN": "0.05",
                **(environment or {}),
            }
            for name, value in told.items():
                monkeypatch.setenv(f"FETCHWORKER_{name}", value)
            crawler = Crawler(spider, _settings(settings or {}))
            task, site = await _open(crawler, server, store or MemorySessionStore())
            site.proxies, site.gateways = servers, made
            try:
                yield site
            finally:
                crawler.spider.ended.set()
                await task
            assert site.in_use() == 0, "sessions were not given back"

    return opened


async def _open(crawler: Crawler, server: UpstreamServer, store: MemorySessionStore) -> tuple[asyncio.Task, Driven]:
    ready = asyncio.Event()

    def opened() -> None:
        ready.set()

    crawler.signals.connect(opened, signals.spider_opened)
    task = asyncio.create_task(crawler.crawl_async(name="x"))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        waiting.cancel()
        await task
    while not hasattr(crawler.spider, "ended"):  # noqa: ASYNC110  # the engine tells nobody that it began with start()
        await asyncio.sleep(0)
    return task, Driven(crawler, server, store)


def _settings(values: Mapping[str, Any]) -> Settings:
    settings = Settings()
    settings.setmodule("fetchworker.settings", priority="project")
    own = {"ADDONS": {}, "SPIDER_MODULES": [], "ASYNCIO_EVENT_LOOP": None, "EXTENSIONS": {}, **values}
    settings.setdict(own, priority="cmdline")
    return settings
