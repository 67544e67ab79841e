"""Script calls of many at once go to the server together: one write and one read for all that wait."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import redis.asyncio
from redis.exceptions import NoScriptError, RedisError

from fetchworker.redis.scripts import Script

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from fetchworker.redis.clients import Client

    Call: TypeAlias = Callable[[Sequence[str | bytes], Iterable[Any]], Awaitable[Any]]

#: calls that go together at most
MANY = 128


@dataclass(slots=True, eq=False)
class _Asked:
    script: Script
    keys: Sequence[str | bytes]
    args: Iterable[Any]
    answer: asyncio.Future[Any]


class Gatherer:
    """Sends what was asked for while the last batch was under way; a call that is alone goes by itself.

    On a cluster, where keys decide which server is asked, each call goes by itself.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._waiting: list[_Asked] = []
        self._task: asyncio.Task[None] | None = None

    def script(self, text: str) -> Call:
        """A Lua script to be called with ``(keys, args)``; errors are those of :class:`Script`."""
        one = Script(self._client, text)
        if not isinstance(self._client, redis.asyncio.Redis):
            return one

        async def call(keys: Sequence[str | bytes], args: Iterable[Any]) -> Any:
            asked = _Asked(one, keys, args, asyncio.get_running_loop().create_future())
            self._waiting.append(asked)
            if self._task is None:
                self._task = asyncio.create_task(self._work())
            return await asked.answer

        return call

    async def _work(self) -> None:
        batch: list[_Asked] = []
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:MANY], self._waiting[MANY:]
                await self._send([one for one in batch if not one.answer.done()])
        except BaseException:  # nobody would answer them
            for one in (*batch, *self._waiting):
                one.answer.cancel()
            self._waiting.clear()
            raise
        finally:
            self._task = None

    async def _send(self, batch: list[_Asked]) -> None:
        try:
            answers = await self._answers(batch)
        except (RedisError, OSError) as exc:
            answers = [exc] * len(batch)
        for one, answer in zip(batch, answers, strict=True):
            lacks = isinstance(answer, NoScriptError) and not one.answer.done()
            _settle(one.answer, await _alone(one, whole=True) if lacks else answer)

    async def _answers(self, batch: list[_Asked]) -> list[Any]:
        if len(batch) == 1:
            return [await _alone(batch[0])]
        async with self._client.pipeline(transaction=False) as together:
            for one in batch:
                together.execute_command("EVALSHA", one.script.sha, len(one.keys), *one.keys, *one.args)
            answers: list[Any] = await together.execute(raise_on_error=False)
        return answers


async def _alone(one: _Asked, *, whole: bool = False) -> Any:
    try:
        return await (one.script.whole(one.keys, one.args) if whole else one.script(one.keys, one.args))
    except (RedisError, OSError) as exc:
        return exc


def _settle(future: asyncio.Future[Any], answer: Any) -> None:
    if future.done():  # its caller has given up
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
