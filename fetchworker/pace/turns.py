"""This process's turns in the pace that all workers of its site share.

The downloader asks without waiting, as it asks :class:`Pace`: :meth:`Turns.wait` says how long a request has to wait as
far as is known, asks Redis where that is not known, and the downloader looks again when the answer has come. A process
has at most one turn open in a lane, so that workers come one after the other. Without Redis everybody may start at
once as far as this module is concerned, and the process's own pace is left.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fetchworker.errors import RedisUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Hashable

    from fetchworker.pace.shared import Lane, SharedPace, Terms

logger = logging.getLogger(__name__)

#: what :meth:`Turns.wait` says while the answer is on its way
ASKED = math.inf
#: seconds until Redis is asked again after it was away: at first, at most
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 5.0
#: seconds that the end of a crawl waits for what it gives back
_LAST = 2.0


@dataclass(slots=True, eq=False)
class Turn:
    """One request's turn.

    Attributes:
        permit: its name among all workers'.
        lane: where it belongs.
        terms: what it has to keep.
        at: when it starts by Redis's clock (microseconds); None where Redis has not said.
        due: when to ask (again), on this process's clock; None: it may start.
        full: whether it only waits for a place.
        asked: whether the answer is on its way.
        dropped: nobody wants it any longer.
    """

    permit: str
    lane: Lane
    terms: Terms
    at: int | None = None
    due: float | None = -math.inf
    full: bool = False
    asked: bool = False
    dropped: bool = False


class Turns:
    """The open turns of one crawl.

    Args:
        make: gives the shared pace; called when it is first needed.
        always: ask for every request, for those too that have only ``concurrency`` to keep.
        clock: seconds, never going back.
    """

    def __init__(
        self, make: Callable[[], SharedPace], *, always: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.always = always
        self._make = make
        self._pace: SharedPace | None = None
        self._clock = clock
        self._worker = secrets.token_hex(6)
        self._numbers = itertools.count(1)
        self._open: dict[Hashable, dict[Lane, Turn]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._away = False
        self._ask_again = -math.inf
        self._pause = _FIRST_PAUSE

    def wait(self, owner: Hashable, lane: Lane, terms: Callable[[], Terms], answered: Callable[[], None]) -> float:
        """Seconds until the owner's next request in the lane may start; 0: now, :data:`ASKED`: it is not known yet.

        Args:
            owner: whose queue the request stands in; its turns are its own.
            lane: where the request belongs.
            terms: gives what it has to keep; called where a turn begins.
            answered: called when it is known.
        """
        turn = self._open.get(owner, {}).get(lane) or self._begin(owner, lane, terms)
        if turn is None or turn.due is None:
            return 0.0
        if turn.asked:
            return ASKED
        left = turn.due - self._clock()
        if left > 0:
            return left
        if self._silent():
            turn.at = turn.due = None
            return 0.0
        self._ask(owner, turn, answered)
        return ASKED

    def take(self, owner: Hashable, lane: Lane) -> Turn | None:
        """The turn of the request that starts now, to be given back; None where there is none to keep."""
        turn = self._close(owner, lane)
        return turn if turn is not None and turn.at is not None else None

    def release(self, turn: Turn) -> None:
        """The request has ended; who waits here for its place asks at once."""
        self._spawn(self._give_back(turn, unused=False))
        for other in [other for turns in self._open.values() for other in turns.values() if other.full]:
            if other.lane.host == turn.lane.host:
                other.due = -math.inf

    def drop(self, owner: Hashable, lane: Lane | None = None) -> None:
        """The owner's request in this lane (None: all of the owner's) will not start."""
        for each in [lane] if lane is not None else list(self._open.get(owner, ())):
            turn = self._close(owner, each)
            if turn is None:
                continue
            turn.dropped = True
            if not turn.asked and turn.at is not None:
                self._spawn(self._give_back(turn, unused=True))

    def pause(self, lane: Lane, seconds: float, *, whole_host: bool) -> None:
        """Tell the other workers that no request of the lane, or to the host, may start for so long."""
        if self._pace is not None and not self._silent():
            self._spawn(self._tell(self._pace.pause(lane, seconds, whole_host=whole_host)))

    async def close(self) -> None:
        """Give back what is open, and wait until it is."""
        for owner in list(self._open):
            self.drop(owner)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_LAST)

    # ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _begin(self, owner: Hashable, lane: Lane, terms: Callable[[], Terms]) -> Turn | None:
        if self._silent():
            return None
        asked = terms()
        if not (self.always or asked.delay or asked.gap or asked.per_minute):
            return None
        turn = Turn(f"{self._worker}:{next(self._numbers)}", lane, asked)
        self._open.setdefault(owner, {})[lane] = turn
        return turn

    def _close(self, owner: Hashable, lane: Lane) -> Turn | None:
        turns = self._open.get(owner)
        turn = turns.pop(lane, None) if turns else None
        if turns is not None and not turns:
            del self._open[owner]
        return turn

    def _ask(self, owner: Hashable, turn: Turn, answered: Callable[[], None]) -> None:
        turn.asked = True
        if self._away:  # this one sees whether Redis is back, and the others go on meanwhile
            self._ask_again = math.inf
        self._spawn(self._asking(owner, turn, answered))

    async def _asking(self, owner: Hashable, turn: Turn, answered: Callable[[], None]) -> None:
        try:
            self._pace = self._pace or self._make()
            wait, turn.at, turn.full = await self._pace.acquire(turn.permit, turn.lane, turn.terms)
        except Exception as exc:  # noqa: BLE001  # whatever it is, nobody must wait for this turn for ever
            self._failed(exc)
            turn.at = turn.due = None
        else:
            self._well()
            turn.due = self._clock() + wait if wait else None
        turn.asked = False
        if turn.dropped:
            await self._give_back(turn, unused=True)
            return
        answered()
        if turn.due is None and self._open.get(owner, {}).get(turn.lane) is turn:
            self.drop(owner, turn.lane)  # its place here is taken: others may start

    async def _give_back(self, turn: Turn, *, unused: bool) -> None:
        if turn.at is not None and self._pace is not None and not self._silent():  # else its lease ends
            await self._tell(self._pace.release(turn.permit, turn.lane, turn.terms, unused=turn.at if unused else None))

    async def _tell(self, told: Coroutine[Any, Any, None]) -> None:
        try:
            await told
        except RedisUnavailableError as exc:
            self._failed(exc)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # ── Redis, away and back ─────────────────────────────────────────────────────────────────────────────────────

    def _silent(self) -> bool:
        """Whether Redis was away a moment ago and is not asked."""
        return self._away and self._clock() < self._ask_again

    def _failed(self, error: BaseException) -> None:
        if not self._away:
            self._away, self._pause = True, _FIRST_PAUSE
            logger.warning("%s; each worker keeps the pace by itself until it is back", error)
        elif self._clock() < self._ask_again < math.inf:
            return  # one of several that were under way
        else:
            self._pause = min(_LONGEST_PAUSE, 2 * self._pause)
        self._ask_again = self._clock() + self._pause

    def _well(self) -> None:
        if self._away:
            self._away = False
            logger.info("Redis is back: all workers keep the pace together again")
