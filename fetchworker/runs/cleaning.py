"""What is left over: processes of lost attempts that come back with their node, files of jobs, runs of long ago."""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, delete, or_, select

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
from fetchworker.errors import ConfigError, PlatformError
from fetchworker.platforms import JobState
from fetchworker.runs.models import ENDED
from fetchworker.runs.spending import cleared
from fetchworker.runs.store import at, posix

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from sqlalchemy import Row
    from sqlalchemy.ext.asyncio import AsyncConnection

    from fetchworker.platforms import JobStatus, Platform
    from fetchworker.runs.store import RunStore
    from fetchworker.runs.terms import Terms

logger = logging.getLogger(__name__)
_A, _R = scrape_attempts.c, scrape_runs.c
_LOST = and_(_A.state == "lost", _A.node.is_not(None), _A.cleared.is_(False))
#: runs that are deleted in a turn
_RUNS = 20
#: lost attempts that a node is asked for at once
_IDS = 1000
#: seconds between two turns, when the tick is not longer
_PAUSE = 30.0
#: what goes with a run
_TABLES = (scrape_items, scrape_rejects, scrape_events, scrape_attempts, scrape_jobs, sessions, usage)


class Cleaner:
    """Clears up, a little at a time, beside all else: a node that does not answer holds up nobody but itself.

    Args:
        store: the database.
        platform: where jobs ran.
        terms: how long runs are kept, and how long a job has to end.
        unwatch: forgets that a run was watched.
    """

    def __init__(
        self, store: RunStore, platform: Platform, terms: Terms, unwatch: Callable[[str], Awaitable[None]] | None = None
    ) -> None:
        self._unwatch = unwatch
        self._store = store
        self._platform = platform
        self._terms = terms
        self._next = 0.0

    async def turn(self) -> int:
        """Clear up if it is time; nothing of it is urgent.

        Raises:
            StorageError: the database is away.
        """
        if time.monotonic() < self._next:
            return 0
        self._next = time.monotonic() + min(_PAUSE, self._terms.tick)
        try:
            away = {node.name for node in await self._platform.nodes() if not node.up}
        except PlatformError as exc:
            logger.warning("nothing is cleared up now: %s", exc)
            return 0
        await self._lost(away)
        if self._terms.keep:
            await self._old(away)
        return 0

    # ── lost attempts ────────────────────────────────────────────────────────────────────────────────────────────

    async def _lost(self, away: set[str]) -> None:
        """End what lost attempts still do on nodes that are back; adds those that are not to ``away``."""
        for row in await self._store.read(select(_A.node).where(_LOST).distinct()):
            if row.node in away:
                continue
            try:
                await self._lost_on(row.node)
            except PlatformError:
                away.add(row.node)

    async def _lost_on(self, node: str) -> None:
        query = select(_A.attempt_id, _A.run_id, _A.job_id, _A.node).where(_LOST, _A.node == node)
        query = query.order_by(_A.attempt_id).limit(_IDS)
        after = ""
        while rows := await self._store.read(query.where(_A.attempt_id > after)):
            after = rows[-1].attempt_id
            for attempt, status in await self._ended_on(node, rows):
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

    # ── runs of long ago ─────────────────────────────────────────────────────────────────────────────────────────

    async def _old(self, away: set[str]) -> None:
        """Delete runs that ended long ago, with all that is theirs, and what was done on pages; some have to wait."""
        limit = at(time.time() - self._terms.keep)
        latest = at(time.time() - 2 * self._terms.keep)
        deleted, stays = 0, set[str]()
        while deleted < _RUNS and (run := await self._oldest(limit, latest, away, stays)) is not None:
            left = await self._forget(run.run_id, away)
            if left and posix(run.ended_at) >= posix(latest):
                stays.add(run.run_id)
                continue
            if left:
                logger.warning("run %s: files of %d jobs stay on their nodes: %s …", run.run_id, len(left), left[0])
            if self._unwatch is not None:
                await self._unwatch(run.run_id)
            await self._store.write(partial(_delete, run_id=run.run_id))
            logger.info("run %s, which ended before %s, is deleted", run.run_id, limit)
            deleted += 1
        await self._store.execute(delete(actions).where(actions.c.at < limit))

    async def _oldest(self, limit: str, latest: str, away: set[str], stays: set[str]) -> Row[Any] | None:
        """The run that ended first, of those that may go: none that waits for a node, unless it has for long."""
        pending = select(webhook_deliveries.c.run_id).where(webhook_deliveries.c.state == "pending")
        query = select(_R.run_id, _R.ended_at).where(_R.state.in_(ENDED), _R.ended_at < limit)
        query = query.where(_R.run_id.not_in(pending), _R.run_id.not_in(stays))
        waits = select(_A.run_id).where(_A.run_id == _R.run_id, or_(_LOST, _A.node.in_(away))).exists()
        query = query.where(or_(_R.ended_at < latest, ~waits))
        rows = await self._store.read(query.order_by(_R.ended_at, _R.run_id).limit(1))
        return rows[0] if rows else None

    async def _forget(self, run_id: str, away: set[str]) -> list[str]:
        """Have nodes delete the files of a run's jobs; the ids of those that stay, as on nodes that are ``away``."""
        query = select(_A.attempt_id, _A.node).where(_A.run_id == run_id, _A.node.is_not(None))
        attempts = await self._store.read(query.order_by(_A.attempt_id))
        return [
            attempt.attempt_id
            for attempt in attempts
            if attempt.node in away or not await self._forgotten(attempt.node, attempt.attempt_id, away)
        ]

    async def _forgotten(self, node: str, attempt_id: str, away: set[str]) -> bool:
        try:
            await self._platform.forget(node, attempt_id)
        except (PlatformError, ConfigError) as exc:
            logger.info("files of %s on node %s stay for now: %s", attempt_id, node, exc)
            if not await self._answers(node, attempt_id):
                away.add(node)
            return False
        return True

    async def _answers(self, node: str, attempt_id: str) -> bool:
        """Whether it is the job alone that a node has no good word for."""
        try:
            await self._platform.statuses(node, [attempt_id])
        except PlatformError:
            return False
        return True


async def _delete(connection: AsyncConnection, run_id: str) -> None:
    for table in (*_TABLES, webhook_deliveries, scrape_runs):
        await connection.execute(delete(table).where(table.c.run_id == run_id))
