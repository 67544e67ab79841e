"""Nothing of a worker stays in Redis that had nothing to do when it went away."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from fetchworker.frontier.entry import Child, Finished, News, Numbered
from fetchworker.frontier.keys import namespace
from fetchworker.frontier.store import Frontier
from fetchworker.redis import connect, release, resolve_redis_url

CHILD = Child(0, None, b"x")


@pytest.fixture
async def frontier():
    with tempfile.TemporaryDirectory(prefix="fw-") as folder:
        endpoint = resolve_redis_url(None, Path(folder), keep_running=False)
        client = connect(endpoint)
        yield Frontier(client, namespace("tidy"))
        await client.aclose()
        release(endpoint)


async def test_an_idle_worker_that_is_killed_leaves_nothing_of_its_own(frontier):
    answer = await frontier.turn(News(loose=Numbered(1, (CHILD,))), want=2)
    await frontier.turn(News(finished=[Finished(answer.taken[0].token)]), want=2)
    assert await frontier.workers()
    state = await frontier.look(holds=False)
    assert state.empty
    keys = {key.decode() async for key in frontier._redis.scan_iter()}
    assert keys == {f"{frontier.names.root}:counts"}


async def test_a_call_whose_answer_was_lost_is_answered_again_the_same(frontier):
    await frontier.turn(News(loose=Numbered(1, (CHILD, CHILD))))
    await frontier.look(holds=False)
    first = await frontier.turn(want=2)
    again = await frontier.turn(want=2, again=True)
    assert len(first.taken) == 2
    assert [one.token for one in again.taken] == [one.token for one in first.taken]
    loose = News(loose=Numbered(2, (CHILD,)))
    await frontier.turn(loose)
    assert (await frontier.turn(loose, again=True)).new == 0
