"""One server, a sentinels' master, a cluster: the same client, the same promises, and what is said when it is wrong."""

from __future__ import annotations

import asyncio
import logging
import traceback
from contextlib import aclosing, closing
from pathlib import Path

import pytest
from redis.exceptions import RedisError, ResponseError

from fetchworker.demo.redis import RedisCluster, RedisSentinel, RedisServer
from fetchworker.errors import RedisUnavailableError
from fetchworker.redis import connect, connect_sync, resolve_redis_url, script, share, unshare, wait_for_redis
from fetchworker.sessions import RedisSessionStore, Session

pytestmark = pytest.mark.slow
COUNT = "return {redis.call('INCRBY', KEYS[1], ARGV[1]), ARGV[2]}"
TAGS = [f"{{tag{number}}}:count" for number in range(12)]
MORE = "+client|setname +cluster|slots +cluster|info"  # what Redis 6.2 counts as dangerous, and later ones do not
RIGHTS = "resetchannels ~{shop:* ~shop:* ~fw:session:{shop}:* +@all -@dangerous -@admin"
CANARY = "Zq" + "9"  # a traceback shows the lines of this file


def external(url):
    return resolve_redis_url(url, Path())


@pytest.fixture(params=["redis_server", "redis_sentinel", "redis_cluster"])
def redis(request):
    """Each kind of Redis; ``.url`` and the servers that take writes."""
    return request.getfixturevalue(request.param)


def masters(redis) -> list[RedisServer]:
    if isinstance(redis, RedisCluster):
        return redis.nodes
    return [redis.master if isinstance(redis, RedisSentinel) else redis]


def named(server) -> list[str]:
    """The connections of ours to a server."""
    return [each["addr"] for each in server.call("CLIENT LIST") if each["name"] == "fetchworker"]


async def fill(client) -> None:
    """Many things at once."""
    await asyncio.gather(*(client.incr(tag) for tag in TAGS * 20))
    await asyncio.gather(*(pipelined(client) for _ in range(20)))


async def pipelined(client):
    pipeline = client.pipeline(transaction=False)
    for tag in TAGS:
        pipeline.incr(tag)
    return await pipeline.execute()


# Commands


async def test_commands_and_pipelines_wait_for_two_connections_to_each_server(redis):
    endpoint = external(redis.url)
    await wait_for_redis(endpoint, limit=10)
    async with aclosing(connect(endpoint)) as client:
        await fill(client)
        assert [await client.get(tag) for tag in TAGS] == [b"40"] * len(TAGS)
        for server in masters(redis):
            assert len(named(server)) == 2
        assert {key async for key in client.scan_iter(match="{tag*")} == {tag.encode() for tag in TAGS}


def test_code_that_may_block_does_the_same(redis):
    with closing(connect_sync(external(redis.url))) as client:
        assert [client.incr(tag) for tag in TAGS] == [1] * len(TAGS)
        assert sum(len(named(server)) for server in masters(redis)) <= 2 * len(masters(redis))


async def test_scripts_reach_servers_that_do_not_have_them(redis):
    async with aclosing(connect(external(redis.url))) as client:
        count = script(client, COUNT)
        for _ in range(2):
            for server in masters(redis):
                server.call("SCRIPT", "FLUSH")
            replies = await asyncio.gather(*(count([tag], [2, b"\xff"]) for tag in TAGS))
        assert replies == [[4, b"\xff"]] * len(TAGS)
        with pytest.raises(ResponseError, match=r"Lua|script"):
            await script(client, "this is no Lua")([TAGS[0]])


async def test_nothing_is_asked_that_servers_refuse(redis, caplog):
    caplog.set_level(logging.DEBUG, logger="redis")
    endpoint = external(redis.url)
    for server in masters(redis):  # what clients of other tests have asked is theirs
        server.call("CONFIG", "RESETSTAT")
    async with aclosing(connect(endpoint)) as client:
        await client.incr(TAGS[0])
    with closing(connect_sync(endpoint)) as client:
        client.incr(TAGS[0])
    assert "maintenance notifications:" not in caplog.text
    for server in masters(redis):
        calls = server.call("INFO", "commandstats")
        assert "cmdstat_client|setinfo" not in calls
        assert "cmdstat_hello" not in calls


# Rights


@pytest.fixture
def restricted(redis):
    """The URL of a user who may touch one site's keys only."""
    for server in masters(redis):
        old = server.call("INFO", "server")["redis_version"].startswith("6.")
        rights = (*RIGHTS.split(), *(MORE.split() if old else ()))
        server.call("ACL", "SETUSER", "ada", "reset", "on", f">{CANARY}", *rights)
        server.call("ACL", "LOG", "RESET")
    yield redis.url.replace("://", f"://ada:{CANARY}@")
    for server in masters(redis):
        server.call("ACL", "DELUSER", "ada")


async def test_a_user_restricted_to_a_sites_keys_will_do(redis, restricted):
    endpoint = external(restricted)
    await wait_for_redis(endpoint, limit=10)
    async with aclosing(connect(endpoint)) as client:
        store = RedisSessionStore(client, ttl=60)
        session = Session.fresh("ada", "shop", profile="chrome146", proxy_id=None, now=1.9e9, stored=True)
        assert await store.save(session)
        loaded = await asyncio.gather(*(store.load("shop", "ada") for _ in range(3)))
        assert [each.identity for each in loaded] == [session.identity] * 3
        assert await store.delete("shop", "ada")
        assert await client.rpush("shop:start_urls", "x") == 1
        assert await script(client, COUNT)(["{shop:start_urls}:leases"], [1, "x"]) == [1, b"x"]
        with pytest.raises(ResponseError, match=r"(?i)permission|can't access"):
            await client.get("other:start_urls")
    denied = [each["object"] for server in masters(redis) for each in server.call("ACL LOG")]
    assert set(denied) <= {"info", "other:start_urls", b"info", b"other:start_urls"}


async def test_a_right_that_is_missing_is_named(redis, restricted):
    for server in masters(redis):
        server.call("ACL", "SETUSER", "ada", "-client", "-cluster")
    with pytest.raises(RedisUnavailableError, match=r"our user lacks a right \(.*'(client|cluster)"):
        await wait_for_redis(external(restricted), limit=1e9)


async def test_refused_credentials_end_the_wait_at_once(redis):
    endpoint = external(redis.url.replace("://", f"://ada:{CANARY}@"))
    with pytest.raises(RedisUnavailableError, match="refuses our user name or password") as caught:
        await wait_for_redis(endpoint, limit=1e9)
    assert CANARY not in "".join(traceback.format_exception(caught.value))


# One client for all


async def test_all_users_have_one_client_and_the_last_closes_it(redis):
    endpoint = external(redis.url)
    clients = [share(external(redis.url)) for _ in range(4)]
    assert len(set(map(id, clients))) == 1
    await asyncio.gather(*(fill(client) for client in clients), wait_for_redis(endpoint, limit=10))
    for server in masters(redis):
        assert len(named(server)) == 2
        server.call("CLIENT", "KILL", "TYPE", "normal")
    await asyncio.gather(*(fill(client) for client in clients), wait_for_redis(endpoint, limit=10))
    for client in clients:
        assert all(len(named(server)) <= 2 for server in masters(redis))
        assert await client.incr(TAGS[0])
        await unshare(client)
    await gone(redis)
    assert share(endpoint) is not clients[0]
    await unshare(share(endpoint))
    await unshare(share(endpoint))


async def gone(redis) -> None:
    """Return when the servers have seen that the connections were closed."""
    async with asyncio.timeout(10):
        while any(named(server) for server in masters(redis)):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.01)


def test_each_event_loop_has_its_own(redis_server):
    async def use():
        client = share(external(redis_server.url))
        await client.incr("count")
        await unshare(client)
        return client

    first, second = asyncio.run(use()), asyncio.run(use())
    assert first is not second


# What is wrong, and what comes back


async def refused(url: str, limit: float = 0) -> str:
    with pytest.raises(RedisUnavailableError) as caught:
        await wait_for_redis(external(url), limit=limit)
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


async def test_a_wrong_service_is_named_with_those_that_there_are(redis_sentinel):
    told = await refused(redis_sentinel.url_of("other"), limit=1e9)
    assert "is of no use: the sentinels know no service 'other'; they know: main;" in told


async def test_sentinels_that_do_not_answer():
    with RedisServer() as server:
        pass
    told = await refused(f"redis+sentinel://ada:{CANARY}@127.0.0.1:{server.port}/main?sentinel_password={CANARY}")
    assert "no sentinel answers: " in told


async def test_a_url_of_another_kind_is_told(redis_server, redis_sentinel, redis_cluster):
    endless = 1e9
    assert "it is no cluster: write redis://" in await refused(
        f"redis+cluster://127.0.0.1:{redis_server.port}", endless
    )
    assert "a node of a cluster: write redis+cluster://" in await refused(redis_cluster.nodes[0].url, endless)
    assert "a sentinel: write redis+sentinel://" in await refused(redis_sentinel.sentinels[0].url, endless)


async def test_the_sentinels_have_credentials_of_their_own():
    with RedisSentinel() as group:
        group.sentinels[0].call("ACL", "SETUSER", "default", "resetpass", f">{CANARY}")
        assert "the sentinels refuse sentinel_username or sentinel_password" in await refused(group.url, 1e9)
        await wait_for_redis(external(f"{group.url}?sentinel_password={CANARY}"), limit=10)


async def test_a_failover_is_followed():
    with RedisSentinel() as group:
        endpoint = external(group.url)
        async with aclosing(connect(endpoint)) as client:
            await client.set("color", "green")
            assert await client.wait(1, 5000) == 1
            group.master.kill()
            with pytest.raises(RedisError):
                await client.get("color")
            await wait_for_redis(endpoint, limit=30)
            assert await client.get("color") == b"green"
            assert await client.set("color", "blue")
            assert len(named(group.replica)) == 1
        group.replica.kill()
        assert "no living master of 'main'" in await refused_in_time(endpoint)


async def refused_in_time(endpoint) -> str:
    """What is said once the sentinels have noticed."""
    async with asyncio.timeout(30):
        while "no living master" not in (told := await refused(endpoint.url.get_secret_value())):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return told


async def test_a_cluster_without_one_of_its_nodes_is_waited_for():
    with RedisCluster() as cluster:
        endpoint = external(cluster.url)
        lost = cluster.owner(TAGS[0])
        async with aclosing(connect(endpoint, retries=0)) as client:
            await fill(client)
            lost.kill()
            with pytest.raises(RedisError):
                await client.get(TAGS[0])
            others = ",".join(f"127.0.0.1:{node.port}" for node in cluster.nodes if node is not lost)
            assert "within 0 s: " in await refused(f"redis+cluster://{others}")
            lost.start()
            await wait_for_redis(endpoint, limit=30)
            cluster.wait()
            await fill(client)
            assert [len(named(node)) for node in cluster.nodes] == [2, 2, 2]


async def test_no_node_is_an_error_like_any_other():
    with RedisServer() as server:
        pass
    endpoint = external(f"redis+cluster://127.0.0.1:{server.port}")
    async with aclosing(connect(endpoint, retries=0)) as client:
        for work in (client.get("a"), pipelined(client), script(client, COUNT)(["a"], [1])):
            with pytest.raises(RedisError):
                await work
    assert "no Redis at redis+cluster://" in await refused(endpoint.url.get_secret_value())


async def test_a_cluster_whose_slots_nobody_has():
    with RedisServer("--cluster-enabled", "yes") as server:
        assert "within 0 s: " in await refused(f"redis+cluster://127.0.0.1:{server.port}")


async def test_a_slot_that_moved_is_followed(redis_cluster):
    source = redis_cluster.owner(TAGS[0])
    target = next(node for node in redis_cluster.nodes if node is not source)
    async with aclosing(connect(external(redis_cluster.url))) as client:
        await fill(client)
        for old, new in ((source, target), (target, source)):
            give(old, new, TAGS[0])
            await asyncio.gather(*(client.incr(TAGS[0]) for _ in range(30)), pipelined(client))
            assert new.call("GET", TAGS[0]) == b"31"
            assert [len(named(node)) for node in redis_cluster.nodes] == [2, 2, 2]


def give(old: RedisServer, new: RedisServer, key: str) -> None:
    """Move an empty slot."""
    slot, name = new.call("CLUSTER KEYSLOT", key), new.call("CLUSTER MYID").decode()
    old.call("FLUSHALL")
    for server in (new, old):
        server.call("CLUSTER SETSLOT", slot, "NODE", name)
    new.call("CLUSTER BUMPEPOCH")
