"""Runs as routes and commands use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection

    from scrapy.settings import BaseSettings

    from fetchworker.config import Environment
    from fetchworker.db.place import Place
    from fetchworker.platforms import Chunk, Platform
    from fetchworker.runs.models import EventPage, RejectView, RowPage, RunPage, RunRequest, RunView


class Runs:
    """The runs of a database.

    Any number of processes may open one; the first of them that asks for the engine watches the runs of all, and
    another takes over when it ends. All methods raise :class:`~fetchworker.errors.StorageAwayError` (503) while the
    database is away: then nothing is stored, and the engine goes on by itself when it is back.
    """

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
        raise NotImplementedError

    async def close(self) -> None:
        """Stop watching, and close the connections; jobs go on, and are watched again at the next start."""
        raise NotImplementedError

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
            RunStateError: the key stands for another request.
        """
        raise NotImplementedError

    async def get(self, run_id: str, *, workspaces: Collection[str] | None = None) -> RunView:
        """A run with its jobs.

        Raises:
            RunNotFoundError: there is none that the caller sees. (So do all that take a run's id.)
        """
        raise NotImplementedError

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
        raise NotImplementedError

    async def items(
        self, run_id: str, *, workspaces: Collection[str] | None = None, after: int = 0, limit: int = 100
    ) -> RowPage:
        """Rows of a run, in the order in which they came home; those behind ``after``."""
        raise NotImplementedError

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
        raise NotImplementedError

    def stream(self, run_id: str, *, workspaces: Collection[str] | None = None, after: int = 0) -> AsyncIterator[bytes]:
        """The items behind ``after`` as JSON lines, some hundred at a time; ends with what is there now."""
        raise NotImplementedError

    async def rejects(
        self, run_id: str, *, workspaces: Collection[str] | None = None, limit: int = 100
    ) -> list[RejectView]:
        """Lines of the run's data sets that are no items."""
        raise NotImplementedError

    async def events(
        self, run_id: str, *, workspaces: Collection[str] | None = None, after: int = 0, limit: int = 100
    ) -> EventPage:
        """What happened to a run, in order; what is behind ``after``."""
        raise NotImplementedError

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
        raise NotImplementedError

    async def abort(self, run_id: str, *, workspaces: Collection[str] | None = None) -> RunView:
        """Have all its jobs end; the state says ``aborted`` when their processes are gone.

        Doing it twice changes nothing.

        Raises:
            RunStateError: the run has ended otherwise.
        """
        raise NotImplementedError

    async def resume(self, run_id: str, *, workspaces: Collection[str] | None = None) -> RunView:
        """Begin the jobs anew that did not succeed, in the same run: what it has already is not stored again.

        Raises:
            RunStateError: the run has not ended, or all its jobs have succeeded.
        """
        raise NotImplementedError

    async def complete(self, attempt_id: str) -> None:
        """A job's end, told by who ran it: its run is looked at now. The caller has checked the signature.

        Args:
            attempt_id: the id that the platform knows the job by.

        Raises:
            RunNotFoundError: no run has such a job.
        """
        raise NotImplementedError
