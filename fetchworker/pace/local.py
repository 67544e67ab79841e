"""How fast a process asks a site: when the next request may start (pure but its clock), and waits that hold no place.

A *lane* is what shares one pace: a host, or one exit at a host where the site counts visitors by their address. What is
asked of the host as a whole (robots.txt's Crawl-delay, Retry-After with 503) holds for all its lanes.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from fetchworker.pace.shared import Lane

if TYPE_CHECKING:
    from collections.abc import Callable

    from fetchworker.pace.turns import Turns

#: the exit of requests that use no proxy
DIRECT = "direct"
#: seconds that a rate ceiling looks back
MINUTE = 60.0
#: lanes after which those that hold nothing back are forgotten
_MANY = 1024
#: hosts whose Crawl-delay is remembered; beyond it the one longest unasked goes
_MANY_GAPS = 65_536
#: seconds after which somebody who waits looks whether the crawl ends
_TICK = 1.0
_WHOLE_HOST = ""


@dataclass(slots=True)
class _State:
    """``ready`` is when the next request may start, ``starts`` when the last ones did."""

    ready: float = 0.0
    starts: deque[float] = field(default_factory=deque)


class Pace:
    """When requests of one site may start.

    Args:
        per: whose the ceiling is: the ``host``'s (all requests to it wait for each other) or each ``identity``'s, which
            a site tells by its exit.
        per_minute: how many requests of a lane may start within any minute; None: no ceiling.
        turns: where all workers of the site keep its pace together; None: this one keeps it by itself.
        clock: seconds, never going back.
    """

    def __init__(
        self,
        per: Literal["host", "identity"] = "host",
        *,
        per_minute: int | None = None,
        turns: Turns | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.by_identity = per == "identity"
        self.per_minute = per_minute
        self.turns = turns
        self._always = turns is not None and turns.always
        self._clock = clock
        self._lanes: dict[Lane, _State] = {}
        self._full = _MANY  # so many lanes, and it is looked which may go
        self._gaps: OrderedDict[str, float] = OrderedDict()  # the longest unasked first

    @property
    def free(self) -> bool:
        """Whether nothing holds any request back, now or after the next start (but a delay)."""
        return not (self._lanes or self.per_minute or self._gaps or self._always)

    def lane(self, host: str, exit_: str) -> Lane:
        """Where a request belongs."""
        return Lane(host, exit_ if self.by_identity else _WHOLE_HOST)

    def gap(self, host: str) -> float:
        """Seconds between the starts of two requests to the host (see :meth:`space`)."""
        return self._gaps.get(host, 0.0)

    def wait(self, host: str, exit_: str) -> float:
        """Seconds until a request may start; 0 or less: now."""
        if not self._lanes:
            return 0.0
        now = self._clock()
        waits = [self._lane_wait(lane, now) for key in self._keys(host, exit_) if (lane := self._lanes.get(key))]
        return max(waits, default=0.0)

    def started(self, host: str, exit_: str, delay: float) -> None:
        """A request starts; the lane's next one may ``delay`` seconds later."""
        now, gap = self._clock(), self._gaps.get(host)
        if delay or self.per_minute:
            lane = self._lane(self.lane(host, exit_))
            lane.ready = max(lane.ready, now + delay)
            if self.per_minute:
                lane.starts.append(now)
        if gap:
            self._gaps.move_to_end(host)
            whole = self._lane(Lane(host))
            whole.ready = max(whole.ready, now + gap)

    def pause(self, host: str, exit_: str | None, seconds: float) -> None:
        """No request of the exit's lane (None: to the host at all) may start for so long."""
        if seconds <= 0:
            return
        own = Lane(host) if exit_ is None else self.lane(host, exit_)
        lane = self._lane(own)
        lane.ready = max(lane.ready, self._clock() + seconds)
        if self.turns is not None:
            self.turns.pause(own, seconds, whole_host=exit_ is None)

    def space(self, host: str, seconds: float) -> None:
        """At least so many seconds lie between the starts of two requests to the host from now on."""
        self._gaps[host] = seconds
        self._gaps.move_to_end(host)
        if len(self._gaps) > _MANY_GAPS:
            self._gaps.popitem(last=False)

    def _keys(self, host: str, exit_: str) -> tuple[Lane, ...]:
        return (Lane(host), Lane(host, exit_)) if self.by_identity else (Lane(host),)

    def _lane(self, key: Lane) -> _State:
        lane = self._lanes.get(key)
        if lane is None:
            if len(self._lanes) >= self._full:
                self._forget()
            lane = self._lanes[key] = _State()
        return lane

    def _lane_wait(self, lane: _State, now: float) -> float:
        if self.per_minute is None:
            return lane.ready - now
        # the same sum as below: a difference may round to the other side of the minute
        while lane.starts and lane.starts[0] + MINUTE <= now:
            lane.starts.popleft()
        full = lane.starts[-self.per_minute] + MINUTE if len(lane.starts) >= self.per_minute else now
        return max(lane.ready, full) - now

    def _forget(self) -> None:
        now = self._clock()
        for key, lane in list(self._lanes.items()):
            if self._lane_wait(lane, now) <= 0 and not lane.starts:
                del self._lanes[key]
        # where nearly all hold something back, looking at each new one would cost the square of their number
        self._full = max(_MANY, 2 * len(self._lanes))


class Waits:
    """Requests that wait for a time of their own, between two tries; ``count`` says how many.

    Args:
        ending: whether the crawl ends, so that nobody should wait any longer.
        changed: called when one more waits.
    """

    def __init__(self, ending: Callable[[], bool], changed: Callable[[], None]) -> None:
        self.count = 0
        self._ending = ending
        self._changed = changed

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds, or earlier when the crawl ends."""
        end = time.monotonic() + seconds
        self.count += 1
        self._changed()
        try:
            # nothing tells when a crawl begins to end
            while (left := end - time.monotonic()) > 0 and not self._ending():  # noqa: ASYNC110
                await asyncio.sleep(min(left, _TICK))
        finally:
            self.count -= 1
