"""A request that brings its workers down takes no other with it: after some deliveries it is handed out alone."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from fetchworker.frontier.entry import Child, Finished, Move, News, Numbered
from fetchworker.frontier.keys import namespace
from fetchworker.frontier.report import read_report
from fetchworker.frontier.store import Frontier, Terms
from fetchworker.frontier.vigil import Vigil
from fetchworker.frontier.worker import Worker
from fetchworker.redis import connect, release, resolve_redis_url

TERMS = Terms(deliveries=4)
GOOD, POISON = b"good", b"poison"


@pytest.fixture
async def worker():
    """Makes workers of one namespace."""
    with tempfile.TemporaryDirectory(prefix="fw-") as folder:
        endpoint = resolve_redis_url(None, Path(folder), keep_running=False)
        client = connect(endpoint)
        yield lambda: Frontier(client, namespace("suspects"), terms=TERMS)
        await client.aclose()
        release(endpoint)


async def answers(limit: float) -> None:
    pass


async def push(frontier, *payloads, priority=0):
    children = tuple(Child(priority, None, each) for each in payloads)
    await frontier.turn(News(loose=Numbered(frontier._call + 1, children)))


async def goes_down(frontier, other):
    """What the frontier holds is put back by another, as after a kill."""
    await other._run("leave", "gone", TERMS.deliveries, frontier.owner)


async def suspected(worker, *payloads):
    """Entries that two workers went down with."""
    await push(worker(), *payloads)
    for _ in range(2):
        victim = worker()
        assert len((await victim.turn(want=9)).taken) == len(payloads)
        await goes_down(victim, worker())


def payloads(answer):
    return [leased.entry.payload for leased in answer.taken]


async def finish(frontier, answer, want=0):
    return await frontier.turn(News(finished=[Finished(one.token) for one in answer.taken]), want=want)


async def test_only_the_one_that_brings_workers_down_is_dead(worker):
    await suspected(worker, GOOD, POISON, GOOD)
    done = 0
    for _ in range(3):
        one = worker()
        answer = await one.turn(want=9)
        while payloads(answer) == [GOOD]:
            done += 1
            answer = await finish(one, answer, want=9)
        if answer.taken:
            await goes_down(one, worker())
    assert done == 2
    [dead] = [each async for each in worker().dead()]
    assert (dead.reason, dead.entry.payload) == ("DELIVERIES", POISON)
    assert (await worker().look(holds=False)).empty


async def test_they_are_handed_out_one_by_one_to_workers_with_nothing_else(worker):
    await suspected(worker, b"a", b"b", b"c")
    one, other, busy = worker(), worker(), worker()
    first, second = await one.turn(want=9), await other.turn(want=9)
    assert (payloads(first), payloads(second), second.suspects) == ([b"a"], [b"b"], 1)
    await push(busy, b"d", b"e")
    assert payloads(await one.turn(want=9)) == [], "it works on a suspect"
    held = await busy.turn(want=1)
    assert payloads(held) == [b"c"], "a worker with nothing takes a suspect first"
    assert payloads(await finish(busy, held, want=1)) == [b"d"]
    assert payloads(await busy.turn(want=9)) == [b"e"]


async def test_they_count_as_work_wherever_they_are(worker):
    await suspected(worker, b"a", b"b")
    frontier = worker()
    state = await frontier.look(holds=False)
    assert (state.queued, state.empty) == (2, False)
    report = await read_report(frontier._redis, frontier.names)
    assert report.queued == 2
    [leased] = (await frontier.turn(want=1)).taken
    assert (await frontier.turn(News(moved=[Move(leased.token)]))).suspects == 2
    await frontier.turn(want=1)
    await frontier.leave()
    assert (await frontier.look(holds=False)).queued == 2
    await frontier.purge()
    assert [key async for key in frontier._redis.scan_iter()] == []


async def test_one_that_comes_back_later_is_still_alone(worker):
    await suspected(worker, b"a")
    frontier = worker()
    [leased] = (await frontier.turn(want=1)).taken
    await frontier.turn(News(moved=[Move(leased.token, delay=0)]))
    await push(frontier, b"b")
    assert payloads(await frontier.turn(want=9)) == [b"a"]


async def test_an_entry_that_was_put_back_by_hand_is_as_new(worker):
    await suspected(worker, b"a")
    frontier = worker()
    [leased] = (await frontier.turn(want=1)).taken
    await frontier.turn(News(moved=[Move(leased.token, dead="enough")]))
    await frontier.revive([leased.token])
    await push(frontier, b"b")
    assert payloads(await frontier.turn(want=9)) == [b"a", b"b"]


async def test_a_busy_worker_makes_room_for_one_that_has_waited(worker):
    leased: list = []
    frontier = worker()
    frontier.terms = Terms(deliveries=4, aging=0)
    given = Worker(
        frontier, frontier._redis, Vigil(answers, patience=5, changed=lambda: None), ahead=2, accept=leased.append,
        changed=lambda: None, seeds=False, ends_after=None, count=lambda name, by: None,
    )  # fmt: skip
    await push(worker(), b"first", b"second")
    await given._turn()
    await suspected(worker, b"suspect")
    await push(worker(), b"third", b"fourth", b"fifth")
    for _ in range(3):
        await given._turn()
    assert len(leased) == 4, "told of the suspect, it takes no more"
    for lease in leased:
        given.finish(lease)
    await given._turn()
    await given._turn()
    assert [lease.entry.payload for lease in leased[4:]] == [b"suspect"]
