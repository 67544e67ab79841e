"""The limit that all processes share, and the local one that holds while it cannot be asked."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from fetchworker.errors import RedisUnavailableError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

logger = logging.getLogger(__name__)


class SharedLimit(Protocol):
    """A number of calls under way that all processes share."""

    def permit(self, site: str, /) -> AbstractAsyncContextManager[object]:
        """Hold one permit.

        Raises:
            RedisUnavailableError: it cannot be asked.
        """


class Limiting:
    """Asks the shared limit; while it cannot be asked, calls go on under a ceiling of this process's own.

    Args:
        ceiling: calls under way at most in that time.
        shared: None: there is none to ask.
    """

    def __init__(self, *, ceiling: int, shared: SharedLimit | None = None) -> None:
        self.ceiling = ceiling
        self.shared = shared
        self.away = False
        self._local = asyncio.Semaphore(ceiling)

    @asynccontextmanager
    async def permit(self, site: str) -> AsyncIterator[None]:
        """Hold a permit of the one or of the other."""
        if self.shared is None:
            yield
            return
        held = self.shared.permit(site)
        try:
            await held.__aenter__()
        except RedisUnavailableError as exc:
            self._lost(exc)
            async with self._local:
                yield
            return
        if self.away:
            self.away = False
            logger.info("the shared limit is back")
        try:
            yield
        finally:
            await held.__aexit__(None, None, None)

    def _lost(self, error: RedisUnavailableError) -> None:
        if not self.away:
            self.away = True
            logger.warning("%s; %d calls at most are under way in this process until it is back", error, self.ceiling)
