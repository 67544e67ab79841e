"""Waits for a Redis that went away in the middle of a crawl of the shared queue.

Scheduler, seeds and stored sessions tell the crawl's one :class:`Vigil` what failed, and go on when it says so; when
Redis stays away for too long, the vigil is ``lost`` and the crawl ends.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from redis.exceptions import RedisClusterException, RedisError

from fetchworker.errors import RedisUnavailableError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: what a command raises when Redis is away, or there and of no use (full disk, read only)
AWAY = (RedisError, RedisClusterException, OSError)
#: how a crawl ends whose Redis stays away
REDIS_UNAVAILABLE = "redis_unavailable"
#: seconds between looks
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0

_kept: WeakKeyDictionary[Crawler, Vigil] = WeakKeyDictionary()


class Vigil:
    """One crawl's patience with its Redis.

    Args:
        look: returns when Redis answers, raises RedisUnavailableError when it has not within the seconds given.
        patience: seconds that Redis may be away.
        changed: called when Redis is back and when it is lost.
    """

    def __init__(
        self, look: Callable[[float], Awaitable[None]], *, patience: float, changed: Callable[[], None]
    ) -> None:
        self._look = look
        self._patience = patience
        self._changed = changed
        self._since: float | None = None
        self._pause = _FIRST_PAUSE
        self._task: asyncio.Task[None] | None = None
        self._open = asyncio.Event()
        self._open.set()
        self.lost: RedisUnavailableError | None = None

    def keep(self, crawler: Crawler) -> None:
        """Be the vigil of this crawl."""
        _kept[crawler] = self

    @classmethod
    def of(cls, crawler: Crawler) -> Vigil:
        """The crawl's vigil."""
        return _kept[crawler]

    @property
    def up(self) -> bool:
        """Whether Redis is worth asking."""
        return self._open.is_set() and self.lost is None

    def well(self) -> None:
        """A command that writes has done its work."""
        if self._since is not None and self.up:
            logger.info("Redis is back after %.1f s, the crawl goes on", time.monotonic() - self._since)
            self._since = None

    def failed(self, error: BaseException) -> None:
        """A command failed: wait, and look for Redis."""
        if not self.up:
            return
        if self._since is None:
            self._since, self._pause = time.monotonic(), _FIRST_PAUSE
            logger.warning("Redis is away (%s): the crawl waits for it, %g s at most", _told(error), self._patience)
        self._open.clear()
        self._task = asyncio.get_running_loop().create_task(self._watch(error))

    def give_up(self, error: BaseException) -> None:
        """What uses Redis is broken, and nothing is to be waited for."""
        self._lose(RedisUnavailableError(f"the queue cannot go on: {_told(error)}"))
        self._changed()
        self._open.set()

    async def wait(self) -> None:
        """Return when Redis is worth asking again.

        Raises:
            RedisUnavailableError: it stayed away.
        """
        await self._open.wait()
        if self.lost is not None:
            raise self.lost

    async def patiently(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """What ``work`` gives, tried again as long as Redis is away.

        Raises:
            RedisUnavailableError: it stayed away.
        """
        while True:
            await self.wait()
            try:
                return await work()
            except (RedisUnavailableError, *AWAY) as exc:
                self.failed(exc)

    def _left(self) -> float:
        assert self._since is not None
        return max(0.0, self._since + self._patience - time.monotonic())

    async def _watch(self, error: BaseException) -> None:
        try:
            if not self._left():
                raise RedisUnavailableError(f"Redis was of no use for {self._patience:g} s: {_told(error)}")  # noqa: TRY301
            await asyncio.sleep(min(self._pause, self._left()))
            self._pause = min(_LONGEST_PAUSE, self._pause * 2)
            await self._look(self._left())
        except RedisUnavailableError as exc:
            self._lose(exc)
        except Exception as exc:  # noqa: BLE001  # nobody else would hear of it, and all would wait for ever
            self._lose(RedisUnavailableError(f"no Redis to be had: {_told(exc)}"))
        self._changed()
        self._open.set()

    def _lose(self, error: RedisUnavailableError) -> None:
        self.lost = error
        logger.error("%s: the crawl ends", error)


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]
