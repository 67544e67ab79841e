"""A site of bad and good pages, an engine that ends with its test, and the handler as a crawl uses it."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Spider
from scrapy.utils.test import get_crawler

from fetchworker.browser import BrowserEngine, ContextSpec, EngineOptions
from fetchworker.browser.watch import EndWatch
from fetchworker.config.destinations import destinations
from fetchworker.demo.http1 import Head, read_body, read_head
from fetchworker.download.browser import BrowserDownloadHandler
from fetchworker.egress import EgressPolicy
from fetchworker.tasks import end
from fetchworker.telemetry.attribution import set_process

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator


class Asked:
    """One request that the site got."""

    def __init__(self, head: Head, body: bytes) -> None:
        self.method, self.path, _ = head.start.split()
        self.head, self.body = head, body

    def __getitem__(self, name: str) -> str | None:
        return self.head.get(name)


class Site:
    """Answers each path with what is put there: bytes of HTML, or a coroutine that writes the answer itself."""

    def __init__(self) -> None:
        self.port = 0
        self.pages: dict[str, bytes | Callable[[asyncio.StreamWriter, Asked], Awaitable[None]]] = {}
        self.asked: list[Asked] = []
        self.busy = 0
        self.tasks: set[Any] = set()
        self.came = asyncio.Event()

    def url(self, path: str = "/", host: str = "page.example") -> str:
        return f"http://{host}:{self.port}{path}"

    def to(self, path: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.path.partition("?")[0] == path]

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.busy += 1
        task = asyncio.current_task()
        self.tasks.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, ValueError, asyncio.CancelledError):
                while (head := await read_head(reader)) is not None:
                    body = b"".join([piece async for piece in read_body(reader, head)])
                    await self._answer(Asked(head, body), writer)
        finally:
            self.busy -= 1
            self.tasks.discard(task)
            writer.close()

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        self.asked.append(asked)
        self.came.set()
        found = self.pages.get(asked.path.partition("?")[0], b"")
        if callable(found):
            await found(writer, asked)
        else:
            writer.write(answer(found))
        await writer.drain()


def answer(body: bytes, *lines: str, status: str = "200 OK", kind: str = "text/html; charset=utf-8") -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *lines, "", ""]
    return "\r\n".join(head).encode() + body


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture
async def site(stack) -> Site:
    made = Site()
    server = await asyncio.start_server(made, "127.0.0.1", 0)
    stack.callback(server.close)
    stack.push_async_callback(lambda: end(*made.tasks))
    made.port = server.sockets[0].getsockname()[1]
    return made


@pytest.fixture
def names(site) -> tuple[tuple[str, str], ...]:
    """The names of the tests, which all lead to the site; scripts of the last one have what https gives them."""
    hosts = ("page.example", "other.example", "third.example", "app.localhost")
    return tuple((host, f"127.0.0.1:{site.port}") for host in hosts)


@pytest.fixture
async def engine_with(shell, names, stack) -> Callable[..., Any]:
    """Make an engine that uses the headless shell."""

    async def make(**options: Any) -> BrowserEngine:
        engine = await BrowserEngine.of(EngineOptions(program=shell, host_map=names, **options))
        stack.push_async_callback(engine.release)
        return engine

    return make


@pytest.fixture
async def engine(engine_with) -> BrowserEngine:
    return await engine_with()


@pytest.fixture
def spec(names) -> ContextSpec:
    """A context that may go to the names of the tests."""
    policy = EgressPolicy(allow=destinations(",".join(f"{name}" for name, _ in names)))
    return ContextSpec(policy=policy, deadline=30)


@pytest.fixture
def within_spec(spec) -> Callable[..., ContextSpec]:
    return lambda **changes: replace(spec, **changes)


class PageSpider(Spider):
    name = "pages"

    def noticed(self, request: Any) -> None:
        self.urls = [*getattr(self, "urls", []), request.url]


@pytest.fixture
def environment(shell, names, tmp_path, monkeypatch) -> Iterator[None]:
    monkeypatch.setenv("FETCHWORKER_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("FETCHWORKER_HOST_MAP", json.dumps(dict(names)))
    monkeypatch.setenv("FETCHWORKER_BROWSER", shell)
    yield
    set_process(crawl_id=None, trace_id=None)


@pytest.fixture
async def make_handler(environment, stack) -> Callable[..., BrowserDownloadHandler]:
    def make(**settings: Any) -> BrowserDownloadHandler:
        base = {"TWISTED_REACTOR_ENABLED": False, "EXTENSIONS_BASE": {}, "DOWNLOAD_TIMEOUT": 30.0}
        crawler = get_crawler(PageSpider, {**base, **settings})
        crawler.spider = crawler._create_spider()
        handler = BrowserDownloadHandler.from_crawler(crawler)
        stack.push_async_callback(handler.close)
        return handler

    return make


@pytest.fixture
def handler(make_handler) -> BrowserDownloadHandler:
    return make_handler()


def processes_of(group: int) -> list[int]:
    """The processes of a group that still run."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, _, leader = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(leader) == group and state != "Z":
                found.append(int(folder.name))
    return found


async def gone(*pids: int) -> None:
    """Wait until processes have ended."""
    for pid in pids:
        ended = asyncio.Event()
        EndWatch(pid, ended.set)
        async with asyncio.timeout(20):
            await ended.wait()


@pytest.fixture
def settled() -> Callable[..., Awaitable[None]]:
    """See that the end of a handler leaves no process, no folder and no connection."""

    async def check(handler: BrowserDownloadHandler, site: Site) -> None:
        engine = await handler._shared.engine()
        pid, driver, folder = engine.pid, engine._driver.pid, engine._place.path
        await handler.close()
        await gone(pid, driver)
        assert processes_of(pid) == []
        assert not folder.exists()
        assert engine.contexts == 0

    return check
