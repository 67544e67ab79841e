"""Jobs as processes of this machine: the default, with nothing else running."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from fetchworker.errors import ConfigError, PlatformError
from fetchworker.jobs.store import JobStore, Launch
from fetchworker.platforms.base import Chunk, JobSpec, JobStatus, NodeStatus, Placement
from fetchworker.tasks import end

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from fetchworker.jobs.store import Tally
    from fetchworker.platforms.base import Intend

logger = logging.getLogger(__name__)

#: seconds between two looks for places that came free
LOOK = 0.5
#: the name of this machine among nodes
NODE = "local"
_T = TypeVar("_T")


class LocalPlatform:
    """The port's adapter for this machine. Jobs wait for one of its places, and go on when it is closed.

    ::

        async with LocalPlatform(folder, spiders=("instagram",)) as platform:
            placement = await platform.spawn(JobSpec("nightly-7.1", "instagram", {"user": "nasa"}))

    Args:
        folder: where jobs are kept.
        slots: how many run at once; default the machine's cores.
        spiders: the names of the spiders that there are; None takes all, whose names the job's own process checks.
        tags: what this machine has.
        launch: how a job's process is started.

    Raises:
        PlatformError: the folder cannot be made.
    """

    def __init__(
        self,
        folder: Path,
        *,
        slots: int | None = None,
        spiders: Sequence[str] | None = None,
        tags: frozenset[str] = frozenset(),
        launch: Launch | None = None,
    ) -> None:
        try:
            self._store = JobStore(folder, launch)
        except OSError as exc:
            raise PlatformError(f"cannot keep jobs in {folder}: {exc.strerror or exc}") from exc
        self._slots = slots or os.cpu_count() or 1
        self._spiders = spiders
        self._tags = tags
        self._incarnation = secrets.token_hex(8)
        self._wake = asyncio.Event()
        self._pumping: asyncio.Task[None] | None = None
        self._closed = False

    async def __aenter__(self) -> Self:
        """Go on with the jobs that wait."""
        self._closed = False
        self._begin()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def nodes(self) -> Sequence[NodeStatus]:
        """This machine."""
        self._begin()
        tally = await self._asked(self._store.tally)
        running, queued = len(tally.running), len(tally.queued)
        return [NodeStatus(NODE, True, self._incarnation, self._tags, self._slots, running, queued)]

    async def spawn(
        self,
        spec: JobSpec,
        *,
        avoid: frozenset[str] = frozenset(),
        at: str | None = None,  # noqa: ARG002  # there is no other
        intend: Intend | None = None,  # noqa: ARG002  # as above
    ) -> Placement:
        """See :meth:`fetchworker.platforms.Platform.spawn`."""
        self._check(spec)
        if NODE in avoid and (await self._asked(partial(self._store.record, spec.job_id))) is None:
            raise PlatformError(f"no machine but {NODE!r} is there to take job {spec.job_id}")
        fresh = await self._asked(partial(self._store.create, spec))
        self._begin()
        self._wake.set()
        return Placement(spec.job_id, NODE, fresh)

    async def statuses(self, node: str, job_ids: Sequence[str]) -> Mapping[str, JobStatus]:
        """See :meth:`fetchworker.platforms.Platform.statuses`."""
        self._here(node)
        self._begin()
        return await self._asked(partial(self._store.statuses, job_ids))

    async def items(self, node: str, job_id: str, *, offset: int, limit: int) -> Chunk:
        """See :meth:`fetchworker.platforms.Platform.items`."""
        self._here(node)
        return await self._asked(partial(self._store.items, job_id, offset=offset, limit=limit))

    async def log(self, node: str, job_id: str, *, offset: int, limit: int) -> Chunk:
        """See :meth:`fetchworker.platforms.Platform.log`."""
        self._here(node)
        return await self._asked(partial(self._store.log, job_id, offset=offset, limit=limit))

    async def cancel(self, node: str, job_id: str, *, grace: float) -> None:
        """See :meth:`fetchworker.platforms.Platform.cancel`."""
        self._here(node)
        await self._asked(partial(self._store.cancel, job_id, grace=grace))

    async def forget(self, node: str, job_id: str) -> None:
        """See :meth:`fetchworker.platforms.Platform.forget`."""
        self._here(node)
        await self._asked(partial(self._store.forget, job_id))

    async def close(self) -> None:
        """Start no more jobs; those that run go on, those that wait are there next time."""
        self._closed = True
        await end(self._pumping)
        self._pumping = None

    def _begin(self) -> None:
        """Whoever asks after jobs wants those that wait to go on."""
        if not self._closed and (self._pumping is None or self._pumping.done()):
            self._pumping = asyncio.create_task(self._pump())

    async def _pump(self) -> None:
        """Fill the places as they come free; nothing is to do while no job waits or runs."""
        while True:
            self._wake.clear()
            try:
                tally = await self._asked(partial(self._store.pump, self._slots))
            except PlatformError as exc:
                logger.warning("%s; tried again", exc)
                await asyncio.sleep(LOOK)
                continue
            await self._pause(tally)

    async def _pause(self, tally: Tally) -> None:
        patience = asyncio.timeout(LOOK if tally.running or tally.queued else None)
        try:
            async with patience:
                await self._wake.wait()
        except TimeoutError:
            return

    def _check(self, spec: JobSpec) -> None:
        if missing := spec.options.tags - self._tags:
            raise ConfigError(f"options.tags: no node has {', '.join(sorted(missing))}", field="options.tags")
        if self._spiders is not None and spec.spider not in self._spiders:
            known = ", ".join(sorted(self._spiders))
            raise ConfigError(f"spider: no spider {spec.spider[:80]!r}; known: {known}", field="spider")

    def _here(self, node: str) -> None:
        if node != NODE:
            raise PlatformError(f"no node {node!r}: this machine is {NODE!r}")

    async def _asked(self, work: Callable[[], _T]) -> _T:
        """Files are read in a thread."""
        try:
            return await asyncio.to_thread(work)
        except OSError as exc:
            raise PlatformError(f"{self._store.root}: {exc.strerror or exc}") from exc
