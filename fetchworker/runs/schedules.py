"""Runs that the clock starts: kept, changed, and started once for each time, by whichever process comes first."""

from __future__ import annotations

import asyncio
import logging
import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, or_, select, update

from fetchworker.db.runtables import schedules, scrape_runs
from fetchworker.errors import FetchworkerError, RefusedError, RunNotFoundError, RunStateError, StorageError
from fetchworker.runs import cron, writing
from fetchworker.runs.models import ENDED, RunRequest
from fetchworker.runs.schedulemodels import ScheduleView
from fetchworker.runs.store import at, now

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from sqlalchemy import Row
    from sqlalchemy.ext.asyncio import AsyncConnection

    from fetchworker.runs.inputs import Actors, JobDraft
    from fetchworker.runs.outbox import Callbacks
    from fetchworker.runs.schedulemodels import ScheduleRequest
    from fetchworker.runs.store import RunStore

logger = logging.getLogger(__name__)
_S = schedules.c
#: schedules that a turn looks at
_MOST = 50


def _utc() -> datetime:
    return datetime.now(UTC)


class Schedules:
    """The schedules of a database.

    Args:
        store: it.
        actors: check what is to be started.
        callbacks: check who is to be told.
        clock: the time.
    """

    def __init__(
        self, store: RunStore, actors: Actors, callbacks: Callbacks, *, clock: Callable[[], datetime] = _utc
    ) -> None:
        self._store = store
        self._actors = actors
        self._callbacks = callbacks
        self._clock = clock
        #: called when a run has been started
        self.started: Callable[[], None] = lambda: None

    # ── for callers ──────────────────────────────────────────────────────────────────────────────────────────────

    async def add(self, request: ScheduleRequest, *, principal: str | None = None) -> ScheduleView:
        """Keep a schedule.

        Raises:
            ArgumentError: it never comes, or what it would start could not be; ``fields`` names it.
            EgressDeniedError: its callback may not go where it should.
            RunStateError: the workspace has one of this name.
        """
        await self._check(request)
        row = {**self._values(request), "principal": principal, "created_at": now()}
        row["schedule_id"] = secrets.token_hex(8)
        try:
            await self._store.write(lambda connection: _insert(connection, row))
        except RefusedError:
            raise _taken(request) from None
        return await self.get(row["schedule_id"])

    async def change(
        self, schedule_id: str, request: ScheduleRequest, *, workspaces: Collection[str] | None = None
    ) -> ScheduleView:
        """Put another one in the place of a schedule; what was missed or waits is forgotten.

        Raises:
            RunNotFoundError: there is none that the caller sees; else as :meth:`add`.
        """
        await self.get(schedule_id, workspaces=workspaces)
        await self._check(request)
        values = {**self._values(request), "waiting": None, "error": None}
        try:
            await self._store.execute(update(schedules).where(_S.schedule_id == schedule_id).values(values))
        except RefusedError:
            raise _taken(request) from None
        return await self.get(schedule_id)

    async def switch(self, schedule_id: str, *, on: bool) -> ScheduleView:
        """Let a schedule rest, or go on from now.

        Raises:
            RunNotFoundError: there is none.
        """
        view = await self.get(schedule_id)
        following = cron.following(view.cron, view.timezone, self._clock()) if on else None
        values = {"enabled": on, "waiting": None, "next_at": at(following.timestamp()) if following else None}
        await self._store.execute(update(schedules).where(_S.schedule_id == schedule_id).values(values))
        return await self.get(schedule_id)

    async def drop(self, schedule_id: str, *, workspaces: Collection[str] | None = None) -> None:
        """Forget a schedule; runs that it has started go on.

        Raises:
            RunNotFoundError: there is none that the caller sees.
        """
        await self.get(schedule_id, workspaces=workspaces)
        await self._store.execute(delete(schedules).where(_S.schedule_id == schedule_id))

    async def get(self, schedule_id: str, *, workspaces: Collection[str] | None = None) -> ScheduleView:
        """A schedule.

        Raises:
            RunNotFoundError: there is none that the caller sees.
        """
        rows = await self._store.read(select(schedules).where(_S.schedule_id == schedule_id))
        if not rows or (workspaces is not None and rows[0].workspace_id not in workspaces):
            raise RunNotFoundError(f"there is no schedule {schedule_id}", schedule_id=schedule_id)
        return _view(rows[0])

    async def list(self, *, workspaces: Collection[str] | None = None) -> list[ScheduleView]:
        """All that the caller sees."""
        query = select(schedules).order_by(_S.workspace_id, _S.name)
        if workspaces is not None:
            query = query.where(_S.workspace_id.in_(list(workspaces)))
        return [_view(row) for row in await self._store.read(query)]

    async def _check(self, request: ScheduleRequest) -> None:
        cron.check(request.cron, request.timezone)
        self._callbacks.check(request.run.callback_webhook)
        await asyncio.to_thread(self._actors.drafts, request.run)

    def _values(self, request: ScheduleRequest) -> dict[str, Any]:
        following = cron.following(request.cron, request.timezone, self._clock()) if request.enabled else None
        same = ("name", "cron", "timezone", "overlap", "misfire", "enabled")
        return {
            **{name: getattr(request, name) for name in same},
            "workspace_id": request.run.workspace_id,
            "request": request.run.model_dump(mode="json", by_alias=True),
            "next_at": at(following.timestamp()) if following else None,
        }

    # ── for the clock ────────────────────────────────────────────────────────────────────────────────────────────

    async def turn(self) -> int:
        """Start what is due; how many runs that were.

        Raises:
            StorageError: the database is away.
        """
        moment = self._clock()
        come = _S.next_at <= at(moment.timestamp())
        query = select(schedules).where(_S.enabled.is_(True), or_(come, _S.waiting.is_not(None)))
        started = 0
        for row in await self._store.read(query.order_by(_S.next_at).limit(_MOST)):
            started += await self._fire(row, moment)
        if started:
            self.started()
        return started

    async def _fire(self, row: Row[Any], moment: datetime) -> int:
        """Start what is due of one schedule, and set its next time, in one transaction."""
        request, drafts, error = RunRequest.model_validate(row.request), None, None
        try:
            self._callbacks.check(request.callback_webhook)
            drafts = await asyncio.to_thread(self._actors.drafts, request)
        except FetchworkerError as exc:
            error = exc.message
            logger.error("schedule %s of %s starts nothing: %s", row.name, row.workspace_id, error)  # noqa: TRY400
        times, following = await asyncio.to_thread(_passed, row, moment)
        waiting = [_read(time) for time in row.waiting or ()]

        async def write(connection: AsyncConnection) -> int:
            locked = select(schedules).where(_S.schedule_id == row.schedule_id).with_for_update()
            now_ = (await connection.execute(locked)).one_or_none()
            if now_ is None or (now_.next_at, now_.waiting) != (row.next_at, row.waiting) or not now_.enabled:
                return 0  # somebody else was there first
            plan = cron.plan(
                times, waiting, moment, overlap=row.overlap, misfire=row.misfire,
                running=await _runs(connection, row.last_run_id),
            )  # fmt: skip
            return await _carry_out(connection, row, plan, following, request, drafts, error)

        try:
            return await self._store.write(write)
        except StorageError:
            raise
        except FetchworkerError as exc:
            logger.error("schedule %s of %s: %s", row.name, row.workspace_id, exc.message)  # noqa: TRY400
            return 0


async def _carry_out(  # noqa: PLR0917  # what is known of it
    connection: AsyncConnection,
    row: Row[Any],
    plan: cron.Plan,
    following: datetime | None,
    request: RunRequest,
    drafts: Sequence[JobDraft] | None,
    error: str | None,
) -> int:
    values: dict[str, Any] = {
        "next_at": at(following.timestamp()) if following else None,
        "waiting": [time.isoformat() for time in plan.waiting] or None,
    }
    started = [] if drafts is None else plan.starts
    for time in started:
        assert drafts is not None
        key = f"schedule:{row.schedule_id}:{time.isoformat()}"
        new = writing.new_run_id()
        values["last_run_id"] = await writing.start(connection, new, request, drafts, principal=row.principal, key=key)
        values["last_at"] = at(time.timestamp())
    if plan.starts:
        values["error"] = error
    await connection.execute(update(schedules).where(_S.schedule_id == row.schedule_id).values(values))
    return len(started)


def _passed(row: Row[Any], moment: datetime) -> tuple[list[datetime], datetime | None]:
    """The times of a schedule that have come, and its next one; it takes some of a processor."""
    return cron.passed(row.cron, row.timezone, _read(row.next_at), moment) if row.next_at else ([], None)


async def _runs(connection: AsyncConnection, run_id: str | None) -> bool:
    """Whether a run goes on."""
    query = select(scrape_runs.c.state).where(scrape_runs.c.run_id == run_id)
    state = (await connection.execute(query)).scalar_one_or_none() if run_id else None
    return state is not None and state not in ENDED


async def _insert(connection: AsyncConnection, row: dict[str, Any]) -> None:
    await connection.execute(insert(schedules), [row])


def _read(moment: str) -> datetime:
    return datetime.fromisoformat(moment)


def _taken(request: ScheduleRequest) -> RunStateError:
    return RunStateError(f"the workspace {request.run.workspace_id!r} has a schedule {request.name!r} already")


def _view(row: Row[Any]) -> ScheduleView:
    names = [name for name in ScheduleView.model_fields if name not in ("run", "waiting")]
    told = {name: getattr(row, name) for name in names}
    return ScheduleView(**told, run=RunRequest.model_validate(row.request), waiting=row.waiting or [])
