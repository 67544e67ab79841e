"""What every store promises, checked on each of them: one class of tests, a subclass a store."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import orjson
import pytest

from fetchworker.errors import ArgumentError, ConfigError, SessionError
from fetchworker.redis import connect, resolve_redis_url
from fetchworker.sessions import MemorySessionStore, RedisSessionStore, Session, SessionStore, session_key

START = 1_900_000_000.0
WWW = "https://www.shop.example/"
TTL = 10_000


class Clock:
    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now


def make(name="ada", **fields):
    return Session.fresh(
        name, **{"site": "shop", "profile": "chrome146", "proxy_id": "p1", "now": START, "stored": True, **fields}
    )


def receive(session, *lines, now=START):
    session.jar.set_from_response(WWW, lines, now)


def cookies(session):
    return dict(session.jar.header(WWW, START))


class StoreConformance:
    """``stores``: two stores over the same sessions, as two processes have them; ``clock``: theirs."""

    @pytest.fixture
    def clock(self):
        return Clock()

    @pytest.fixture
    def stores(self, clock):
        raise NotImplementedError

    @pytest.fixture
    def store(self, stores):
        return stores[0]

    @pytest.fixture
    def other(self, stores):
        return stores[1]

    async def let_expire(self, store, clock, name):
        raise NotImplementedError

    # One holder

    def test_it_is_a_store(self, store):
        assert isinstance(store, SessionStore)

    async def test_what_is_not_there(self, store):
        assert await store.load("shop", "ada") is None
        assert not await store.delete("shop", "ada")
        assert not await store.touch("shop", "ada")
        assert [name async for name in store.ids("shop")] == []

    async def test_saved_is_loaded(self, store):
        session = make()
        receive(session, "a=1; Path=/; Secure", "b=2; Domain=shop.example; Max-Age=60", b"c=\xe9\xff", "d=; Max-Age=0")
        session.tokens |= {"lsd": "x y", "empty": ""}
        session.uses, session.blocks, session.used_at = 2, 1, START + 1.25
        assert await store.save(session)
        loaded = await store.load("shop", "ada")
        assert loaded is not session
        assert orjson.loads(loaded.to_json()) == orjson.loads(session.to_json())
        assert not loaded.jar.dirty
        assert not session.jar.dirty

    async def test_each_load_gives_an_object_of_its_own(self, store):
        await store.save(make())
        one, two = await store.load("shop", "ada"), await store.load("shop", "ada")
        receive(one, "a=1")
        one.tokens["lsd"] = "x"
        assert (len(two.jar), two.tokens) == (0, {})

    async def test_a_session_without_exit(self, store):
        await store.save(make(proxy_id=None))
        assert (await store.load("shop", "ada")).proxy_id is None

    async def test_a_stateless_session_is_never_stored(self, store):
        assert await store.save(make("", stored=False))
        assert await store.save(make("ada", stored=False))
        assert [name async for name in store.ids("shop")] == []

    async def test_changes_are_saved(self, store):
        session = make()
        receive(session, "a=1", "b=1")
        session.tokens |= {"kept": "1", "changed": "1", "gone": "1"}
        await store.save(session)
        receive(session, "a=2", "b=; Max-Age=0", "c=1")
        session.tokens["changed"] = "2"
        del session.tokens["gone"]
        session.uses += 1
        assert await store.save(session)
        loaded = await store.load("shop", "ada")
        assert cookies(loaded) == {"a": "2", "c": "1"}
        assert loaded.tokens == {"kept": "1", "changed": "2"}
        assert loaded.uses == 1

    async def test_saving_twice_changes_nothing(self, store):
        session = make()
        receive(session, "a=1")
        session.uses = 2
        for _ in range(3):
            assert await store.save(session)
        loaded = await store.load("shop", "ada")
        assert (cookies(loaded), loaded.uses) == ({"a": "1"}, 2)

    async def test_the_order_of_cookies_survives(self, store):
        session = make()
        receive(session, "z=1", "a=1", "m=1")
        await store.save(session)
        receive(session, "b=1", "z=1")
        await store.save(session)
        loaded = await store.load("shop", "ada")
        assert loaded.jar.cookie_header(WWW, START) == "z=1; a=1; m=1; b=1"

    async def test_expired_cookies_are_neither_loaded_nor_kept(self, store, clock):
        session = make()
        receive(session, "a=1; Max-Age=5", "b=1")
        await store.save(session)
        clock.now += 5
        loaded = await store.load("shop", "ada")
        assert [cookie.name for cookie in loaded.jar] == ["b"]
        await store.save(loaded)
        clock.now -= 5
        assert [cookie.name for cookie in (await store.load("shop", "ada")).jar] == ["b"]

    async def test_names_are_checked(self, store):
        for call in (store.load, store.delete, store.touch):
            with pytest.raises(ArgumentError):
                await call("shop", "a b")
            with pytest.raises(ArgumentError):
                await call("sh op", "ada")
        with pytest.raises(ArgumentError):
            await store.save(make(site="sh*p"))

    async def test_a_token_that_cannot_be_stored(self, store):
        session = make()
        session.tokens["odd"] = "\ud800"
        receive(session, "a=1")
        with pytest.raises(SessionError):
            await store.save(session)
        session.tokens["odd"] = "even"
        assert await store.save(session)
        loaded = await store.load("shop", "ada")
        assert (cookies(loaded), loaded.tokens) == ({"a": "1"}, {"odd": "even"})

    # Names

    async def test_ids_are_those_of_the_site(self, store):
        for site, name in (("shop", "ada"), ("shop", "b:1"), ("shop2", "cleo"), ("sho", "dan")):
            await store.save(make(name, site=site))
        assert {name async for name in store.ids("shop")} == {"ada", "b:1"}

    async def test_more_ids_than_one_scan_gives(self, store):
        for number in range(1200):
            await store.save(make(f"n{number}"))
        assert sorted([name async for name in store.ids("shop")]) == sorted(f"n{number}" for number in range(1200))

    async def test_delete(self, store):
        await store.save(make())
        assert await store.delete("shop", "ada")
        assert await store.load("shop", "ada") is None

    # Time to live

    async def test_a_session_expires(self, store, clock):
        await store.save(make())
        await self.let_expire(store, clock, "ada")
        assert await store.load("shop", "ada") is None
        assert [name async for name in store.ids("shop")] == []

    async def test_who_held_an_expired_session_does_not_bring_it_back(self, store, clock):
        session = make()
        await store.save(session)
        await self.let_expire(store, clock, "ada")
        receive(session, "a=1")
        assert not await store.save(session)
        assert await store.load("shop", "ada") is None

    # Two holders

    async def test_cookies_of_two_are_united(self, store, other):
        await store.save(make())
        one, two = await store.load("shop", "ada"), await other.load("shop", "ada")
        receive(one, "a=1", now=START + 1)
        receive(two, "b=2", now=START + 2)
        assert await other.save(two)
        assert await store.save(one)
        assert cookies(await store.load("shop", "ada")) == {"a": "1", "b": "2"}

    async def test_the_later_write_stays_whoever_saves_last(self, store, other):
        await store.save(make())
        one, two = await store.load("shop", "ada"), await other.load("shop", "ada")
        receive(one, "a=old", now=START + 1)
        receive(two, "a=new", now=START + 2)
        assert await other.save(two)
        assert await store.save(one)
        assert cookies(await store.load("shop", "ada")) == {"a": "new"}

    async def test_an_old_copy_brings_nothing_back(self, store, other):
        session = make()
        receive(session, "a=1", "b=1", "c=1")
        session.tokens |= {"lsd": "1", "gone": "1"}
        await store.save(session)
        old, new = await store.load("shop", "ada"), await other.load("shop", "ada")
        receive(new, "a=; Max-Age=0", "b=2", now=START + 1)
        new.tokens["lsd"] = "2"
        del new.tokens["gone"]
        await other.save(new)
        old.uses += 1
        receive(old, "d=1", now=START + 2)
        assert await store.save(old)
        loaded = await store.load("shop", "ada")
        assert cookies(loaded) == {"b": "2", "c": "1", "d": "1"}
        assert loaded.tokens == {"lsd": "2"}

    async def test_a_deletion_outlives_an_earlier_write_that_is_saved_later(self, store, other):
        await store.save(make())
        one, two = await store.load("shop", "ada"), await other.load("shop", "ada")
        receive(one, "a=1", now=START + 1)
        receive(two, "a=; Max-Age=0", now=START + 2)
        await other.save(two)
        await store.save(one)
        assert cookies(await store.load("shop", "ada")) == {}

    async def test_what_came_after_a_deletion_stays(self, store, other):
        await store.save(make())
        one, two = await store.load("shop", "ada"), await other.load("shop", "ada")
        receive(one, "a=1", now=START + 2)
        receive(two, "a=; Max-Age=0", now=START + 1)
        await store.save(one)
        await other.save(two)
        assert cookies(await store.load("shop", "ada")) == {"a": "1"}

    async def test_forgetting_an_expired_cookie_spares_a_new_one(self, store, other, clock):
        session = make()
        receive(session, "a=old; Max-Age=5")
        await store.save(session)
        early = await other.load("shop", "ada")
        receive(early, "a=new; Max-Age=50", now=START + 4)
        clock.now += 6
        late = await store.load("shop", "ada")
        assert len(late.jar) == 0
        await other.save(early)
        await store.save(late)
        assert cookies(await store.load("shop", "ada")) == {"a": "new"}

    async def test_old_deletions_are_forgotten(self, store, clock):
        session = make()
        receive(session, "a=; Max-Age=0")
        await store.save(session)
        assert len((await store.load("shop", "ada")).jar.to_dict()["deleted"]) == 1
        clock.now += 4000
        await store.save(session)
        loaded = await store.load("shop", "ada")
        await store.save(loaded)
        clock.now = START
        assert (await store.load("shop", "ada")).jar.to_dict()["deleted"] == []

    async def test_a_slow_clock_still_writes_after_what_it_has_seen(self, store, other):
        session = make()
        receive(session, "a=fast", now=START + 5000)
        await store.save(session)
        behind = await other.load("shop", "ada")
        receive(behind, "a=slow", now=START - 5000)
        await other.save(behind)
        assert cookies(await store.load("shop", "ada")) == {"a": "slow"}

    async def test_counters_add_up(self, store, other):
        await store.save(make())
        one, two = await store.load("shop", "ada"), await other.load("shop", "ada")
        one.uses, one.blocks, one.used_at = 3, 1, START + 9
        two.uses, two.blocks, two.used_at = 4, 0, START + 5
        await store.save(one)
        await other.save(two)
        loaded = await store.load("shop", "ada")
        assert (loaded.uses, loaded.blocks, loaded.used_at) == (7, 1, START + 9)

    async def test_two_who_mint_at_once_end_with_one_identity(self, store, other):
        one, two = make(proxy_id="p1"), make(proxy_id="p2")
        assert await store.save(one)
        assert not await other.save(two)
        loaded = await other.load("shop", "ada")
        assert (loaded.identity, loaded.proxy_id) == (one.identity, "p1")

    async def test_an_exit_is_given_once(self, store, other):
        await store.save(make(proxy_id=None))
        one, two, three = [await store.load("shop", "ada") for _ in range(3)]
        one.proxy_id, two.proxy_id = "p1", "p2"
        receive(two, "a=1")
        receive(three, "a=1")
        assert await store.save(one)
        assert not await other.save(two)
        assert not await other.save(three)
        loaded = await store.load("shop", "ada")
        assert (loaded.proxy_id, cookies(loaded)) == ("p1", {})

    async def test_another_profile_is_another_identity(self, store):
        await store.save(make())
        session = await store.load("shop", "ada")
        session.profile = "firefox147"
        assert not await store.save(session)

    async def test_one_object_saved_by_many_at_once(self, store):
        session = make()

        async def use(number):
            receive(session, f"c{number}=1")
            session.uses += 1
            return await store.save(session)

        assert all(await asyncio.gather(*(use(number) for number in range(20))))
        loaded = await store.load("shop", "ada")
        assert (len(loaded.jar), loaded.uses) == (20, 20)

    async def test_many_holders_lose_nothing(self, store, other):
        await store.save(make())

        async def use(number):
            with_store = (store, other)[number % 2]
            session = await with_store.load("shop", "ada")
            receive(session, f"c{number}=1")
            session.uses += 1
            return await with_store.save(session)

        assert all(await asyncio.gather(*(use(number) for number in range(20))))
        loaded = await store.load("shop", "ada")
        assert (len(loaded.jar), loaded.uses) == (20, 20)

    async def test_a_session_that_travelled_as_json_saves_what_is_new(self, store):
        session = make()
        receive(session, "a=1")
        session.uses, session.tokens["lsd"] = 2, "1"
        await store.save(session)
        receive(session, "b=1")
        session.uses += 1
        session.tokens["lsd"] = "2"
        assert await store.save(Session.from_json(session.to_json()))
        loaded = await store.load("shop", "ada")
        assert (cookies(loaded), loaded.uses, loaded.tokens) == ({"a": "1", "b": "1"}, 3, {"lsd": "2"})

    # Rotation and deletion

    async def test_rotation_replaces_all(self, store):
        session = make()
        receive(session, "a=1", "gone=; Max-Age=0")
        session.tokens["lsd"] = "1"
        session.uses = 9
        await store.save(session)
        new = make(proxy_id="p2", profile="firefox147")
        receive(new, "n=1")
        assert await store.rotate("shop", "ada", session.identity, new) is new
        loaded = await store.load("shop", "ada")
        assert orjson.loads(loaded.to_json()) == orjson.loads(new.to_json())
        assert (loaded.identity, loaded.proxy_id, cookies(loaded), loaded.tokens, loaded.uses) == (
            new.identity,
            "p2",
            {"n": "1"},
            {},
            0,
        )
        receive(new, "o=1")
        assert await store.save(new)

    async def test_who_held_the_old_identity_cannot_save(self, store, other):
        session = make()
        await store.save(session)
        held = await other.load("shop", "ada")
        new = await store.rotate("shop", "ada", session.identity, make())
        receive(held, "a=old")
        held.uses += 5
        assert not await other.save(held)
        loaded = await store.load("shop", "ada")
        assert (loaded.identity, len(loaded.jar), loaded.uses) == (new.identity, 0, 0)

    async def test_the_first_rotation_wins(self, store, other):
        session = make()
        await store.save(session)
        first = await store.rotate("shop", "ada", session.identity, make())
        receive(first, "a=1")
        await store.save(first)
        second = await other.rotate("shop", "ada", session.identity, make())
        assert (second.identity, cookies(second)) == (first.identity, {"a": "1"})
        assert await other.save(second)

    async def test_many_rotate_at_once(self, store, other):
        session = make()
        await store.save(session)
        calls = [(store, other)[n % 2].rotate("shop", "ada", session.identity, make()) for n in range(10)]
        identities = {winner.identity for winner in await asyncio.gather(*calls)}
        assert identities == {(await store.load("shop", "ada")).identity}

    async def test_rotating_what_is_not_there_creates_it(self, store):
        new = make()
        assert await store.rotate("shop", "ada", "some identity", new) is new
        assert (await store.load("shop", "ada")).identity == new.identity

    async def test_rotating_twice_the_same_way_is_harmless(self, store):
        session, new = make(), make()
        await store.save(session)
        await store.rotate("shop", "ada", session.identity, new)
        assert (await store.rotate("shop", "ada", session.identity, new)).identity == new.identity

    async def test_a_session_follows_one_of_its_name(self, store):
        for new in (make("bob"), make(site="other"), make(stored=False)):
            with pytest.raises(SessionError, match="place"):
                await store.rotate("shop", "ada", "x", new)

    async def test_who_held_a_deleted_session_does_not_bring_it_back(self, store, other):
        session = make()
        receive(session, "a=1")
        await store.save(session)
        held = await other.load("shop", "ada")
        await store.delete("shop", "ada")
        receive(held, "b=1")
        assert not await other.save(held)
        assert not await store.save(session)
        assert await store.load("shop", "ada") is None
        assert await store.save(make())


class TestMemoryStore(StoreConformance):
    @pytest.fixture
    def stores(self, clock):
        store = MemorySessionStore(ttl=TTL, clock=clock)
        return store, store

    async def let_expire(self, store, clock, name):
        clock.now += TTL

    async def test_saves_and_touches_renew(self, store, clock):
        session = make()
        await store.save(session)
        await store.save(make("bob"))
        clock.now += TTL - 1
        assert await store.save(session)
        clock.now += TTL - 1
        assert await store.touch("shop", "ada")
        clock.now += TTL - 1
        assert await store.load("shop", "ada")
        assert await store.load("shop", "bob") is None

    async def test_without_ttl_sessions_stay(self, clock):
        store = MemorySessionStore(clock=clock)
        await store.save(make())
        clock.now += 1e9
        assert await store.load("shop", "ada")


class TestRedisStore(StoreConformance):
    @pytest.fixture
    def stores(self, clock, redis, second_redis):
        return RedisSessionStore(redis, ttl=TTL, clock=clock), RedisSessionStore(second_redis, ttl=TTL, clock=clock)

    @pytest.fixture(autouse=True)
    def _redis(self, redis):
        self.redis = redis

    async def let_expire(self, store, clock, name):
        assert await self.redis.pexpire(session_key("shop", name), 0)

    async def test_a_part_of_a_second_is_rounded_up(self):
        await RedisSessionStore(self.redis, ttl=0.2).save(make())
        assert await self.redis.ttl(session_key("shop", "ada")) == 1

    async def test_saves_touches_and_rotations_renew(self, store):
        session, key = make(), session_key("shop", "ada")
        await store.save(session)
        for renew in (
            lambda: store.save(session),
            lambda: store.touch("shop", "ada"),
            lambda: store.rotate("shop", "ada", session.identity, make()),
        ):
            assert await self.redis.expire(key, 5)
            await renew()
            assert TTL - 5 < await self.redis.ttl(key) <= TTL


class TestRedisClusterStore(TestRedisStore):
    @pytest.fixture
    async def redis(self, redis_cluster):
        async with aclosing(connect(resolve_redis_url(redis_cluster.url, Path()))) as client:
            yield client

    @pytest.fixture
    async def second_redis(self, redis_cluster):
        async with aclosing(connect(resolve_redis_url(redis_cluster.url, Path()))) as client:
            yield client


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf")])
def test_a_ttl_is_positive(ttl):
    with pytest.raises(ConfigError, match="positive"):
        MemorySessionStore(ttl=ttl)
