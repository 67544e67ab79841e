"""The permits of one process: while Redis is away, where there is none, and for tests."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fetchworker.limiter.base import GRACE, POLL, Answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from fetchworker.limiter.base import Ask, Ceiling, Question


def _micro(seconds: float) -> int:
    return round(seconds * 1e6)


_GRACE, _POLL = _micro(GRACE), _micro(POLL)


class MemoryLimits:
    """See :class:`~fetchworker.limiter.Limits`; the same rules as in ``turn.lua``.

    Args:
        ceiling: how much is allowed.
        clock: seconds.
    """

    def __init__(self, ceiling: Ceiling, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._ceiling = ceiling
        self._clock = clock
        self._held: dict[str, int] = {}
        self._line: dict[str, int] = {}
        self._seen: dict[str, int] = {}
        self._full = 0  # microseconds, as all times here
        self._last = 0

    async def turn(self, question: Question, lease: float, /) -> Answer:
        """See :class:`~fetchworker.limiter.Limits`."""
        now, span = _micro(self._clock()), _micro(lease)
        for done in question.release:
            self._forget(done)
        self._let_go(now, span)
        lost = [at for at, id_ in enumerate(question.renew) if id_ not in self._held]
        self._held.update(dict.fromkeys(question.renew, now + span))
        self._full = min(max(self._full, now), now + self._ceiling.interval * self._ceiling.burst)
        answers = [self._answer(ask, now, span) for ask in question.asks]
        waits = [wait for wait, _ in answers if wait is not None]
        wait = min([*waits, _GRACE // 2]) / 1e6 if waits else 0.0
        return Answer(wait, lost, [wait is None for wait, _ in answers], [ticket for _, ticket in answers])

    def _forget(self, id_: str) -> None:
        for known in (self._held, self._line, self._seen):
            known.pop(id_, None)

    def _let_go(self, now: int, lease: int) -> None:
        for gone in [id_ for known in (self._held, self._seen) for id_, end in known.items() if end <= now]:
            self._forget(gone)
        for known, most in ((self._held, now + lease), (self._seen, now + _GRACE)):
            known.update({id_: most for id_, end in known.items() if end > most})

    def _answer(self, ask: Ask, now: int, lease: int) -> tuple[int | None, int]:
        """The wait (None: granted) and the ticket."""
        if ask.id in self._held:
            return None, ask.ticket
        ticket = self._line[ask.id] = ask.ticket or self._line.get(ask.id) or self._next(now)
        before = sum(other < ticket for other in self._line.values())
        interval = self._ceiling.interval
        early = self._full + (before + 1) * interval - now - self._ceiling.burst * interval
        concurrency = self._ceiling.concurrency
        room = concurrency is None or before < concurrency - len(self._held)
        if not room or early > 0:
            self._seen[ask.id] = now + _GRACE
            return (early if room else max(_POLL, early)), ticket
        self._forget(ask.id)
        self._full += interval
        self._held[ask.id] = now + lease
        return None, ticket

    def _next(self, now: int) -> int:
        self._last = max(self._last + 1, now)
        return self._last
