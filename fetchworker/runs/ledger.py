"""What becomes of runs, jobs and attempts, written down: each change with its event, in one transaction.

Every transaction takes the lock of the run's row first, so that two watchers of a run, should there be two, wait for
each other; and each changes only what is still as it was read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, func, insert, literal, select, update

from fetchworker.db.runtables import scrape_attempts, scrape_jobs, scrape_runs, webhook_deliveries
from fetchworker.db.tables import Instant
from fetchworker.errors import PlatformError
from fetchworker.runs.callback import delivery_of
from fetchworker.runs.models import ENDED
from fetchworker.runs.spending import add_spent, cleared
from fetchworker.runs.states import JobEnd, rolled_up, with_rejects
from fetchworker.runs.store import Event, at, locked, note, now

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Row
    from sqlalchemy.ext.asyncio import AsyncConnection

    from fetchworker.platforms import JobStatus, Placement
    from fetchworker.runs.states import Ended
    from fetchworker.runs.store import RunStore

_A, _J, _R = scrape_attempts.c, scrape_jobs.c, scrape_runs.c
#: states of attempts that may still bring something
OPEN = ("queued", "spawning", "spawned", "running")
_LATEST = and_(_A.job_id == _J.job_id, _A.number == _J.attempt)
_WORK = (
    *(_A.attempt_id, _A.run_id, _A.job_id, _A.number, _A.generation, _A.state, _A.node, _A.silent_at, _A.stop_why),
    *(_A.items_offset, _A.reasons, _J.number.label("place"), _J.actor, _J.state.label("job_state"), _J.input),
    *(_J.memory_mb, _J.timeout_sec, _J.priority, _J.tags),
)
#: what is asked of lost attempts
_LOST = (_A.attempt_id, _A.run_id, _A.job_id, _A.number, _A.node)


class Picture(NamedTuple):
    """A run as it is written down: its row, and the open attempts of its jobs."""

    run: Row[Any]
    work: Sequence[Row[Any]]


class Ledger:
    """Writes what is found out about runs.

    Args:
        store: the database.
    """

    def __init__(self, store: RunStore) -> None:
        self._store = store

    async def picture(self, run_id: str) -> Picture | None:
        """What there is to do for a run; None when there is no such run."""
        runs = await self._store.read(select(scrape_runs).where(_R.run_id == run_id))
        if not runs:
            return None
        open_ = select(*_WORK).join_from(scrape_attempts, scrape_jobs, _LATEST)
        query = open_.where(_J.run_id == run_id, _J.ended_at.is_(None)).order_by(_J.priority.desc(), _J.number)
        return Picture(runs[0], await self._store.read(query))

    async def begun(self, run_id: str, deadline: float) -> None:
        """A run is taken up: it is spawning, and has until ``deadline`` (POSIX)."""

        async def write(connection: AsyncConnection) -> None:
            run = await locked(connection, run_id)
            if run is None or run.state != "queued":
                return
            await _set_run(connection, run, "spawning", started_at=run.started_at or now(), deadline_at=at(deadline))

        await self._store.write(write)

    async def spawning(self, run_id: str, attempts: Sequence[Row[Any]]) -> None:
        """The platform is about to hear of attempts."""

        async def write(connection: AsyncConnection) -> None:
            await locked(connection, run_id)
            ids = [attempt.attempt_id for attempt in attempts]
            await connection.execute(
                update(scrape_attempts).where(_A.attempt_id.in_(ids), _A.state == "queued").values(state="spawning")
            )
            await _set_jobs(connection, run_id, [each for each in attempts if each.job_state == "queued"], "spawning")

        await self._store.write(write)

    async def intended(self, attempt: Row[Any], node: str | None) -> None:
        """A node is about to be asked to take an attempt, which may be there from now on; None: none has it.

        Raises:
            PlatformError: the attempt is not to be begun any more.
        """

        async def write(connection: AsyncConnection) -> bool:
            await locked(connection, attempt.run_id)
            return await _move(connection, attempt, ("queued", "spawning"), {"node": node, "state": "spawning"})

        if not await self._store.write(write):
            raise PlatformError(f"{attempt.attempt_id} is not to be begun any more")

    async def aborting(self, run_id: str) -> bool:
        """Whether somebody wishes that a run ends."""
        found = await self._store.read(select(_R.abort_at).where(_R.run_id == run_id))
        return any(row.abort_at is not None for row in found)

    async def astray(self, run_id: str) -> Sequence[Row[Any]]:
        """The lost attempts of a run which nobody has seen gone: attempt_id, run_id, job_id, number and node."""
        lost = (_A.run_id == run_id) & (_A.state == "lost") & _A.node.is_not(None) & _A.cleared.is_(False)
        return await self._store.read(select(*_LOST).where(lost))

    async def cleared(self, attempt: Row[Any], status: JobStatus) -> None:
        """A lost attempt has been seen gone; its node, which is back, says what it has cost."""
        await cleared(self._store, attempt, status)

    async def spawned(self, run_id: str, placed: Sequence[tuple[Row[Any], Placement]]) -> None:
        """Attempts are where their placements say."""

        async def write(connection: AsyncConnection) -> None:
            await locked(connection, run_id)
            moment = now()
            events = []
            for attempt, placement in placed:
                values = {"state": "spawned", "node": placement.node, "spawned_at": moment, "reasons": []}
                if await _move(connection, attempt, ("queued", "spawning"), values):
                    detail = {"node": placement.node, "fresh": placement.fresh}
                    events.append(Event("spawn", attempt.job_id, attempt.number, detail=detail))
            ids = [attempt.job_id for attempt, _ in placed]
            await connection.execute(
                update(scrape_jobs).where(_J.job_id.in_(ids), _J.ended_at.is_(None)).values(reasons=[])
            )
            await note(connection, run_id, events)

        await self._store.write(write)

    async def waiting(self, attempts: Sequence[Row[Any]], reason: str) -> None:
        """No node takes attempts of a run now; the first of them is the one that was tried."""
        changed = [attempt for attempt in attempts if list(attempt.reasons) != [reason]]

        async def write(connection: AsyncConnection) -> None:
            run_id, values = changed[0].run_id, {"reasons": [reason]}
            await locked(connection, run_id)
            ids = [attempt.attempt_id for attempt in changed]
            open_ = _A.attempt_id.in_(ids) & _A.state.in_(("queued", "spawning"))
            await connection.execute(update(scrape_attempts).where(open_).values(values))
            jobs = [attempt.job_id for attempt in changed]
            await connection.execute(
                update(scrape_jobs).where(_J.job_id.in_(jobs), _J.ended_at.is_(None)).values(values)
            )
            detail = {"reason": reason, "jobs": len(changed)}
            await note(connection, run_id, [Event("waiting", changed[0].job_id, changed[0].number, detail=detail)])

        if changed:
            await self._store.write(write)

    async def running(self, run_id: str, seen: Sequence[tuple[Row[Any], JobStatus]]) -> None:
        """Attempts have been seen running."""

        async def write(connection: AsyncConnection) -> None:
            run = await locked(connection, run_id)
            moved = []
            for attempt, status in seen:
                started = at(status.started_at) if status.started_at else now()
                values = {"state": "running", "started_at": started}
                if await _move(connection, attempt, ("spawning", "spawned"), values):
                    moved.append(attempt)
            await _set_jobs(connection, run_id, moved, "running")
            if moved and run is not None and run.state in ("queued", "spawning"):
                await _set_run(connection, run, "running")

        await self._store.write(write)

    async def silence(self, run_id: str, attempts: Sequence[Row[Any]], since: str | None, type_: str) -> None:
        """The node of attempts says nothing of them since then, or does again; ``type_`` is the event's."""

        async def write(connection: AsyncConnection) -> None:
            await locked(connection, run_id)
            ids = [attempt.attempt_id for attempt in attempts]
            await connection.execute(
                update(scrape_attempts).where(_A.attempt_id.in_(ids), _A.state.in_(OPEN)).values(silent_at=since)
            )
            node = attempts[0].node
            detail = {"node": node, "jobs": len(attempts)}
            await note(connection, run_id, [Event(type_, detail=detail)])

        await self._store.write(write)

    async def stopping(self, run_id: str, attempts: Sequence[Row[Any]], why: str) -> None:
        """Attempts are about to be told to end."""

        async def write(connection: AsyncConnection) -> None:
            await locked(connection, run_id)
            ids = [attempt.attempt_id for attempt in attempts]
            values = {"stop_why": why, "stop_at": now()}
            told = update(scrape_attempts).where(_A.attempt_id.in_(ids), _A.stop_why.is_(None)).values(values)
            await connection.execute(told)
            events = [Event("stop", each.job_id, each.number, detail={"why": why}) for each in attempts]
            await note(connection, run_id, events)

        await self._store.write(write)

    async def ended(self, attempt: Row[Any], told: Ended, status: JobStatus | None) -> None:
        """A job has ended with this attempt."""

        async def write(connection: AsyncConnection) -> None:
            run = await locked(connection, attempt.run_id)
            bad = await connection.execute(select(_A.rejects).where(_A.attempt_id == attempt.attempt_id))
            end = with_rejects(told, bad.scalar_one_or_none() or 0)
            state = "lost" if end.exit_cause == "lost" else "ended"
            if await _move(connection, attempt, OPEN, {"state": state, **_told(status), **_end_values(end)}):
                values = {
                    "started_at": func.coalesce(_J.started_at, literal(_started(status), Instant())),
                    **_end_values(end),
                }
                await connection.execute(update(scrape_jobs).where(_J.job_id == attempt.job_id).values(values))
                await add_spent(connection, run, attempt, status)
                detail = {"exit_cause": end.exit_cause, "reasons": list(end.reasons)}
                await _set_jobs(connection, attempt.run_id, [attempt], end.state, detail)

        await self._store.write(write)

    async def respawned(
        self, attempt: Row[Any], reason: str, most: int, *, cause: str = "lost", status: JobStatus | None = None
    ) -> bool:
        """Give an attempt that did not end by itself a successor, unless its job has had its share; whether it has."""

        async def write(connection: AsyncConnection) -> bool:
            run = await locked(connection, attempt.run_id)
            had = select(func.count()).where(_A.job_id == attempt.job_id, _A.generation == attempt.generation)
            if (await connection.execute(had)).scalar_one() >= most:
                return False
            values = {"state": "lost", "exit_cause": cause, "reasons": [reason], "ended_at": now()}
            if await _move(connection, attempt, OPEN, values):
                await add_spent(connection, run, attempt, status)
                await add_attempts(
                    connection, [(attempt.run_id, attempt.job_id, attempt.number + 1)], attempt.generation
                )
                changed = update(scrape_jobs).where(_J.job_id == attempt.job_id)
                await connection.execute(changed.values(attempt=attempt.number + 1))
                detail = {"reason": reason, "node": attempt.node, "next": attempt.number + 1}
                await note(connection, attempt.run_id, [Event("lost", attempt.job_id, attempt.number, detail=detail)])
                await _set_jobs(connection, attempt.run_id, [attempt], "queued")
            return True

        return await self._store.write(write)

    async def finished(self, run_id: str, astray: Sequence[str] = ()) -> bool:
        """End a run whose jobs have all ended, and put its callback into the outbox; whether it has ended.

        Args:
            run_id: the run.
            astray: what is told of lost attempts that may run still.
        """

        async def write(connection: AsyncConnection) -> bool:
            run = await locked(connection, run_id)
            if run is None or run.state in ENDED:
                return True
            jobs: Sequence[Any] = (await connection.execute(_ENDS.where(_J.run_id == run_id))).all()
            if any(job.ended_at is None for job in jobs):
                return False
            ends = [JobEnd(job.number, job.state, job.exit_cause, job.reasons) for job in jobs]
            roll = rolled_up(ends, astray, abort=run.abort_at is not None)
            moment = now()
            values = {"ended_at": moment, "exit_causes": roll.exit_causes, "reasons": roll.reasons, "wake_at": None}
            await _set_run(connection, run, roll.state, **values)
            if run.callback_webhook:
                await connection.execute(insert(webhook_deliveries), [delivery_of(run, roll, jobs, moment)])
            return True

        return await self._store.write(write)


_ENDS = select(
    _J.job_id, _J.number, _J.actor, _J.state, _J.exit_cause, _J.reasons, _J["items"], _J.rejects, _J.ended_at
).order_by(_J.number)


async def add_attempts(connection: AsyncConnection, jobs: Sequence[tuple[str, str, int]], generation: int) -> None:
    """Attempts to be spawned: run, job and number of each."""
    moment = now()
    none = {"reasons": [], "stats": {}, "items_offset": 0, "items_bytes": 0, "items": 0, "rejects": 0}
    rows = [
        {"attempt_id": f"{job_id}.{number}", "run_id": run_id, "job_id": job_id, "number": number, **none}
        | {"generation": generation, "state": "queued", "created_at": moment}
        for run_id, job_id, number in jobs
    ]
    await connection.execute(insert(scrape_attempts), rows)


async def _move(
    connection: AsyncConnection, attempt: Row[Any], states: Sequence[str], values: Mapping[str, Any]
) -> bool:
    """Change an attempt that is in one of these states; whether it was."""
    query = update(scrape_attempts).where(_A.attempt_id == attempt.attempt_id, _A.state.in_(states)).values(values)
    return (await connection.execute(query)).rowcount == 1


async def _set_jobs(
    connection: AsyncConnection,
    run_id: str,
    attempts: Sequence[Row[Any]],
    state: str,
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Give jobs a state, with an event for each."""
    if not attempts:
        return
    values: dict[str, Any] = {"state": state}
    if state == "running":
        values["started_at"] = func.coalesce(_J.started_at, literal(now(), Instant()))
    ids = [attempt.job_id for attempt in attempts]
    await connection.execute(update(scrape_jobs).where(_J.job_id.in_(ids)).values(values))
    events = [Event("state", each.job_id, each.number, each.job_state, state, dict(detail or {})) for each in attempts]
    await note(connection, run_id, events)


async def _set_run(connection: AsyncConnection, run: Row[Any], state: str, **values: Any) -> None:
    """Give a run a state, with its event."""
    await connection.execute(update(scrape_runs).where(_R.run_id == run.run_id).values(state=state, **values))
    detail: dict[str, Any] = {name: values[name] for name in ("exit_causes", "reasons") if name in values}
    await note(connection, run.run_id, [Event("state", None, None, run.state, state, detail)])


def _end_values(end: Ended) -> dict[str, Any]:
    return {"exit_cause": end.exit_cause, "reasons": list(end.reasons), "ended_at": now()}


def _started(status: JobStatus | None) -> str | None:
    return at(status.started_at) if status and status.started_at else None


def _told(status: JobStatus | None) -> dict[str, Any]:
    """What a node says of an attempt that has ended."""
    if status is None:
        return {}
    told = {"exit_code": status.exit_code, "signal": status.signal, "peak_rss": status.peak_rss}
    started = {"started_at": at(status.started_at)} if status.started_at else {}
    return {**told, **started, "stats": dict(status.stats), "items_bytes": status.items_bytes}
