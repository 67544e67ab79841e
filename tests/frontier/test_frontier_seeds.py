"""Seeds are leased from a list, a set or a sorted set; a key of another type is left alone."""

from __future__ import annotations

import pytest

FILL = {
    "list": ("RPUSH", "a", "b", "c"),
    "set": ("SADD", "a", "b", "c"),
    "zset": ("ZADD", "2", "b", "1", "c", "3", "a"),
}


async def command(queue, name, *arguments):
    return await queue.redis.execute_command(name, queue.names.seeds, *arguments)


@pytest.mark.parametrize("kind", FILL)
async def test_seeds_are_leased_and_done_like_requests(queue, tools, kind):
    await command(queue, *FILL[kind])
    one, other = queue.worker(), queue.worker()
    state = await one.look(holds=False)
    assert (state.seeds, state.empty) == (3, False)
    assert (await one.turn(want=9)).taken == [], "a worker that asks for none gets none"
    held = (await one.turn(want=9, seeds=2)).taken
    assert (await one.turn(want=9, seeds=2, again=True)).taken == held
    rest = (await other.turn(seeds=9)).taken
    assert {each.entry.kind for each in held + rest} == {"seed"}
    found = [each.entry.payload for each in held + rest]
    assert (sorted(found) if kind == "set" else found) == [b"a", b"b", b"c"]
    await queue.kill(one)
    again = (await other.turn(want=9, seeds=9)).taken
    assert sorted(each.raw for each in again) == sorted(b"s\0\1" + each.entry.payload for each in held)
    await other.turn(tools.done(*rest, *again))
    assert (await other.look(holds=False)).empty


@pytest.mark.parametrize("fill", [("SET", "x"), ("HSET", "field", "x")])
async def test_a_key_of_another_type_is_left_alone(queue, fill):
    await command(queue, *fill)
    await queue.push(b"a")
    one = queue.worker()
    assert [each.entry.payload for each in (await one.turn(want=9, seeds=9)).taken] == [b"a"]
    assert (await one.look(holds=True)).seeds is None
    await one.purge()
    assert await queue.keys() == {queue.names.seeds}


async def test_any_bytes_are_a_seed(lone):
    seeds = [b"\xff\x00", b"", b"{}", "ü".encode()]
    await command(lone, "RPUSH", *seeds)
    taken = (await lone.worker().turn(seeds=9)).taken
    assert [each.entry.payload for each in taken] == seeds


async def test_seeds_that_are_given_back_wait_in_the_queue_in_their_order(lone, tools):
    await command(lone, "RPUSH", "a", "b", "c")
    one = lone.worker()
    await one.turn(seeds=2)
    await one.leave()
    answer = await lone.worker().turn(want=9, seeds=9)
    assert [(each.entry.kind, each.entry.payload) for each in answer.taken] == [
        ("seed", b"a"), ("seed", b"b"), ("seed", b"c"),
    ]  # fmt: skip
