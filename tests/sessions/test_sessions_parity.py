"""The store in memory and the one in Redis do the same, whatever two holders do in whatever order."""

from __future__ import annotations

import asyncio

import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from fetchworker.sessions import MemorySessionStore, RedisSessionStore, Session

NOW = 1_900_000_000.0
WWW = "https://www.shop.example/"

holders = st.integers(0, 2)
lines = st.builds(
    "{}={}{}".format, st.sampled_from("ab"), st.sampled_from("12"), st.sampled_from(["", "; Max-Age=3", "; Max-Age=0"])
)
steps = st.one_of(
    st.tuples(st.just("load"), holders),
    st.tuples(st.just("receive"), holders, lines, st.integers(-5, 5)),
    st.tuples(st.just("token"), holders, st.sampled_from([None, "1", "2"])),
    st.tuples(st.just("use"), holders),
    st.tuples(st.just("save"), holders),
    st.tuples(st.just("rotate"), holders),
    st.tuples(st.just("delete")),
    st.tuples(st.just("wait"), st.sampled_from([1, 4, 4000])),
)


class World:
    """One store with its holders."""

    def __init__(self, make_store):
        self.now, self.minted = NOW, 0
        self.store = make_store(clock=lambda: self.now)
        self.held = [self.mint() for _ in range(3)]

    def mint(self):
        self.minted += 1
        session = Session.fresh("ada", "shop", profile="chrome146", proxy_id="p1", now=NOW, stored=True)
        session.identity = f"identity {self.minted}"
        return session

    async def step(self, action, *args):
        return await getattr(self, action)(*args)

    async def load(self, at):
        loaded = await self.store.load("shop", "ada")
        self.held[at] = loaded or self.mint()
        return plain(loaded)

    async def receive(self, at, line, shift):
        return self.held[at].jar.set_from_response(WWW, [line], self.now + shift)

    async def token(self, at, value):
        tokens = self.held[at].tokens
        if value is None:
            tokens.pop("lsd", None)
        else:
            tokens["lsd"] = value

    async def use(self, at):
        self.held[at].uses += 1
        self.held[at].used_at = self.now

    async def save(self, at):
        saved = await self.store.save(self.held[at])
        return saved, plain(self.held[at])

    async def rotate(self, at):
        self.held[at] = await self.store.rotate("shop", "ada", self.held[at].identity, self.mint())
        return plain(self.held[at])

    async def delete(self):
        return await self.store.delete("shop", "ada")

    async def wait(self, seconds):
        self.now += seconds


def plain(session):
    return session and orjson.loads(session.to_json())


async def play(socket, sequence):
    async with Redis(unix_socket_path=socket) as redis:
        await redis.flushdb()
        memory = World(MemorySessionStore)
        shared = World(lambda **options: RedisSessionStore(redis, ttl=10_000, **options))
        for step in [*sequence, ("load", 0)]:
            assert await memory.step(*step) == await shared.step(*step), step


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(steps, max_size=25))
def test_both_stores_do_the_same(redis_socket, sequence):
    asyncio.run(play(redis_socket, sequence))
