"""What a limiter asks of the place where permits are counted; one question holds all that a process has to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: seconds after which to ask again where only a place is missing
POLL = 0.02
#: seconds for which somebody in the line is waited for that does not ask again
GRACE = 2.0


@dataclass(frozen=True, slots=True)
class Ceiling:
    """How much is allowed; None: any number.

    ``concurrency`` permits are out at once at most; ``rate`` permits a second are given in the long run, up to
    ``burst`` of them at once (after a rest).

    Raises:
        ConfigError: a number is not positive, or there is a burst without a rate.
    """

    concurrency: int | None = None
    rate: float | None = None
    burst: int = 1

    def __post_init__(self) -> None:
        if self.concurrency is not None and self.concurrency < 1:
            raise ConfigError(f"the limit's concurrency must be at least 1, not {self.concurrency}")
        if self.rate is not None and not self.rate > 0:
            raise ConfigError(f"the limit's rate must be more than 0 a second, not {self.rate:g}")
        if self.burst < 1 or (self.rate is None and self.burst > 1):
            raise ConfigError(f"the limit's burst ({self.burst}) must be at least 1, and belongs to a rate")

    @property
    def interval(self) -> int:
        """Microseconds from one permit to the next in the long run, 0 without a rate."""
        return 0 if self.rate is None else max(1, round(1e6 / self.rate))


class Ask(NamedTuple):
    """Somebody who waits: a permit's id, unique for ever, and the place in the line (0: none yet)."""

    id: str
    ticket: int = 0


class Question(NamedTuple):
    """All that one process has to say at once.

    Attributes:
        release: ids that are done with: permits, or asks that nobody waits for any longer.
        renew: ids of permits that are in use still.
        asks: who waits, those first that came first.
    """

    release: Sequence[str] = ()
    renew: Sequence[str] = ()
    asks: Sequence[Ask] = ()


class Answer(NamedTuple):
    """What became of a question.

    Attributes:
        wait: seconds after which those who were given none should ask again.
        lost: of ``renew``, the places of those whose lease was over: they count again from now on.
        granted: for each ask, whether it has its permit.
        tickets: for each ask, its place in the line; of a permit the fence: a later permit's is greater.
    """

    wait: float
    lost: Sequence[int]
    granted: Sequence[bool]
    tickets: Sequence[int]


class Limits(Protocol):
    """Where permits are counted. A permit that is not renewed comes back when its lease is over.

    Asks are served in the order of their tickets, whichever process they are of: one is given a permit when there are
    enough for all who stand before it as well.
    """

    async def turn(self, question: Question, lease: float, /) -> Answer:
        """Say and ask everything.

        Args:
            question: what there is to say. The same may be said twice: an answer may get lost.
            lease: seconds until permits that are given or renewed now come back by themselves.

        Raises:
            RedisUnavailableError: the place cannot be reached or refuses.
        """
