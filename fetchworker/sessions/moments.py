"""Locks that outlast their use by a moment: who comes again at once finds the session still ours, and need not ask.

Calls that follow each other on one session are the common case, and the two questions to Redis are a tenth of a small
call. Other processes wait :data:`LINGER` seconds longer at most where nobody comes again, and :data:`TURN` seconds
where somebody always does.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from fetchworker.sessions.hold import Hold

#: seconds for which a lock outlasts its use
LINGER = 0.05
#: seconds after which a lock goes back with the end of a use, however soon the next one comes
TURN = 0.25


class _Moment(NamedTuple):
    hold: Hold
    until: float
    timer: asyncio.TimerHandle


class Moments:
    """Those of a process.

    Args:
        over: gives a lock back for which nobody came again.
        clock: seconds, monotonic.
    """

    def __init__(self, over: Callable[[Hold], None], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._over = over
        self._clock = clock
        self._kept: dict[str, _Moment] = {}

    def keep(self, hold: Hold) -> bool:
        """Whether the lock stays for a moment after its use; else it is to be given back now."""
        now = self._clock()
        if now - hold.since > TURN:
            return False
        session_id = hold.lease.session_id
        timer = asyncio.get_running_loop().call_later(LINGER, self._end, session_id)
        self._kept[session_id] = _Moment(hold, now + LINGER, timer)
        return True

    def again(self, session_id: str) -> tuple[Hold | None, bool]:
        """What was kept of a session, which is the caller's now; and whether its moment is over already."""
        moment = self._kept.pop(session_id, None)
        if moment is None:
            return None, False
        moment.timer.cancel()
        return moment.hold, self._clock() > moment.until  # a process may have stood still

    def _end(self, session_id: str) -> None:
        moment = self._kept.pop(session_id, None)
        if moment is not None:
            self._over(moment.hold)

    def close(self) -> None:
        """All that is kept is given back by whoever closes."""
        for moment in self._kept.values():
            moment.timer.cancel()
        self._kept.clear()
