"""Seeds of the shared queue: ``redis-cli lpush instagram:start_urls '{"user": "nasa"}'``.

Keys (scrapy-redis's names):
    ``<spider>:start_urls``       list, popped from the left (``REDIS_START_URLS_KEY`` changes the name)
    ``<spider>:start_urls:dead``  list of seeds that name no call: JSON {seed | seed_base64, error, at}
"""

from __future__ import annotations

import base64
import logging
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from fetchworker.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from redis.asyncio import Redis

logger = logging.getLogger(__name__)

T = TypeVar("T")

#: seconds that one look for a seed waits
POLL = 1


class SeedReader:
    """Reads seeds one by one; a bad one goes to the dead list with its reason.

    Args:
        redis: the connection.
        key: the list of seeds.
        idle_close: seconds without seeds and without work after which reading ends; 0 for never.
        busy: tells whether the crawl has work.
    """

    def __init__(self, redis: Redis, key: str, *, idle_close: float, busy: Callable[[], bool]) -> None:
        self._redis = redis
        self._key = key
        self._idle_close = idle_close
        self._busy = busy
        self.dead = 0

    async def read(self, parse: Callable[[bytes], T]) -> AsyncIterator[T]:
        """Each good seed, parsed, as it comes."""
        idle_since = time.monotonic()
        while True:
            popped = await self._redis.blpop([self._key], timeout=POLL)
            if popped is None:
                if self._busy():
                    idle_since = time.monotonic()
                elif self._idle_close and time.monotonic() - idle_since >= self._idle_close:
                    return
                continue
            idle_since = time.monotonic()
            raw: bytes = popped[1]  # type: ignore[assignment]  # the connection decodes nothing
            try:
                seed = parse(raw)
            except (ArgumentError, ValueError) as exc:  # names no call, or one that no request can be made of
                await self._bury(raw, str(exc))
                continue
            yield seed

    async def _bury(self, raw: bytes, error: str) -> None:
        self.dead += 1
        logger.warning("bad seed moved to %s:dead: %s", self._key, error.partition("\n")[0])
        await self._redis.rpush(f"{self._key}:dead", dead_record(raw, error))


def dead_record(raw: bytes, error: str) -> bytes:
    """What a dead list keeps of an entry: as it came, with the reason."""
    record: dict[str, Any] = {"error": error, "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
    try:
        record["seed"] = raw.decode()
    except UnicodeDecodeError:
        record["seed_base64"] = base64.b64encode(raw).decode()
    return orjson.dumps(record)
