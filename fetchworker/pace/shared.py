"""What the workers of a site ask before a request starts, so that all of them together keep its pace."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Lane(NamedTuple):
    """What shares one pace. ``exit`` is empty where the site counts by host."""

    host: str
    exit: str = ""


class Terms(NamedTuple):
    """What one request has to keep.

    Attributes:
        delay: seconds from its start to the lane's next one.
        gap: seconds from its start to the next one to the host, whichever the lane.
        concurrency: how many requests to the host may be under way.
        per_minute: how many of the lane may start within any minute; None: no ceiling.
        lease: seconds after its start at which it counts no longer, whatever became of its worker.
    """

    delay: float = 0.0
    gap: float = 0.0
    concurrency: int = 1
    per_minute: int | None = None
    lease: float = 60.0


class Answer(NamedTuple):
    """Whether a request may start.

    Attributes:
        wait: 0: it starts now, and has a place. Else seconds after which to ask again with the same permit.
        at: when it starts, or for when its start is booked; microseconds of the clock that all workers share.
        full: whether it is its time, and all places are taken.
    """

    wait: float
    at: int
    full: bool = False


class SharedPace(Protocol):
    """The pace of one site, held where all its workers reach it.

    Every call raises RedisUnavailableError when it cannot be reached or refuses.
    """

    async def acquire(self, permit: str, lane: Lane, terms: Terms, /) -> Answer:
        """Ask whether a request may start; where it has to wait its turn is booked, and so are those who come later.

        Args:
            permit: names the request's turn among all workers'; to be used again for the same turn until it starts.
            lane: where it belongs.
            terms: what it has to keep.
        """

    async def release(self, permit: str, lane: Lane, terms: Terms, /, *, unused: int | None = None) -> None:
        """Give a place or a booking back.

        Args:
            permit: as given to :meth:`acquire`, with the same lane and terms.
            lane: as there.
            terms: as there.
            unused: where nothing was sent: ``at`` of the last answer, so that others may have the time too.
        """

    async def pause(self, lane: Lane, seconds: float, /, *, whole_host: bool) -> None:
        """No request of the lane (or to its host) starts for so long."""
