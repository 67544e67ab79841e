"""What attempts have cost and which sessions they used: taken once from the word of their ends, summed for views."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import func, insert, select, update

from fetchworker.db.runtables import scrape_attempts
from fetchworker.db.spenttables import sessions, usage
from fetchworker.runs.models import SessionView, UsageSums, UsageView
from fetchworker.runs.store import locked, now

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Row
    from sqlalchemy.ext.asyncio import AsyncConnection

    from fetchworker.platforms import JobStatus
    from fetchworker.runs.store import RunStore

logger = logging.getLogger(__name__)
_U, _S = usage.c, sessions.c
_WAY = ("site", "operation", "provider", "tier")
_SUMS = ("requests", "bytes_up", "bytes_down", "browser_ms")
Word = Annotated[str, Field(min_length=1, max_length=256, pattern=r"^[^\x00]*$")]
Number = Annotated[int, Field(ge=0, le=1 << 62)]


class _Told(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, hide_input_in_errors=True)


class _Sums(_Told):
    provider: Word
    tier: Word
    requests: Number
    bytes_up: Number
    bytes_down: Number


class _Cost(_Sums):
    operation: Word
    browser_ms: Number


class _Session(_Sums):
    session_id: Word
    exit: Word | None
    country: Word | None
    exits: Number
    outcomes: dict[Word, Number]


class _Spent(_Told):
    site: Word
    costs: Annotated[list[_Cost], Field(max_length=10_000)]
    sessions: Annotated[list[_Session], Field(max_length=1_000)]


async def add_spent(
    connection: AsyncConnection, run: Row[Any] | None, attempt: Row[Any], status: JobStatus | None
) -> None:
    """Store what an attempt has cost, once however often it is told.

    Args:
        connection: in a transaction that holds the lock of the run.
        run: of the attempt; None: it has been deleted.
        attempt: has ``attempt_id`` and ``job_id``.
        status: what its node says; None: nothing.
    """
    if run is None or status is None or not status.spent:
        return
    try:
        spent = _Spent.model_validate(dict(status.spent))
    except ValidationError as exc:  # another version's
        logger.warning("%s: what it has cost cannot be read: %s", attempt.attempt_id, exc.errors()[0]["msg"])
        return
    if await _is_told(connection, attempt.attempt_id):
        return
    whose = {
        "attempt_id": attempt.attempt_id, "run_id": run.run_id, "job_id": attempt.job_id,
        "workspace_id": run.workspace_id, "site": spent.site, "at": now(),
    }  # fmt: skip
    for table, rows in ((usage, spent.costs), (sessions, spent.sessions)):
        values = [{**whose, **row.model_dump()} for row in rows]
        if values:
            await connection.execute(insert(table), values)


async def _is_told(connection: AsyncConnection, attempt_id: str) -> bool:
    for table in (usage, sessions):
        query = select(table.c.attempt_id).where(table.c.attempt_id == attempt_id).limit(1)
        if await connection.scalar(query) is not None:
            return True
    return False


async def cleared(store: RunStore, attempt: Row[Any], status: JobStatus) -> None:
    """A lost attempt has been seen gone; its node, which is back, says what it has cost."""

    async def write(connection: AsyncConnection) -> None:
        run = await locked(connection, attempt.run_id)
        gone = scrape_attempts.c.attempt_id == attempt.attempt_id
        await connection.execute(update(scrape_attempts).where(gone).values(cleared=True))
        await add_spent(connection, run, attempt, status)

    await store.write(write)


async def usage_of(store: RunStore, run_id: str) -> tuple[UsageView, dict[str, UsageSums]]:
    """What a run has cost, and each of its jobs that has told something, all attempts together."""
    sums = [func.sum(_U[name]).label(name) for name in _SUMS]
    ways = [_U[name] for name in _WAY]
    query = select(_U.job_id, *ways, *sums).where(_U.run_id == run_id).group_by(_U.job_id, *ways)
    rows = await store.read(query.order_by(_U.job_id, *ways))
    jobs = {job: _sum([row for row in rows if row.job_id == job]) for job in {row.job_id for row in rows}}
    by = {way: _sum([row for row in rows if _way(row) == way]) for way in dict.fromkeys(sorted(map(_way, rows)))}
    ways_told = [{**dict(zip(_WAY, way, strict=True)), **sums.model_dump()} for way, sums in by.items()]
    return UsageView(**_sum(rows).model_dump(), by=ways_told), jobs


async def sessions_of(store: RunStore, run_id: str, *, limit: int) -> list[SessionView]:
    """The stored sessions that the jobs of a run have used, attempt by attempt."""
    query = select(sessions).where(_S.run_id == run_id).order_by(_S.attempt_id, _S.site, _S.session_id)
    names = SessionView.model_fields
    return [SessionView(**{name: getattr(row, name) for name in names}) for row in await store.read(query.limit(limit))]


def _way(row: Row[Any]) -> tuple[str, ...]:
    return tuple(getattr(row, name) for name in _WAY)


def _sum(rows: Sequence[Row[Any]]) -> UsageSums:
    # PostgreSQL's sums of bigint are decimals
    return UsageSums(**{name: sum(int(getattr(row, name)) for row in rows) for name in _SUMS})
