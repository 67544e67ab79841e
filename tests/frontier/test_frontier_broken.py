"""What breaks in the queue's own work ends the crawl: it must not hold its leases for ever."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import msgpack
import pytest

from fetchworker.errors import RedisUnavailableError
from fetchworker.frontier.entry import Child, Move, News, Numbered
from fetchworker.frontier.keys import namespace
from fetchworker.frontier.store import Frontier
from fetchworker.frontier.vigil import Vigil
from fetchworker.frontier.worker import Worker
from fetchworker.redis import connect, release, resolve_redis_url


@pytest.fixture
async def frontier():
    with tempfile.TemporaryDirectory(prefix="fw-") as folder:
        endpoint = resolve_redis_url(None, Path(folder), keep_running=False)
        client = connect(endpoint)
        yield Frontier(client, namespace("broken"))
        await client.aclose()
        release(endpoint)


async def answers(limit: float) -> None:
    pass


async def test_a_bug_in_the_workers_own_work_ends_the_crawl(frontier, caplog):
    lost = asyncio.Event()
    vigil = Vigil(answers, patience=30, changed=lost.set)

    def accept(lease):
        raise KeyError("a bug")

    await frontier.turn(News(loose=Numbered(1, (Child(0, None, b"x"),))))
    worker = Worker(
        frontier, frontier._redis, vigil, ahead=4, accept=accept, changed=lambda: None, seeds=False, ends_after=None,
        count=lambda name, by: None,
    )  # fmt: skip
    worker.start()
    await lost.wait()
    with pytest.raises(RedisUnavailableError, match=r"cannot go on: KeyError: 'a bug'"):
        await vigil.wait()
    assert "a bug of ours" in caplog.text
    assert not await worker.stop(limit=5)


@pytest.mark.parametrize("reason", ["half a character \ud800", "x" * 100_000])
async def test_a_reason_of_any_kind_reaches_the_dead_letters(frontier, reason):
    await frontier.turn(News(loose=Numbered(1, (Child(0, None, b"x"),))))
    [leased] = (await frontier.turn(want=1)).taken
    answer = await frontier.turn(News(moved=[Move(leased.token, dead=reason)]))
    assert answer.moved == [True]
    [dead] = [each async for each in frontier.dead()]
    assert dead.reason == reason[:2000].encode("utf-8", "replace").decode()


def test_news_is_packed_whatever_the_reason():
    packed = msgpack.unpackb(News(moved=[Move("1", dead="\udcff")]).packed(), raw=True)
    assert packed[1] == [[b"1", b"x", b"?"]]
