"""Children of a page join the queue with its end: all of them, once, and none before."""

from __future__ import annotations

from fetchworker.frontier.entry import Child, News, Staged

MANY, PART = 50_000, 1000


def parts(token, count=MANY, part=PART):
    """Children in parts, as a worker sends them."""
    for place in range(0, count, part):
        yield Staged(token, place, tuple(Child(0, number, b"%05d" % number) for number in range(place, place + part)))


async def page(queue, frontier):
    await queue.push(b"page")
    [leased] = (await frontier.turn(want=1)).taken
    return leased


async def test_children_are_queued_with_the_end_of_their_page_duplicates_left_out(queue, tools):
    one = queue.worker()
    leased = await page(queue, one)
    children = (Child(0, 1, b"a"), Child(0, 1, b"again"), Child(9, 2, b"b"), Child(0, None, b"c"), Child(0, None, b"c"))
    answer = await one.turn(tools.done(leased, children=children), want=9)
    assert answer.new == 4
    assert [each.entry.payload for each in answer.taken] == [b"b", b"a", b"c", b"c"]
    other = queue.worker()
    answer = await other.turn(tools.done(*(await other.turn(want=9)).taken, children=children[:1]))
    assert answer.new == 0


async def test_fifty_thousand_children_come_in_parts_and_are_seen_only_when_their_page_is_done(queue, tools):
    one, other = queue.worker(), queue.worker()
    leased = await page(queue, one)
    for staged in parts(leased.token):
        await one.turn(News(staged=[staged]))
    assert (await other.turn(want=9)).taken == []
    state = await other.look(holds=False)
    assert (state.queued, state.leased) == (0, 1)
    end = tools.done(leased, children=(Child(0, MANY, b"%05d" % MANY),), staged=MANY)
    assert (await one.turn(end)).finished == [True]
    assert (await one.turn(end, again=True)).finished == [False], "and its parts stay"
    assert not (await other.look(holds=False)).empty
    assert sorted(await queue.drain()) == [b"%05d" % number for number in range(MANY + 1)]
    assert await queue.redis.llen(f"{queue.names.root}:committed") == 0
    assert await queue.redis.exists(f"{queue.names.root}:stage:{leased.token}") == 0


async def test_a_worker_that_dies_in_the_middle_of_a_page_leaves_no_child(queue, tools):
    one = queue.worker()
    leased = await page(queue, one)
    first, second, *_ = parts(leased.token)
    await one.turn(News(staged=[first]))
    await queue.kill(one)
    assert not [key for key in await queue.keys() if ":stage:" in key]
    answer = await one.turn(News(staged=[second], finished=tools.done(leased, staged=2 * PART).finished))
    assert (answer.finished, answer.new) == ([False], 0)
    assert await queue.drain() == [b"page"]
    assert not [key for key in await queue.keys() if ":stage:" in key]


async def test_a_page_that_is_not_done_forgets_its_children(queue, tools):
    one = queue.worker()
    for news in (tools.back, lambda leased: tools.back(leased, delay=0), lambda leased: tools.back(leased, dead="x")):
        leased = await page(queue, one)
        await one.turn(News(staged=[next(parts(leased.token))]))
        await one.turn(news(leased))
        await tools.until(lambda: gone(queue, one, tools))
    assert not [key for key in await queue.keys() if ":stage:" in key]


async def gone(queue, one, tools):
    await one.turn(tools.done(*(await one.turn(want=1)).taken))
    return (await one.look(holds=False)).empty


async def test_a_part_that_is_told_again_counts_once(queue, tools):
    one = queue.worker()
    leased = await page(queue, one)
    first, second, *_ = parts(leased.token, 30, 10)
    for news in (News(staged=[first]), News(staged=[first, second]), News(staged=[second])):
        await one.turn(news, again=True)
    await one.turn(tools.done(leased, staged=20))
    assert sorted(await queue.drain()) == [b"%05d" % number for number in range(20)]


async def test_a_page_of_which_redis_lost_parts_is_done_again(queue, tools):
    """As after a failover to a replica that had not got them yet."""
    one = queue.worker()
    leased = await page(queue, one)
    first, second, third = parts(leased.token, 30, 10)
    await one.turn(News(staged=[first]))
    await queue.redis.delete(f"{queue.names.root}:stage:{leased.token}")
    answer = await one.turn(News(staged=[second, third], finished=tools.done(leased, staged=30).finished), want=9)
    assert (answer.finished, answer.new) == ([False], 0)
    assert [each.entry.payload for each in answer.taken] == [b"page"]
    assert (await one.turn(tools.done(*answer.taken))).finished == [True]
    assert (await one.look(holds=False)).empty
