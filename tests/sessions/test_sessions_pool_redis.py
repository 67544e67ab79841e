"""What a pool in Redis promises: all that every back end does, and what only Redis has."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from fetchworker.redis import connect, resolve_redis_url
from fetchworker.sessions.pool import Lease
from fetchworker.sessions.poolkeys import new_id
from fetchworker.sessions.poolredis import RedisPool

from .test_sessions_pool import TERMS, PoolConformance


class OnRedis(PoolConformance):
    """Time is Redis's own, which no test can move: the times that are kept there are moved back instead."""

    @pytest.fixture
    async def clients(self):
        raise NotImplementedError

    @pytest.fixture
    def make(self, clients):
        made = []

        def view(terms):
            made.append(RedisPool(clients[len(made) % len(clients)], "shop", terms))
            return made[-1]

        return view

    @pytest.fixture
    def passes(self, clients):
        async def later(seconds):
            redis, head = clients[0], "fw:pool:{shop}"
            for zset in [
                f"{head}:leases",
                f"{head}:workers",
                *(f"{head}:{kind}" for kind in ("seen", "seen:main", "lockseen:ada")),
                *(f"{head}:{kind}:main" for kind in ("rest", "away", "born", "idle")),
            ]:
                for name, at in await redis.zrange(zset, 0, -1, withscores=True):
                    await redis.zadd(zset, {name: at - seconds * 1e6 * (not zset.endswith("idle:main"))})
            for name in await redis.zrange(f"{head}:born:main", 0, -1):
                key = f"{head}:s:{name.decode()}"
                for field in ("born", "used", "at", "until"):
                    if (value := await redis.hget(key, field)) is not None:
                        await redis.hset(key, field, int(value) - round(seconds * 1e6))
            lock = f"{head}:lock:ada"
            if (left := await redis.pttl(lock)) > 0:
                await redis.pexpire(lock, max(0, left - round(seconds * 1000)))
            await asyncio.sleep(0.002)

        return later

    # Entries that nobody can read

    @pytest.fixture
    def spoil(self, clients):
        async def spoilt(session_id, field, value):
            redis, key = clients[0], f"fw:pool:{{shop}}:s:{session_id}"
            if field is None:
                await redis.delete(key)
                await redis.set(key, value)
            else:
                await redis.hset(key, field, value)

        return spoilt

    @pytest.mark.parametrize(
        "entry",
        [("uses", "xx"), ("score", "nan"), ("score", "-1"), ("score", "1001"), ("born", ""), ("used", "1e400"),
         ("blocks", "x"), ("jar", "other"), ("uses", "9" * 17), (None, "no hash")],
    )  # fmt: skip
    @pytest.mark.parametrize("place", ["idle", "resting", "waiting", "lapsed"])
    async def test_an_entry_that_cannot_be_read_is_dropped_and_told(self, make, spoil, passes, entry, place):
        pool = make(replace(TERMS, max_total=1, cooldown=5 if place == "resting" else 0))
        bad = (await pool.take("main", "a")).lease
        if place == "waiting":
            await pool.rest(bad, "no exit", seconds=5)
        elif place != "lapsed":
            await pool.put(bad)
        await passes(31)
        await spoil(bad.session_id, *entry)
        (told,) = await pool.standings()
        assert (told.id, told.state) == (bad.session_id, "damaged")
        taken = await pool.take("main", "b")
        assert taken.lease.new
        assert taken.dropped == taken.damaged == (bad.session_id,)
        assert [one.id for one in await pool.standings()] == [taken.lease.session_id]

    @pytest.mark.parametrize("field", ["uses", "jar", None])
    async def test_an_entry_that_cannot_be_read_can_be_dropped_by_hand(self, make, spoil, field):
        pool = make(TERMS)
        bad = (await pool.take("main", "a")).lease
        await spoil(bad.session_id, field, "xx")
        assert await pool.quarantine(Lease(bad.session_id, 0), "by hand", seconds=0) == (True, True)
        assert await pool.standings() == []
        assert await pool.quarantine(Lease(bad.session_id, 0), "by hand", seconds=0) == (False, False)

    async def test_counters_that_are_none_begin_again_above_all_that_were(self, make, clients):
        pool = make(TERMS)
        first = (await pool.take("main", "a")).lease
        for field in ("fence", "made", "dropped"):
            await clients[0].hset("fw:pool:{shop}", field, "xx")
        assert await pool.totals() == {"made": 0, "dropped": 0, "quarantined": 0, "lapsed": 0}
        second = (await pool.take("main", "b")).lease
        assert second.number > first.number
        await clients[0].hset("fw:pool:{shop}", "fence", "yy")
        assert (await pool.lock("ada", "c")).lease.number > second.number
        assert (await pool.totals())["made"] == 1

    @pytest.mark.parametrize("place", ["idle", "rest", "away", "born"])
    @pytest.mark.parametrize("name", ["junk", "pool.main.ZZ", b"\x1b[2J\xff", "pool.jobs.00000000000000aa"])
    async def test_what_is_no_session_of_the_jar_goes_and_takes_no_place(self, make, clients, name, place):
        pool = make(replace(TERMS, max_total=1, prefer="oldest"))
        mine = (await pool.take("main", "a")).lease
        await pool.put(mine)
        for kind in {place, "born"}:
            await clients[0].zadd(f"fw:pool:{{shop}}:{kind}:main", {name: 0})
        assert "damaged" in [one.state for one in await pool.standings()]
        taken = await pool.take("main", "b")
        if taken.lease is None:
            taken = await pool.take("main", "b")
        assert taken.lease.session_id == mine.session_id
        assert (await pool.take("main", "c")).lease is None
        await pool.put(taken.lease)
        assert [one.id for one in await pool.standings()] == [mine.session_id]
        assert (await pool.counts("main")).total == 1

    async def test_sessions_that_stand_nowhere_come_back_or_go(self, make, clients):
        pool, head = make(replace(TERMS, max_total=60, max_idle=60)), "fw:pool:{shop}"
        stray = (await pool.take("main", "a")).lease
        await clients[0].delete(f"{head}:leases")
        await clients[0].zadd(f"{head}:born:main", {new_id("main"): n for n in range(59)})
        assert (await pool.counts("main")).total == 60
        taken = [await pool.take("main", f"b{n}") for n in range(60)]
        assert stray.session_id in {one.lease.session_id for one in taken if one.lease}
        assert sum(one.lease is not None for one in taken) >= 59
        assert sum(len(one.damaged) for one in taken) == 59

    @pytest.mark.parametrize(
        "name", ["junk", b"\x1b[2J\xff", "pool.jobs.00000000000000aa", "pool.main.00000000000000aa"]
    )
    async def test_whatever_is_listed_can_be_dropped_by_hand(self, make, clients, name):
        pool = make(TERMS)
        await pool.put((await pool.take("main", "a")).lease)
        await clients[0].zadd("fw:pool:{shop}:born:main", {name: 1})
        assert len(await pool.standings()) == 2
        for one in await pool.standings():
            assert await pool.quarantine(Lease(one.id, 0), "by hand", seconds=0) == (True, True)
        assert await pool.standings() == []

    async def test_a_pool_whose_list_of_jars_is_lost_is_seen(self, make, clients):
        pool = make(TERMS)
        lease = (await pool.take("main", "a")).lease
        await clients[0].delete("fw:pool:{shop}:jars")
        assert [one.id for one in await pool.standings()] == [lease.session_id]

    @pytest.mark.parametrize(
        "key",
        ["", ":jars", ":leases", ":idle:main", ":rest:main", ":away:main", ":born:main", ":line:main", ":seen:main",
         ":o:b", ":lock:ada", ":lockline:ada", ":workers"],
    )  # fmt: skip
    async def test_keys_of_another_type_are_dropped_and_the_pool_goes_on(self, make, clients, key):
        pool, key = make(replace(TERMS, max_total=1)), f"fw:pool:{{shop}}{key}"
        first = (await pool.take("main", "a")).lease
        await pool.put(first)
        await clients[0].delete(key)
        await (clients[0].lpush(key, "x") if key.endswith(":o:b") else clients[0].set(key, "x"))
        await pool.standings()
        await pool.enter("one")
        taken = await pool.take("main", "b", waits=0)
        assert taken.lease is not None
        assert taken.lease.number > first.number
        assert (await pool.put(taken.lease))[0]
        assert (await pool.take("main", "c", waits=0)).lease is not None
        assert (await pool.take("main", "d", waits=0)).lease is None
        assert (await pool.lock("ada", "e", waits=0)).lease is not None
        assert len(await pool.standings()) == 1

    async def test_a_clock_that_is_set_back_keeps_nothing_for_longer_than_its_lease(self, make, clients, passes):
        pool, head, hour = make(replace(TERMS, max_total=1, lease=0.05)), "fw:pool:{shop}", 3_600_000_000
        dead = (await pool.take("main", "a")).lease
        await pool.take("main", "gone", waits=0)
        for key, who in (("leases", dead.session_id), ("seen:main", "gone"), ("line:main", "gone")):
            await clients[0].zincrby(f"{head}:{key}", hour, who)
        await pool.enter("other")
        await clients[0].zincrby(f"{head}:workers", hour, "other")
        assert (await pool.take("main", "b", waits=0)).wait <= 0.05
        await passes(3)
        assert (await pool.take("main", "b", waits=3)).lease.session_id == dead.session_id
        await pool.lock("ada", "a")
        await clients[0].pexpire(f"{head}:lock:ada", 3_600_000)
        assert (await pool.lock("ada", "b")).wait <= 0.05

    async def test_a_lease_that_is_longer_than_ones_own_is_left_alone(self, make, clients):
        long, short = make(replace(TERMS, lease=600)), make(replace(TERMS, lease=1))
        lease = (await long.take("main", "a")).lease
        before = await clients[0].zscore("fw:pool:{shop}:leases", lease.session_id)
        await short.take("main", "b")
        assert await clients[0].zscore("fw:pool:{shop}:leases", lease.session_id) == before


class TestRedisPool(OnRedis):
    @pytest.fixture
    async def clients(self, redis, second_redis):
        return [redis, second_redis]


class TestRedisClusterPool(OnRedis):
    @pytest.fixture
    async def clients(self, redis_cluster, tmp_path):
        made = [connect(resolve_redis_url(redis_cluster.url, tmp_path)) for _ in range(2)]
        yield made
        for client in made:
            await client.aclose()
