"""What is left over: processes of lost attempts that come back with their node, files of jobs, runs of long ago."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import delete, select, update

from fetchworker.db.runtables import (
    actions,
    scrape_attempts,
    scrape_events,
    scrape_items,
    scrape_jobs,
    scrape_rejects,
    scrape_runs,
    usage,
    webhook_deliveries,
)
from fetchworker.errors import PlatformError
from fetchworker.platforms import JobState
from fetchworker.runs.models import ENDED
from fetchworker.runs.store import at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from fetchworker.platforms import Platform
    from fetchworker.runs.store import RunStore
    from fetchworker.runs.terms import Terms

logger = logging.getLogger(__name__)
_A, _R = scrape_attempts.c, scrape_runs.c
#: runs that are deleted in a turn
_RUNS = 20
#: seconds between two turns, when the tick is not longer
_PAUSE = 30.0
#: what goes with a run
_TABLES = (scrape_items, scrape_rejects, scrape_events, scrape_attempts, scrape_jobs, actions, usage)


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
        query = select(_A.attempt_id, _A.node).where(_A.state == "lost", _A.node.is_not(None), _A.cleared.is_(False))
        nodes: dict[str, list[str]] = defaultdict(list)
        for row in await self._store.read(query.limit(1000)):
            nodes[row.node].append(row.attempt_id)
        for node, ids in nodes.items():
            try:
                gone = await self._ended_on(node, ids)
            except PlatformError:
                continue  # still away
            if gone:
                cleared = update(scrape_attempts).where(_A.attempt_id.in_(gone)).values(cleared=True)
                await self._store.execute(cleared)

    async def _ended_on(self, node: str, ids: Sequence[str]) -> list[str]:
        """Those that do nothing any more; the others are told to end."""
        gone = []
        for id_, status in (await self._platform.statuses(node, ids)).items():
            if status.state in (JobState.ENDED, JobState.UNKNOWN):
                gone.append(id_)
            else:
                logger.warning("node %s is back with %s, which was lost: it is ended", node, id_)
                await self._platform.cancel(node, id_, grace=self._terms.grace)
        return gone

    async def _old(self) -> None:
        """Delete runs that ended long ago, with all that belongs to them."""
        limit = at(time.time() - self._terms.keep)
        pending = select(webhook_deliveries.c.run_id).where(webhook_deliveries.c.state == "pending")
        query = select(_R.run_id).where(_R.state.in_(ENDED), _R.ended_at < limit, _R.run_id.not_in(pending))
        for run in await self._store.read(query.order_by(_R.ended_at).limit(_RUNS)):
            await self._forget(run.run_id)
            await self._store.write(partial(_delete, run_id=run.run_id))
            logger.info("run %s, which ended before %s, is deleted", run.run_id, limit)

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
