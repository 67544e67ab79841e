"""Which tier of proxies a site is asked by: up after a block, down again when the block is old (pure but its clock)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: evidence that condemns addresses of this kind, not this one alone: the whole site goes up a tier at once
OF_THE_KIND = frozenset({"ip_reputation", "ip_range"})


class Spending(Protocol):
    """What tiers may still cost; kept by whoever counts bytes."""

    def may_use(self, site: str, tier: str | None) -> bool:
        """Whether the site may spend more on this tier (None: on proxies of none)."""


@dataclass(frozen=True, slots=True)
class TierPolicy:
    """How a site goes through its tiers.

    Attributes:
        tiers: their names, the cheapest first.
        requests: how many requests of a crawl may go by a tier above the first; None: any number.
        row: after so many blocks in a row at a tier the whole site goes up.
        cooldown: seconds after which the site tries the tier below again.
    """

    tiers: tuple[str, ...]
    requests: int | None = None
    row: int = 3
    cooldown: float = 600.0


class Ladder:
    """The tiers of one site in one crawl.

    A request that was blocked is tried again one tier up, at once. The site's other requests follow when blocks come in
    a row, or when what was found condemns all addresses of that kind; after ``cooldown`` they try the tier below again.

    Args:
        site: its name.
        policy: the rules.
        spending: what tiers may still cost; None: anything.
        clock: seconds, never going back.
    """

    def __init__(
        self,
        site: str,
        policy: TierPolicy,
        *,
        spending: Spending | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._site = site
        self._policy = policy
        self._spending = spending
        self._clock = clock
        self._level = 0
        self._until = 0.0
        self._blocks = 0
        self._escalated = 0

    @property
    def tier(self) -> str:
        """The tier that the site's new requests begin at; goes down when its time has come."""
        while self._level and self._clock() >= self._until:
            self._level -= 1
            self._until += self._policy.cooldown
            self._blocks = 0
        return self._policy.tiers[self._level]

    @property
    def escalated(self) -> int:
        """How many requests went by a tier above the first."""
        return self._escalated

    def ways(self, tier: str | None = None) -> Sequence[str]:
        """The tiers that a request may go by now, in the order in which to try them.

        Never one below ``tier`` or the site's own, unless the budget leaves nothing else; none where it leaves nothing.
        """
        at, tiers = max(self._at(tier), self._at(self.tier)), self._policy.tiers
        affordable = [name for name in tiers[at:] if self.affords(name)]
        return affordable or [name for name in reversed(tiers[:at]) if self.affords(name)][:1]

    def affords(self, tier: str) -> bool:
        """Whether the budget lets one more request go by the tier."""
        most = self._policy.requests
        if self.is_above(tier) and most is not None and self._escalated >= most:
            return False
        return self._spending is None or self._spending.may_use(self._site, tier)

    def is_above(self, tier: str | None) -> bool:
        """Whether it is another tier than the first."""
        return self._at(tier) > 0

    def used(self, tier: str | None) -> None:
        """A request goes out by the tier."""
        self._escalated += self.is_above(tier)

    def passed(self, tier: str | None) -> None:
        """An answer by the tier was no block."""
        if self._at(tier) == self._level:
            self._blocks = 0

    def blocked(self, tier: str | None, evidence: Sequence[str]) -> str | None:
        """An answer by the tier was a block.

        Returns:
            The tier by which to try again at once; None where there is none above that the budget allows.
        """
        at = self._at(tier)
        above = next((name for name in self._policy.tiers[at + 1 :] if self.affords(name)), None)
        if at == self._at(self.tier):
            self._blocks += 1
            if above and (self._blocks >= self._policy.row or OF_THE_KIND.intersection(evidence)):
                self._rise(above)
        elif at == self._level and at:
            self._until = self._clock() + self._policy.cooldown
        return above

    def _rise(self, tier: str) -> None:
        self._level = self._at(tier)
        self._until = self._clock() + self._policy.cooldown
        self._blocks = 0

    def _at(self, tier: str | None) -> int:
        return self._policy.tiers.index(tier) if tier in self._policy.tiers else 0
