"""Usage in a real Redis: once per batch, bounded, expiring, under a user with few rights, on a cluster."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fetchworker.demo.redis import RedisServer
from fetchworker.errors import RedisUnavailableError
from fetchworker.redis import connect, resolve_redis_url
from fetchworker.usage import Keeper, Key, Ledger, Used
from fetchworker.usage._redis import RedisUsage, read_days
from fetchworker.usage.keys import batch_key, day_key, spent_key

DAY = "2026-11-30"


def key(session: str = "-", tier: str = "residential", **other) -> Key:
    return Key("evomi", tier, "fetch", "page", session, "ok")._replace(**other)


@pytest.fixture(params=["server", "cluster"])
def url(request):
    return request.getfixturevalue("redis_server" if request.param == "server" else "redis_cluster").url


@pytest.fixture
async def client(url):
    made = connect(resolve_redis_url(url, Path()))
    yield made
    await made.aclose()


@pytest.fixture
def shelf(client):
    async def given():
        return client

    return lambda worker="w1", **options: RedisUsage("fetch", worker, given, **{"keep": 100_000, **options})


async def test_workers_add_up(client, shelf):
    one, two = shelf("one"), shelf("two")
    await one.add(1, DAY, {key("ann"): Used(10, 20, 1), key("ann", tier="datacenter"): Used(1, 1, 1)})
    spent = await two.add(1, DAY, {key("ann"): Used(5, 6, 2)})
    assert spent == {"residential": 41, "datacenter": 2}
    assert await read_days(client, "instagram", [DAY]) == {}
    found = await read_days(client, "fetch", ["2026-11-29", DAY])
    assert found == {
        (DAY, key("ann")): Used(15, 26, 3),
        (DAY, key("ann", tier="datacenter")): Used(1, 1, 1),
    }


async def test_a_batch_that_comes_twice_counts_once(client, shelf):
    one = shelf()
    for _ in range(3):
        assert await one.add(1, DAY, {key(): Used(10, 20, 1)}) == {"residential": 30}
    assert await one.add(2, DAY, {key(): Used(10, 20, 1)}) == {"residential": 60}
    assert await one.add(0, DAY, {}) == {"residential": 60}
    assert await one.add(2, DAY, {key(): Used(10, 20, 1)}) == {"residential": 60}, "asking changes nothing"


async def test_odd_names_come_back_whole(client, shelf):
    odd = Key("a|b", "t/ü", "fetch", "o%p", "s {x}:y", "ok")
    await shelf().add(1, DAY, {odd: Used(2**50, 3, 1)})
    assert await read_days(client, "fetch", [DAY]) == {(DAY, odd): Used(2**50, 3, 1)}


async def test_a_day_has_so_many_sessions_and_no_more(client, shelf):
    bounded = shelf(most_fields=30)
    for number in range(1, 40):
        await bounded.add(number, DAY, {key(f"s{number}"): Used(1, 1, 1), key(): Used(1, 0, 1)})
    found = await read_days(client, "fetch", [DAY])
    assert sum(used.total for used in found.values()) == 39 * 3
    assert len(found) <= 12
    assert found[DAY, key("(others)")].up > 20
    assert found[DAY, key()].up == 39


async def test_all_of_it_expires(client, shelf):
    await shelf("w").add(1, DAY, {key(): Used(1, 1, 1)})
    for name in (day_key("fetch", DAY), spent_key("fetch", DAY)):
        assert 0 < await client.ttl(name) <= 100_000
    assert 0 < await client.ttl(batch_key("fetch", "w")) <= 86_400


async def test_a_user_with_the_site_s_keys_alone_will_do(redis_server):
    redis_server.call(
        "ACL", "SETUSER", "few", "on", ">pw", "resetchannels", "~{fetch:*", "+@all", "-@dangerous", "-@admin",
        "+client|setname",
    )  # fmt: skip
    user = connect(resolve_redis_url(redis_server.url.replace("redis://", "redis://few:pw@"), Path()))

    async def given():
        return user

    try:
        shelf = RedisUsage("fetch", "w", given, keep=100_000)
        assert await shelf.add(1, DAY, {key(): Used(1, 2, 1)}) == {"residential": 3}
        assert len(await read_days(user, "fetch", [DAY])) == 1
        assert await read_days(user, "instagram", [DAY]) is None, "it is not ours to look at"
    finally:
        await user.aclose()


async def test_a_redis_that_is_away_is_told(tmp_path):
    client = connect(resolve_redis_url(f"unix://{tmp_path}/none.sock", tmp_path), retries=0)

    async def given():
        return client

    async with asyncio.timeout(20):
        with pytest.raises(RedisUnavailableError, match="no Redis to keep the usage in"):
            await RedisUsage("fetch", "w", given, keep=100_000).add(1, DAY, {key(): Used(1, 1, 1)})
    await client.aclose()


async def test_a_redis_that_was_killed_gets_what_came_meanwhile_once():
    with RedisServer("--appendonly", "yes", "--appendfsync", "always") as server:
        client = connect(resolve_redis_url(server.url, Path()), retries=0)

        async def given():
            return client

        keeper = Keeper(Ledger(today=lambda: DAY), RedisUsage("fetch", "w", given, keep=100_000), lambda *_: None)

        async def use(up: int) -> None:
            charge = keeper.ledger.open("fetch", operation="page", tier="residential")
            charge.add(up, 0)
            charge.end("ok")
            await keeper.flush(older=0)

        await use(1)
        server.kill()
        await use(20)
        await use(300)
        assert keeper.spent() == {"residential": 321}
        server.start()
        await use(4000)
        found = await read_days(client, "fetch", [DAY])
        assert sum(each.up for each in found.values()) == 4321
        assert keeper.spent() == {"residential": 4321}
        await client.aclose()


async def test_two_workers_know_of_each_other_s_spending(client, shelf):
    one, two = (Keeper(Ledger(today=lambda: DAY), shelf(name), lambda *_: None) for name in ("one", "two"))
    charge = one.ledger.open("fetch", operation="page", tier="residential")
    charge.add(100, 200)
    charge.end("ok")
    await one.flush(older=0)
    assert two.spent() == {}
    await two.sync()
    assert two.spent() == {"residential": 300}
