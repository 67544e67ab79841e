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
        clock: seconds, never going back.

    Attributes:
        since: when it began; None: there is none.
        times: how many there were.
    """

    trial: float = 60.0
    clock: Callable[[], float] = time.monotonic
    since: float | None = None
    times: int = 0
    _probe_until: float = field(default=0.0)

    def ask(self, *, usable: bool, serious: bool = True) -> Answer:
        """Whether a request may go out; in a pause only one at a time may, to find out.

        Args:
            usable: whether there is an exit to go by.
            serious: whether it is more than a short rest that everybody waits for without a word.
        """
        if self.since is None and usable:
            return "go"
        if self.since is None:
            if serious:
                self.since, self._probe_until = self.clock(), 0.0
                self.times += 1
            return "wait"
        if not usable or self.clock() < self._probe_until:
            return "wait"
        self._probe_until = self.clock() + self.trial
        return "go"

    def told(self, result: ProxyResult) -> bool:
        """How a request went; whether the pause is over by it."""
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
