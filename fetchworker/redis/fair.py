"""Few connections for many: whoever waits longest gets the next one.

redis-py's own pool wakes somebody who waits, but whoever asks at that very moment is quicker: where many crawls share
two connections, some would get none for as long as others are busy.
"""

from __future__ import annotations

import asyncio
from typing import Any

import redis.asyncio
from redis.exceptions import ConnectionError  # noqa: A004  # redis's name


class FairPool(redis.asyncio.BlockingConnectionPool):
    """A pool whose connections are given out in the order in which they were asked for."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._turns = asyncio.Semaphore(self.max_connections)
        self._lent: set[Any] = set()

    async def get_connection(self, command_name: Any = None, *keys: Any, **options: Any) -> Any:  # noqa: ARG002
        """The next connection, once it is our turn (the arguments are the base's, which ignores them).

        Raises:
            ConnectionError: there was none within the pool's ``timeout`` seconds.
        """
        try:
            async with asyncio.timeout(self.timeout):
                await self._turns.acquire()
        except TimeoutError as exc:
            raise ConnectionError("No connection available.") from exc
        try:
            connection = await super().get_connection()  # type: ignore[no-untyped-call]  # the library has no hints
        except BaseException:
            self._turns.release()
            raise
        self._lent.add(connection)
        return connection

    async def release(self, connection: Any) -> None:
        """Take a connection back."""
        try:
            await super().release(connection)
        finally:
            if connection in self._lent:
                self._lent.discard(connection)
                self._turns.release()
