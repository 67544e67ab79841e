"""Waits for work on behalf of all idle spiders of a process: one command a second, however many they are."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from fetchworker.frontier.vigil import AWAY

if TYPE_CHECKING:
    from fetchworker.frontier.keys import Namespace
    from fetchworker.redis import Client

#: seconds between two looks
INTERVAL = 1.0
_bells: WeakKeyDictionary[Client, Bell] = WeakKeyDictionary()


class Bell:
    """Rings for those who wait when one of their namespaces holds something (or Redis is away: they will see)."""

    def __init__(self, redis: Client) -> None:
        self._redis = redis
        self._waiting: dict[asyncio.Event, tuple[str, ...]] = {}
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def of(cls, redis: Client) -> Bell:
        """The bell of all who share this client."""
        found = _bells.get(redis)
        if found is None:
            found = _bells[redis] = cls(redis)
        return found

    async def wait(self, names: Namespace, *, others: asyncio.Event, limit: float | None = None) -> None:
        """Return when the namespace may hold something, when ``others`` is set, or after ``limit`` seconds."""
        rung, root = asyncio.Event(), names.root
        others_ = (f"{root}:{name}" for name in ("delayed", "workers", "committed", "suspects"))
        self._waiting[rung] = (names.queue, names.seeds, *others_)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())
        tasks = [asyncio.create_task(rung.wait()), asyncio.create_task(others.wait())]
        try:
            await asyncio.wait(tasks, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self._waiting[rung]
            for task in tasks:
                task.cancel()
            if not self._waiting and self._task is not None:
                self._task.cancel()
                self._task = None  # it ends only later: whoever waits next needs one of its own

    async def _tick(self) -> None:
        await asyncio.sleep(INTERVAL)

    async def _look(self) -> None:
        while self._waiting:
            await self._tick()
            found = 1
            with suppress(*AWAY):
                found = await self._redis.exists(*{key for keys in self._waiting.values() for key in keys})
            for rung in self._waiting if found else ():
                rung.set()
