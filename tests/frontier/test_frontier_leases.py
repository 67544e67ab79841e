"""Requests on lease: in order, given to one worker at a time, and told of once."""

from __future__ import annotations

import pytest

from fetchworker.frontier.entry import Child, News, Numbered

ABC = (b"a", b"b", b"c")


async def test_the_highest_priority_first_and_first_in_first_out_inside_one(queue):
    await queue.push(b"1", b"2", priority=0)
    await queue.push(b"3", b"4", priority=1000)
    await queue.push(b"5", priority=-1000)
    await queue.push(b"6", priority=0)
    assert await queue.take(queue.worker(), 4) == [b"3", b"4", b"1", b"2"]
    assert await queue.take(queue.worker(), 4) == [b"6", b"5"]


async def test_nobody_is_given_what_another_has(queue):
    await queue.push(*ABC)
    one, other = queue.worker(), queue.worker()
    assert await queue.take(one, 2) == [b"a", b"b"]
    assert await queue.take(other) == [b"c"]
    assert (await one.look(holds=True)).leased == 3
    assert await queue.take(one) == []


async def test_what_is_not_done_goes_back_to_where_it_was(queue, tools):
    await queue.push(*ABC)
    one = queue.worker()
    held = (await one.turn(want=2)).taken
    assert (await one.turn(tools.back(*held))).moved == [True, True]
    assert await queue.take(queue.worker()) == list(ABC)


async def test_a_worker_that_leaves_gives_back_what_it_has_where_it_was(queue):
    await queue.push(*(b"%d" % number for number in range(30)))
    one = queue.worker()
    await one.turn(want=7)
    await one.turn(want=9)
    assert await one.leave() == 16
    assert one.owner not in await one.workers()
    assert await queue.take(queue.worker(), 40) == [b"%d" % number for number in range(30)]


async def test_a_delayed_request_falls_due_with_one_more_failure(queue, tools):
    await queue.push(b"a", priority=5)
    one = queue.worker()
    await one.turn(tools.back(*(await one.turn(want=1)).taken, delay=30))
    state = await one.look(holds=False)
    assert not state.empty
    assert state.delayed == 0 or 0 <= state.due <= 0.03

    async def again():
        return (await one.turn(want=1)).taken

    [leased] = await tools.until(again)
    assert (leased.priority, leased.entry.failures, leased.entry.payload) == (5, 1, b"a")


async def test_what_is_delayed_for_long_is_not_handed_out(queue, tools):
    await queue.push(b"a")
    one = queue.worker()
    await one.turn(tools.back(*(await one.turn(want=1)).taken, delay=3_600_000))
    answer = await one.turn(want=1)
    assert answer.taken == []
    assert 3500 < answer.due <= 3600


async def test_a_dead_letter_has_its_reason_and_can_be_tried_again_or_dropped(queue, tools):
    await queue.push(*ABC)
    one = queue.worker()
    held = (await one.turn(want=3)).taken
    await one.turn(tools.back(*held[:2], dead="ValueError: no price"))
    await one.turn(tools.done(held[2]))
    assert await queue.dead() == [(b"a", "ValueError: no price"), (b"b", "ValueError: no price")]
    first, second = [letter.id async for letter in one.dead()]
    assert await one.drop([first, "no such"]) == 1
    assert await one.revive([second, second]) == 1
    [leased] = (await one.turn(want=9)).taken
    assert (leased.entry.failures, leased.entry.deliveries) == (0, 0)
    assert await queue.dead() == []


async def test_a_request_that_workers_die_with_is_dead_in_the_end(queue):
    await queue.push(b"a")
    for delivery in range(3):
        victim = queue.worker(deliveries=3)
        [leased] = (await victim.turn(want=1)).taken
        assert leased.entry.deliveries == delivery
        await queue.redis.zadd(f"{queue.names.root}:workers", {victim.owner: 1})
        await queue.worker(deliveries=3).look(holds=False)
    assert await queue.dead() == [(b"a", "DELIVERIES")]
    assert (await queue.worker().look(holds=False)).empty


async def test_a_worker_that_is_silent_for_its_lease_is_dead(queue, tools):
    payloads = [b"%0100d" % number for number in range(200)]  # too long for Redis to keep them in order by itself
    await queue.push(*payloads)
    victim, other = queue.worker(lease=0.001), queue.worker()
    await victim.turn(want=200)

    async def lapsed():
        return not (await other.look(holds=False)).leased

    await tools.until(lapsed)
    assert await queue.take(other, 500) == payloads, "in their order"
    assert not await victim.beat(), "others have got them"


async def test_the_news_of_one_that_came_back_from_the_dead_is_refused(queue, tools):
    await queue.push(*ABC)
    late = queue.worker()
    done, failed, dead = (await late.turn(want=3)).taken
    await queue.kill(late)
    answer = await late.turn(tools.done(done, children=(Child(0, 1, b"child"), Child(0, None, b"child"))))
    assert (answer.finished, answer.new) == ([False], 0)
    answer = await late.turn(tools.back(failed, delay=0))
    assert answer.moved == [False]
    assert (await late.turn(tools.back(dead, dead="x"))).moved == [False]
    assert sorted(await queue.drain()) == list(ABC)
    assert await queue.dead() == []


async def test_one_that_was_only_slow_keeps_what_nobody_took(queue, tools):
    await queue.push(*ABC)
    slow = queue.worker(lease=0.001)
    held = (await slow.turn(want=2)).taken

    async def lapsed():
        seconds, micros = await queue.redis.time()
        return (await slow.workers())[slow.owner] < seconds + micros / 1e6

    await tools.until(lapsed)
    slow._lease = 60_000
    assert await queue.take(slow) == [b"c"]
    assert (await slow.turn(tools.done(*held))).finished == [True, True]


async def test_a_call_whose_answer_was_lost_gives_the_same_again_and_tells_nothing_twice(queue, tools):
    await queue.push(*ABC)
    one = queue.worker()
    first = await one.turn(want=2)
    assert (await one.turn(want=2, again=True)).taken == first.taken
    news = tools.done(first.taken[0], children=(Child(0, None, b"child"), Child(0, 7, b"seen")))
    news.moved = tools.back(first.taken[1], delay=3_600_000).moved
    answer = await one.turn(news, want=1)
    assert (answer.finished, answer.moved, answer.new) == ([True], [True], 2)
    again = await one.turn(news, want=1, again=True)
    assert (again.taken, again.new) == (answer.taken, 0)
    state = await one.look(holds=True)
    assert (state.queued, state.delayed, state.leased) == (2, 1, 1)


async def test_a_repeated_call_gives_only_what_is_still_on_lease(queue, tools):
    await queue.push(*ABC)
    one = queue.worker()
    first = await one.turn(want=3)
    again = await one.turn(tools.done(first.taken[1]), want=3, again=True)
    assert [leased.entry.payload for leased in again.taken] == [b"a", b"c"]


async def test_a_bundle_that_belongs_to_no_page_is_queued_once(queue):
    one = queue.worker()
    bundle = News(loose=Numbered(1, (Child(0, None, b"a"),)))
    assert [(await one.turn(bundle)).new, (await one.turn(bundle, again=True)).new] == [1, 0]
    await queue.kill(one)
    assert (await one.turn(bundle, again=True)).new == 0
    assert (await one.turn(News(loose=Numbered(2, (Child(0, None, b"a"),))))).new == 1


@pytest.mark.parametrize("payload", [b"", b"\x00", b"a:b:1\n:\r\n", bytes(range(256)), b"\xff" * 70_000])
async def test_a_payload_comes_through_each_way_as_it_was(lone, tools, payload):
    await lone.push(payload, priority=-7)
    one = lone.worker()
    [leased] = (await one.turn(want=1)).taken
    assert (leased.priority, leased.entry.payload) == (-7, payload)
    await one.turn(tools.back(leased, delay=0))
    [leased] = await tools.until(lambda: taken(one))
    await lone.kill(one)
    [leased] = (await one.turn(want=1)).taken
    assert (leased.entry.payload, leased.entry.failures, leased.entry.deliveries) == (payload, 1, 1)
    await one.turn(tools.back(leased, dead="why"))
    assert await lone.dead() == [(payload, "why")]
    await one.revive([letter.id async for letter in one.dead()])
    assert await lone.take(one) == [payload]


async def taken(frontier):
    return (await frontier.turn(want=1)).taken


async def test_a_call_that_arrives_after_a_later_one_leases_nothing(queue, tools):
    await queue.push(b"a", b"b", b"c")
    one = queue.worker()
    await one.turn(want=1)
    await one.turn(want=1)
    one._call -= 2  # as a command that lay in a broken connection
    assert (await one.turn(want=1)).taken == []
    assert (await queue.worker().look(holds=False)).queued == 1
