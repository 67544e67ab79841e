"""The runs of a service: opened with it, or with the first call that needs them, and watched as long as it serves."""

from __future__ import annotations

import asyncio
import logging
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from fetchworker.errors import FetchworkerError, StorageAwayError, StorageError, how_to_install
from fetchworker.runtime import database
from fetchworker.service.failures import ApiError
from fetchworker.tasks import end, within

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from fetchworker.config import Environment
    from fetchworker.db.place import Place
    from fetchworker.platforms import Platform
    from fetchworker.runs.service import Runs
    from fetchworker.runs.store import RunStore
    from fetchworker.service.callers import Callers

logger = logging.getLogger(__name__)

#: seconds between two looks at the database: whether it answers, and who may call
_EVERY = 2.0
#: seconds that the start waits for the database; then calls are served without it
_OPENING = 10.0
_SLOW = "the database has not been opened yet: calls of runs fail, jobs go on"
_FULL = "the database takes nothing (its disk may be full): calls that store something fail, jobs go on"
#: seconds that the end may take
_CLOSING = 10.0
_HEAVY = ("fetchworker.runs.service", "fetchworker.runs.durable")
_NEEDED = ("sqlalchemy", "alembic", "dbos")


class RunsPart:
    """The runs, and who may ask for them beside those of the list of keys.

    An SQLite file that nobody has made yet holds nothing to watch: it is made with the first call.

    Args:
        environment: the configuration.
        settings: Scrapy's, whose spiders are the actors.
        callers: is told who may call.
    """

    def __init__(self, environment: Environment, settings: BaseSettings, callers: Callers) -> None:
        self._environment = environment
        self._settings = settings
        self._callers = callers
        self._missing = [name for name in _NEEDED if find_spec(name) is None]
        self._place: Place | None = None if self._missing else database(environment)
        self._platform: Platform | None = None
        self._runs: Runs | None = None
        self._store: RunStore | None = None
        self._opening = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        #: why there are no runs to be had now
        self.away = ""

    async def start(self) -> None:
        """Begin to watch, where there is something to watch; a database that does not answer is waited for."""
        if self._place is None:
            return
        looked = asyncio.Event()
        self._task = asyncio.create_task(self._keep(looked))
        try:
            async with asyncio.timeout(_OPENING):
                await looked.wait()
        except TimeoutError:
            self.away = _SLOW
            logger.warning("runs: %s", _SLOW)

    async def get(self) -> Runs:
        """The runs.

        Raises:
            ApiError: NOT_INSTALLED.
            StorageError: the database does not answer, or cannot be used.
            ConfigError: jobs cannot be started as it is configured.
        """
        if self._missing:
            told = f"runs need {', '.join(self._missing)}: {how_to_install('runs,store')}"
            raise ApiError("NOT_INSTALLED", told)
        if self._runs is None and self.away:  # it is looked for beside the calls, which do not wait for it
            raise ApiError("STORAGE_UNAVAILABLE", self.away)
        return await self._open()

    async def store(self) -> RunStore | None:
        """The database alone, without what watches; None where what it needs is not installed.

        Raises:
            StorageError: it does not answer, or cannot be used.
        """
        if self._missing:
            return None
        if self._runs is not None:
            return self._runs.store
        if self.away:
            raise StorageAwayError(self.away)
        async with self._opening:
            if self._runs is not None:
                return self._runs.store
            if self._store is None:
                from fetchworker.runs.store import RunStore  # noqa: PLC0415  # SQLAlchemy may be missing

                assert self._place
                self._store = await RunStore.open(self._place)
        return self._store

    async def close(self) -> None:
        """Stop watching; jobs go on."""
        await end(self._task)
        if self._store is not None:
            await within(_CLOSING, self._store.close(), "the database")
        if self._runs is not None:
            await within(_CLOSING, self._runs.close(), "runs")
        if self._platform is not None:
            await within(_CLOSING, self._platform.close(), "the platform of runs")

    def _there(self) -> bool:
        return self._runs is not None or (
            self._place is not None and (self._place.path is None or self._place.path.exists())
        )

    async def _open(self) -> Runs:
        async with self._opening:
            if self._runs is None:
                self._runs = await self._opened()
        return self._runs

    async def _opened(self) -> Runs:
        for name in _HEAVY:
            await asyncio.to_thread(import_module, name)  # seconds, in which the loop goes on
        from fetchworker.platforms.choice import open_platform  # noqa: PLC0415  # not every service has runs
        from fetchworker.runs.service import Runs  # noqa: PLC0415  # as above

        assert self._place
        if self._platform is None:
            self._platform = open_platform(self._environment)
        return await Runs.open(
            self._place, self._platform, environment=self._environment, settings=self._settings, engine=True
        )

    async def _keep(self, looked: asyncio.Event) -> None:
        while True:
            if self._there():
                await self._look()
            looked.set()
            await asyncio.sleep(_EVERY)

    async def _look(self) -> None:
        """Open what is not open, and learn who may call."""
        before = self.away
        try:
            store = (await self._open()).store
            from fetchworker.service import principals  # noqa: PLC0415  # SQLAlchemy may be missing

            self._callers.renew(await principals.keys(store))
            seen, self._callers.seen = self._callers.seen, set()
            await principals.used(store, seen)
            self.away = _FULL if store.full else ""
        except StorageAwayError:
            full = self._runs is not None and self._runs.store.full
            self.away = _FULL if full else "the database does not answer: calls of runs fail, jobs go on"
        except StorageError as exc:
            logger.warning("runs: %s", exc)
            self.away = "the database cannot be used; the log has more"
        except FetchworkerError as exc:
            self.away = exc.message
        except Exception:
            logger.exception("a bug of ours: runs cannot be had")
            self.away = "an error of our own; the log has it"
        if self.away != before:
            logger.warning("runs: %s", self.away or "the database answers again")
