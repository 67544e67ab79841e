"""No priority starves, and a low one gets no more than its share."""

from __future__ import annotations

import pytest

from fetchworker.frontier.entry import Child, News, Numbered

HIGH, LOW = b"high", b"low"


async def handed_out(queue, tools, want, turns, **terms):
    """What a worker is given that finishes each request at once."""
    one, found, held = queue.worker(**terms), [], []
    for _ in range(turns):
        held = (await one.turn(tools.done(*held), want=want)).taken
        found += [each.entry.payload for each in held]
    return found


async def fill(queue, count=100):
    await queue.push(*[LOW] * count, priority=-1000)
    await queue.push(*[HIGH] * count, priority=1000)


@pytest.mark.parametrize("want", [1, 2, 3, 8, 16])
async def test_one_that_was_not_served_for_long_gets_an_eighth_however_few_are_asked_for(queue, tools, want):
    await fill(queue)
    found = await handed_out(queue, tools, want, 64 // want + bool(64 % want), aging=0)
    assert abs(found.count(LOW) - len(found) / 8) <= 1


async def test_one_that_was_served_a_short_while_ago_waits_for_its_turn(queue, tools):
    await fill(queue)
    found = await handed_out(queue, tools, 10, 12, aging=3600)
    assert found == [HIGH] * 100 + [LOW] * 20


async def test_the_one_that_has_waited_longest_comes_first(queue, tools):
    await fill(queue, 20)
    middle = queue.worker()
    await middle.turn(News(loose=Numbered(1, (Child(0, None, b"middle"),) * 20)))
    await queue.redis.zadd(f"{queue.names.root}:waiting", {"0": 5, "-1000": 9})
    found = await handed_out(queue, tools, 8, 2, aging=30)
    assert (found.count(b"middle"), found.count(LOW)) == (2, 0)


async def test_a_priority_that_is_used_up_leaves_no_trace(queue, tools):
    await fill(queue, 3)
    await handed_out(queue, tools, 8, 2)
    await queue.worker().look(holds=False)
    assert not await queue.redis.exists(queue.names.queue, f"{queue.names.root}:waiting")
