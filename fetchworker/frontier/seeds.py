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

from fetchworker.errors import FetchworkerError, RedisUnavailableError
from fetchworker.frontier.vigil import AWAY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from fetchworker.frontier.vigil import Vigil
    from fetchworker.redis import Client

logger = logging.getLogger(__name__)

T = TypeVar("T")

#: seconds that one look for a seed waits
POLL = 1


class SeedReader:
    """Reads seeds one by one; a bad one goes to the dead list with its reason.

    Args:
        redis: the connection.
        key: the list of seeds.
        vigil: waits for a Redis that is away.
        idle_close: seconds without seeds and without work after which reading ends; 0 for never.
        busy: tells whether the crawl has work.
    """

    def __init__(self, redis: Client, key: str, *, vigil: Vigil, idle_close: float, busy: Callable[[], bool]) -> None:
        self._redis = redis
        self._key = key
        self._vigil = vigil
        self._idle_close = idle_close
        self._busy = busy
        self.dead = 0

    async def read(self, parse: Callable[[bytes], T]) -> AsyncIterator[T]:
        """Each good seed, parsed, as it comes.

        Raises:
            RedisUnavailableError: Redis went away and did not come back.
        """
        while (raw := await self._next()) is not None:
            try:
                seed = parse(raw)
            except Exception as exc:  # noqa: BLE001  # whatever it is: one seed must not end the worker
                await self._bury(raw, reason_of(exc))
                continue
            yield seed

    async def _next(self) -> bytes | None:
        """The next seed, None when there was neither one nor work for long enough."""
        idle_since = time.monotonic()
        while True:
            try:
                popped = await self._redis.blpop([self._key], timeout=POLL)
            except AWAY as exc:
                self._vigil.failed(exc)
                await self._vigil.wait()
                idle_since = time.monotonic()
                continue
            self._vigil.well()
            if popped is not None:
                return popped[1]  # type: ignore[return-value]  # the connection decodes nothing
            if self._busy():
                idle_since = time.monotonic()
            elif self._idle_close and time.monotonic() - idle_since >= self._idle_close:
                return None

    async def _bury(self, raw: bytes, error: str) -> None:
        self.dead += 1
        logger.warning("bad seed moved to %s:dead: %s", self._key, error.partition("\n")[0])
        record = dead_record(raw, error)
        try:
            await self._vigil.patiently(lambda: self._redis.rpush(f"{self._key}:dead", record))
        except RedisUnavailableError:
            logger.error("the dead list is out of reach, the seed was %s", record.decode())  # noqa: TRY400  # no bug
            raise


def reason_of(error: Exception) -> str:
    """Why an entry is dead; what nobody foresaw is named with its class."""
    foreseen = isinstance(error, FetchworkerError | ValueError)
    return str(error) if foreseen and str(error) else f"{type(error).__name__}: {error}"


def dead_record(raw: bytes, error: str) -> bytes:
    """What a dead list keeps of an entry: as it came, with the reason."""
    record: dict[str, Any] = {"error": error, "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
    try:
        record["seed"] = raw.decode()
    except UnicodeDecodeError:
        record["seed_base64"] = base64.b64encode(raw).decode()
    return orjson.dumps(record)
