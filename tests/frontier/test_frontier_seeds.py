"""Seeds out of a real Redis, one by one: good ones are given, bad ones put aside, and an idle list ends the reading."""

from __future__ import annotations

import json

import pytest

from fetchworker.errors import ArgumentError
from fetchworker.frontier import seeds
from fetchworker.frontier.seeds import SeedReader
from fetchworker.frontier.vigil import Vigil
from fetchworker.redis import connect, release, resolve_redis_url

KEY = "shop:start_urls"


@pytest.fixture
async def redis(tmp_path, monkeypatch):
    monkeypatch.setattr(seeds, "POLL", 0.05)
    endpoint = resolve_redis_url(None, tmp_path, keep_running=False)
    client = connect(endpoint)
    yield client
    await client.aclose()
    release(endpoint)


def parse(raw: bytes) -> int:
    """A number below ten; others are refused in the two ways there are."""
    number = int(raw)  # ValueError
    if number == 7:
        raise TypeError("Integer exceeds 64-bit range")
    if number > 9:
        raise ArgumentError("too large\nits fields")
    return number


async def read(redis, *, busy=lambda: False) -> tuple[list[int], SeedReader]:
    async def there(limit: float) -> None:
        await redis.ping()

    vigil = Vigil(there, patience=30, changed=lambda: None)
    reader = SeedReader(redis, KEY, vigil=vigil, idle_close=0.01, busy=busy)
    return [seed async for seed in reader.read(parse)], reader


async def test_good_ones_come_in_their_order_and_bad_ones_go_to_the_dead_list(redis):
    await redis.rpush(KEY, "1", "ten", "10", b"\xff", "2")
    given, reader = await read(redis)
    assert (given, reader.dead) == ([1, 2], 3)
    records = [json.loads(record) for record in await redis.lrange(f"{KEY}:dead", 0, -1)]
    assert [record.get("seed") or record["seed_base64"] for record in records] == ["ten", "10", "/w=="]
    assert records[1]["error"] == "too large\nits fields"
    assert all(record["at"].endswith("Z") for record in records)


async def test_whatever_a_seed_breaks_it_does_not_end_the_reading(redis):
    await redis.rpush(KEY, "1", "7", "2")
    given, _ = await read(redis)
    assert given == [1, 2]
    record = json.loads(await redis.lindex(f"{KEY}:dead", 0))
    assert (record["seed"], record["error"]) == ("7", "TypeError: Integer exceeds 64-bit range")


async def test_reading_goes_on_while_there_is_work(redis):
    answers = [True, True, False]

    def busy() -> bool:
        return answers.pop(0) if answers else False

    given, _ = await read(redis, busy=busy)
    assert given == []
    assert answers == []
