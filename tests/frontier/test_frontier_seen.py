"""The seen-set: exact at every size, and small."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fetchworker.frontier.entry import Child, News, Numbered
from fetchworker.frontier.keys import namespace
from fetchworker.frontier.store import Frontier
from fetchworker.redis import connect, resolve_redis_url

LEAST, MOST = -(2**63), 2**63 - 1
#: of which one shares its lowest digits with its neighbours in other buckets
EDGES = [LEAST, LEAST + 1, -(10**15), -(10**15) - 1, -1, 0, 1, 10**15 - 1, 10**15, 10**16 + 1, 2**53 + 1, MOST]
INTEGERS = st.one_of(st.integers(LEAST, MOST), st.sampled_from(EDGES), st.integers(-999, 999).map(lambda n: n << 20))


def many(number, seed=5):
    chosen = random.Random(seed)
    found = set(EDGES[:number])
    while len(found) < number:
        found.add(chosen.randrange(LEAST, MOST + 1))
    return list(found)


async def new(frontier, fingerprints, part=5000):
    """How many were new."""
    found = 0
    for first in range(0, len(fingerprints), part):
        children = tuple(Child(0, one, b"") for one in fingerprints[first : first + part])
        frontier.bundle = getattr(frontier, "bundle", 0) + 1
        found += (await frontier.turn(News(loose=Numbered(frontier.bundle, children)))).new
    return found


async def buckets(queue):
    """Name → members, encoding and bytes of each bucket."""
    names = sorted(key for key in await queue.keys() if key.startswith(f"{queue.names.seen}:"))
    return {
        name: (
            {int(each) for each in await queue.redis.smembers(name)},
            await queue.redis.object("ENCODING", name),
            await queue.redis.memory_usage(name, samples=0),
        )
        for name in names
    }


@pytest.mark.parametrize("size", [1, 200, 201, 5000])
async def test_each_is_new_once_whatever_the_size(queue, size):
    one, members = queue.worker(), many(size)
    assert await new(one, members) == size
    assert await new(one, members) == 0
    assert await new(one, [*many(size, seed=6), *members]) == len(set(many(size, seed=6)) - set(members))
    held = [each for found, _, _ in (await buckets(queue)).values() for each in found]
    assert len(held) == len(set(held)), "in two buckets"
    assert int(await queue.redis.hget(queue.names.seen, "count")) == len(held)


@pytest.mark.slow
async def test_it_grows_bucket_by_bucket_each_in_the_compact_form_and_takes_twelve_bytes_at_most(lone):
    one, size = lone.worker(), 200_000
    members = many(size)
    at_bend = 200 * 384  # half-way through a doubling: those that are not split yet are the fullest
    assert await new(one, members[:at_bend]) == at_bend
    assert {encoding for _, encoding, _ in (await buckets(lone)).values()} == {b"intset"}
    assert await new(one, members[at_bend:]) == size - at_bend
    assert await new(one, members[::40]) == 0
    found = await buckets(lone)
    assert {encoding for _, encoding, _ in found.values()} == {b"intset"}
    assert set().union(*(each for each, _, _ in found.values())) == set(members)
    assert await lone.redis.hgetall(lone.names.seen) == {b"level": b"9", b"split": b"488", b"count": b"200000"}
    entries = 56 * len(found)  # what the table of keys takes for each bucket
    assert (sum(taken for _, _, taken in found.values()) + entries) / size <= 12


async def test_requests_that_are_not_filtered_take_nothing(lone):
    one = lone.worker()
    assert (await one.turn(News(loose=Numbered(1, (Child(0, None, b""),) * 50)))).new == 50
    assert await buckets(lone) == {}
    assert not await lone.redis.exists(lone.names.seen)


async def test_fingerprints_that_all_fall_into_one_bucket_are_told_apart(lone):
    one, members = lone.worker(), [number * 2**26 for number in range(-600, 600)]
    assert await new(one, members) == 1200
    assert await new(one, members) == 0


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(first=st.lists(INTEGERS, max_size=700), second=st.lists(INTEGERS, max_size=700))
def test_any_integers(redis_server, first, second):
    """The set as Redis has it against Python's."""

    async def run():
        client = connect(resolve_redis_url(redis_server.url, Path()))
        await client.flushall()
        frontier = Frontier(client, namespace("any"))
        try:
            return await new(frontier, first), await new(frontier, second)
        finally:
            await client.aclose()

    assert asyncio.run(run()) == (len(set(first)), len(set(second) - set(first)))
