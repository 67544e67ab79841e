"""The service's own client of Redis, and whether there is one."""

from __future__ import annotations

import asyncio
import math
import time
from typing import TYPE_CHECKING

from fetchworker.errors import RedisUnavailableError
from fetchworker.runtime import connect, disconnect

if TYPE_CHECKING:
    from collections.abc import Callable

    from fetchworker.config import Environment
    from fetchworker.redis import Client

#: seconds that a call waits for a Redis which does not answer: callers come again sooner than crawls begin anew
PATIENCE = 1.0
#: seconds for which it holds what was seen at a look
_SEEN = 1.0
#: in a row that have to miss Redis before calls are refused: a single one may have been slow itself
LOOKS = 2


class RedisLink:
    """The client of Redis, connected when it is first needed.

    Attributes:
        missed: how many looks in a row have missed it, as far as anybody has looked.
        needed: whether somebody has asked for it.
        reason: why the last look that missed it did; names its place.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._client: Client | None = None
        self._lock = asyncio.Lock()
        self._looking = asyncio.Lock()
        self._looked = -math.inf
        self.missed = 0
        self.needed = False
        self.reason = ""

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

    async def check(self) -> None:
        """Refuse at once what would wait until its time is over, at a Redis that takes commands and is silent.

        One of our own is not looked for: it is started by whoever needs it first.

        Raises:
            RedisUnavailableError: it is missed.
        """
        if self._environment.redis_url is not None and await self.away(looks=LOOKS):
            raise RedisUnavailableError(self.reason)

    async def answering(self) -> Client:
        """The client, at once or not at all where Redis has been missed.

        Raises:
            RedisUnavailableError: none answers.
        """
        if self.missed:
            await self.check()
        return await self.get()

    async def away(self, *, looks: int = 1) -> bool:
        """Whether Redis does not answer now. A look takes a second at most, and holds for another.

        Args:
            looks: how many in a row have to miss it.
        """
        async with self._looking:  # who asks meanwhile is told the same
            while time.monotonic() - self._looked > _SEEN or 0 < self.missed < looks:
                self.missed = 0 if await self._answers() else self.missed + 1
                self._looked = time.monotonic()
            return self.missed >= looks

    async def watch(self, wanted: Callable[[], bool]) -> None:
        """Look every second, as long as it is ``wanted``; until it is cancelled."""
        while True:
            if wanted():
                await self.away()
            await asyncio.sleep(_SEEN)

    async def _answers(self) -> bool:
        try:
            client = await connect(self._environment, limit=0)
        except RedisUnavailableError as exc:
            self.reason = exc.message
            return False
        await disconnect(client)
        return True

    async def close(self) -> None:
        """Give it back."""
        if self._client is not None:
            await disconnect(self._client)
            self._client = None
