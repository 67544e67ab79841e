"""Script calls that come at the same time go to the server together."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

from redis.exceptions import ConnectionError, ResponseError  # noqa: A004  # redis's name

from fetchworker.demo.redis import RedisServer
from fetchworker.redis import Gatherer, connect, resolve_redis_url

COUNT = "return {redis.call('INCRBY', KEYS[1], ARGV[1]), ARGV[2]}"
REFUSE = "return redis.error_reply('ERR not ' .. ARGV[1])"
MANY = 50


def figures(server) -> tuple[int, int]:
    """Reads that the server has made, and scripts that it has run."""
    told = server.call("INFO", "everything")
    return told["total_reads_processed"], told.get("cmdstat_evalsha", {"calls": 0})["calls"]


async def test_calls_of_one_moment_share_reads_and_each_has_its_own_answer(client, redis_server):
    count = Gatherer(client).script(COUNT)
    assert await count(["n"], [0, "first"]) == [0, b"first"]
    reads, ran = figures(redis_server)
    answers = await asyncio.gather(*(count(["n"], [1, f"{number}"]) for number in range(MANY)))
    assert answers == [[number + 1, b"%d" % number] for number in range(MANY)]
    more, also = figures(redis_server)
    assert also - ran == MANY
    assert more - reads < MANY / 5


async def test_an_error_is_its_callers_alone(client):
    together = Gatherer(client)
    count, refuse = together.script(COUNT), together.script(REFUSE)
    calls = [refuse(["n"], ["now"]) if number % 3 else count(["n"], [1, "x"]) for number in range(9)]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert [answer for answer in answers if isinstance(answer, list)] == [[1, b"x"], [2, b"x"], [3, b"x"]]
    refused = [answer for answer in answers if not isinstance(answer, list)]
    assert [type(answer) for answer in refused] == [ResponseError] * 6
    assert "not now" in str(refused[0])


async def test_a_server_without_the_scripts_gets_them(client, redis_server):
    count = Gatherer(client).script(COUNT)
    for expected in (10, 20):
        redis_server.call("SCRIPT", "FLUSH")
        answers = await asyncio.gather(*(count(["n"], [1, "x"]) for _ in range(10)))
        assert max(number for number, _ in answers) == expected


async def test_who_gives_up_takes_nobody_along(client):
    count = Gatherer(client).script(COUNT)
    tasks = [asyncio.create_task(count(["n"], [1, "x"])) for _ in range(10)]
    await asyncio.sleep(0)
    tasks[3].cancel()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert [number for number, answer in enumerate(answers) if isinstance(answer, BaseException)] == [3]
    assert isinstance(answers[3], asyncio.CancelledError)
    assert (await count(["n"], [0, "x"]))[0] in (9, 10), "what is on its way is done"


async def test_a_server_that_is_gone_is_told_to_all_and_asked_again():
    with RedisServer() as server:
        async with aclosing(connect(resolve_redis_url(server.url, Path()))) as client:
            count = Gatherer(client).script(COUNT)
            await count(["n"], [1, "x"])
            server.kill()
            answers = await asyncio.gather(*(count(["n"], [1, "x"]) for _ in range(5)), return_exceptions=True)
            assert [type(answer) for answer in answers] == [ConnectionError] * 5
            server.start()
            assert (await count(["m"], [1, "x"]))[0] == 1
