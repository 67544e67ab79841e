"""What is special to sessions in Redis: the layout, failures, loads that go together, other clients' settings."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis

from fetchworker.errors import RedisUnavailableError, SessionDamagedError, SessionError
from fetchworker.sessions import RedisSessionStore, Session, _record, _redis_store, model, session_key

NOW = 1_900_000_000.0
WWW = "https://www.shop.example/"
KEY = session_key("shop", "ada")


def make(name="ada"):
    return Session.fresh(name, "shop", profile="chrome146", proxy_id="p1", now=NOW, stored=True)


def full():
    session = make()
    session.jar.set_from_response(WWW, [b"a=\xe9", "gone=; Max-Age=0; Path=/in"], NOW)
    session.tokens["lsd"] = "zoë"
    session.uses = 2
    return session


async def until(condition):
    while not condition():  # noqa: ASYNC110 - the other tasks' turn
        await asyncio.sleep(0)


@pytest.fixture
def store(redis):
    return RedisSessionStore(redis, ttl=600, clock=lambda: NOW)


async def test_the_layout_is_as_documented(store, redis):
    session = full()
    await store.save(session)
    start = int(NOW * 1e6)
    assert await redis.hgetall(KEY) == {
        b"v": b"1",
        b"identity": session.identity.encode(),
        b"proxy": b"p1",
        b"profile": b"chrome146",
        b"created_at": b"1900000000.0",
        b"used_at": b"1900000000.0",
        b"uses": b"2",
        b"blocks": b"0",
        b'c:["www.shop.example","/","a"]': (
            f'{start} ["www.shop.example","/","a","é",{start},{start},null,false,false,"",false]'.encode()
        ),
        b'c:["www.shop.example","/in","gone"]': f"{start + 1} ".encode(),
        b"t:lsd": f'{start + 2} "zoë"'.encode(),
    }
    assert await redis.keys("*") == [KEY.encode()]


async def test_a_save_sends_only_what_changed(store, redis):
    session = full()
    await store.save(session)
    session.jar.set_from_response(WWW, ["b=1"], NOW + 1)
    changes = _record.take(session, NOW)
    assert [entry.field for entry in changes.entries] == [b'c:["www.shop.example","/","b"]']


async def test_a_client_that_decodes_replies(store, redis_socket):
    await store.save(full())
    async with Redis(unix_socket_path=redis_socket, decode_responses=True) as client:
        decoding = RedisSessionStore(client, ttl=600, clock=lambda: NOW)
        loaded = await decoding.load("shop", "ada")
        assert loaded.jar.cookie_header(WWW, NOW) == "a=\xe9"
        assert loaded.tokens == {"lsd": "zoë"}
        assert [name async for name in decoding.ids("shop")] == ["ada"]
        loaded.uses += 1
        assert await decoding.save(loaded)
        assert (await decoding.rotate("shop", "ada", "another", make())).identity == loaded.identity
    assert (await store.load("shop", "ada")).uses == 3


async def test_scripts_come_back_after_redis_has_lost_them(store, redis):
    session = full()
    await store.save(session)
    await redis.script_flush()
    assert await store.save(session)


# Loads that go together


@pytest.fixture
def asked(store, monkeypatch):
    """The keys of each pipeline."""
    pipelines, ask = [], store._loads._ask

    async def record(keys):
        pipelines.append(keys)
        return await ask(keys)

    monkeypatch.setattr(store._loads, "_ask", record)
    return pipelines


async def test_loads_of_one_turn_go_together(store, asked):
    for name in "abc":
        await store.save(make(name))
    loaded = await asyncio.gather(*(store.load("shop", name) for name in "abcda"))
    assert [session and session.id for session in loaded] == ["a", "b", "c", None, "a"]
    assert loaded[0] is not loaded[4]
    await store.load("shop", "a")
    assert [len(keys) for keys in asked] == [5, 1]


async def test_one_bad_key_spoils_only_its_own_load(store, redis):
    await store.save(make("good"))
    await redis.set(session_key("shop", "bad"), "x")
    good, bad = await asyncio.gather(store.load("shop", "good"), store.load("shop", "bad"), return_exceptions=True)
    assert good.id == "good"
    assert isinstance(bad, SessionError)


async def test_a_cancelled_load_leaves_the_others_alone(store, asked):
    await store.save(make("a"))
    cancelled, other = asyncio.create_task(store.load("shop", "a")), asyncio.create_task(store.load("shop", "a"))
    await until(lambda: store._loads._waiting)
    cancelled.cancel()
    assert (await other).id == "a"
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    assert len(asked) == 1


async def test_nobody_is_left_waiting_when_the_pipeline_is_cancelled(store, monkeypatch):
    async def never(_):
        await asyncio.Event().wait()

    monkeypatch.setattr(store._loads, "_ask", never)
    load = asyncio.create_task(store.load("shop", "a"))
    await until(lambda: store._loads._asked)
    next(iter(store._loads._asked)).cancel()
    with pytest.raises(asyncio.CancelledError):
        await load
    assert not store._loads._asked


# Failures


async def test_a_cancelled_save_is_saved_by_the_next(store, redis, redis_socket):
    await store.save(make())
    session = await store.load("shop", "ada")
    session.jar.set_from_response(WWW, ["a=1"], NOW)
    session.tokens["lsd"] = "1"
    # Without a timeout: with one the client sends by asyncio.wait_for, which loses cancellations before Python 3.12
    async with Redis(unix_socket_path=redis_socket, socket_timeout=None) as client:
        await redis.execute_command("CLIENT", "PAUSE", "60000", "WRITE")
        save = asyncio.create_task(RedisSessionStore(client, ttl=600).save(session))
        await until(lambda: not session.jar.dirty)
        save.cancel()
        with pytest.raises(asyncio.CancelledError):
            await save
        await redis.execute_command("CLIENT", "UNPAUSE")
    assert session.jar.dirty
    assert await store.save(session)
    loaded = await store.load("shop", "ada")
    assert (loaded.jar.get("a", WWW, NOW), loaded.tokens) == ("1", {"lsd": "1"})


async def test_without_redis(own_redis):
    async with Redis(unix_socket_path=own_redis.socket, retry=None) as client:
        store = RedisSessionStore(client, ttl=600)
        session = full()
        await store.save(session)
        session.jar.set_from_response(WWW, ["b=1"], NOW)
        session.uses += 1
        own_redis.stop()
        calls = (
            lambda: store.load("shop", "ada"),
            lambda: store.save(session),
            lambda: store.rotate("shop", "ada", session.identity, make()),
            lambda: store.touch("shop", "ada"),
            lambda: store.delete("shop", "ada"),
            lambda: anext(store.ids("shop")),
        )
        for call in calls:
            with pytest.raises(RedisUnavailableError, match="no Redis to"):
                await call()
        assert session.jar.dirty
        assert session.saved.uses == 2


async def test_a_password_is_not_told(own_redis):
    async with Redis(unix_socket_path=own_redis.socket) as client:
        await client.config_set("requirepass", "right")
    async with Redis(unix_socket_path=own_redis.socket, password="hush-hush", retry=None) as client:
        with pytest.raises(RedisUnavailableError) as caught:
            await RedisSessionStore(client, ttl=600).load("shop", "ada")
    assert "hush" not in str(caught.value)


async def test_a_full_redis(own_redis):
    async with Redis(unix_socket_path=own_redis.socket) as client:
        store, session = RedisSessionStore(client, ttl=600), full()
        await client.config_set("maxmemory", "1")
        with pytest.raises(SessionError, match="refused to save"):
            await store.save(session)
        await client.config_set("maxmemory", "0")
        assert await store.save(session)
        assert (await store.load("shop", "ada")).uses == 2


async def test_a_newer_record_is_left_alone(store, redis):
    session = full()
    await store.save(session)
    await redis.hset(KEY, "v", 2)
    session.uses = 9
    for call in (lambda: store.load("shop", "ada"), lambda: store.save(session)):
        with pytest.raises(SessionError, match="format 2"):
            await call()
    assert await redis.hget(KEY, "uses") == b"2"
    assert session.saved.uses == 2


async def test_an_older_record_is_migrated_and_written_anew(store, redis, monkeypatch):
    await store.save(full())
    for module in (model, _record, _redis_store):
        monkeypatch.setattr(module, "FORMAT", 2)
    monkeypatch.setitem(model.MIGRATIONS, 1, lambda old: {**old, "tokens": {"LSD": old["tokens"]["lsd"]}})
    loaded = await store.load("shop", "ada")
    assert loaded.tokens == {"LSD": "zoë"}
    assert len(_record.take(loaded, NOW).entries) == 3
    loaded = await store.load("shop", "ada")
    assert await store.save(loaded)
    assert await redis.hget(KEY, "v") == b"2"
    assert await redis.hexists(KEY, "t:LSD")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("uses", "many"),
        ("v", "x"),
        ("created_at", ""),
        ("identity", b"\xff"),
        ("t:lsd", "1 {"),
        ("t:lsd", "1 5"),
        ("t:lsd", "x"),
        ('c:["www.shop.example","/","a"]', "1 []"),
        ('c:["www.shop.example","/","a"]', "1 ["),
        ('c:["www.shop.example","/","a"]', "x ["),
        ("c:[", "1 "),
        ('c:["a"]', "1 "),
    ],
)
async def test_a_damaged_record(store, redis, field, value):
    await store.save(full())
    await redis.hset(KEY, field, value)
    with pytest.raises(SessionError, match=r"damaged|format"):
        await store.load("shop", "ada")


async def test_a_record_without_its_head(store, redis):
    await redis.hset(KEY, "t:lsd", '1 "x"')
    with pytest.raises(SessionError, match="damaged"):
        await store.load("shop", "ada")


async def test_a_key_of_another_kind_is_damage(store, redis):
    await redis.set(session_key("shop", "odd"), "text")
    with pytest.raises(SessionDamagedError):
        await store.load("shop", "odd")
    assert await store.delete("shop", "odd")
