"""Namespaces begin, end, are dropped when nobody wants them any more, and leave nothing behind."""

from __future__ import annotations

import pytest

from fetchworker.frontier.entry import Child, News, Numbered
from fetchworker.frontier.keys import registry
from fetchworker.frontier.store import is_gone, owner_name

OLD = 10 * 86_400


async def age(queue, *ids, seconds=OLD):
    """Nobody has used them for so long."""
    now = (await queue.redis.time())[0]
    await queue.redis.zadd(registry(queue.names.spider), dict.fromkeys(ids, now - seconds))


async def registered(queue):
    return {id_.decode() for id_ in await queue.redis.zrange(registry(queue.names.spider), 0, -1)}


async def test_a_purge_leaves_no_key_but_the_seeds(queue, tools):
    await queue.redis.rpush(queue.names.seeds, "seed")
    one = await queue.busy()
    held = {key.removeprefix(queue.names.root).split(":")[1] for key in await queue.keys() if key[0] == "{"}
    every = "requests waiting delayed suspects workers work calls stage committed start dead counts dupefilter"
    assert held == set(every.split())
    await one.purge()
    assert await queue.keys() == {queue.names.seeds}


async def test_a_purged_private_namespace_is_not_registered_any_more(queue, tools):
    one = await queue.of("nightly").busy()
    await one.purge()
    assert await queue.keys() == set()


async def test_what_an_ended_namespace_leaves_goes_after_a_while(queue, tools):
    private = queue.of("nightly")
    one = private.worker(retention=100)
    await one.enter()
    await one.start("begin")
    await one.turn(News(started=Numbered(0, tuple(Child(0, number, b"x") for number in range(2000)))))
    await one.start("done")
    await private.drain()
    assert not await one.expire(), "a worker is there"
    await one.leave()
    assert await one.expire()
    left = await queue.keys() - {registry("shop")}
    assert left == {f"{one.names.root}:counts", f"{one.names.root}:start"}
    for key in left:
        assert 0 < await queue.redis.ttl(key) <= 100
    await private.worker().enter()
    assert {await queue.redis.ttl(key) for key in left} == {-1}, "one that goes on stays"


async def test_a_seen_set_of_many_buckets_goes_in_steps(lone, monkeypatch):
    monkeypatch.setattr("fetchworker.frontier.store._BUCKETS", 3)
    one = lone.worker()
    await one.turn(News(loose=Numbered(1, tuple(Child(0, number, b"x") for number in range(3000)))))
    assert len([key for key in await lone.keys() if ":dupefilter:" in key]) == 15
    await one.purge()
    assert await lone.keys() == set()


# ── abandoned ones ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_private_namespaces_that_nobody_used_for_long_are_dropped(queue, tools):
    for name in ("ended", "killed"):
        one = await queue.of(name).busy()
        await queue.kill(one)
    await queue.of("fresh").worker().enter()
    await age(queue, "ended", "killed")
    await age(queue, "fresh", seconds=3)
    assert sorted(await queue.worker().prune()) == ["ended", "killed"]
    assert await registered(queue) == {"fresh"}
    assert not [key for key in await queue.keys() if "ended" in key or "killed" in key]


async def test_one_with_a_worker_is_never_dropped(queue, tools):
    one = await queue.of("long").busy()
    before = await queue.keys()
    await age(queue, "long")
    assert await queue.worker().prune() == []
    assert await queue.keys() == before
    assert await registered(queue) == {"long"}
    await one.leave()
    assert await queue.worker().prune() == ["long"]


async def test_one_that_somebody_has_just_entered_is_kept(queue, tools):
    private = queue.of("resumed")
    await queue.kill(await private.busy())
    await age(queue, "resumed")
    one = private.worker()
    await one.enter()
    assert await queue.worker().prune() == []
    await age(queue, "resumed")  # whatever the registry says: it is there
    assert await queue.worker().prune() == []
    assert (await one.turn(want=9)).taken


async def test_a_worker_of_the_namespace_itself_keeps_it(queue):
    await age(queue, "mine")
    one = queue.of("mine").worker()
    assert await one.prune() == []
    assert await registered(queue) == {"mine"}


async def test_one_start_drops_a_bounded_number_the_oldest_first(lone):
    for number in range(25):
        await age(lone, f"c{number}", seconds=OLD + number)
    assert await lone.worker().prune() == [f"c{number}" for number in range(24, 4, -1)]
    assert await lone.worker().prune() == [f"c{number}" for number in range(4, -1, -1)]
    assert await lone.keys() == set()


@pytest.mark.parametrize(("terms", "kept"), [({"retention": 1}, 3000), ({"retention": 1, "lease": 86_400}, 100_000)])
async def test_one_in_use_may_be_silent_for_longer_than_a_short_retention(lone, terms, kept):
    await age(lone, "quiet", seconds=kept)
    assert await lone.worker(**terms).prune() == []


async def test_signs_of_use_are_given_once_a_minute(lone, monkeypatch):
    now = 1000.0
    monkeypatch.setattr("fetchworker.frontier.store.time.monotonic", lambda: now)
    one = lone.of("mine").worker()
    await one.enter()
    for now, given in ((1059.0, False), (1060.0, True), (1061.0, False)):  # noqa: B007  # the clock reads it
        await age(lone, "mine")
        await one.sign()
        silent = (await lone.redis.time())[0] - await lone.redis.zscore(registry("shop"), "mine")
        assert (silent < OLD) is given


async def test_a_shared_namespace_gives_no_signs_of_use(lone):
    one = lone.worker()
    await one.enter()
    await one.sign()
    assert await lone.keys() == set()


async def test_dead_letters_that_are_tried_again_keep_their_namespace(lone, tools):
    private = lone.of("mine")
    await private.push(b"a")
    one = private.worker()
    await one.turn(tools.back(*(await one.turn(want=1)).taken, dead="x"))
    await one.leave()
    await age(lone, "mine")
    await one.revive([letter.id async for letter in one.dead()])
    assert await lone.worker().prune() == []
    assert await private.drain() == [b"a"]


# ── workers ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_what_a_former_process_of_this_machine_had_comes_back_at_once(queue):
    await queue.push(b"a", b"b")
    machine = owner_name().partition("@")[2].partition("/")[0]
    gone = queue.worker()
    gone.owner = f"@{machine}/{2**22 + 1}/1#{'0' * 12}"  # above the greatest number of a process
    await gone.turn(want=2)
    alive = queue.worker()
    await alive.turn()
    one = queue.worker()
    assert await one.reclaim() == 2
    assert set(await one.workers()) == {alive.owner}
    assert [each.entry.deliveries for each in (await one.turn(want=9)).taken] == [1, 1]
    assert await one.reclaim() == 0


async def test_a_worker_with_a_name_gets_back_what_it_had_wherever_it_ran(queue):
    await queue.push(b"a")
    elsewhere = queue.worker()
    elsewhere.owner = "crawler-1@other-host/7/9#abcdefabcdef"
    await elsewhere.turn(want=1)
    assert await queue.worker().reclaim() == 0
    one = queue.worker()
    one.owner = owner_name("crawler-1")
    assert await one.reclaim() == 1


@pytest.mark.parametrize(
    ("owner", "gone"),
    [
        ("@host-1/1/5#a", False), ("crawler-2@host-1/1/5#a", False), ("crawler-1@elsewhere/1/5#a", True),
        ("", False), ("nonsense", False), ("@host-1/x/5#a", False), ("@host-1/1/#a", False),
    ],
)  # fmt: skip
def test_only_what_is_known_to_be_gone_is_gone(owner, gone):
    assert is_gone(owner, "crawler-1@here/2/6#b") is gone


def test_a_process_of_this_machine_that_lives_is_not_gone():
    me, other = owner_name(), owner_name()
    assert not is_gone(me, me)
    assert not is_gone(other, me)
    head, _, tail = other.rpartition("/")
    assert is_gone(f"{head}/1#{tail.partition('#')[2]}", me), "its number is another's by now"
