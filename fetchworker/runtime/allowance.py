"""Which tiers of proxies a site's budget of bytes still allows (``on_exceeded: down_tier``)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from fetchworker.proxies import Spending
    from fetchworker.sites import SiteConfig

_DAY = 86_400


class Allowance:
    """Asks the spending of one site, where its budget closes tiers rather than end the crawl.

    Args:
        site: its name.
        config: its entry.
        spending: what tiers may still cost today; None: anything.
        wall: POSIX seconds; budgets are for days of UTC.
    """

    def __init__(
        self, site: str, config: SiteConfig, spending: Spending | None, *, wall: Callable[[], float] = time.time
    ) -> None:
        closes = config.budget is not None and config.budget.on_exceeded == "down_tier"
        self.spending = spending if closes else None
        self._site = site
        self._required = config.proxy == "required"
        self._wanted = config.proxy_tiers
        self._wall = wall

    def allows(self, tier: str | None) -> bool:
        """Whether proxies of the tier (None: of none) may be used now."""
        return self.spending is None or self.spending.may_use(self._site, tier)

    def of(self, tiers: Collection[str | None]) -> frozenset[str | None] | None:
        """Those of the tiers that may be used now; None: all."""
        if self.spending is None:
            return None
        allowed = frozenset(tier for tier in tiers if self.allows(tier))
        return None if len(allowed) == len(tiers) else allowed

    def used_up(self, tiers: Collection[str | None]) -> bool:
        """Whether no request may go out today, as none of these tiers may be used and there is no other way."""
        if self.spending is None or not self._required:
            return False
        known = [tier for tier in tiers if self._wanted is None or tier in self._wanted]
        return bool(known) and self.of(known) == frozenset()

    def back_in(self) -> float:
        """Seconds until the next day's budget."""
        return _DAY - self._wall() % _DAY
