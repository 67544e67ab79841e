"""A process that leases sessions: ``_taker.py URL FOLDER race TAKERS | hold``."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from fetchworker.errors import SessionExhaustedError
from fetchworker.redis import connect, resolve_redis_url
from fetchworker.sessions.leases import SessionPool
from fetchworker.sessions.pool import PoolTerms
from fetchworker.sessions.poolredis import RedisPool

RACE = PoolTerms(max_total=6, max_idle=6, max_uses=5, wait=20)
HOLD = PoolTerms(max_total=1, max_idle=1, lease=1.2)


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


async def main(url: str, folder: str, what: str, takers: int = 0) -> None:
    redis = connect(resolve_redis_url(url, Path(folder)))
    terms = HOLD if what == "hold" else RACE

    async def backend() -> RedisPool:
        return RedisPool(redis, "shop", terms)

    pool = SessionPool(backend, terms, site="shop")
    if what == "hold":
        hold = await pool.take("main", "holder")
        hold.users += 1
        say(hold.lease.session_id)
        await asyncio.sleep(60)
    say("ready")
    await asyncio.to_thread(sys.stdin.readline)

    async def take() -> str:
        try:
            async with pool.lease() as lease:
                await asyncio.sleep(0)
                return lease.session_id
        except SessionExhaustedError:
            return "none"

    for name in await asyncio.gather(*(take() for _ in range(takers))):
        say(name)
    await pool.close()
    await redis.aclose()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4], *map(int, sys.argv[4:])))
