"""Spawns the attempts of a run that nobody has begun."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from fetchworker.db.runtables import scrape_attempts
from fetchworker.errors import ConfigError, PlatformError
from fetchworker.platforms import JobOptions, JobSpec
from fetchworker.runs.inputs import arguments_of
from fetchworker.runs.states import Ended

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Row

    from fetchworker.platforms import Placement, Platform
    from fetchworker.runs.ledger import Ledger
    from fetchworker.runs.store import RunStore

logger = logging.getLogger(__name__)
_A = scrape_attempts.c


def spec_of(run: Row[Any], attempt: Row[Any]) -> JobSpec:
    """What the platform is told of an attempt."""
    options = JobOptions(attempt.memory_mb, attempt.timeout_sec, attempt.priority, frozenset(attempt.tags))
    context = {"run_id": run.run_id, "job_id": attempt.job_id, "workspace_id": run.workspace_id}
    # a queue of its own: what a lost attempt has taken from its queue may not be stored
    settings = {"FETCHWORKER_CRAWL_ID": attempt.attempt_id, "FETCHWORKER_TRACE_ID": run.run_id}
    return JobSpec(
        attempt.attempt_id,
        attempt.actor,
        arguments=arguments_of(attempt.input),
        settings=settings,
        options=options,
        context=context,
    )


class Spawner:
    """Spawns attempts, so many at once.

    Args:
        store: the database.
        ledger: of it.
        platform: where jobs run.
        at_once: attempts.
    """

    def __init__(self, store: RunStore, ledger: Ledger, platform: Platform, *, at_once: int) -> None:
        self._store = store
        self._ledger = ledger
        self._platform = platform
        self._at_once = at_once

    async def spawn(self, run: Row[Any], attempts: Sequence[Row[Any]]) -> int:
        """Spawn attempts, in their order, as long as nodes take them; how many have been taken."""
        taken = 0
        for first in range(0, len(attempts), self._at_once):
            batch = attempts[first : first + self._at_once]
            await self._ledger.spawning(run.run_id, batch)
            found = await asyncio.gather(*(self._one(run, attempt) for attempt in batch))
            placed = [(attempt, place) for attempt, place in zip(batch, found, strict=True) if place is not None]
            if placed:
                await self._ledger.spawned(run.run_id, placed)
            taken += len(placed)
            if not placed:
                break  # the others would hear the same
        return taken

    async def _one(self, run: Row[Any], attempt: Row[Any]) -> Placement | None:
        try:
            avoid = await self._avoided(attempt)
            return await self._platform.spawn(spec_of(run, attempt), avoid=avoid)
        except ConfigError as exc:
            await self._ledger.ended(attempt, Ended("failed", "failed", (f"it cannot be begun: {exc}",)), None)
        except PlatformError as exc:
            logger.info("%s waits: %s", attempt.attempt_id, exc)
            await self._ledger.waiting(attempt, str(exc))
        return None

    async def _avoided(self, attempt: Row[Any]) -> frozenset[str]:
        """The nodes that have lost the job, as long as there are others."""
        if attempt.number == 1:
            return frozenset()
        query = select(_A.node).where(_A.job_id == attempt.job_id, _A.state == "lost", _A.node.is_not(None))
        lost = frozenset(row.node for row in await self._store.read(query))
        others = {node.name for node in await self._platform.nodes() if node.up} - lost
        return lost if others else frozenset()
