"""A site that no proxy leads to any longer: it pauses once, and one request at a time finds out when that is over.

Pure but its clock; who waits, and how, is the caller's.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from fetchworker.proxies.health import ProxyResult

Answer = Literal["go", "wait"]


@dataclass(slots=True)
class Pause:
    """The pause of one site.

    Args:
        trial: seconds after which a probe that says nothing is given up.
        every: seconds between two probes that are made though no exit is due.
        short: seconds without an exit that nobody is told of, even if all exits fail.
        clock: seconds, never going back.

    Attributes:
        since: when it began; None: there is none.
        times: how many there were.
    """

    trial: float = 60.0
    every: float = 30.0
    short: float = 10.0
    clock: Callable[[], float] = time.monotonic
    since: float | None = None
    times: int = 0
    _probe_until: float = field(default=0.0)
    _next: float = field(default=0.0)
    _dry: float | None = field(default=None)

    def due(self) -> bool:
        """Whether it is time to find out though no exit is due by itself; said once."""
        now = self.clock()
        if self.since is None or now < max(self._probe_until, self._next):
            return False
        self._next = now + self.every
        return True

    def ask(self, *, usable: bool, serious: bool = True, failing: bool = False) -> Answer:
        """Whether a request may go out; in a pause only one at a time may, to find out.

        Args:
            usable: whether there is an exit to go by.
            serious: whether it is more than a short rest that everybody waits for without a word.
            failing: whether no exit has led to an answer at its last use; such rests are not short for ever.
        """
        if self.since is None and usable:
            return "go"
        if self.since is None:
            now = self.clock()
            self._dry = now if self._dry is None else self._dry
            if serious or (failing and now - self._dry >= self.short):
                self.since, self._probe_until, self._next = now, 0.0, now + self.every
                self.times += 1
            return "wait"
        if not usable or self.clock() < self._probe_until:
            return "wait"
        self._probe_until = self.clock() + self.trial
        return "go"

    def told(self, result: ProxyResult) -> bool:
        """How a request went; whether the pause is over by it."""
        if result == "ok":
            self._dry = None
        if self.since is None:
            return False
        self._probe_until = 0.0
        if result != "ok":
            return False
        self.since = None
        return True

    @property
    def lasts(self) -> float:
        """Seconds since it began; 0 when there is none."""
        return 0.0 if self.since is None else self.clock() - self.since
