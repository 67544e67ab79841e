"""The durable workflow of a run, on DBOS (3.4, seen 2026-11): look, wait, look again, whatever happens to the process.

The tables of runs hold all that is known; what DBOS keeps beside them is that a run is to be watched, and until when it
waits. So each step may be done twice, and a workflow that is lost can be begun anew.

DBOS is one for a process: so is the engine that uses it. It has a thread and a loop of its own, since it puts its own
executor in the place of the loop's, and blocks the threads of that one for as long as its database is away.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from dbos import DBOS, DBOSConfig, Serializer, SetWorkflowID
from dbos._logger import dbos_logger
from sqlalchemy.exc import SQLAlchemyError

from fetchworker.errors import ConfigError
from fetchworker.tasks import end

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from fetchworker.db.place import Place
    from fetchworker.runs.watcher import Look

T = TypeVar("T")
logger = logging.getLogger(__name__)
#: DBOS takes up the workflows of its own version alone: change it only where workflows of before cannot go on
VERSION = "runs-1"
#: one engine of a database at a time has this name, so that it takes up what the one before it has left
EXECUTOR = "fetchworker-runs"
#: threads in which DBOS talks to its database, and which asyncio.to_thread has while it runs
_THREADS = 16
_WAKE = "wake"
#: seconds before a round is tried again that the workflows' database did not allow
_PAUSE = 0.5
#: seconds between two looks whether the thread has ended
_LOOK = 0.02
_PENDING = frozenset({"PENDING", "ENQUEUED", "DELAYED"})


class Looking(Protocol):
    """Who looks at a run for its workflow."""

    async def look(self, run_id: str) -> Look:
        """Look once; raises nothing."""


class Json(Serializer):
    """JSON instead of DBOS's pickle, which would run what somebody has written into the database."""

    def serialize(self, data: Any) -> str:
        """As text; what JSON has no word for is told by its repr."""
        return json.dumps(data, default=repr)

    def deserialize(self, serialized_data: str) -> Any:
        """From text."""
        return json.loads(serialized_data)

    def name(self) -> str:
        """Stands in the database beside each value."""
        return "fetchworker_json"


class Workflows:
    """The workflows of a database in this process.

    Args:
        place: the database of runs: PostgreSQL is used for both, an SQLite file has another one beside it.
        looking: looks at runs.
    """

    _current: Workflows | None = None

    def __init__(self, place: Place, looking: Looking) -> None:
        self._place = place
        self._looking = looking
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._woken: set[str] = set()
        self._home = asyncio.get_running_loop()
        self._there: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._thread: threading.Thread | None = None

    async def launch(self) -> None:
        """Take up what is there.

        Raises:
            ConfigError: this process has an engine already.
        """
        if Workflows._current is not None:
            raise ConfigError("this process watches runs already: one engine of runs is all that it may have")
        Workflows._current = self
        begun: Future[None] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(begun)), name="runs", daemon=True)
        self._thread.start()
        try:
            await asyncio.wrap_future(begun)
        except BaseException:
            await self.close()
            raise

    async def _serve(self, begun: Future[None]) -> None:
        """The life of DBOS, on its own loop."""
        self._there = asyncio.get_running_loop()
        # our own handlers and redaction are the root's
        dbos_logger.handlers[:] = [logging.NullHandler()]
        dbos_logger.propagate = True
        try:
            DBOS(config=_config(self._place))
            DBOS.launch()
            begun.set_result(None)
            await self._stop.wait()
            await end(*self._tasks.values())
        except Exception as exc:  # noqa: BLE001  # who has begun it hears of it
            if not begun.done():
                begun.set_exception(exc)
        finally:
            DBOS.destroy()

    async def close(self) -> None:
        """Stop watching; what was to be watched is taken up by the next launch."""
        if self._there is not None:
            self._there.call_soon_threadsafe(self._stop.set)
        while self._thread is not None and self._thread.is_alive():  # noqa: ASYNC110  # as below
            await asyncio.sleep(_LOOK)  # a thread sets no event when it has ended
        Workflows._current = None

    async def _ask(self, work: Coroutine[Any, Any, T]) -> T:
        """What DBOS answers on its loop."""
        assert self._there is not None
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._there))

    def watched(self, run_id: str) -> bool:
        """Whether a workflow of this process watches a run."""
        return run_id in self._tasks

    async def begin(self, run_id: str, workflow_id: str) -> None:
        """Watch a run by a new workflow."""

        async def begin() -> None:
            with SetWorkflowID(workflow_id):
                await DBOS.start_workflow_async(watch, run_id, workflow_id)

        await self._ask(begin())

    async def standing(self, workflow_id: str) -> Literal["none", "pending", "over"]:
        """Whether there is such a workflow, and whether it has come to an end."""
        status = await self._ask(DBOS.get_workflow_status_async(workflow_id))
        if status is None:
            return "none"
        return "pending" if status.status in _PENDING else "over"

    async def wake(self, run_id: str, workflow_id: str) -> None:
        """Have a run looked at now; calls before it is looked at count as one."""
        if run_id in self._tasks and run_id not in self._woken:
            self._woken.add(run_id)
            await self._ask(DBOS.send_async(workflow_id, "now", topic=_WAKE))

    async def forget(self, run_id: str) -> None:
        """Delete what DBOS keeps of a run's workflows."""

        async def forget() -> None:
            found = await DBOS.list_workflows_async(
                workflow_id_prefix=f"{run_id}:", load_input=False, load_output=False
            )
            if found:
                await DBOS.delete_workflows_async([one.workflow_id for one in found])

        await self._ask(forget())

    async def watch(self, run_id: str) -> None:
        """Watch a run to its end."""
        task = asyncio.current_task()
        assert task is not None
        if run_id in self._tasks:
            return  # another workflow of the run does
        self._tasks[run_id] = task
        try:
            while not await self._round(run_id):
                pass
        finally:
            self._tasks.pop(run_id, None)
            self._woken.discard(run_id)

    async def _round(self, run_id: str) -> bool:
        """Look, and wait until it is time to look again; whether there is nothing to look at any more."""
        try:
            wait = await step(run_id)
            if wait is not None:
                await DBOS.recv_async(_WAKE, timeout_seconds=wait)
        except SQLAlchemyError as exc:
            # DBOS asks some of its questions once: the workflow would end with its database's error
            logger.warning("run %s: the workflows' database: %s", run_id, type(exc).__name__)
            await asyncio.sleep(_PAUSE)
            return False
        return wait is None

    async def look(self, run_id: str) -> float | None:
        """Look once; seconds until the next time, None when there is none."""
        self._woken.discard(run_id)
        asked = asyncio.run_coroutine_threadsafe(self._looking.look(run_id), self._home)
        found = await asyncio.wrap_future(asked)
        return None if found.done else found.wait

    @classmethod
    def current(cls) -> Workflows:
        """Those of this process."""
        assert cls._current is not None
        return cls._current


@DBOS.workflow(name="fetchworker.run", max_recovery_attempts=None)
async def watch(run_id: str, workflow_id: str) -> None:  # noqa: ARG001  # told in DBOS's own lists
    """The workflow."""
    await Workflows.current().watch(run_id)


@DBOS.step(name="fetchworker.look")
async def step(run_id: str) -> float | None:
    """Its step."""
    return await Workflows.current().look(run_id)


def _config(place: Place) -> DBOSConfig:
    if place.path is not None:
        url = f"sqlite:///{place.path.with_name(place.path.name + '.dbos')}"
    else:
        url = place.url.get_secret_value().replace("postgres://", "postgresql://", 1)
    return {
        "name": "fetchworker",
        "system_database_url": url,
        "application_version": VERSION,
        "executor_id": EXECUTOR,
        "max_executor_threads": _THREADS,
        "log_level": "WARNING",
        "enable_otlp": False,
        "serializer": Json(),
    }
