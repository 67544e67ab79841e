"""Gathers observations into batches; who writes one goes on when its batch is stored."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING

from fetchworker.errors import RefusedError, StorageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from fetchworker.db.observation import Observation

    Save = Callable[[list[Observation]], Awaitable[None]]
    Waiting = tuple[Observation, asyncio.Future[None]]

logger = logging.getLogger(__name__)


class BatchWriter:
    """Stores observations in batches, one after the other.

    After an error that stops it, everything that waits and everything that comes ends with that error.

    Args:
        save: stores one batch whole, or raises a StorageError and stores nothing of it.
        size: observations of a batch at most. Twice as many may wait; then writers wait for room.
        delay: seconds that a batch gathers after its first observation, if it is not full before.
    """

    def __init__(self, save: Save, *, size: int, delay: float) -> None:
        self._save = save
        self._size = size
        self._delay = delay
        self._waiting: deque[Waiting] = deque()
        self._room = asyncio.Semaphore(2 * size)
        self._some = asyncio.Event()
        self._enough = asyncio.Event()
        self._closing = False
        self._error: StorageError | None = None
        self._task: asyncio.Task[None] | None = None
        #: observations stored, and the batches they came in
        self.stored = self.batches = 0

    async def write(self, observation: Observation) -> None:
        """Return when the observation is stored.

        Raises:
            RefusedError: the database will not take it; the others of its batch are stored.
            StorageError: it is not stored, and nothing will be any more.
        """
        await self._room.acquire()
        if self._error is not None:
            self._room.release()
            raise _again(self._error)
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((observation, done))
        self._some.set()
        if len(self._waiting) >= self._size:
            self._enough.set()
        await done

    async def close(self) -> None:
        """Store what waits, then end."""
        self._closing = True
        self._some.set()
        self._enough.set()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        while True:
            await self._some.wait()
            if not self._waiting:
                return  # closing
            await self._gathered()
            batch = [self._waiting.popleft() for _ in range(min(self._size, len(self._waiting)))]
            if not self._closing:
                self._reset()
            for _ in batch:
                self._room.release()
            await self._store(batch)

    async def _gathered(self) -> None:
        """Return when the batch is full, or has had its time."""
        if self._error is not None or self._enough.is_set():
            return
        try:
            async with asyncio.timeout(self._delay):
                await self._enough.wait()
        except TimeoutError:
            pass

    def _reset(self) -> None:
        if not self._waiting:
            self._some.clear()
        if len(self._waiting) < self._size:
            self._enough.clear()

    async def _store(self, batch: Sequence[Waiting]) -> None:
        if self._error is not None:
            _end(batch, self._error)
            return
        try:
            await self._save([observation for observation, _ in batch])
        except RefusedError as exc:
            await self._without(batch, exc)
        except StorageError as exc:
            self._stop(batch, exc)
        except Exception as exc:
            # a fault of ours: whoever waits must hear of it
            logger.exception("storing failed")
            self._stop(batch, StorageError(f"storing failed: {exc!r}"))
        else:
            self.stored += len(batch)
            self.batches += 1
            _end(batch, None)

    async def _without(self, batch: Sequence[Waiting], error: RefusedError) -> None:
        """Store a batch without the observations for which it was refused."""
        if len(batch) == 1:
            _end(batch, error)
            return
        middle = len(batch) // 2
        await self._store(batch[:middle])
        await self._store(batch[middle:])

    def _stop(self, batch: Sequence[Waiting], error: StorageError) -> None:
        self._error = error
        _end(batch, error)


def _end(batch: Sequence[Waiting], error: StorageError | None) -> None:
    for _, done in batch:
        if done.done():  # who waited was cancelled
            continue
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(_again(error))


def _again(error: StorageError) -> StorageError:
    """An error of its own for each who hears of it: a raised one grows its traceback."""
    return type(error)(error.message)
