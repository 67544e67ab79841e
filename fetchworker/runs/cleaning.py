"""What is left over: processes of lost attempts that come back with their node, files of jobs, runs of long ago."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, select

from fetchworker.db.runtables import (
    scrape_attempts,
    scrape_events,
    scrape_items,
    scrape_jobs,
    scrape_rejects,
    scrape_runs,
    webhook_deliveries,
)
from fetchworker.db.spenttables import actions, sessions, usage
from fetchworker.errors import PlatformError
from fetchworker.platforms import JobState
from fetchworker.runs.models import ENDED
from fetchworker.runs.spending import cleared
from fetchworker.runs.store import at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Row
    from sqlalchemy.ext.asyncio import AsyncConnection

    from fetchworker.platforms import JobStatus, Platform
    from fetchworker.runs.store import RunStore
    from fetchworker.runs.terms import Terms

logger = logging.getLogger(__name__)
_A, _R = scrape_attempts.c, scrape_runs.c
#: runs that are deleted in a turn
_RUNS = 20
#: seconds between two turns, when the tick is not longer
_PAUSE = 30.0
#: what goes with a run
_TABLES = (scrape_items, scrape_rejects, scrape_events, scrape_attempts, scrape_jobs, sessions, usage)


class Cleaner:
    """Clears up, a little at a time.

    Args:
        store: the database.
        platform: where jobs ran.
        terms: how long runs are kept, and how long a job has to end.
    """

    def __init__(self, store: RunStore, platform: Platform, terms: Terms) -> None:
        self._store = store
        self._platform = platform
        self._terms = terms
        self._next = 0.0

    async def turn(self) -> None:
        """Clear up if it is time.

        Raises:
            StorageError: the database is away.
        """
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + min(_PAUSE, self._terms.tick)
        await self._lost()
        if self._terms.keep:
            await self._old()

    async def _lost(self) -> None:
        """End what lost attempts still do on nodes that are back."""
        lost = (_A.state == "lost") & _A.node.is_not(None) & _A.cleared.is_(False)
        query = select(_A.attempt_id, _A.run_id, _A.job_id, _A.node).where(lost)
        nodes: dict[str, list[Row[Any]]] = defaultdict(list)
        for row in await self._store.read(query.limit(1000)):
            nodes[row.node].append(row)
        for node, attempts in nodes.items():
            try:
                gone = await self._ended_on(node, attempts)
            except PlatformError:
                continue  # still away
            for attempt, status in gone:
                await cleared(self._store, attempt, status)

    async def _ended_on(self, node: str, attempts: Sequence[Row[Any]]) -> list[tuple[Row[Any], JobStatus]]:
        """Those that do nothing any more, with what their node says; the others are told to end."""
        gone = []
        statuses = await self._platform.statuses(node, [attempt.attempt_id for attempt in attempts])
        for attempt in attempts:
            status = statuses[attempt.attempt_id]
            if status.state in (JobState.ENDED, JobState.UNKNOWN):
                gone.append((attempt, status))
            else:
                logger.warning("node %s is back with %s, which was lost: it is ended", node, attempt.attempt_id)
                await self._platform.cancel(node, attempt.attempt_id, grace=self._terms.grace)
        return gone

    async def _old(self) -> None:
        """Delete runs that ended long ago, with all that belongs to them, and what was done on pages long ago."""
        limit = at(time.time() - self._terms.keep)
        pending = select(webhook_deliveries.c.run_id).where(webhook_deliveries.c.state == "pending")
        query = select(_R.run_id).where(_R.state.in_(ENDED), _R.ended_at < limit, _R.run_id.not_in(pending))
        for run in await self._store.read(query.order_by(_R.ended_at).limit(_RUNS)):
            await self._forget(run.run_id)
            await self._store.write(partial(_delete, run_id=run.run_id))
            logger.info("run %s, which ended before %s, is deleted", run.run_id, limit)
        await self._store.execute(delete(actions).where(actions.c.at < limit))

    async def _forget(self, run_id: str) -> None:
        """Have nodes delete the files of a run's jobs; those of a node that is away stay there."""
        query = select(_A.attempt_id, _A.node).where(_A.run_id == run_id, _A.node.is_not(None))
        for attempt in await self._store.read(query):
            try:
                await self._platform.forget(attempt.node, attempt.attempt_id)
            except PlatformError as exc:
                logger.warning("files of %s on node %s stay: %s", attempt.attempt_id, attempt.node, exc)


async def _delete(connection: AsyncConnection, run_id: str) -> None:
    for table in (*_TABLES, webhook_deliveries, scrape_runs):
        await connection.execute(delete(table).where(table.c.run_id == run_id))
