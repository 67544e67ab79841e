"""Runs as routes and commands use them."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import Text, cast, select, update

from fetchworker.db.runtables import scrape_attempts, scrape_events, scrape_items, scrape_rejects, scrape_runs
from fetchworker.errors import ConfigError, PlatformError, RunNotFoundError, how_to_install
from fetchworker.runs import rowtexts, writing
from fetchworker.runs.engine import Engine
from fetchworker.runs.inputs import Actors
from fetchworker.runs.ledger import OPEN
from fetchworker.runs.models import EventPage, RowPage, RunPage
from fetchworker.runs.outbox import Callbacks, Outbox
from fetchworker.runs.schedules import Schedules
from fetchworker.runs.spending import sessions_of, usage_of
from fetchworker.runs.store import RunStore, now
from fetchworker.runs.terms import Terms
from fetchworker.runs.views import JOBS, event_view, reject_view, row_view, run_view

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping, Sequence

    from scrapy.settings import BaseSettings
    from sqlalchemy import Row as Found

    from fetchworker.config import Environment
    from fetchworker.db.place import Place
    from fetchworker.platforms import Chunk, Platform
    from fetchworker.runs.models import RejectView, RunRequest, RunView, SessionView

_R, _I = scrape_runs.c, scrape_items.c
#: rows that a stream reads at once
_STREAMED = 500


class Runs:
    """The runs of a database.

    Any number of processes may open one; the first of them that asks for the engine watches the runs of all, and
    another takes over when it ends. All methods raise :class:`~fetchworker.errors.StorageAwayError` (503) while the
    database is away: then nothing is stored, and the engine goes on by itself when it is back. Made by :meth:`open`.
    """

    def __init__(  # noqa: PLR0917  # its parts
        self,
        store: RunStore,
        platform: Platform,
        actors: Actors,
        engine: Engine | None,
        callbacks: Callbacks,
        schedules: Schedules,
    ) -> None:
        self._store = store
        self._callbacks = callbacks
        self.schedules = schedules
        self._platform = platform
        self._actors = actors
        self._engine = engine

    @classmethod
    async def open(
        cls,
        place: Place,
        platform: Platform,
        *,
        environment: Environment,
        settings: BaseSettings,
        engine: bool = True,
    ) -> Self:
        """Connect, make or renew the tables, and (``engine``) watch the runs that are there.

        Args:
            place: the database.
            platform: where jobs run; closed by who made it.
            environment: ``FETCHWORKER_RUNS_*`` and the state folder.
            settings: Scrapy's, whose spiders are the actors.
            engine: False for a process that only asks and tells, such as a command beside a service.

        Raises:
            ConfigError: the URL's options are wrong, or an extra is not installed.
            StorageError: the database cannot be reached or opened, or belongs to a newer fetchworker.
        """
        if find_spec("dbos") is None and engine:
            raise ConfigError(f"to watch runs, dbos must be installed: {how_to_install('runs,store')}")
        terms = Terms.of(environment)
        actors = Actors(settings, most=environment.runs_jobs_max)
        store = await RunStore.open(place)
        callbacks = Callbacks(environment)
        lease = 2 * environment.runs_callback_timeout + 10
        outbox = Outbox(store, callbacks, patience=environment.runs_callback_patience, lease=lease)
        schedules = Schedules(store, actors, callbacks)
        watching = Engine(place, store, platform, terms, clocks=[outbox, schedules]) if engine else None
        if watching is not None:
            schedules.started = watching.kick
        made = cls(store, platform, actors, watching, callbacks, schedules)
        if made._engine is not None:
            try:
                await made._engine.start()
            except BaseException:
                await made.close()
                raise
        return made

    @property
    def store(self) -> RunStore:
        """The database."""
        return self._store

    @property
    def leads(self) -> bool:
        """Whether this process watches the runs."""
        return self._engine is not None and self._engine.leads

    async def close(self) -> None:
        """Stop watching, and close the connections; jobs go on, and are watched again at the next start."""
        if self._engine is not None:
            await self._engine.close()
        await self._store.close()

    async def start(
        self, request: RunRequest, *, principal: str | None = None, idempotency_key: str | None = None
    ) -> RunView:
        """Store a run with its jobs; they are spawned at once by the engine.

        Args:
            request: what is asked for.
            principal: who asks.
            idempotency_key: the same key in the same workspace gives the run that it gave before.

        Raises:
            ArgumentError: an actor or an input is unknown or wrong, or there are too many jobs; ``fields`` names it as
                ``runs[2].input.user``. Nothing is stored.
            EgressDeniedError: the callback may not go where it should.
            RunStateError: the key stands for another request.
        """
        self._callbacks.check(request.callback_webhook)
        drafts = await asyncio.to_thread(self._actors.drafts, request)  # it may read spiders
        new = writing.new_run_id()
        run_id = await self._store.write(
            lambda connection: writing.start(connection, new, request, drafts, principal=principal, key=idempotency_key)
        )
        if self._engine is not None:
            self._engine.kick()
        return await self.get(run_id)

    async def get(self, run_id: str, *, workspaces: Collection[str] | None = None) -> RunView:
        """A run with its jobs.

        Raises:
            RunNotFoundError: there is none that the caller sees. (So do all that take a run's id.)
        """
        run = await self._run(run_id, workspaces)
        jobs = await self._store.read(JOBS.where(JOBS.selected_columns.run_id == run_id))
        return run_view(run, jobs, await usage_of(self._store, run_id))

    async def list(
        self,
        *,
        workspaces: Collection[str] | None = None,
        conversation: str | None = None,
        skill: str | None = None,
        state: str | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> RunPage:
        """Runs without their jobs, the newest first; ``after`` is the ``next`` of the page before."""
        query = select(scrape_runs).order_by(_R.run_id.desc()).limit(limit + 1)
        if workspaces is not None:
            query = query.where(_R.workspace_id.in_(list(workspaces)))
        for column, value in ((_R.conversation_id, conversation), (_R.skill_id, skill), (_R.state, state)):
            query = query if value is None else query.where(column == value)
        rows = await self._store.read(query if after is None else query.where(_R.run_id < after))
        following = rows[limit - 1].run_id if len(rows) > limit else None
        return RunPage(runs=[run_view(run) for run in rows[:limit]], next=following)

    async def items(
        self, run_id: str, *, workspaces: Collection[str] | None = None, after: int = 0, limit: int = 100
    ) -> RowPage:
        """Rows of a run, in the order in which they came home; those behind ``after``."""
        await self._run(run_id, workspaces)
        rows = await self._store.read(_rows(run_id, after, limit))
        return RowPage(rows=[row_view(row) for row in rows], next=rows[-1].seq if rows else None)

    async def items_json(
        self, run_id: str, *, workspaces: Collection[str] | None = None, after: int = 0, limit: int = 100
    ) -> bytes:
        """The same page as the JSON of a :class:`RowPage`, whose items are as they were stored."""
        await self._run(run_id, workspaces)
        rows = await self._store.read(rowtexts.of_run(run_id, after, limit))
        return rowtexts.page(rows, rows[-1].seq if rows else None)

    async def items_across_json(
        self, workspace: str, narrow: Mapping[str, str | None], *, after: tuple[str, int] | None, limit: int
    ) -> bytes:
        """As :meth:`items_across`, by the names there; ``next`` is the last row's run and number."""
        rows = await self._store.read(rowtexts.across(workspace, narrow, after, limit))
        return rowtexts.page(rows, f"{rows[-1].run_id}:{rows[-1].seq}" if rows else None)

    async def items_across(
        self,
        *,
        workspace: str,
        conversation: str | None = None,
        skill: str | None = None,
        kind: str | None = None,
        after: tuple[str, int] | None = None,
        limit: int = 100,
    ) -> RowPage:
        """Rows of all runs of a workspace, narrowed down; run by run, the oldest first.

        ``after``: the run's id and the number of the last row that is known.
        """
        query = select(scrape_items).order_by(_I.run_id, _I.seq).limit(limit)
        query = query.join(scrape_runs, _R.run_id == _I.run_id).where(_R.workspace_id == workspace)
        for column, value in ((_R.conversation_id, conversation), (_R.skill_id, skill), (_I.kind, kind)):
            query = query if value is None else query.where(column == value)
        if after is not None:
            query = query.where((_I.run_id > after[0]) | ((_I.run_id == after[0]) & (_I.seq > after[1])))
        rows = await self._store.read(query)
        return RowPage(rows=[row_view(row) for row in rows], next=rows[-1].seq if rows else None)

    async def stream(
        self, run_id: str, *, workspaces: Collection[str] | None = None, after: int = 0
    ) -> AsyncIterator[bytes]:
        """The items behind ``after`` as JSON lines, some hundred at a time; ends with what is there now."""
        await self._run(run_id, workspaces)
        while rows := await self._store.read(_texts(run_id, after, _STREAMED)):
            yield b"".join(row.text.strip().encode() + b"\n" for row in rows)
            after = rows[-1].seq

    async def rejects(
        self, run_id: str, *, workspaces: Collection[str] | None = None, limit: int = 100
    ) -> Sequence[RejectView]:
        """Lines of the run's data sets that are no items."""
        await self._run(run_id, workspaces)
        table = scrape_rejects.c
        query = select(scrape_rejects).where(table.run_id == run_id).order_by(table.attempt_id, table.line_offset)
        return [reject_view(line) for line in await self._store.read(query.limit(limit))]

    async def sessions(
        self, run_id: str, *, workspaces: Collection[str] | None = None, limit: int = 100
    ) -> Sequence[SessionView]:
        """The stored sessions that the run's ended attempts have used: names and counts, nothing of what is in them."""
        await self._run(run_id, workspaces)
        return await sessions_of(self._store, run_id, limit=limit)

    async def events(
        self, run_id: str, *, workspaces: Collection[str] | None = None, after: int = 0, limit: int = 100
    ) -> EventPage:
        """What happened to a run, in order; what is behind ``after``."""
        await self._run(run_id, workspaces)
        table = scrape_events.c
        query = select(scrape_events).where(table.run_id == run_id, table.seq > after).order_by(table.seq).limit(limit)
        rows = await self._store.read(query)
        return EventPage(events=[event_view(row) for row in rows], next=rows[-1].seq if rows else None)

    async def log(
        self,
        run_id: str,
        *,
        job: int = 0,
        workspaces: Collection[str] | None = None,
        offset: int = -65_536,
        limit: int = 65_536,
    ) -> Chunk:
        """Bytes of the log of a job's latest attempt; a negative ``offset`` counts from its end.

        Raises:
            PlatformError: its node does not answer, or nothing of the job has been begun.
        """
        await self._run(run_id, workspaces)
        columns = JOBS.selected_columns
        found = await self._store.read(JOBS.where(columns.run_id == run_id, columns.number == job))
        if not found:
            raise RunNotFoundError(f"run {run_id} has no job {job}", run_id=run_id, job=job)
        if found[0].node is None:
            raise PlatformError(f"job {job} of run {run_id} has not been begun", run_id=run_id, job=job)
        return await self._platform.log(found[0].node, found[0].attempt_id, offset=offset, limit=limit)

    async def abort(self, run_id: str, *, workspaces: Collection[str] | None = None) -> RunView:
        """Have all its jobs end; the state says ``aborted`` when their processes are gone.

        Doing it twice changes nothing.

        Raises:
            RunStateError: the run has ended otherwise.
        """
        await self._run(run_id, workspaces)
        await self._store.write(lambda connection: writing.abort(connection, run_id))
        await self._wake(run_id)
        return await self.get(run_id)

    async def resume(self, run_id: str, *, workspaces: Collection[str] | None = None) -> RunView:
        """Begin the jobs anew that did not succeed, in the same run: what it has already is not stored again.

        Raises:
            RunStateError: the run has not ended, or all its jobs have succeeded.
        """
        await self._run(run_id, workspaces)
        await self._store.write(lambda connection: writing.resume(connection, run_id))
        if self._engine is not None:
            self._engine.kick()
        return await self.get(run_id)

    async def complete(self, attempt_id: str) -> None:
        """A job's end, told by who ran it: its run is looked at now. The caller has checked the signature.

        Telling it again changes nothing: what has become of the job is asked of its node, and written down once.

        Args:
            attempt_id: the id that the platform knows the job by.

        Raises:
            RunNotFoundError: no run has such a job.
        """
        table = scrape_attempts.c
        found = await self._store.read(select(table.run_id, table.state).where(table.attempt_id == attempt_id))
        if not found:
            raise RunNotFoundError(f"no run has a job {attempt_id}", job_id=attempt_id)
        if found[0].state in OPEN:
            await self._wake(found[0].run_id)

    async def _wake(self, run_id: str) -> None:
        """Have a run looked at now, by whoever watches it."""
        run = await self._run(run_id, None)
        if self._engine is None or not await self._engine.wake(run_id, run.generation):
            wished = update(scrape_runs).where(_R.run_id == run_id).values(wake_at=now())
            await self._store.execute(wished)
            if self._engine is not None:
                self._engine.kick()

    async def _run(self, run_id: str, workspaces: Collection[str] | None) -> Found[Any]:
        query = select(scrape_runs).where(_R.run_id == run_id)
        rows = await self._store.read(query)
        if not rows or (workspaces is not None and rows[0].workspace_id not in workspaces):
            raise RunNotFoundError(f"there is no run {run_id}", run_id=run_id)
        return rows[0]


def _rows(run_id: str, after: int, limit: int) -> Any:
    return select(scrape_items).where(_I.run_id == run_id, _I.seq > after).order_by(_I.seq).limit(limit)


def _texts(run_id: str, after: int, limit: int) -> Any:
    """The items as the texts that they are stored as: nothing is read and written anew."""
    text = cast(_I["item"], Text).label("text")
    return select(_I.seq, text).where(_I.run_id == run_id, _I.seq > after).order_by(_I.seq).limit(limit)
