"""How long a worker has had nothing to do, and when it looks again (no I/O)."""

from __future__ import annotations

import time

#: seconds between looks for work when there is none
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0
#: seconds after which a worker that gets nothing from a queue that holds something says so
BACKLOG = 10.0


class Lull:
    """A worker's time without work.

    Args:
        ends_after: seconds with nothing to do, for anybody, after which the crawl ends; None: never.

    Attributes:
        dry: the queue gave nothing when it was asked last.
        pause: seconds until it is asked again.
        ended: nothing to do, for anybody, for long enough.
    """

    def __init__(self, ends_after: float | None) -> None:
        self._ends_after = ends_after
        self._empty_since: float | None = None
        self._backlog_since: float | None = None
        self.dry = False
        self.ended = False
        self.pause = _FIRST_PAUSE

    @property
    def empty(self) -> bool:
        """Whether there was nothing to do for anybody."""
        return self._empty_since is not None

    def left(self) -> float | None:
        """Seconds until the crawl ends if nothing comes; None: never, or it has."""
        if self.ended or self._ends_after is None or self._empty_since is None:
            return None
        return max(0.0, self._empty_since + self._ends_after - time.monotonic())

    def wake(self) -> None:
        """There may be work again."""
        self.dry = self.ended = False
        self.pause, self._empty_since = _FIRST_PAUSE, None

    def given(self) -> None:
        """The queue gave something."""
        self.wake()
        self._backlog_since = None

    def given_nothing(self, due: float | None) -> None:
        """The queue gave nothing; ``due``: seconds until something falls due."""
        self.dry = True
        self._longer(due)

    def others_work(self, due: float | None) -> None:
        """Something may still come: of others, or later."""
        self._empty_since = None
        self._longer(due)

    def nothing_left(self) -> bool:
        """Nothing to do for anybody; whether that is so for long enough by now, and was not before."""
        now = time.monotonic()
        self._empty_since = now if self._empty_since is None else self._empty_since
        if self.ended or self._ends_after is None or now - self._empty_since < self._ends_after:
            return False
        self.ended = True
        return True

    def backlog(self) -> bool:
        """The queue holds something; whether it gave nothing for so long that it is to be told."""
        self.dry = False
        now = time.monotonic()
        self._backlog_since = now if self._backlog_since is None else self._backlog_since
        if now - self._backlog_since < BACKLOG:
            return False
        self._backlog_since = now
        return True

    def _longer(self, due: float | None) -> None:
        longest = _LONGEST_PAUSE if due is None else min(_LONGEST_PAUSE, due)
        self.pause = max(_FIRST_PAUSE, min(self.pause * 2, longest))
