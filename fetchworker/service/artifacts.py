"""The artifacts of a service: opened with the first call that needs them, let go when they have had their time."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from fetchworker.errors import FetchworkerError
from fetchworker.runtime import artifact_store
from fetchworker.tasks import end

if TYPE_CHECKING:
    from fetchworker.artifacts import ArtifactStore
    from fetchworker.config import Environment

logger = logging.getLogger(__name__)

#: seconds before the first look at what has had its time, and between two
_FIRST, _EVERY = 60.0, 3600.0


class Artifacts:
    """The store, and the task that lets artifacts go."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._store: ArtifactStore | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to let artifacts go."""
        self._task = asyncio.create_task(self._expire())

    def store(self) -> ArtifactStore:
        """The store.

        Raises:
            ConfigError: it cannot be used as configured.
        """
        if self._store is None:
            self._store = artifact_store(self._environment)
        return self._store

    async def close(self) -> None:
        """Let go of connections."""
        await end(self._task)
        if self._store is not None:
            await self._store.close()

    async def _expire(self) -> None:
        pause = _FIRST
        while True:
            await asyncio.sleep(pause)
            try:
                await self.store().expire()
            except FetchworkerError as exc:
                logger.warning("artifacts that have had their time stay: %s", exc.message)
            pause = _EVERY
