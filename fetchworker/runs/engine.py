"""Watches the runs of a database, as long as no other process does."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import select, update
from sqlalchemy.exc import SQLAlchemyError

from fetchworker.db.faults import translated
from fetchworker.db.runtables import scrape_runs
from fetchworker.errors import FetchworkerError, StorageError
from fetchworker.runs.cleaning import Cleaner
from fetchworker.runs.ingest import Ingest
from fetchworker.runs.leadership import leadership
from fetchworker.runs.ledger import Ledger
from fetchworker.runs.models import ENDED
from fetchworker.runs.spawner import Spawner
from fetchworker.runs.watcher import Look, Parts, Watcher
from fetchworker.tasks import end

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Row

    from fetchworker.db.place import Place
    from fetchworker.platforms import Platform
    from fetchworker.runs.durable import Workflows
    from fetchworker.runs.store import RunStore
    from fetchworker.runs.terms import Terms

logger = logging.getLogger(__name__)
_R = scrape_runs.c
#: seconds before a look is tried again that the database did not allow, at first and at most
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
#: seconds that DBOS has to take up a workflow of before
_RECOVERY = 60.0
#: ticks that a step of a workflow lasts at most; to note each of them would be most of what watching costs
_QUIET = 10
#: seconds between two looks whether a callback or a schedule is due
_CLOCK = 1.0


def workflow_id(run_id: str, generation: int, again: int = 0) -> str:
    """The id of the workflow that watches a run; ``again`` counts those that came to an end before it did."""
    return f"{run_id}:{generation}" + (f":{again}" if again else "")


class Clock(Protocol):
    """Does what is due."""

    async def turn(self) -> int:
        """Do some of it; how much it was.

        Raises:
            StorageError: the database is away.
        """


class Engine:
    """Begins the workflows of runs, wakes them, and takes the lead where nobody has it.

    Args:
        place: the database.
        store: its connections, which the caller closes.
        platform: where jobs run.
        terms: by which runs are watched.
        clocks: what else is done by who watches, each at a pace of its own: callbacks, schedules.
    """

    def __init__(
        self, place: Place, store: RunStore, platform: Platform, terms: Terms, *, clocks: Sequence[Clock] = ()
    ) -> None:
        self._place = place
        self._clockwork: list[asyncio.Task[None]] = []
        self._store = store
        self._terms = terms
        ledger = Ledger(store)
        spawner = Spawner(store, ledger, platform, terms)
        self._watcher = Watcher(Parts(ledger, platform, spawner, Ingest(store, platform), terms))
        self._cleaner = Cleaner(store, platform, terms, self._unwatch)
        self._clocks = (*clocks, self._cleaner)
        self._lead = leadership(place, store.engine)
        self._workflows: Workflows | None = None
        self._task: asyncio.Task[None] | None = None
        self._kick = asyncio.Event()
        #: run → how often its workflow has come to an end before the run did
        self._again: dict[str, int] = {}
        #: runs that wait for their next tick within a step of their workflows
        self._resting: dict[str, asyncio.Event] = {}
        #: run → since when its workflow is waited for; monotonic
        self._unseen: dict[str, float] = {}

    @property
    def leads(self) -> bool:
        """Whether this process watches the runs."""
        return self._workflows is not None

    async def start(self) -> None:
        """Begin to watch, or to wait for the lead."""
        await self._turn()
        self._task = asyncio.create_task(self._run())
        self._clockwork = [asyncio.create_task(self._tick(clock)) for clock in self._clocks]

    async def close(self) -> None:
        """Stop watching; jobs go on."""
        await end(self._task, *self._clockwork)
        await self._step_down()
        await self._lead.release()

    def kick(self) -> None:
        """Look for new runs and wishes now."""
        self._kick.set()

    async def wake(self, run_id: str, generation: int) -> bool:
        """Have a run looked at now; False where this process does not watch it."""
        if self._workflows is None or not self._workflows.watched(run_id):
            return False
        if run_id in self._resting:
            self._resting[run_id].set()
            return True
        await self._workflows.wake(run_id, workflow_id(run_id, generation, self._again.get(run_id, 0)))
        return True

    async def look(self, run_id: str) -> Look:
        """Look at a run until something is to be noted of it: a tick at which nothing is costs its workflow nothing."""
        for _ in range(_QUIET - 1):
            found = await self._look(run_id)
            if found.done or found.wait < self._terms.tick:
                return found
            await self._rest(run_id, found.wait)
        return await self._look(run_id)

    async def _rest(self, run_id: str, seconds: float) -> None:
        """Wait, until somebody wakes the run."""
        woken = self._resting[run_id] = asyncio.Event()
        try:
            async with asyncio.timeout(seconds):
                await woken.wait()
        except TimeoutError:
            pass
        finally:
            del self._resting[run_id]

    async def _look(self, run_id: str) -> Look:
        """Look at a run; waits for a database that is away, and outlives faults of ours."""
        pause = _FIRST_PAUSE
        while True:
            try:
                return await self._watcher.look(run_id)
            except StorageError as exc:
                logger.warning("run %s: %s; looking again in %g s", run_id, exc, pause)
            except FetchworkerError as exc:
                logger.warning("run %s: %s", run_id, exc)
                return Look(done=False, wait=self._terms.tick)
            except Exception:
                logger.exception("a bug of ours: run %s could not be looked at", run_id)
                return Look(done=False, wait=self._terms.tick)
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE, 2 * pause)

    # ── the sweep ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _run(self) -> None:
        away = False
        while True:
            try:
                async with asyncio.timeout(self._terms.sweep):
                    await self._kick.wait()
            except TimeoutError:
                pass
            self._kick.clear()
            try:
                await self._turn()
                away = False
            except StorageError as exc:
                if not away:  # told once, not at each turn
                    logger.warning("runs: %s", exc)
                away = True
            except Exception:
                logger.exception("a bug of ours: the sweep of runs failed")

    async def _tick(self, clock: Clock) -> None:
        """Have a clock do what is due, as long as we watch: again at once where there is more."""
        away = False
        while True:
            more = 0
            try:
                if self.leads:
                    more = await clock.turn()
                away = False
            except StorageError as exc:
                if not away:
                    logger.warning("%s: %s", type(clock).__name__.lower(), exc)
                away = True
            except Exception:
                logger.exception("a bug of ours: %s failed", type(clock).__name__)
            if not more or away:
                await asyncio.sleep(min(_CLOCK, self._terms.sweep))

    async def _turn(self) -> None:
        if await self._leading():
            await self._sweep()

    async def _leading(self) -> bool:
        """Whether we watch; begins to where nobody else does, and stops where somebody does."""
        held = await self._lead.held()
        if held and self._workflows is None:
            from fetchworker.runs.durable import Workflows  # noqa: PLC0415  # heavy, and needed by who leads

            workflows = Workflows(self._place, self)
            await workflows.launch()
            self._workflows = workflows
            logger.info("this process watches the runs of %s", self._place.label)
        if not held and self._workflows is not None:
            logger.error("another process watches the runs of %s now; this one stops", self._place.label)
            await self._step_down()
        return held

    async def _unwatch(self, run_id: str) -> None:
        """Have nothing kept of a run's workflows."""
        if self._workflows is None:
            return
        try:
            await self._workflows.forget(run_id)
        except SQLAlchemyError as exc:
            raise translated(exc, "the workflows' database") from exc

    async def _step_down(self) -> None:
        workflows, self._workflows = self._workflows, None
        if workflows is not None:
            await workflows.close()

    async def _sweep(self) -> None:
        """Begin what is not watched, and pass on what other processes wish."""
        query = select(_R.run_id, _R.generation, _R.wake_at).where(_R.state.not_in(ENDED)).order_by(_R.run_id)
        runs = await self._store.read(query)
        known = {run.run_id for run in runs}
        self._again = {run_id: count for run_id, count in self._again.items() if run_id in known}
        self._unseen = {run_id: since for run_id, since in self._unseen.items() if run_id in known}
        for run in runs:
            await self._take_up(run)
        await self._pass_on([run for run in runs if run.wake_at is not None])

    async def _take_up(self, run: Row[Any]) -> None:
        workflows = self._workflows
        assert workflows is not None
        if workflows.watched(run.run_id):
            self._unseen.pop(run.run_id, None)
            return
        again = self._again.get(run.run_id, 0)
        while (standing := await workflows.standing(workflow_id(run.run_id, run.generation, again))) == "over":
            again += 1
        if standing == "pending" and self._orphaned(run.run_id):
            again += 1
            standing = "none"
        self._again[run.run_id] = again
        if standing == "none":
            await workflows.begin(run.run_id, workflow_id(run.run_id, run.generation, again))

    def _orphaned(self, run_id: str) -> bool:
        """Whether a workflow that DBOS should take up by itself has not been seen for long."""
        since = self._unseen.setdefault(run_id, time.monotonic())
        if time.monotonic() - since < _RECOVERY:
            return False
        logger.warning("run %s: its workflow is not taken up; another one begins", run_id)
        del self._unseen[run_id]
        return True

    async def _pass_on(self, runs: Sequence[Row[Any]]) -> None:
        for run in runs:
            await self.wake(run.run_id, run.generation)
        if runs:
            seen = _R.run_id.in_([run.run_id for run in runs]) & (_R.wake_at <= max(run.wake_at for run in runs))
            cleared = update(scrape_runs).where(seen).values(wake_at=None)
            await self._store.execute(cleared)
