"""Sessions leased and given back a second, by the number of sessions in the pool and by several processes.

    python benchmarks/sessions.py [--pairs N] [--rounds N] [--processes N] [--sizes N,N,N] [--redis URL]

On one private Redis, or on the one named. Each pair is one call that leases and one that gives back, one after the
other in one process; the sizes take turns and the median of the rounds counts. Sizes are compared by the CPU that a
pair costs this process and Redis together, which other work on the machine does not change much. Then so many processes
do the same at once on the middle pool. Exit code 1 when the middle pool costs more than 20 % more than the smallest.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from _chaos_parts import PrivateRedis

from fetchworker.redis import connect, resolve_redis_url
from fetchworker.sessions.pool import PoolTerms
from fetchworker.sessions.poolkeys import new_id
from fetchworker.sessions.poolredis import RedisPool
from fetchworker.sessions.poolrules import order

#: how much slower a pool of the second size may be than one of the first
BAR = 1.2
_FILL = 1000


def pool_of(redis: Any, size: int) -> RedisPool:
    return RedisPool(redis, f"bench{size}", PoolTerms(max_total=size, max_idle=size, prefer="best", lease=600))


async def fill(redis: Any, pool: RedisPool, size: int) -> None:
    """As many idle sessions as there may be, written as the scripts would (fetchworker/sessions/poolkeys.py)."""
    head, now = pool.head, time.time_ns() // 1000
    for start in range(0, size, _FILL):
        pipeline = redis.pipeline(transaction=False)
        for number in range(start, min(start + _FILL, size)):
            name, at = new_id("main"), now - number
            pipeline.hset(f"{head}:s:{name}", mapping={"jar": "main", "born": at, "used": at, "score": 1000, "uses": 1})
            pipeline.zadd(f"{head}:born:main", {name: at})
            pipeline.zadd(f"{head}:idle:main", {name: order("best", born=at, used=at, score=1000)})
        await pipeline.execute()
    counts = await pool.counts("main")
    assert (counts.idle, counts.total) == (size, size), counts


async def cost(redis: Any, pool: RedisPool, count: int, name: str) -> tuple[float, float]:
    """Pairs a second, and microseconds of CPU for each, of this process and of Redis together."""
    before = time.process_time() + await used(redis)
    rate = await pairs(pool, count, name)
    return rate, (time.process_time() + await used(redis) - before) / count * 1e6


async def used(redis: Any) -> float:
    """Seconds of CPU of Redis."""
    told = await redis.info("cpu")
    return float(told["used_cpu_user"]) + float(told["used_cpu_sys"])


async def pairs(pool: RedisPool, count: int, name: str) -> float:
    """Pairs a second."""
    began = time.perf_counter()
    for number in range(count):
        taken = await pool.take("main", f"{name}.{number}")
        assert taken.lease is not None
        assert (await pool.put(taken.lease, good=1))[0]
    return count / (time.perf_counter() - began)


async def measure(url: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    sizes = [int(size) for size in options.sizes.split(",")]
    redis = connect(resolve_redis_url(url, folder))
    try:
        pools = {size: pool_of(redis, size) for size in sizes}
        for size, pool in pools.items():
            await fill(redis, pool, size)
        found: dict[int, list[tuple[float, float]]] = {size: [] for size in sizes}
        for round_ in range(options.rounds):
            for size in sizes if round_ % 2 else reversed(sizes):
                found[size].append(await cost(redis, pools[size], options.pairs, f"r{round_}"))
        rates = {size: round(statistics.median(rate for rate, _ in told)) for size, told in found.items()}
        spent = {size: round(statistics.median(cpu for _, cpu in told)) for size, told in found.items()}
        ratios = {size: round(cpu / spent[sizes[0]], 2) for size, cpu in spent.items()}
    finally:
        await redis.aclose()
    together = at_once(url, sizes[min(1, len(sizes) - 1)], options)
    told = {"pairs a second": rates, "microseconds of CPU a pair": spent, "times as much CPU": ratios}
    return {**told, f"pairs a second, {options.processes} processes": round(together)}


def at_once(url: str, size: int, options: argparse.Namespace) -> float:
    """Pairs a second of several processes together."""
    command = [sys.executable, __file__, "--redis", url, "--worker", str(size), "--pairs", str(options.pairs)]
    began = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(options.processes)]
    for process in began:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
    start = time.perf_counter()
    for process in began:
        process.communicate(b"go\n")
        assert process.returncode == 0
    return options.processes * options.pairs / (time.perf_counter() - start)


async def work(options: argparse.Namespace) -> None:
    """One of several processes; begins when it is told to."""
    with tempfile.TemporaryDirectory() as folder:
        redis = connect(resolve_redis_url(options.redis, Path(folder)))
        pool = pool_of(redis, options.worker)
        await redis.ping()
        print("ready", flush=True)
        sys.stdin.readline()
        await pairs(pool, options.pairs, f"p{time.time_ns()}")
        await redis.aclose()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--sizes", default="100,10000,100000")
    parser.add_argument("--redis", help="the URL of a Redis whose sites bench<size> may be written to")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        asyncio.run(work(options))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        private = None if options.redis else PrivateRedis(Path(folder), durable=False)
        if private is not None:
            private.start()
        try:
            found = asyncio.run(measure(options.redis or private.url, Path(folder), options))
        finally:
            if private is not None:
                private.kill()
    print(json.dumps(found, indent=2))
    slower = list(found["times as much CPU"].values())
    return int(len(slower) > 1 and slower[1] > BAR)


if __name__ == "__main__":
    sys.exit(main())
