"""Permits of several processes in a real Redis: never too many, in order, and those of the dead come back."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from redis.asyncio import Redis, RedisCluster
from redis.crc import key_slot

from fetchworker.errors import LimitReachedError, RedisUnavailableError
from fetchworker.limiter import Ask, Ceiling, Limiter, MemoryLimits, Question
from fetchworker.limiter.keys import KEYS
from fetchworker.limiter.shared import RedisLimits

HOLDER = Path(__file__).parent / "_holder.py"


@pytest.fixture
def holder(redis_socket):
    async def made(*args):
        command = [sys.executable, str(HOLDER), redis_socket, *map(str, args)]
        return await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)

    return made


@pytest.fixture
async def make_limiter(make_limits):
    made = []

    def make(*args, lease=5.0, local=None, limits=None, **options):
        made.append(Limiter(limits or make_limits(*args, **options), lease=lease, local=local))
        return made[-1]

    yield make
    for limiter in made:
        await limiter.close()


async def in_line(redis, many: int) -> None:
    """Return once so many stand in the line."""
    async with asyncio.timeout(10):
        while await redis.zcard(KEYS[1]) != many:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.005)


async def test_processes_together_never_exceed_it_and_none_is_overtaken_for_long(holder, redis):
    processes = [await holder(3, 60, 6, 30) for _ in range(3)]
    assert [await process.wait() for process in processes] == [0, 0, 0]
    assert int(await redis.zscore("most", "most")) <= 3
    fences = [int(fence) for fence in await redis.lrange("fences", 0, -1)]
    assert len(set(fences)) == 180
    places = {fence: place for place, fence in enumerate(sorted(fences))}
    # the list is written after the permit was given, and a process may stand still in between; the starved come last
    assert max(abs(place - places[fence]) for place, fence in enumerate(fences)) <= 60
    assert await redis.zcard(KEYS[0]) == 0, "all were given back"
    assert await redis.zcard(KEYS[1]) == 0


async def test_permits_of_a_killed_process_come_back_and_those_of_a_living_one_do_not(holder, redis, make_limiter):
    dead = await holder(2, 0, 1, 0.6)
    living = await holder(2, 0, 1, 0.6)
    try:
        for process in (dead, living):
            assert await process.stdout.readline() == b"held\n"
        limiter = make_limiter(2, lease=0.6)
        with pytest.raises(LimitReachedError):
            await limiter.acquire(deadline=1.5)  # longer than their leases: they are renewed
        dead.kill()
        await dead.wait()
        async with asyncio.timeout(10), limiter.permit():
            with pytest.raises(LimitReachedError):
                await limiter.acquire(deadline=0.3)
    finally:
        for process in (dead, living):
            if process.returncode is None:
                process.kill()
            await process.wait()


async def test_one_who_dies_in_the_line_holds_nobody_up(make_limits, make_limiter, redis):
    limits, limiter = make_limits(1), make_limiter(1)
    permit = await limiter.acquire()
    await limits.turn(Question(asks=[Ask("dead:1")]), 60)  # asks once, and never again
    limiter.release(permit)
    await redis.zadd(KEYS[2], {"dead:1": 1})  # its time is over
    async with asyncio.timeout(5), limiter.permit():
        assert await redis.zscore(KEYS[1], "dead:1") is None


async def test_redis_s_clock_is_set_back_and_forth(make_limits, redis):
    limits = make_limits(1, rate=1000, burst=1)
    assert (await limits.turn(Question(asks=[Ask("a")]), 60)).granted == [True]
    seconds, _ = await redis.time()
    far = (seconds + 3600) * 1_000_000
    # as if the clock had stood an hour later until now
    await redis.zadd(KEYS[0], {"a": far})
    await redis.hset(KEYS[3], "full", far)
    await limits.turn(Question(asks=[Ask("b")]), 60)
    assert await redis.zscore(KEYS[0], "a") < (seconds + 70) * 1_000_000, "no longer than its lease"
    assert int(await redis.hget(KEYS[3], "full")) < (seconds + 70) * 1_000_000
    # as if it had stood an hour earlier: the lease is over, its holder is told so and counts again
    await redis.zadd(KEYS[0], {"a": far - 7200 * 1_000_000})
    assert (await limits.turn(Question(renew=["a"]), 60)).lost == [0]
    assert (await limits.turn(Question(asks=[Ask("b")]), 60)).granted == [False]


async def test_many_of_one_process_cost_one_call_a_turn(redis, make_limiter):
    limiter = make_limiter(1000)
    before = (await redis.info("commandstats")).get("cmdstat_evalsha", {"calls": 0})["calls"]
    permits = await asyncio.gather(*(limiter.acquire() for _ in range(64)))
    calls = (await redis.info("commandstats"))["cmdstat_evalsha"]["calls"] - before
    assert calls == 1
    assert len({permit.fence for permit in permits}) == 64


async def test_more_than_may_stand_in_the_line_are_served_as_well(make_limiter):
    limiter = make_limiter(200)
    async with asyncio.timeout(10):
        assert len(await asyncio.gather(*(limiter.acquire() for _ in range(150)))) == 150


async def test_a_process_that_asks_for_much_does_not_keep_others_out(redis, make_limiter):
    greedy, modest = make_limiter(1), make_limiter(1)
    order: list[str] = []

    async def one(limiter, name):
        async with limiter.permit():
            order.append(name)

    first = await greedy.acquire()
    crowd = [asyncio.create_task(one(greedy, "greedy")) for _ in range(200)]
    await in_line(redis, 64)
    other = asyncio.create_task(one(modest, "modest"))
    await in_line(redis, 65)
    greedy.release(first)
    await other
    assert len(order) <= 66, "only those before it in the line"
    for task in crowd:
        task.cancel()
    await asyncio.gather(*crowd, return_exceptions=True)


async def test_who_is_cancelled_leaves_the_line_and_gives_back_what_it_was_given(redis, make_limiter):
    limiter = make_limiter(1)
    permit = await limiter.acquire()
    waiting = [asyncio.create_task(limiter.acquire()) for _ in range(5)]
    await in_line(redis, 5)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    limiter.release(permit)
    limiter.release(permit)
    async with asyncio.timeout(5), limiter.permit():
        assert await redis.zcard(KEYS[1]) == 0
    await limiter.close()
    assert await redis.zcard(KEYS[0]) == 0


async def test_none_in_time_is_a_typed_error(make_limiter):
    limiter = make_limiter(rate=0.01, burst=1)
    async with limiter.permit(deadline=5):
        pass
    with pytest.raises(LimitReachedError, match=r"0\.05 s") as caught:
        async with limiter.permit(deadline=0.05):
            pass
    assert caught.value.type == "RATE_LIMITED"


async def test_a_block_that_raises_gives_its_permit_back(make_limiter):
    limiter = make_limiter(1)
    with pytest.raises(ValueError, match="mine"):
        async with limiter.permit():
            raise ValueError("mine")
    async with limiter.permit(deadline=5):
        pass


def own_limits(own_redis, ceiling):
    client = Redis(unix_socket_path=own_redis.socket)

    async def connect():
        return client

    return client, RedisLimits(ceiling, connect, timeout=2)


async def test_without_redis_asking_fails_at_once_and_goes_on_when_it_is_back(own_redis, make_limiter, caplog):
    client, limits = own_limits(own_redis, Ceiling(1))
    limiter = make_limiter(limits=limits)
    held = await limiter.acquire()
    own_redis.stop()
    for _ in range(3):
        with pytest.raises(RedisUnavailableError, match="no Redis to keep the limit"):
            await limiter.acquire()
    own_redis.start()
    limiter.release(held)
    async with asyncio.timeout(20):
        while True:
            try:
                limiter.release(await limiter.acquire())
                break
            except RedisUnavailableError:
                await asyncio.sleep(0.05)
    await limiter.close()
    await client.aclose()
    assert sum("no permits are given until it is back" in message for message in caplog.messages) == 1


async def test_a_local_ceiling_holds_meanwhile_and_what_is_out_counts_again_afterwards(own_redis, make_limiter):
    client, limits = own_limits(own_redis, Ceiling(2))
    limiter = make_limiter(limits=limits, local=MemoryLimits(Ceiling(2)))
    first = await limiter.acquire()
    own_redis.stop()
    second = await limiter.acquire(deadline=10)
    with pytest.raises(LimitReachedError):
        await limiter.acquire(deadline=0.1)
    limiter.release(first)
    third = await limiter.acquire(deadline=10)
    own_redis.start()
    async with asyncio.timeout(20):
        while await client.zcard(KEYS[0]) != 2:
            with pytest.raises(LimitReachedError):
                await limiter.acquire(deadline=0.1)
    assert {id_.decode() for id_ in await client.zrange(KEYS[0], 0, -1)} == {second.id, third.id}
    await limiter.close()
    assert await client.zcard(KEYS[0]) == 0
    await client.aclose()


async def test_an_account_with_rights_to_its_keys_alone_will_do(redis_socket, redis):
    await redis.execute_command(
        "ACL", "SETUSER", "limited", "on", ">pw", "resetkeys", "~{fw:limit}:*", "+@all", "-@dangerous", "-@admin"
    )
    async with Redis(unix_socket_path=redis_socket, username="limited", password="pw") as client:

        async def connect():
            return client

        answer = await RedisLimits(Ceiling(1, 5, 2), connect).turn(Question(asks=[Ask("a")], renew=["b"]), 5)
    assert answer.granted == [False]
    assert answer.lost == [0]


async def test_in_a_cluster_all_keys_are_in_one_slot(redis_cluster):
    assert len({key_slot(key.encode()) for key in KEYS}) == 1
    client = RedisCluster.from_url(redis_cluster.url.replace("redis+cluster", "redis").partition(",")[0])

    async def connect():
        return client

    assert (await RedisLimits(Ceiling(1), connect).turn(Question(asks=[Ask("a")]), 5)).granted == [True]
    await client.aclose()


async def test_keys_end_by_themselves(make_limits, redis):
    await make_limits(1, rate=1, burst=1).turn(Question(asks=[Ask("a"), Ask("b")]), 5)
    assert all([0 < await redis.pttl(key) <= 86_402_000 for key in KEYS])
