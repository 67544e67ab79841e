"""What a process holds of a pool, and how it is kept alive."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fetchworker.sessions.pool import BLOCK_SPAN, WORKER_SPAN, Lease
from fetchworker.tasks import end

if TYPE_CHECKING:
    from collections.abc import Callable

    from fetchworker.sessions.pool import PoolBackend, PoolTerms

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Hold:
    """A lease or a lock of this process.

    ``brief``: of one try, kept alive only while that is under way; ``refused``: its last answer was a bad one;
    ``span``: seconds that a lock lasts unless it is kept (None: as the terms say); ``since``: when it was got.
    """

    owner: str
    lease: Lease
    locks: bool = False
    brief: bool = False
    span: float | None = None
    stored: bool = False
    users: int = 0
    used: float = 0.0
    since: float = 0.0
    good: int = 0
    bad: int = 0
    refused: bool = False


class Heartbeat:
    """Says every now and then what is held here: unheard of, it goes to others.

    Args:
        backend: where it is held.
        terms: the pool's numbers.
        worker: the name under which this process uses the pool.
        holds: what is held, by owner.
        lost: called with what turns out to be somebody else's.
    """

    def __init__(
        self,
        backend: PoolBackend,
        terms: PoolTerms,
        worker: str,
        holds: dict[str, Hold],
        lost: Callable[[Hold], None],
    ) -> None:
        self._backend, self._terms, self._worker = backend, terms, worker
        self._holds, self._lost = holds, lost
        self._entered = -math.inf
        self._task: asyncio.Task[None] | None = None

    async def enter(self) -> None:
        """Use the pool by our numbers from now on.

        Raises:
            ConfigError: another worker uses it by other numbers.
        """
        if self._entered == -math.inf:
            await self._backend.enter(self._worker)
            self._entered = time.monotonic()

    def start(self) -> None:
        """Begin, unless it goes on already."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """End, and use the pool no longer."""
        await end(self._task)
        if self._entered > -math.inf:
            await self._backend.leave(self._worker)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(min(self._terms.lease, WORKER_SPAN, BLOCK_SPAN) / 3)
            try:
                await self.beat()
                if -math.inf < self._entered < time.monotonic() - WORKER_SPAN / 3:
                    await self._backend.enter(self._worker)
                    self._entered = time.monotonic()
            except Exception as exc:  # noqa: BLE001  # whatever it is, the next beat may be better
                logger.warning("leases of sessions are not extended: %s", exc)

    async def beat(self) -> None:
        """Extend the leases of those who have something under way, or had a while ago."""
        old = time.monotonic() - self._terms.hold
        alive = [hold for hold in self._holds.values() if hold.users or (hold.used > old and not hold.brief)]
        leased = [hold for hold in alive if not hold.locks]
        counted = dict(zip(map(id, leased), await self._backend.extend([hold.lease for hold in leased]), strict=True))
        for hold in alive:
            good = await self._backend.keep(hold.lease, span=hold.span) if hold.locks else counted[id(hold)]
            if not good and self._holds.get(hold.owner) is hold:
                self._lost(hold)
