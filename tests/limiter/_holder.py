"""A process that holds permits: ``_holder.py SOCKET CONCURRENCY REQUESTS TASKS LEASE``; says "held" at its first one.

REQUESTS 0: it takes one permit and keeps it until it is killed. Else it counts in Redis how many are out (key ``out``,
the most that it saw in ``most``) and lists their fences in the order of being given (``fences``).
"""

from __future__ import annotations

import asyncio
import sys

from redis.asyncio import Redis

from fetchworker.limiter import Ceiling, Limiter
from fetchworker.limiter.shared import RedisLimits

SOCKET, CONCURRENCY, REQUESTS, TASKS, LEASE = sys.argv[1], *map(int, sys.argv[2:5]), float(sys.argv[5])


async def work(limiter: Limiter, client: Redis, left: list[int]) -> None:
    while left:
        left.pop()
        async with limiter.permit() as permit:
            async with client.pipeline(transaction=False) as pipeline:
                pipeline.incr("out").rpush("fences", permit.fence)
                out, _ = await pipeline.execute()
            await client.zadd("most", {"most": out}, gt=True)
            await client.decr("out")


async def main() -> None:
    async with Redis(unix_socket_path=SOCKET) as client:

        async def connect() -> Redis:
            return client

        limiter = Limiter(RedisLimits(Ceiling(CONCURRENCY), connect), lease=LEASE)
        if not REQUESTS:
            await limiter.acquire()
            sys.stdout.write("held\n")
            sys.stdout.flush()
            await asyncio.Event().wait()
        left = list(range(REQUESTS))
        await asyncio.gather(*(work(limiter, client, left) for _ in range(TASKS)))
        await limiter.close()


asyncio.run(main())
