"""A Redis with queues in it, for the commands that look at them."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.spiders import Spider

from fetchworker.frontier.codec import encode
from fetchworker.frontier.entry import Child, News, Numbered
from fetchworker.frontier.keys import namespace
from fetchworker.frontier.store import Frontier, Terms
from fetchworker.redis import connect, connect_sync, release, resolve_redis_url, stop_embedded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Request


@pytest.fixture
def endpoint(project: Any) -> Iterator[Any]:
    """The Redis that the project's commands find."""
    found = resolve_redis_url(None, project.folder / "state", keep_running=False)
    yield found
    release(found)
    stop_embedded(project.folder / "state")


@pytest.fixture
def queue(endpoint: Any) -> Iterator[Any]:
    """A client of it."""
    client = connect_sync(endpoint)
    yield client
    client.close()


class Worker:
    """A worker of a namespace that does what a test tells it."""

    def __init__(self, endpoint: Any, spider: str, crawl_id: str | None = None, *, owner: str) -> None:
        self.names = namespace(spider, crawl_id)
        self.owner = f"{owner}#{uuid.uuid4().hex[:4]}"
        self._endpoint = endpoint
        self._calls = 0

    def run(self, work: Callable[[Frontier], Any]) -> Any:
        """One piece of work at the queue."""

        async def connected() -> Any:
            redis = connect(self._endpoint)
            frontier = Frontier(redis, self.names, owner=self.owner, terms=Terms(lease=600))
            frontier._call = self._calls
            try:
                return await work(frontier)
            finally:
                self._calls = frontier._call
                await redis.aclose()

        return asyncio.run(connected())

    def push(self, *requests: Request) -> None:
        """Queue requests."""
        spider = Spider(name=self.names.spider)
        children = tuple(Child(one.priority, hash(one.url), encode(one, spider)) for one in requests)
        self._calls += 1
        self.run(lambda frontier: frontier.turn(News(loose=Numbered(self._calls, children))))

    def take(self, want: int, seeds: int = 0) -> list[Any]:
        """Lease."""
        return self.run(lambda frontier: frontier.turn(want=want, seeds=seeds)).taken

    def tell(self, **news: Any) -> Any:
        """Tell what became of what was leased."""
        return self.run(lambda frontier: frontier.turn(News(**news)))


@pytest.fixture
def worker(endpoint: Any) -> Callable[..., Worker]:
    """Makes workers."""
    return lambda spider, crawl_id=None, owner="ann": Worker(endpoint, spider, crawl_id, owner=owner)


@pytest.fixture
def worker_at(project: Any) -> Callable[..., Worker]:
    """Makes workers of another Redis, which the project's commands then use as well."""

    def make(url: str, spider: str) -> Worker:
        project.env["REDIS_URL"] = url
        return Worker(resolve_redis_url(url, project.folder / "state"), spider, owner="ann")

    return make
