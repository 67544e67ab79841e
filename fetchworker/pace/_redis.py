"""The shared pace in Redis: one script call for each question, those of one turn of the loop in one pipeline."""

from __future__ import annotations

import asyncio
import hashlib
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from redis.exceptions import NoScriptError, RedisClusterException, RedisError

from fetchworker.errors import ConfigError, RedisUnavailableError
from fetchworker.pace.keys import pace_keys, pause_key
from fetchworker.pace.shared import Answer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from fetchworker.pace.shared import Lane, Terms
    from fetchworker.redis import Client

#: seconds that Redis may take, a connection included; a request waits for them
TIMEOUT = 3.0
#: seconds after which to ask again for a place
POLL = 0.05
#: seconds that a worker may ask later than it was told to before others have its turn
GRACE = 5.0


class _Call(NamedTuple):
    script: _Script
    keys: Sequence[str]
    args: Sequence[int | str]
    answer: asyncio.Future[Any]


class _Script(NamedTuple):
    text: str
    sha: str


class RedisPace:
    """See :class:`SharedPace`. Redis's clock is the only one; scripts use commands of Redis 6.2 only.

    Args:
        site: whose pace it is.
        connect: gives the client, which stays the caller's; asked for with every pipeline.
        timeout: seconds that an answer may take.
    """

    def __init__(self, site: str, connect: Callable[[], Awaitable[Client]], *, timeout: float = TIMEOUT) -> None:
        self._site = site
        self._connect = connect
        self._timeout = timeout
        self._acquire, self._release, self._pause = map(_load, ("acquire", "release", "pause"))
        self._known: set[str] = set()
        self._waiting: list[_Call] = []
        self._sending: asyncio.Task[Sequence[Any]] | None = None

    async def acquire(self, permit: str, lane: Lane, terms: Terms, /) -> Answer:
        """See :class:`SharedPace`."""
        spans = [_micro(terms.delay), _micro(terms.gap)]
        limits = [terms.concurrency, terms.per_minute or 0]
        ends = [_micro(terms.lease), _micro(POLL), _micro(GRACE)]
        keys = pace_keys(self._site, lane)
        wait, at, full = await self._call(self._acquire, keys, [permit, *spans, *limits, *ends])
        return Answer(wait / 1e6, at, bool(full))

    async def release(self, permit: str, lane: Lane, terms: Terms, /, *, unused: int | None = None) -> None:
        """See :class:`SharedPace`."""
        spans = [_micro(terms.delay), _micro(terms.gap)]
        await self._call(self._release, pace_keys(self._site, lane), [permit, *spans, unused or 0])

    async def pause(self, lane: Lane, seconds: float, /, *, whole_host: bool) -> None:
        """See :class:`SharedPace`."""
        await self._call(self._pause, [pause_key(self._site, lane, whole_host=whole_host)], [_micro(seconds)])

    def _call(self, script: _Script, keys: Sequence[str], args: Sequence[int | str]) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        call = _Call(script, keys, args, loop.create_future())
        self._waiting.append(call)
        if len(self._waiting) == 1 and self._sending is None:
            loop.call_soon(self._send)
        return call.answer

    def _send(self) -> None:
        """One pipeline at a time: what is asked meanwhile goes with the next one, on the same connection."""
        calls, self._waiting = self._waiting, []
        self._sending = asyncio.get_running_loop().create_task(self._ask(calls))
        self._sending.add_done_callback(partial(self._answered, calls))

    def _answered(self, calls: Sequence[_Call], sent: asyncio.Task[Sequence[Any]]) -> None:
        self._sending = None
        if self._waiting:
            self._send()
        error = asyncio.CancelledError() if sent.cancelled() else sent.exception()
        for at, call in enumerate(calls):
            if not call.answer.done():
                _settle(call.answer, error or sent.result()[at])

    async def _ask(self, calls: Sequence[_Call]) -> Sequence[Any]:
        async with asyncio.timeout(self._timeout):
            redis = await self._connect()
            replies = await self._pipeline(redis, calls)
            unknown = [at for at, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
            if unknown:  # Redis was started again, or its scripts were thrown away
                self._known.clear()
                again = await self._pipeline(redis, [calls[at] for at in unknown])
                for at, reply in zip(unknown, again, strict=True):
                    replies[at] = reply
        return replies

    async def _pipeline(self, redis: Client, calls: Sequence[_Call]) -> list[Any]:
        pipeline: Any = redis.pipeline(transaction=False)
        for script, keys, args, _ in calls:
            # Redis keeps what it has run once; by their names a cluster's pipeline takes only some commands
            name, said = ("EVALSHA", script.sha) if script.sha in self._known else ("EVAL", script.text)
            pipeline.execute_command(name, said, len(keys), *keys, *args)
        replies: list[Any] = await pipeline.execute(raise_on_error=False)
        self._known.update(call.script.sha for call in calls)
        return replies


def _settle(answer: asyncio.Future[Any], reply: Any) -> None:
    if isinstance(reply, asyncio.CancelledError):
        answer.cancel()
    elif isinstance(
        reply, RedisError | RedisClusterException | OSError | ConfigError
    ):  # asyncio's TimeoutError is an OSError
        told = f"{type(reply).__name__}: {str(reply) or 'no answer in time'}".partition("\n")[0]
        answer.set_exception(RedisUnavailableError(f"no Redis to keep the pace: {told}"))
    elif isinstance(reply, BaseException):
        answer.set_exception(reply)
    else:
        answer.set_result(reply)


def _load(name: str) -> _Script:
    text = (files(__package__) / "lua" / f"{name}.lua").read_text()
    return _Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


def _micro(seconds: float) -> int:
    return round(seconds * 1e6)
