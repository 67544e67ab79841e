"""The service's own client of Redis."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fetchworker.runtime import connect, disconnect

if TYPE_CHECKING:
    from fetchworker.config import Environment
    from fetchworker.redis import Client


class RedisLink:
    """The client of Redis, connected when it is first needed."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._client: Client | None = None
        self._lock = asyncio.Lock()

    async def get(self) -> Client:
        """The client.

        Raises:
            RedisUnavailableError: none answers.
        """
        async with self._lock:
            if self._client is None:
                self._client = await connect(self._environment)
            return self._client

    async def close(self) -> None:
        """Give it back."""
        if self._client is not None:
            await disconnect(self._client)
            self._client = None
