"""The requests of start() are queued once, whoever runs it and however often."""

from __future__ import annotations

from fetchworker.frontier.entry import Child, News, Numbered


def told(place: int, *payloads: bytes) -> News:
    return News(started=Numbered(place, tuple(Child(0, None, each) for each in payloads)))


async def test_one_worker_runs_it_and_the_others_hear_when_it_is_done(queue):
    one, other = queue.worker(), queue.worker()
    assert (await one.look(holds=False)).start == "none"
    assert await one.start("begin") == ("mine", 0)
    assert await one.start("begin") == ("mine", 0), "an answer that was lost"
    assert await other.start("begin") == ("other", 0)
    assert (await other.look(holds=False)).start == "running"
    assert (await one.turn(told(0, b"a", b"b"))).started == 2
    assert (await one.turn(told(0, b"a", b"b"), again=True)).started == 2
    assert await other.start("done") == ("other", 2)
    assert await one.start("done") == ("done", 2)
    assert await one.start("done") == ("done", 2)
    assert await other.start("begin") == ("done", 2)
    assert (await other.look(holds=False)).start == "done"
    assert await queue.drain() == [b"a", b"b"]


async def test_one_that_dies_in_the_middle_is_followed_from_where_it_came_to(queue):
    one, other = queue.worker(), queue.worker()
    await one.start("begin")
    await one.turn(told(0, b"a", b"b"))
    await queue.kill(one)
    assert (await other.look(holds=False)).start == "none"
    assert await other.start("begin") == ("mine", 2)
    assert (await other.turn(told(2, b"c"))).started == 3
    late = await one.turn(told(2, b"c", b"d"))
    assert (late.new, late.started) == (0, 3)
    assert await one.start("done") == ("other", 3)
    await other.start("done")
    assert await queue.drain() == [b"a", b"b", b"c"]


async def test_one_whose_start_fails_leaves_it_to_others(queue):
    one, other = queue.worker(), queue.worker()
    await one.start("begin")
    await one.turn(told(0, b"a"))
    assert await other.start("failed") == ("other", 1)
    assert await other.start("begin") == ("other", 1), "it is still the first one's"
    assert await one.start("failed") == ("other", 1)
    assert await other.start("begin") == ("mine", 1)


async def test_one_that_still_runs_it_is_kept_alive_without_any_lease(queue, tools):
    one, other = queue.worker(), queue.worker()
    await one.start("begin")
    before = (await other.workers())[one.owner]

    async def later():
        await one.look(holds=False)
        return (await other.workers())[one.owner] > before

    await tools.until(later)
    await one.start("done")
    await one.look(holds=False)
    assert await other.workers() == {}


async def test_a_bundle_from_another_place_is_not_queued(queue):
    one = queue.worker()
    await one.start("begin")
    assert [(await one.turn(told(place, b"x"))).started for place in (1, 0, 0, 2, 1)] == [0, 1, 1, 1, 2]
    assert await queue.drain() == [b"x", b"x"]
