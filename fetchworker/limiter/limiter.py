"""Permits as the rest of the program uses them: waiting, heartbeat, and what happens while Redis is away.

All who wait in a process are told about in one question, with what was given back since the last one; while nobody
waits, nothing is asked but that the permits in use are in use still (three times in a lease).
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
import secrets
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fetchworker.errors import LimitReachedError
from fetchworker.limiter.base import Ask, Question
from fetchworker.tasks import end

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from fetchworker.limiter.base import Answer, Limits

logger = logging.getLogger(__name__)

#: seconds after which the permits of a process that died come back
LEASE = 20.0
#: how many of a process stand in the line at once; further ones come after them, so that none floods the line
IN_LINE = 64
#: so often in a lease it is told that permits are in use
_BEATS = 3
#: seconds before Redis is asked again, doubled up to the second one
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
#: releases that are remembered while nobody answers; what is forgotten comes back with its lease
_MOST_OWED = 10_000
#: seconds that closing waits for the permits to be given back
_LAST = 2.0


@dataclass(slots=True, eq=False)
class Permit:
    """One request may be under way.

    Attributes:
        id: names it for ever.
        fence: greater than that of all permits before it.
        lost: its lease was over before it was renewed (the process stood still): others may have had its place.
    """

    id: str
    fence: int
    lost: bool = False


@dataclass(slots=True, eq=False)
class _Waiting:
    id: str
    permit: asyncio.Future[Permit]
    ticket: int = 0


@dataclass(slots=True)
class _Away:
    """Whether nobody answers. ``again``: when to ask next; ``owed``: what was given back meanwhile."""

    now: bool = False
    again: float = -math.inf
    pause: float = _FIRST_PAUSE
    error: Exception = field(default_factory=Exception)
    owed: list[str] = field(default_factory=list)


class Limiter:
    """Permits of one process; those of all processes are counted in ``shared``.

    Args:
        shared: where permits are counted.
        local: what counts while ``shared`` cannot be reached; None: then asking fails.
        lease: seconds after which the permits of a process that died come back.
        clock: seconds, never going back.
    """

    def __init__(
        self,
        shared: Limits,
        *,
        local: Limits | None = None,
        lease: float = LEASE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shared, self._local = shared, local
        self._lease, self._clock = lease, clock
        self._worker = secrets.token_hex(6)
        self._numbers = itertools.count(1)
        self._line: dict[str, _Waiting] = {}
        self._held: dict[str, Permit] = {}
        self._released: list[str] = []
        self._beat = math.inf
        self._away = _Away()
        self._wake = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self.lost = 0

    @property
    def away(self) -> bool:
        """Whether the permits of all processes cannot be asked for at the moment."""
        return self._away.now

    @asynccontextmanager
    async def permit(self, *, deadline: float | None = None) -> AsyncIterator[Permit]:
        """``async with limiter.permit(deadline=5):`` – hold a permit; see :meth:`acquire`."""
        held = await self.acquire(deadline=deadline)
        try:
            yield held
        finally:
            self.release(held)

    async def acquire(self, *, deadline: float | None = None) -> Permit:
        """Wait for a permit; give it back with :meth:`release`. Who is cancelled leaves the line.

        Args:
            deadline: seconds to wait at most; None: as long as it takes.

        Raises:
            LimitReachedError: there was none in time.
            RedisUnavailableError: nobody counts the permits, and there is no ``local`` to do so.
        """
        waiting = _Waiting(f"{self._worker}:{next(self._numbers)}", asyncio.get_running_loop().create_future())
        self._line[waiting.id] = waiting
        self._go_on()
        try:
            async with asyncio.timeout(deadline):
                return await waiting.permit
        except TimeoutError:
            self._withdraw(waiting)
            raise LimitReachedError(
                f"no permit within {deadline:g} s: as many requests are under way, or were sent, as are allowed"
            ) from None
        except BaseException:
            self._withdraw(waiting)
            raise

    def release(self, permit: Permit) -> None:
        """Give a permit back; a second time does nothing."""
        if self._held.pop(permit.id, None) is not None:
            self._released.append(permit.id)
            self._go_on()

    async def close(self) -> None:
        """Give everything back, and wait a moment for it to be told; who waits is cancelled."""
        for waiting in list(self._line.values()):
            waiting.permit.cancel()
            self._withdraw(waiting)
        for permit in list(self._held.values()):
            self.release(permit)
        if self._pump is not None:
            self._go_on()
            await asyncio.wait([self._pump], timeout=_LAST)
            await end(self._pump)

    # ── one question after the other ─────────────────────────────────────────────────────────────────────────────

    def _withdraw(self, waiting: _Waiting) -> None:
        if self._line.pop(waiting.id, None) is not None:
            self._released.append(waiting.id)  # an answer that is on its way may grant it
            self._go_on()
        elif (permit := self._held.get(waiting.id)) is not None:
            self.release(permit)

    def _go_on(self) -> None:
        self._wake.set()
        if self._pump is None or self._pump.done():
            self._pump = asyncio.get_running_loop().create_task(self._pumping())

    async def _pumping(self) -> None:
        """Ask as long as there is something to say."""
        wait = 0.0
        while self._line or self._released or self._held:
            self._wake.clear()
            if self._line or self._released or self._clock() >= self._beat:
                wait = await self._turn()
            until = wait if self._line or self._released else math.inf
            until = min(until, max(0.0, self._beat - self._clock()))
            if self._line or self._released or self._held:
                await self._rest(until)

    async def _rest(self, seconds: float) -> None:
        """Until something happens, or for so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(None if seconds == math.inf else seconds):
                await self._wake.wait()

    async def _turn(self) -> float:
        """Say everything; seconds until to ask again."""
        due, away = self._clock() >= self._beat, self._away
        if away.now and self._clock() < away.again:
            return await self._alone(away.error, renew=due)
        try:
            if away.now:
                self._released = [*away.owed, *self._released]
                away.owed = []
            wait = await self._say(self._shared, renew=due or away.now, fresh=away.now)
        except Exception as exc:  # noqa: BLE001  # whatever it is, nobody must wait for ever
            return await self._gone(exc)
        if away.now:
            await self._here_again()
        return wait

    async def _say(self, limits: Limits, *, renew: bool, fresh: bool = False) -> float:
        waiting = list(itertools.islice(self._line.values(), IN_LINE))
        released, held = self._released, list(self._held.values()) if renew else []
        self._released = []
        asks = [Ask(each.id, 0 if fresh else each.ticket) for each in waiting]
        try:
            answer = await limits.turn(Question(released, [permit.id for permit in held], asks), self._lease)
        except BaseException:
            self._released = [*released, *self._released]
            raise
        self._take(answer, waiting)
        if renew or self._beat == math.inf:
            self._beat = self._clock() + self._lease / _BEATS if self._held else math.inf
        if not fresh:
            self._note_lost([held[at] for at in answer.lost])
        return answer.wait

    def _take(self, answer: Answer, waiting: list[_Waiting]) -> None:
        for each, granted, ticket in zip(waiting, answer.granted, answer.tickets, strict=True):
            each.ticket = ticket
            # who has left the line meanwhile stands in what is to be given back
            if granted and self._line.pop(each.id, None) is not None:
                permit = self._held[each.id] = Permit(each.id, ticket)
                if each.permit.done():  # cancelled, and about to withdraw
                    self.release(permit)
                else:
                    each.permit.set_result(permit)

    def _note_lost(self, permits: list[Permit]) -> None:
        lost = [permit for permit in permits if not permit.lost]
        for permit in lost:
            permit.lost = True
        if lost:
            self.lost += len(lost)
            logger.warning("%d permits were not renewed in time: more may have been sent than is allowed", len(lost))

    # ── Redis, away and back ─────────────────────────────────────────────────────────────────────────────────────

    async def _gone(self, error: Exception) -> float:
        away, first = self._away, not self._away.now
        away.now, away.error = True, error
        away.pause = _FIRST_PAUSE if first else min(_LONGEST_PAUSE, 2 * away.pause)
        away.again = self._clock() + away.pause
        if first:
            alone = "this process keeps the limit by itself" if self._local else "no permits are given"
            logger.warning("%s; %s until it is back", error, alone)
        return await self._alone(error, renew=True, fresh=first)

    async def _alone(self, error: Exception, *, renew: bool, fresh: bool = False) -> float:
        """What can be done without the others."""
        away = self._away
        if self._local is None:
            self._fail(error)
            return max(0.0, away.again - self._clock())
        away.owed = [*away.owed, *self._released][-_MOST_OWED:]
        return min(await self._say(self._local, renew=renew, fresh=fresh), max(0.0, away.again - self._clock()))

    def _fail(self, error: Exception) -> None:
        for each in list(self._line.values()):
            del self._line[each.id]
            self._released.append(each.id)
            if not each.permit.done():
                each.permit.set_exception(type(error)(*error.args))
        self._beat = self._away.again if self._held else math.inf

    async def _here_again(self) -> None:
        self._away = _Away()
        logger.info("Redis is back: all processes keep the limit together again")
        if self._local is not None:
            await self._local.turn(Question(release=[*self._held, *self._line]), self._lease)
