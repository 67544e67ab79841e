"""Hands the ledger's bytes on: to the crawl's stats, and every few seconds to the shelf that all workers share.

What was sent and not confirmed is sent again under the same number, which the shelf takes once; while the shelf is away
all that comes is kept and merged, so that memory is bounded by how many keys there are. A process that is killed loses
what it has not sent: at most :data:`INTERVAL` seconds, or as long as the shelf was away.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from fetchworker.errors import RedisUnavailableError
from fetchworker.tasks import end
from fetchworker.usage.account import Account
from fetchworker.usage.ledger import NONE, OTHERS, Key, Ledger, Used, tiers_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from fetchworker.usage.ledger import DayKey

logger = logging.getLogger(__name__)

#: seconds between two batches; also how long an answer may take to be judged
INTERVAL = 2.0
#: entries of a batch
BATCH = 500
#: sessions that stats tell apart
_SESSIONS = 100

_DIMENSIONS = ("provider", "tier", "operation", "session", "outcome")


class Shelf(Protocol):
    """Where all workers of a site put what they used."""

    async def add(self, number: int, day: str, used: Mapping[Key, Used], /) -> Counter[str]:
        """Add a batch, once however often it comes: ``number`` is the last one's again then, and greater else.

        0 adds nothing.

        Returns:
            What the day has cost, all workers together: bytes both ways, by tier.

        Raises:
            RedisUnavailableError: it is not known whether it was added.
        """


class _Batch(NamedTuple):
    number: int
    day: str
    used: dict[Key, Used]


class Keeper:
    """Keeps the usage of one crawl.

    Attributes:
        ledger: where charges are opened.
        account: what the crawl has cost since its begin; what is handed on is added to it.

    Args:
        shelf: where to hand it on; None keeps it in this process (and in the stats).
        count: adds to a stat under ``fetchworker/``.
        interval: seconds between two batches.
        site: whose crawl it is.
    """

    def __init__(
        self,
        ledger: Ledger,
        shelf: Shelf | None,
        count: Callable[[str, int], None],
        *,
        interval: float = INTERVAL,
        site: str = NONE,
    ) -> None:
        self.ledger = ledger
        self.account = Account(site)
        self._shelf = shelf
        self._count = count
        self._interval = interval
        self._number = 0
        self._sent: _Batch | None = None
        self._kept: dict[DayKey, Used] = {}
        self._told: set[str] = set()
        self._task: asyncio.Task[None] | None = None
        self._away = False
        self._closing: list[Callable[[], Awaitable[None]]] = []
        self._day = ledger.today()
        self._shared: Counter[str] = Counter()

    # ── what was spent ───────────────────────────────────────────────────────────────────────────────────────────────

    def spent(self) -> Counter[str]:
        """Bytes of today by tier: all workers' as far as is known, and all of this one's."""
        today = self.ledger.today()
        if today != self._day:
            self._day, self._shared = today, Counter()
        mine = self.ledger.held() + tiers_of(self._kept, today)
        if self._sent is not None and self._sent.day == today:
            for key, used in self._sent.used.items():
                mine[key.tier] += used.total
        return self._shared + mine

    def told(self) -> dict[str, Any]:
        """What the crawl has cost so far, as :meth:`Account.told` has it."""
        return self.account.told(self.ledger.pending())

    # ── handing on ───────────────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Begin to hand on, if that has not begun; needs a running loop."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def before_close(self, close: Callable[[], Awaitable[None]]) -> None:
        """Something that has bytes to tell when it is closed."""
        self._closing.append(close)

    async def finish(self) -> None:
        """Close the connections, count their last bytes and hand all on; what cannot be is told in the log.

        What comes later needs another call.
        """
        closing, self._closing = self._closing, []
        for close in closing:
            await close()
        task, self._task = self._task, None
        await end(task)
        await self.flush(older=0.0)
        lost = sum(used.total for used in self._kept.values()) + sum(
            used.total for used in (self._sent.used if self._sent else {}).values()
        )
        if lost and self._shelf is not None:
            logger.warning("Redis was not there to keep the usage of %d bytes", lost)

    async def flush(self, *, older: float | None = None) -> None:
        """Hand on what there is; ``older`` as in :meth:`Ledger.drain`."""
        drained = self.ledger.drain(older=self._interval if older is None else older)
        self._tell(drained)
        if self._shelf is None:
            self._shared += tiers_of(drained, self.ledger.today())
            return
        for at, used in drained.items():
            self._kept.setdefault(at, Used()).add(used.up, used.down, used.transfers)
        with suppress(RedisUnavailableError):
            while await self._send():
                pass

    async def sync(self) -> None:
        """Learn what others have spent, once; if that cannot be learnt now it is with the next batch."""
        if self._shelf is not None:
            day = self.ledger.today()
            with suppress(RedisUnavailableError):
                self._learn(day, await self._shelf.add(0, day, {}))

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._interval)
            await self.flush()

    async def _send(self) -> bool:
        """Send a batch; whether there is another one to be sent."""
        assert self._shelf is not None
        if self._sent is None and self._kept:
            self._sent = self._next()
        if self._sent is None:
            return False
        try:
            spent = await self._shelf.add(*self._sent)
        except RedisUnavailableError as exc:
            if not self._away:
                logger.warning("%s; it is kept here and sent later", exc.message)
            self._away = True
            raise
        if self._away:
            logger.info("usage is handed on again")
        self._away = False
        day, self._sent = self._sent.day, None
        self._learn(day, spent)
        return bool(self._kept)

    def _next(self) -> _Batch:
        day = min(at.day for at in self._kept)
        chosen = [at for at in self._kept if at.day == day][:BATCH]
        self._number += 1
        return _Batch(self._number, day, {at.key: self._kept.pop(at) for at in chosen})

    def _learn(self, day: str, spent: Counter[str]) -> None:
        if day == self.ledger.today():
            self._day, self._shared = day, spent

    # ── stats ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _tell(self, drained: Mapping[DayKey, Used]) -> None:
        for (_, key), used in drained.items():
            self.account.add(key, used)
            for name in ("bytes", *(f"bytes/{part}/{self._shown(part, key)}" for part in _DIMENSIONS)):
                self._count(f"{name}/up", used.up)
                self._count(f"{name}/down", used.down)

    def _shown(self, part: str, key: Key) -> str:
        value: str = getattr(key, part)
        if part != "session" or value in self._told:
            return value
        if len(self._told) >= _SESSIONS:
            return OTHERS
        self._told.add(value)
        return value
