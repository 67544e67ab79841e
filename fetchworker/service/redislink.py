"""The service's own client of Redis, and whether there is one."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from fetchworker.errors import RedisUnavailableError
from fetchworker.runtime import connect, disconnect

if TYPE_CHECKING:
    from fetchworker.config import Environment
    from fetchworker.redis import Client

#: seconds that a call waits for a Redis which does not answer: callers come again sooner than crawls begin anew
PATIENCE = 1.0
#: seconds for which it holds what was seen at a look
_SEEN = 1.0


class RedisLink:
    """The client of Redis, connected when it is first needed.

    Attributes:
        needed: whether somebody has asked for it.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._client: Client | None = None
        self._lock = asyncio.Lock()
        self._looking = asyncio.Lock()
        self._seen: tuple[float, bool] | None = None
        self.needed = False

    async def get(self) -> Client:
        """The client.

        Raises:
            RedisUnavailableError: none answers.
        """
        self.needed = True
        async with self._lock:
            if self._client is None:
                self._client = await connect(self._environment)
            return self._client

    async def away(self) -> bool:
        """Whether Redis does not answer now; a look takes a second at most, and holds for another."""
        async with self._looking:
            if self._seen is None or time.monotonic() - self._seen[0] > _SEEN:
                away = not await self._answers()
                self._seen = (time.monotonic(), away)
            return self._seen[1]

    async def _answers(self) -> bool:
        try:
            client = await connect(self._environment, limit=0)
        except RedisUnavailableError:
            return False
        await disconnect(client)
        return True

    async def close(self) -> None:
        """Give it back."""
        if self._client is not None:
            await disconnect(self._client)
            self._client = None
