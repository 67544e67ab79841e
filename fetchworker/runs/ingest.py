"""Brings the lines of jobs home: each row once, a bad line into quarantine.

The offset up to which an attempt's lines are stored is written in the transaction that stores them, so that whoever
comes next goes on exactly there; what a job that was begun anew writes again, the row's key tells.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from fetchworker.db.runtables import scrape_attempts, scrape_jobs, scrape_runs
from fetchworker.errors import RefusedError
from fetchworker.runs.lines import KEPT, Cut, cut, refused
from fetchworker.runs.rows import add_refused, add_rows
from fetchworker.runs.store import locked, now

if TYPE_CHECKING:
    from sqlalchemy import Row
    from sqlalchemy.ext.asyncio import AsyncConnection

    from fetchworker.platforms import Platform
    from fetchworker.runs.store import RunStore

logger = logging.getLogger(__name__)
#: bytes that are read and stored at once
CHUNK = 4 * 1024 * 1024
#: bytes of a line; a longer one is refused
LINE_MAX = 64 * 1024 * 1024
#: jobs whose lines are in memory at the same time
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Source:
    """An attempt's lines: where they are, and up to where they are stored."""

    run_id: str
    job_id: str
    attempt_id: str
    node: str
    offset: int


class Ingest:
    """Stores the lines of attempts.

    Args:
        store: the database.
        platform: where the lines are read.
        chunk: bytes of a transaction.
        line_max: bytes of a line.
    """

    def __init__(self, store: RunStore, platform: Platform, *, chunk: int = CHUNK, line_max: int = LINE_MAX) -> None:
        self._store = store
        self._platform = platform
        self._chunk = chunk
        self._line_max = line_max
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def bring(self, source: Source, *, whole: bool) -> None:
        """Store what the lines of an attempt have that is not stored.

        Args:
            source: the attempt.
            whole: whether it has ended, and nothing will be added.

        Raises:
            PlatformError: its node does not answer; what is stored stays.
            StorageError: the database does not answer; as above.
        """
        async with self._places:
            limit = self._chunk
            while True:
                chunk = await self._platform.items(source.node, source.attempt_id, offset=source.offset, limit=limit)
                if not chunk.data:
                    return
                last = source.offset + len(chunk.data) >= chunk.size
                made = cut(chunk.data, source.offset, job_id=source.job_id, whole=whole and last)
                if made.end > source.offset:
                    source = await self._stored(source, made)
                    limit = self._chunk
                elif last:
                    return  # the last line waits for its end
                elif len(chunk.data) >= self._line_max:
                    source = await self._stored(source, await self._too_long(source, chunk.data))
                else:
                    limit = min(2 * limit, self._line_max)

    async def _too_long(self, source: Source, beginning: bytes) -> Cut:
        """A line that is too long, refused; its end is looked for without keeping what comes before."""
        offset = source.offset + len(beginning)
        while True:
            chunk = await self._platform.items(source.node, source.attempt_id, offset=offset, limit=self._chunk)
            stop = chunk.data.find(b"\n")
            offset += len(chunk.data) if stop < 0 else stop + 1
            if stop >= 0 or not chunk.data:
                break
        told = f"it is longer than {self._line_max} bytes"
        line = refused(beginning[:KEPT], source.offset, told, length=offset - source.offset)
        return Cut(offset, [], [line])

    async def _stored(self, source: Source, made: Cut) -> Source:
        """Store some lines; the source behind them."""
        try:
            offset = await self._store.write(lambda connection: _write(connection, source, made))
        except RefusedError as exc:
            return await self._halves(source, made, exc)
        return replace(source, offset=offset)

    async def _halves(self, source: Source, made: Cut, error: RefusedError) -> Source:
        """Find the row that the database does not take, and refuse it."""
        if not made.rows:
            raise error
        if len(made.rows) == 1:
            [row] = made.rows
            logger.warning("%s: a line is refused: %s", source.attempt_id, error)
            line = refused(row.text.encode(), row.offset, "the database does not take it")
            return await self._stored(source, Cut(made.end, [], [*made.refused, line]))
        middle = made.rows[len(made.rows) // 2].offset
        for first, end in ((source.offset, middle), (middle, made.end)):
            rows = [row for row in made.rows if first <= row.offset < end]
            lines = [line for line in made.refused if first <= line.offset < end]
            source = await self._stored(source, Cut(end, rows, lines))
        return source


async def _write(connection: AsyncConnection, source: Source, made: Cut) -> int:
    """Store lines unless somebody has; the offset up to which they are stored then."""
    run = await locked(connection, source.run_id)
    attempts = scrape_attempts.c
    mine = attempts.attempt_id == source.attempt_id
    found = (await connection.execute(select(attempts.items_offset).where(mine))).scalar_one_or_none()
    if run is None or found is None:
        return made.end  # deleted meanwhile
    if found != source.offset:
        return int(found)
    moment = now()
    added = await add_rows(connection, _shared(run, source, moment), made.rows, after=run.item_seq)
    refused_by = {"attempt_id": source.attempt_id, "run_id": source.run_id, "job_id": source.job_id, "at": moment}
    await add_refused(connection, refused_by, made.refused)
    await _count(connection, source, made, added)
    return made.end


def _shared(run: Row[Any], source: Source, moment: str) -> dict[str, Any]:
    own = {name: getattr(run, name) for name in ("workspace_id", "conversation_id", "skill_id")}
    return {"run_id": source.run_id, "job_id": source.job_id, "ingested_at": moment, **own}


async def _count(connection: AsyncConnection, source: Source, made: Cut, added: int) -> None:
    bad = len(made.refused)
    runs, jobs, attempts = scrape_runs.c, scrape_jobs.c, scrape_attempts.c
    numbered = {
        "item_seq": runs.item_seq + len(made.rows),
        "items": runs["items"] + added,
        "rejects": runs.rejects + bad,
    }
    await connection.execute(update(scrape_runs).where(runs.run_id == source.run_id).values(numbered))
    counted = {"items": jobs["items"] + added, "rejects": jobs.rejects + bad}
    await connection.execute(update(scrape_jobs).where(jobs.job_id == source.job_id).values(counted))
    moved = {"items_offset": made.end, "items": attempts["items"] + added, "rejects": attempts.rejects + bad}
    await connection.execute(update(scrape_attempts).where(attempts.attempt_id == source.attempt_id).values(moved))
