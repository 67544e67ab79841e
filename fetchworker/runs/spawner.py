"""Spawns the attempts of a run that nobody has begun, so many seconds at a time."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from fetchworker.db.runtables import scrape_attempts
from fetchworker.errors import ConfigError, PlatformError
from fetchworker.platforms import JobOptions, JobSpec
from fetchworker.runs.inputs import arguments_of
from fetchworker.runs.states import Ended

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from sqlalchemy import Row

    from fetchworker.platforms import Placement, Platform
    from fetchworker.runs.ledger import Ledger
    from fetchworker.runs.store import RunStore
    from fetchworker.runs.terms import Terms

logger = logging.getLogger(__name__)
_A = scrape_attempts.c
#: seconds after which the run is looked at again before more is spawned
SLICE = 5.0


def spec_of(run: Row[Any], attempt: Row[Any], project: str) -> JobSpec:
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
        project=project,
        context=context,
    )


@dataclass(slots=True)
class Spawned:
    """What came of a slice: attempts ``taken``, and whether there is ``more`` that has not been tried.

    ``doubted`` counts those that a node may have taken whose answer was lost.
    """

    taken: int = 0
    doubted: int = 0
    more: bool = False


def kind_of(attempt: Row[Any]) -> Hashable:
    """What decides which nodes could take an attempt: others of its kind hear what it has heard (pure)."""
    return attempt.actor, frozenset(attempt.tags), attempt.number > 1, attempt.node


class Spawner:
    """Spawns attempts, so many at once.

    Args:
        store: the database.
        ledger: of it.
        platform: where jobs run.
        terms: how many attempts at once, and of which project.
    """

    def __init__(self, store: RunStore, ledger: Ledger, platform: Platform, terms: Terms) -> None:
        self._store = store
        self._ledger = ledger
        self._platform = platform
        self._at_once = terms.spawning
        self._project = terms.project

    async def spawn(self, run: Row[Any], attempts: Sequence[Row[Any]]) -> Spawned:
        """Spawn attempts, in their order, for some seconds; those of a kind that no node takes wait."""
        found = Spawned()
        full: dict[Hashable, str] = {}
        held: dict[Hashable, list[Row[Any]]] = defaultdict(list)
        until = time.monotonic() + SLICE
        left = list(attempts)
        while left:
            batch, left = self._batch(left, full, held)
            await self._spawn(run, batch, full, found)
            if left and (time.monotonic() >= until or await self._ledger.aborting(run.run_id)):
                found.more = True
                break
        for kind, waiting in held.items():
            await self._ledger.waiting(waiting, full[kind])
        return found

    def _batch(
        self, left: Sequence[Row[Any]], full: dict[Hashable, str], held: dict[Hashable, list[Row[Any]]]
    ) -> tuple[list[Row[Any]], list[Row[Any]]]:
        """The next attempts that may be taken, and what is left after them; those that would not be are held."""
        batch: list[Row[Any]] = []
        for place, attempt in enumerate(left):
            if len(batch) == self._at_once:
                return batch, [*left[place:]]
            kind = kind_of(attempt)
            if kind in full:
                held[kind].append(attempt)
            else:
                batch.append(attempt)
        return batch, []

    async def _spawn(self, run: Row[Any], batch: Sequence[Row[Any]], full: dict[Hashable, str], found: Spawned) -> None:
        """Spawn a batch. Kinds of which none was taken are noted with the reason."""
        if not batch:
            return
        await self._ledger.spawning(run.run_id, batch)
        asked: dict[str, str | None] = {}
        told = await asyncio.gather(*(self._one(run, attempt, asked) for attempt in batch), return_exceptions=True)
        pairs = [*zip(batch, told, strict=True)]
        placed = [(each, place) for each, place in pairs if place is not None and not isinstance(place, BaseException)]
        if placed:
            await self._ledger.spawned(run.run_id, placed)
        took = {kind_of(attempt) for attempt, _ in placed}
        for attempt, place in pairs:
            if isinstance(place, PlatformError):
                logger.info("%s waits: %s", attempt.attempt_id, place)
                await self._ledger.waiting([attempt], str(place))
                if asked.get(attempt.attempt_id) is not None:
                    found.doubted += 1
                elif kind_of(attempt) not in took:
                    full[kind_of(attempt)] = str(place)
            elif isinstance(place, BaseException):
                raise place
        found.taken += len(placed)

    async def _one(self, run: Row[Any], attempt: Row[Any], asked: dict[str, str | None]) -> Placement | None:
        """Where an attempt went; None for one that never will, whose job has ended so."""

        async def intend(node: str | None) -> None:
            await self._ledger.intended(attempt, node)
            asked[attempt.attempt_id] = node

        try:
            avoid = await self._avoided(attempt)
            spec = spec_of(run, attempt, self._project)
            return await self._platform.spawn(spec, avoid=avoid, at=attempt.node, intend=intend)
        except ConfigError as exc:
            await self._ledger.ended(attempt, Ended("failed", "failed", (f"it cannot be begun: {exc}",)), None)
        return None

    async def _avoided(self, attempt: Row[Any]) -> frozenset[str]:
        """The nodes that have lost the job, as long as there are others."""
        if attempt.number == 1:
            return frozenset()
        query = select(_A.node).where(_A.job_id == attempt.job_id, _A.state == "lost", _A.node.is_not(None))
        lost = frozenset(row.node for row in await self._store.read(query))
        others = {node.name for node in await self._platform.nodes() if node.up} - lost
        return lost if others else frozenset()
