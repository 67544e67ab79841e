"""A site of test routes with proxies in front of it, in a thread beside the crawls, and a Redis for their queue."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sqlite3
import threading
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from fetchworker.demo.gateway import GatewayServer
from fetchworker.demo.lab import lab_app, text
from fetchworker.demo.proxy import ProxyServer
from fetchworker.demo.server import UpstreamServer
from fetchworker.frontier.codec import fields_of
from fetchworker.redis import connect_sync, release, resolve_redis_url, stop_embedded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fetchworker.demo.model import App, Reply, RequestInfo

HOSTS = ("lab.example", "other.example", "robots.example", "www.instagram.com", "www.facebook.com", "linktr.ee",
         "www.threads.com", "static.xx.fbcdn.net", "static.cdninstagram.com")  # fmt: skip
_numbers = itertools.count()
BACKOFF = {"first": 0.05, "factor": 2, "max": 2, "retry_after_max": 1.5}


class Lab:
    """The lab's routes under several names, with proxies at 127.0.0.11 and up; ``app`` may be put in their place."""

    def __init__(self, *, proxies: int = 2, **options: Any) -> None:
        self.app: App = self.plain
        self.robots: dict[str, Callable[[], Reply]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._stack = AsyncExitStack()
        self._thread.start()
        self.run(self._start(proxies, options))

    def run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _start(self, proxies: int, options: dict[str, Any]) -> None:
        server = UpstreamServer(self._answer, hosts=HOSTS, **options)
        self.server = await self._stack.enter_async_context(server)
        self.exits = [
            await self._stack.enter_async_context(
                ProxyServer(self.host_map, log=server.log, source=f"127.0.0.{11 + number}", name=f"proxy{number}")
            )
            for number in range(proxies)
        ]

    def add_proxy(self, **options: Any) -> ProxyServer:
        """One more exit, of the test's own kind."""
        made = ProxyServer(self.host_map, log=self.server.log, authority=self.server.authority, **options)
        self.exits.append(self.run(self._stack.enter_async_context(made)))
        return made

    def add_gateway(self, **options: Any) -> GatewayServer:
        """A provider's gateway; ``.entry()`` is its line in a proxy list."""
        made = GatewayServer(self.host_map, log=self.server.log, **options)
        return self.run(self._stack.enter_async_context(made))

    def _answer(self, request: RequestInfo) -> Any:
        return self.app(request)

    def close(self) -> None:
        self.run(self._stack.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def reset(self) -> None:
        self.app = self.plain
        self.robots.clear()
        self.server.log.clear()

    def plain(self, request: RequestInfo) -> Any:
        """The lab's routes, with a robots.txt for hosts that have one."""
        if request.route == "/robots.txt":
            answer = self.robots.get(request.host)
            return answer() if answer else text("none\n", 404)
        return lab_app(request)

    # what ``Project.use`` asks of a demo

    @property
    def ca(self) -> str:
        return self.server.ca_pem_path

    @property
    def host_map(self) -> dict[str, str]:
        return self.server.host_map()

    @property
    def ready(self) -> dict[str, Any]:
        return {"host_map": self.host_map}

    @property
    def proxies(self) -> list[str]:
        return [proxy.url for proxy in self.exits]

    @property
    def requests(self) -> list[RequestInfo]:
        """What came, robots.txt left out."""
        return [request for request in self.server.log.requests if request.route != "/robots.txt"]

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    def log(self, kind: str) -> list[dict[str, Any]]:
        return [record for record in self.server.log.records() if record["type"] == kind]


@pytest.fixture(scope="module")
def _lab() -> Iterator[Lab]:
    made = Lab()
    yield made
    made.close()


@pytest.fixture
def lab(_lab: Lab) -> Lab:
    """A site for the module, with nothing seen yet."""
    _lab.reset()
    return _lab


@pytest.fixture
def make_lab() -> Iterator[Callable[..., Lab]]:
    """Sites of the test's own kind."""
    made: list[Lab] = []

    def make(**options: Any) -> Lab:
        made.append(Lab(**options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@dataclass(frozen=True)
class Crawled:
    """A crawl that ended; ``failed`` holds the failures of all crawls of the project so far."""

    items: list[dict[str, Any]]
    failed: list[dict[str, Any]]
    code: int
    log: str

    @property
    def item(self) -> dict[str, Any]:
        assert len(self.items) == 1, (self.failed, self.log)
        return self.items[0]

    @property
    def answer(self) -> dict[str, Any]:
        """The JSON that a route of the lab answered with."""
        return json.loads(self.item["body"])


def crawled(project: Any, done: Any) -> Crawled:
    assert "Traceback" not in done.stderr, done.stderr
    assert "Deprecat" not in done.stderr, done.stderr
    return Crawled(project.lines("f.jsonl"), project.records("failures"), done.returncode, done.stderr)


@pytest.fixture
def serve(project: Any, lab: Lab, queue: Any) -> Callable[..., Any]:
    """Pushes seeds and runs ``scrapy crawl fetch`` on the shared queue until they are done."""
    project.use(lab)
    entry(project)

    def run(*seeds: Any, spider: str = "fetch", options: tuple[str, ...] = ()) -> Crawled:
        raw = [seed if isinstance(seed, str | bytes) else json.dumps(seed) for seed in seeds]
        if raw:
            queue.rpush(f"{spider}:start_urls", *raw)
        output = ("-s", "SCHEDULER_IDLE_BEFORE_CLOSE=1", "-O", str(project.folder / "f.jsonl"))
        return crawled(project, project.scrapy("crawl", spider, *output, *options))

    return run


@pytest.fixture
def fetch(project: Any, lab: Lab) -> Callable[..., Any]:
    """Runs ``scrapy crawl fetch`` with arguments; the items, the failures, and the process's end."""
    project.use(lab)
    entry(project)

    def run(url: str, *options: str, **arguments: Any) -> Crawled:
        told = {name: value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()}
        pairs = [part for name, value in told.items() for part in ("-a", f"{name}={value}")]
        output = () if "-o" in options else ("-O", str(project.folder / "f.jsonl"))
        return crawled(project, project.scrapy("crawl", "fetch", "-a", f"url={url}", *pairs, *output, *options))

    return run


def entry(project: Any, **values: Any) -> None:
    """Write sites.yaml with these values for `fetch`."""
    base = {"proxy": "preferred", "delay": 0, "retries": 2, "robots": "ignore", "timeout": 10, "backoff": BACKOFF}
    path = project.folder / "sites.yaml"
    names = json.loads(path.read_text())["sites"]
    path.write_text(json.dumps({"sites": {**dict.fromkeys(names, base), "fetch": {**base, **values}}}))


@pytest.fixture
def sites(project: Any) -> Callable[..., None]:
    """Changes the entry of `fetch` in sites.yaml."""
    return lambda **values: entry(project, **values)


@pytest.fixture
def queue(project: Any) -> Iterator[Any]:
    """The Redis that the project's crawls share."""
    endpoint = resolve_redis_url(None, project.folder / "state", keep_running=False)
    client = connect_sync(endpoint)
    yield client
    client.close()
    release(endpoint)
    stop_embedded(project.folder / "state")  # a worker that was killed has not done so


@pytest.fixture
def start(project: Any, lab: Lab) -> Iterator[Callable[..., Any]]:
    """Starts a worker or a crawl that runs beside the test, and ends with it at the latest."""
    project.use(lab)
    entry(project)
    started = []

    def run(*arguments: str) -> Any:
        started.append(project.start("crawl", *arguments))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(params=["sqlite", "postgresql"])
def query(request, project):
    """Asks the database that the project's crawls store in."""
    if request.param == "sqlite":
        project.env["FETCHWORKER_STORE"] = "true"
        path = project.folder / "state" / "fetchworker.db"

        def ask(sql):
            with closing(sqlite3.connect(path)) as connection, connection:
                return connection.execute(sql).fetchall()

        return ask
    psycopg = pytest.importorskip("psycopg")
    url = request.getfixturevalue("postgres").create(f"crawl{next(_numbers)}")
    project.env["FETCHWORKER_DATABASE_URL"] = url

    def ask_server(sql):
        with psycopg.connect(url) as connection:
            return connection.execute(sql).fetchall()

    return ask_server


@pytest.fixture
def left(queue: Any) -> Callable[[], set[str]]:
    """The addresses of all that the shared queue of `fetch` has still."""
    return lambda: set(_waiting(queue))


@pytest.fixture
def waiting() -> Callable[..., list[str]]:
    """Reads the addresses of all that is not done off a queue's keys: queued, put off, on lease, and seeds."""
    return _waiting


def _waiting(redis: Any, root: str = "{fetch:start_urls}") -> list[str]:
    entries = [entry for level in redis.zrange(f"{root}:requests", 0, -1) for entry in _list(redis, root, level)]
    entries += [member.split(b":", 2)[2] for member in redis.zrange(f"{root}:delayed", 0, -1)]
    for worker in redis.zrange(f"{root}:workers", 0, -1):
        entries += [held.split(b":", 2)[2] for held in redis.hvals(f"{root}:work:{worker.decode()}")]
    return [_url(entry) for entry in entries] + [_seed(raw) for raw in redis.lrange(root.strip("{}"), 0, -1)]


def _list(redis: Any, root: str, level: bytes) -> list[bytes]:
    return redis.lrange(f"{root}:requests:{level.decode()}", 0, -1)


def _url(entry: bytes) -> str:
    return _seed(entry[3:]) if entry[:1] == b"s" else fields_of(entry[3:])["url"]


def _seed(raw: bytes) -> str:
    return raw.decode() if re.match(rb"https?:", raw) else json.loads(raw)["url"]
