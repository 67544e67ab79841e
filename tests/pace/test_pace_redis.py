"""The shared pace in Redis: turns that are booked, places that come back, keys that end. Times are those it answers."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import textwrap
from itertools import pairwise

import pytest
from redis.asyncio import Redis, RedisCluster
from redis.exceptions import NoPermissionError

from fetchworker.errors import ConfigError, RedisUnavailableError
from fetchworker.pace import Lane, Terms, _redis
from fetchworker.pace._redis import RedisPace
from fetchworker.pace.keys import pace_keys, pause_key

LANE = Lane("a.test")
SLOW = Terms(delay=60, concurrency=10)
ONE = Terms(concurrency=1)


async def start(pace, permit, lane, terms) -> int:
    """Ask until it is this permit's turn; when that is."""
    while (answer := await pace.acquire(permit, lane, terms)).wait:  # noqa: ASYNC110 - it says when to ask again
        await asyncio.sleep(answer.wait)
    return answer.at


async def work(pace, name, many, lane, terms, *, under_way=None, most=None) -> list[int]:
    """One worker: each request after the last one; when they started."""
    starts = []
    for number in range(many):
        permit = f"{name}:{number}"
        starts.append(await start(pace, permit, lane, terms))
        if under_way is not None:
            under_way.add(permit)
            most.append(len(under_way))
            await asyncio.sleep(0.002)
            under_way.discard(permit)
        await pace.release(permit, lane, terms)
    return starts


class TestTurns:
    async def test_the_delay_lies_between_all_starts_of_two_workers(self, make_pace):
        terms = Terms(delay=0.05, concurrency=4)
        one, two = await asyncio.gather(*(work(make_pace(), name, 6, LANE, terms) for name in ("one", "two")))
        starts = sorted([*one, *two])
        assert all(later - earlier >= 50_000 for earlier, later in pairwise(starts))
        assert len(set(starts)) == 12

    async def test_many_workers_with_exits_a_crawl_delay_and_few_places(self, make_pace):
        terms = Terms(delay=0.03, gap=0.01, concurrency=2)
        under_way, most = set(), []
        workers = [
            work(make_pace(), f"{number}", 4, Lane("a.test", f"x{number % 2}"), terms, under_way=under_way, most=most)
            for number in range(4)
        ]
        times = await asyncio.gather(*workers)
        x, y = times[0] + times[2], times[1] + times[3]
        for starts, gap in ((x + y, 10_000), (x, 30_000), (y, 30_000)):
            assert all(later - earlier >= gap for earlier, later in pairwise(sorted(starts)))
        assert max(most) <= 2

    async def test_starts_are_booked_one_behind_the_other(self, make_pace):
        pace = make_pace()
        first = await pace.acquire("a:1", LANE, SLOW)
        booked = [await pace.acquire(f"{name}:1", LANE, SLOW) for name in "bcd"]
        assert first.wait == 0
        assert [answer.at - first.at for answer in booked] == [60_000_000, 120_000_000, 180_000_000]
        assert (await pace.acquire("a:2", LANE, SLOW)).at > booked[-1].at, "all others come first"
        again = await pace.acquire("c:1", LANE, SLOW)
        assert again.at == booked[1].at, "who asks again keeps its turn"

    async def test_the_ceiling_books_too(self, make_pace):
        pace, terms = make_pace(), Terms(concurrency=10, per_minute=2)
        at = [(await pace.acquire(f"w:{number}", LANE, terms)).at for number in range(6)]
        assert at[1] - at[0] < 60_000_000
        assert [later - earlier for earlier, later in zip(at, at[2:], strict=False)] == [60_000_000] * 4

    async def test_a_turn_given_back_is_the_next_ones(self, make_pace):
        pace = make_pace()
        first = await pace.acquire("a:1", LANE, SLOW)
        second = await pace.acquire("b:1", LANE, SLOW)
        await pace.release("b:1", LANE, SLOW, unused=second.at)
        assert (await pace.acquire("c:1", LANE, SLOW)).at == second.at
        await pace.release("c:1", LANE, SLOW, unused=second.at)
        await pace.release("a:1", LANE, SLOW, unused=first.at)
        assert (await pace.acquire("d:1", LANE, SLOW)).wait == 0, "nothing was sent"

    async def test_so_is_its_part_of_the_minute(self, make_pace):
        pace, terms = make_pace(), Terms(per_minute=1)
        first = await pace.acquire("a:1", LANE, terms)
        await pace.release("a:1", LANE, terms, unused=first.at)
        assert (await pace.acquire("b:1", LANE, terms)).wait == 0
        await pace.release("b:1", LANE, terms)
        assert (await pace.acquire("c:1", LANE, terms)).wait > 0, "this one was sent"

    async def test_a_pause_puts_off_those_who_have_booked_in_their_order(self, make_pace):
        pace, terms = make_pace(), Terms(delay=0.01, concurrency=10)
        await pace.acquire("a:1", LANE, terms)
        booked = [await pace.acquire(f"{name}:1", LANE, terms) for name in "bc"]
        await pace.pause(LANE, 100, whole_host=False)
        again = [await pace.acquire(f"{name}:1", LANE, terms) for name in "bc"]
        assert again[0].at - booked[0].at == pytest.approx(100e6, abs=5e6)
        assert again[1].at - again[0].at == 10_000

    async def test_an_answer_that_was_lost_is_asked_for_again(self, make_pace):
        pace, terms = make_pace(), Terms(concurrency=1, per_minute=1)
        assert (await pace.acquire("a:1", LANE, terms)).wait == 0
        assert (await pace.acquire("a:1", LANE, terms)).wait == 0, "it does not stand in its own way"
        assert (await pace.acquire("b:1", LANE, terms)).wait > 0

    async def test_the_clock_is_redis_s(self, make_pace, redis):
        seconds, micro = await redis.time()
        answer = await make_pace().acquire("a:1", LANE, ONE)
        later, later_micro = await redis.time()
        assert seconds * 1_000_000 + micro <= answer.at <= later * 1_000_000 + later_micro


class TestPlaces:
    async def test_who_waits_longest_has_the_place_that_becomes_free(self, make_pace):
        pace = make_pace()
        assert not (await pace.acquire("a:1", LANE, ONE)).full
        assert (await pace.acquire("b:1", LANE, ONE)).full
        await pace.release("a:1", LANE, ONE)
        assert (await pace.acquire("a:2", LANE, ONE)).full, "b came first"
        assert (await pace.acquire("b:1", LANE, ONE)).wait == 0

    async def test_an_exit_that_is_paused_keeps_no_place_from_the_others(self, make_pace):
        pace, x, y = make_pace(), Lane("a.test", "x"), Lane("a.test", "y")
        terms = Terms(delay=0.001, concurrency=1)
        await pace.acquire("a:1", x, terms)
        await pace.acquire("b:1", x, terms)
        await pace.pause(x, 100, whole_host=False)
        await pace.release("a:1", x, terms)
        assert (await pace.acquire("b:1", x, terms)).wait > 50
        assert (await pace.acquire("c:1", y, terms)).wait == 0

    async def test_the_place_of_a_killed_worker_comes_back(self, make_pace, redis_socket, redis):
        code = f"""
            import asyncio
            from redis.asyncio import Redis
            from fetchworker.pace import Lane, Terms
            from fetchworker.pace._redis import RedisPace

            async def main():
                async def connect():
                    return Redis(unix_socket_path={redis_socket!r})
                pace = RedisPace("shop", connect)
                print((await pace.acquire("dead:1", Lane("a.test"), Terms(concurrency=1, lease=1))).wait, flush=True)
                await asyncio.Event().wait()

            asyncio.run(main())
        """
        pipe = asyncio.subprocess.PIPE
        worker = await asyncio.create_subprocess_exec(sys.executable, "-c", textwrap.dedent(code), stdout=pipe)
        assert await worker.stdout.readline() == b"0.0\n"
        worker.send_signal(signal.SIGKILL)
        await worker.communicate()
        leases = pace_keys("shop", LANE)[0]
        ((permit, until),) = await redis.zrange(leases, 0, -1, withscores=True)
        assert permit == b"dead:1"
        assert await start(make_pace(), "b:1", LANE, ONE) >= until
        assert await redis.zrange(leases, 0, -1) == [b"b:1"]

    async def test_so_does_the_turn_of_one_that_waited(self, make_pace, monkeypatch):
        pace = make_pace()
        await pace.acquire("a:1", LANE, ONE)
        monkeypatch.setattr(_redis, "GRACE", 0.0)
        await pace.acquire("dead:1", LANE, ONE)
        monkeypatch.undo()
        await pace.acquire("b:1", LANE, ONE)
        await pace.release("a:1", LANE, ONE)
        await start(pace, "b:1", LANE, ONE)

    async def test_a_place_that_has_come_back_is_not_given_back_twice(self, make_pace):
        pace, brief = make_pace(), Terms(concurrency=1, lease=0.001)
        first = await pace.acquire("a:1", LANE, brief)
        at = await start(pace, "b:1", LANE, Terms(delay=60))
        await pace.release("a:1", LANE, brief, unused=first.at)
        assert (await pace.acquire("c:1", LANE, Terms(delay=60, concurrency=2))).at == at + 60_000_000


class TestKeys:
    async def test_they_have_one_tag_and_all_of_them_end(self, make_pace, redis):
        lane, terms = Lane("::1", "x{y}:z"), Terms(delay=30, gap=20, concurrency=9, per_minute=1)
        pace = make_pace()
        for number in range(3):
            await pace.acquire(f"w:{number}", lane, terms)
        await pace.pause(lane, 100, whole_host=True)
        keys = {key.decode() for key in await redis.keys("*")}
        assert keys == set(pace_keys("shop", lane))
        assert {key.partition("}")[0] for key in keys} == {"{shop:pace"}
        assert all(key.count("{") == 1 for key in keys)
        assert all([0 < await redis.ttl(key) <= 250 for key in keys])

    async def test_what_is_over_is_gone(self, make_pace, redis):
        pace = make_pace()
        await pace.acquire("a:1", LANE, ONE)
        await pace.release("a:1", LANE, ONE)
        assert await redis.keys("*") == []

    async def test_sites_have_nothing_in_common(self, make_pace):
        await make_pace("shop").acquire("a:1", LANE, ONE)
        assert (await make_pace("news").acquire("a:1", LANE, ONE)).wait == 0

    @pytest.fixture
    async def restricted(self, redis):
        """A user who may do what the pace needs to the pace's keys."""
        commands = (
            "zadd zrem zcard zcount zscore zrange zrangebyscore zremrangebyscore hget hset hmget pttl pexpire time"
        )
        allowed = [f"+{name}" for name in ("evalsha", "eval", *commands.split())]
        rules = ["reset", "on", ">secret", "~{shop:pace}:*", *allowed]
        await redis.execute_command("ACL", "SETUSER", "worker", *rules)
        yield {"username": "worker", "password": "secret"}
        await redis.execute_command("ACL", "DELUSER", "worker")

    async def test_a_user_restricted_to_them_is_enough(self, make_pace, restricted, redis):
        pace, terms = make_pace(**restricted), Terms(delay=30, gap=20, per_minute=1)
        first = await pace.acquire("a:1", LANE, terms)
        await pace.acquire("b:1", LANE, terms)
        await pace.pause(LANE, 10, whole_host=False)
        await pace.release("a:1", LANE, terms, unused=first.at)
        assert pause_key("shop", LANE, whole_host=False).encode() in await redis.keys("*")

    async def test_who_may_not_is_told_so(self, make_pace, restricted):
        with pytest.raises(RedisUnavailableError, match=NoPermissionError.__name__):
            await make_pace("news", **restricted).acquire("a:1", LANE, ONE)


class TestCalls:
    async def test_those_of_one_turn_of_the_loop_are_one_pipeline(self, make_pace, redis):
        pace = make_pace()
        await asyncio.gather(*(pace.acquire(f"w:{number}", Lane(f"{number}.test"), SLOW) for number in range(50)))
        clients = await redis.info("clients")
        assert clients["connected_clients"] == 2, "this one's and the test's"

    async def test_scripts_that_redis_has_forgotten(self, make_pace, redis):
        pace = make_pace()
        await pace.acquire("a:1", LANE, SLOW)
        await redis.script_flush()
        waits = await asyncio.gather(*(pace.acquire(f"b:{number}", LANE, SLOW) for number in range(3)))
        assert sorted(answer.wait > 0 for answer in waits) == [True] * 3

    async def test_a_client_that_decodes_replies(self, make_pace):
        assert (await make_pace(decode_responses=True).acquire("a:1", LANE, ONE)).wait == 0

    async def test_a_cluster(self, cluster):
        async with RedisCluster(host="127.0.0.1", port=cluster) as client:

            async def connect():
                return client

            pace, terms = RedisPace("shop", connect), Terms(delay=30, gap=20, per_minute=1)
            for _ in range(2):
                lanes = [Lane(f"{number}.test", "x") for number in range(5)]
                answers = await asyncio.gather(*(pace.acquire(f"a:{lane.host}", lane, terms) for lane in lanes))
                await asyncio.gather(*(pace.pause(lane, 10, whole_host=True) for lane in lanes))
                for lane, answer in zip(lanes, answers, strict=True):
                    assert answer.wait == 0
                    await pace.release(f"a:{lane.host}", lane, terms, unused=answer.at)
                await client.flushall()
                await client.script_flush()

    @pytest.mark.parametrize("hurt", ["stop", "hang"])
    async def test_no_redis_is_told_in_time(self, own_redis, hurt):
        async with Redis(unix_socket_path=own_redis.socket) as client:

            async def connect():
                return client

            pace = RedisPace("shop", connect, timeout=0.2)
            await pace.acquire("a:1", LANE, ONE)
            if hurt == "stop":
                own_redis.stop()
            else:
                own_redis.process.send_signal(signal.SIGSTOP)
            try:
                with pytest.raises(RedisUnavailableError, match="no Redis to keep the pace"):
                    await pace.acquire("a:2", LANE, ONE)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    own_redis.process.send_signal(signal.SIGCONT)

    @pytest.mark.parametrize("error", [ConfigError("REDIS_URL: no"), RedisUnavailableError("none"), OSError("no")])
    async def test_no_client_is_no_redis(self, error):
        async def connect():
            raise error

        with pytest.raises(RedisUnavailableError):
            await RedisPace("shop", connect).acquire("a:1", LANE, ONE)
