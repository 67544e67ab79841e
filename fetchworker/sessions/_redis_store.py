"""Sessions in Redis (or Redis Cluster: a session is one key, its tag is the site)."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from functools import partial
from importlib.resources import files
from math import ceil
from typing import TYPE_CHECKING, Any, cast

from redis.exceptions import ClusterDownError, ConnectionError, RedisError, TimeoutError  # noqa: A004 - redis's names

from fetchworker.errors import RedisUnavailableError, SessionDamagedError, SessionError
from fetchworker.redis import script
from fetchworker.sessions._record import SAVED, Changes, Record, confirm, give_back, read, replace, take, take_all
from fetchworker.sessions.keys import session_id_of, session_key, session_pattern
from fetchworker.sessions.model import FORMAT
from fetchworker.sessions.store import check_successor, check_ttl, settle

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

    from fetchworker.redis import Client
    from fetchworker.sessions.model import Session

_SCAN_COUNT = 1000


class RedisSessionStore:
    """Sessions that all processes share. ``ttl``: seconds that a session lives after its last save, rounded up.

    One store belongs to one client, and so to one event loop; closing the client is the caller's business. Scripts use
    commands of Redis 6.2 only. A save that the client sends again after a broken connection may count its uses twice;
    cookies and tokens come out right.
    """

    def __init__(self, redis: Client, *, ttl: float, clock: Callable[[], float] = time.time) -> None:
        self._redis = redis
        self._ttl = ceil(check_ttl(ttl))
        self._clock = clock
        self._loads = _Together(redis)
        lua = files(__package__) / "lua"
        self._save = script(redis, (lua / "save.lua").read_text())
        self._rotate = script(redis, (lua / "rotate.lua").read_text())

    async def load(self, site: str, session_id: str, /) -> Session | None:
        """See :class:`SessionStore`."""
        key = session_key(site, session_id)
        with _translated("load"):
            record = await self._loads.hgetall(key)
        return read(record, site, session_id, self._clock()) if record else None

    async def save(self, session: Session, /) -> bool:
        """See :class:`SessionStore`."""
        if not session.stored:
            return True
        key = session_key(session.site, session.id)
        changes = take(session, self._clock())
        answer = 0
        try:
            with _translated("save"):
                answer = int(await self._save([key], _save_args(changes, self._ttl)))
        finally:
            if answer != SAVED:
                give_back(session, changes)
        return settle(session, answer)

    async def rotate(self, site: str, session_id: str, expected_identity: str, new: Session, /) -> Session:
        """See :class:`SessionStore`."""
        check_successor(site, session_id, new)
        fields = replace(take_all(new, self._clock()))
        pairs = [part for field in fields.items() for part in field]
        with _translated("rotate"):
            stored = await self._rotate([session_key(site, session_id)], [self._ttl, expected_identity, *pairs])
        if stored:
            return read(_record(zip(stored[::2], stored[1::2], strict=True)), site, session_id, self._clock())
        confirm(new)
        return new

    async def touch(self, site: str, session_id: str, /) -> bool:
        """See :class:`SessionStore`."""
        key = session_key(site, session_id)
        with _translated("touch"):
            return bool(await self._redis.expire(key, self._ttl))

    async def delete(self, site: str, session_id: str, /) -> bool:
        """See :class:`SessionStore`."""
        key = session_key(site, session_id)
        with _translated("delete"):
            return bool(await self._redis.delete(key))

    async def ids(self, site: str, /) -> AsyncIterator[str]:
        """See :class:`SessionStore`. Walks all keys of the database: for people and start-up, not for each request."""
        pattern, seen = session_pattern(site), set()
        with _translated("list"):
            async for key in self._redis.scan_iter(match=pattern, count=_SCAN_COUNT):
                found = session_id_of(site, _bytes(key).decode())
                if found not in seen:  # SCAN may name a key twice
                    seen.add(found)
                    yield found


class _Together:
    """Loads that are asked for in the same turn of the loop go out as one pipeline."""

    def __init__(self, redis: Client) -> None:
        self._redis = redis
        self._waiting: list[tuple[str, asyncio.Future[Record]]] = []
        self._asked: set[asyncio.Task[Sequence[Any]]] = set()

    async def hgetall(self, key: str) -> Record:
        future: asyncio.Future[Record] = asyncio.get_running_loop().create_future()
        self._waiting.append((key, future))
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._send)
        return await future

    def _send(self) -> None:
        waiting, self._waiting = self._waiting, []
        asked = asyncio.get_running_loop().create_task(self._ask([key for key, _ in waiting]))
        self._asked.add(asked)
        asked.add_done_callback(partial(self._answer, waiting))

    def _answer(self, waiting: list[tuple[str, asyncio.Future[Record]]], asked: asyncio.Task[Sequence[Any]]) -> None:
        self._asked.discard(asked)
        failure = None if asked.cancelled() else asked.exception()
        for at, (_, future) in enumerate(waiting):
            if asked.cancelled():
                future.cancel()
            elif not future.done():
                _settle(future, failure or asked.result()[at])

    async def _ask(self, keys: list[str]) -> Sequence[Any]:
        if len(keys) == 1:  # a pipeline of one costs more
            return [await self._redis.hgetall(keys[0])]
        pipeline = self._redis.pipeline(transaction=False)
        for key in keys:
            pipeline.hgetall(key)
        return cast("Sequence[Any]", await pipeline.execute(raise_on_error=False))


def _settle(future: asyncio.Future[Record], reply: Any) -> None:
    if isinstance(reply, BaseException):
        future.set_exception(reply)
    else:
        future.set_result(_record(reply.items()))


def _save_args(changes: Changes, ttl: int) -> list[Any]:
    args: list[Any] = [FORMAT, ttl, int(changes.known), *changes.head]
    for entry in changes.entries:
        args += entry
    return args


def _record(pairs: Any) -> Record:
    """A reply's fields as bytes, whether the client decodes replies or not."""
    return {_bytes(field): _bytes(value) for field, value in pairs}


def _bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode()


@contextmanager
def _translated(doing: str) -> Iterator[None]:
    try:
        yield
    except (ConnectionError, TimeoutError, ClusterDownError, OSError) as error:
        raise RedisUnavailableError(f"no Redis to {doing} sessions: {type(error).__name__}: {error}") from error
    except RedisError as error:
        if str(error).startswith("WRONGTYPE"):
            raise SessionDamagedError("a stored session is damaged: its key holds something else") from error
        raise SessionError(f"Redis refused to {doing} a session: {type(error).__name__}: {error}") from error
