"""Watches the runs of a database, as long as no other process does."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

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


def workflow_id(run_id: str, generation: int, again: int = 0) -> str:
    """The id of the workflow that watches a run; ``again`` counts those that came to an end before it did."""
    return f"{run_id}:{generation}" + (f":{again}" if again else "")


class Engine:
    """Begins the workflows of runs, wakes them, and takes the lead where nobody has it.

    Args:
        place: the database.
        store: its connections, which the caller closes.
        platform: where jobs run.
        terms: by which runs are watched.
    """

    def __init__(self, place: Place, store: RunStore, platform: Platform, terms: Terms) -> None:
        self._place = place
        self._store = store
        self._terms = terms
        ledger = Ledger(store)
        spawner = Spawner(store, ledger, platform, at_once=terms.spawning)
        self._watcher = Watcher(Parts(ledger, platform, spawner, Ingest(store, platform), terms))
        self._cleaner = Cleaner(store, platform, terms)
        self._lead = leadership(place, store.engine)
        self._workflows: Workflows | None = None
        self._task: asyncio.Task[None] | None = None
        self._kick = asyncio.Event()
        #: run → how often its workflow has come to an end before the run did
        self._again: dict[str, int] = {}

    @property
    def leads(self) -> bool:
        """Whether this process watches the runs."""
        return self._workflows is not None

    async def start(self) -> None:
        """Begin to watch, or to wait for the lead."""
        await self._turn()
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Stop watching; jobs go on."""
        await end(self._task)
        await self._step_down()
        await self._lead.release()

    def kick(self) -> None:
        """Look for new runs and wishes now."""
        self._kick.set()

    async def wake(self, run_id: str, generation: int) -> bool:
        """Have a run looked at now; False where this process does not watch it."""
        if self._workflows is None or not self._workflows.watched(run_id):
            return False
        await self._workflows.wake(run_id, workflow_id(run_id, generation, self._again.get(run_id, 0)))
        return True

    async def look(self, run_id: str) -> Look:
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
        while True:
            try:
                async with asyncio.timeout(self._terms.sweep):
                    await self._kick.wait()
            except TimeoutError:
                pass
            self._kick.clear()
            try:
                await self._turn()
            except StorageError as exc:
                logger.warning("runs: %s", exc)
            except Exception:
                logger.exception("a bug of ours: the sweep of runs failed")

    async def _turn(self) -> None:
        if not await self._leading():
            return
        await self._sweep()
        await self._cleaner.turn()

    async def _leading(self) -> bool:
        """Whether we watch; begins to where nobody else does, and stops where somebody does."""
        held = await self._lead.held()
        if held and self._workflows is None:
            from fetchworker.runs.durable import Workflows  # noqa: PLC0415  # heavy, and needed by who leads

            workflows = Workflows(self._place, self)
            workflows.launch()
            self._workflows = workflows
            logger.info("this process watches the runs of %s", self._place.label)
        if not held and self._workflows is not None:
            logger.error("another process watches the runs of %s now; this one stops", self._place.label)
            await self._step_down()
        return held

    async def _step_down(self) -> None:
        workflows, self._workflows = self._workflows, None
        if workflows is not None:
            await workflows.close()

    async def _sweep(self) -> None:
        """Begin what is not watched, and pass on what other processes wish."""
        query = select(_R.run_id, _R.generation, _R.wake_at).where(_R.state.not_in(ENDED)).order_by(_R.run_id)
        runs = await self._store.read(query)
        self._again = {run_id: n for run_id, n in self._again.items() if any(run.run_id == run_id for run in runs)}
        for run in runs:
            await self._take_up(run)
        await self._pass_on([run for run in runs if run.wake_at is not None])

    async def _take_up(self, run: Row[Any]) -> None:
        workflows = self._workflows
        assert workflows is not None
        if workflows.watched(run.run_id):
            return
        again = self._again.get(run.run_id, 0)
        id_ = workflow_id(run.run_id, run.generation, again)
        while await workflows.is_over(id_):
            again += 1
            id_ = workflow_id(run.run_id, run.generation, again)
        self._again[run.run_id] = again
        await workflows.begin(run.run_id, id_)

    async def _pass_on(self, runs: Sequence[Row[Any]]) -> None:
        for run in runs:
            await self.wake(run.run_id, run.generation)
        if runs:
            seen = _R.run_id.in_([run.run_id for run in runs]) & (_R.wake_at <= max(run.wake_at for run in runs))
            cleared = update(scrape_runs).where(seen).values(wake_at=None)
            await self._store.execute(cleared)
