"""A user of Redis who may touch one site's keys only, as the page on Redis has it, is enough for all of the queue."""

from __future__ import annotations

import asyncio
import re
from contextlib import aclosing
from pathlib import Path

import pytest
from redis.exceptions import ResponseError

from fetchworker.demo.redis import RedisCluster
from fetchworker.errors import SessionError
from fetchworker.frontier.bell import Bell
from fetchworker.frontier.entry import Child, News, Numbered
from fetchworker.frontier.keepalive import Keepalive
from fetchworker.frontier.keys import namespace
from fetchworker.frontier.report import private_ids, read_report
from fetchworker.frontier.store import Frontier
from fetchworker.redis import connect, resolve_redis_url
from fetchworker.sessions.pool import PoolTerms
from fetchworker.sessions.poolredis import RedisPool

DOCS = Path(__file__).resolve().parents[2] / "docs" / "redis.md"
CANARY = "Zq" + "9"


@pytest.fixture(params=["redis_server", "redis_oldest", pytest.param("redis_cluster", marks=pytest.mark.slow)])
def restricted(request):
    """The servers, and the URL of the user whom the page makes, for the site "shop"."""
    redis = request.getfixturevalue(request.param)
    servers = redis.nodes if isinstance(redis, RedisCluster) else [redis]
    page = DOCS.read_text().replace("instagram", "shop")
    rights = re.search(r"ACL SETUSER worker on >password (.*)", page)[1].split()
    more = re.findall(r"On Redis 6\.2 add `(.*?)`", page) if request.param == "redis_oldest" else []
    for server in servers:
        server.call("ACL", "SETUSER", "worker", "reset", "on", f">{CANARY}", *rights, *more)
        server.call("ACL", "LOG", "RESET")
    yield servers, redis.url.replace("://", f"://worker:{CANARY}@")
    for server in servers:
        server.call("ACL", "DELUSER", "worker")


async def test_such_a_user_is_enough(restricted, tools, monkeypatch):
    monkeypatch.setattr("fetchworker.frontier.bell.INTERVAL", 0)
    servers, url = restricted
    endpoint = resolve_redis_url(url, Path())
    async with aclosing(connect(endpoint)) as client:
        for queue in (tools.Queue(client), tools.Queue(client, crawl_id="nightly")):
            one = await queue.busy()
            await one.reclaim()
            await one.sign()
            assert await one.prune() == []
            await one.revive([letter.id async for letter in one.dead()])
            Keepalive(lambda: endpoint, one, lambda: True)._extend(60)
            assert (await read_report(client, queue.names)).leased
            assert await private_ids(client, "shop") == ([queue.names.id] if queue.names.id else [])
            await Bell.of(client).wait(queue.names, others=asyncio.Event())
            await one.leave()
            await one.purge()
        other = tools.Queue(client, "other")
        with pytest.raises(ResponseError, match=r"(?i)permission|can't access"):
            await other.worker().turn(News(loose=Numbered(1, (Child(0, None, b"x"),))))
    denied = [each["object"] for server in servers for each in server.call("ACL LOG")]
    assert all("other" in str(each) for each in denied)


async def test_such_a_user_is_enough_for_a_pool(restricted):
    servers, url = restricted
    async with aclosing(connect(resolve_redis_url(url, Path()))) as client:
        pool = RedisPool(client, "shop", PoolTerms(cooldown=1))
        await pool.enter("worker")
        first, second = [(await pool.take("main", owner)).lease for owner in ("a", "b")]
        assert await pool.extend([first, second]) == [True, True]
        assert (await pool.put(first, good=1))[0]
        assert (await pool.quarantine(second, "refused"))[0]
        await pool.aim("c", first.session_id)
        lock = (await pool.lock("ada", "a")).lease
        assert await pool.keep(lock)
        assert await pool.unlock(lock)
        assert [one.state for one in await pool.standings()] == ["resting", "quarantined"]
        assert (await pool.counts("main")).total == (await pool.totals())["made"] == 2
        await pool.leave("worker")
        with pytest.raises(SessionError, match=r"(?i)permission|can't access"):
            await RedisPool(client, "other", PoolTerms()).take("main", "a")
    denied = [each["object"] for server in servers for each in server.call("ACL LOG")]
    assert all("other" in str(each) for each in denied)


async def test_one_who_may_touch_the_shared_namespace_alone_can_do_without_the_private_ones(redis_server, caplog):
    caplog.set_level("INFO")
    redis_server.call("ACL", "SETUSER", "worker", "reset", "on", f">{CANARY}", "+@all", "~{shop:start_urls}*")
    endpoint = resolve_redis_url(redis_server.url.replace("://", f"://worker:{CANARY}@"), Path())
    async with aclosing(connect(endpoint)) as client:
        assert await Frontier(client, namespace("shop")).prune() == []
    assert "abandoned private namespaces are not looked for" in caplog.text
    redis_server.call("ACL", "DELUSER", "worker")
