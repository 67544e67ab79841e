"""The permits in Redis: one script call for all that a process has to say."""

from __future__ import annotations

import asyncio
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisClusterException, RedisError

from fetchworker.errors import ConfigError, RedisUnavailableError
from fetchworker.limiter.base import GRACE, POLL, Answer
from fetchworker.limiter.keys import KEYS
from fetchworker.redis import script

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fetchworker.limiter.base import Ceiling, Question
    from fetchworker.redis import Client

#: seconds that Redis may take, a connection included; requests wait for them
TIMEOUT = 3.0


class RedisLimits:
    """See :class:`~fetchworker.limiter.Limits`. Redis's clock is the only one; commands of Redis 6.2 only.

    Args:
        ceiling: how much is allowed; the same for all processes, or each keeps its own.
        connect: gives the client, which stays the caller's; asked for with every turn.
        timeout: seconds that an answer may take.
    """

    def __init__(self, ceiling: Ceiling, connect: Callable[[], Awaitable[Client]], *, timeout: float = TIMEOUT) -> None:
        burst = ceiling.burst if ceiling.rate is not None else 0
        self._terms = [ceiling.concurrency or 0, ceiling.interval, burst]
        self._connect = connect
        self._timeout = timeout
        self._text = (files(__package__) / "lua" / "turn.lua").read_text()

    async def turn(self, question: Question, lease: float, /) -> Answer:
        """See :class:`~fetchworker.limiter.Limits`."""
        release, renew, asks = question
        spans = [round(seconds * 1e6) for seconds in (lease, GRACE, POLL)]
        waiting = [part for ask in asks for part in ask]
        args = [*self._terms, *spans, len(release), len(renew), *release, *renew, *waiting]
        wait, lost, answers = await self._call(args)
        granted, tickets = [bool(given) for given in answers[::2]], answers[1::2]
        return Answer(wait / 1e6, lost, granted, tickets)

    async def _call(self, args: list[Any]) -> Any:
        try:
            async with asyncio.timeout(self._timeout):
                return await script(await self._connect(), self._text)(KEYS, args)
        except (RedisError, RedisClusterException, OSError, ConfigError) as exc:  # asyncio's TimeoutError is an OSError
            told = f"{type(exc).__name__}: {str(exc) or 'no answer in time'}".partition("\n")[0]
            raise RedisUnavailableError(f"no Redis to keep the limit: {told}") from exc
