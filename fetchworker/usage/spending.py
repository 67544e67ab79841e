"""Budgets: what a site has cost today, and which proxies it may still use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from fetchworker.usage.ledger import NONE

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Collection, Mapping

    from fetchworker.sites.budget import Budget

#: the tiers that a site whose budget is used up may go on with: they are not paid by the byte, or cost the least
CHEAP = frozenset({"datacenter", "direct", NONE})


class Spending(Protocol):
    """What whoever chooses proxies may ask."""

    def spent(self, site: str, tier: str | None = None) -> int:
        """Bytes of today, both ways: all, or those through proxies of a tier."""

    def may_use(self, site: str, tier: str | None) -> bool:
        """Whether proxies of this tier (None: of none that is told, or no proxy) may be used now."""


class SiteSpending:
    """See :class:`Spending`; of one site, as far as this process knows what others have spent.

    Args:
        site: whose budget it is.
        budget: None where there is none; then all may be used.
        read: gives the bytes of today by tier.
    """

    def __init__(self, site: str, budget: Budget | None, read: Callable[[], Counter[str]]) -> None:
        self._site = site
        self._budget = budget
        self._read = read

    def spent(self, site: str, tier: str | None = None) -> int:
        """See :class:`Spending`.

        Raises:
            ValueError: it is another site's.
        """
        self._check(site)
        found = self._read()
        return found.total() if tier is None else found[tier]

    def may_use(self, site: str, tier: str | None) -> bool:
        """See :class:`Spending`.

        Raises:
            ValueError: it is another site's.
        """
        self._check(site)
        return self._budget is None or allows(self._budget, self._read(), tier)

    @property
    def stopped(self) -> bool:
        """Whether nothing more may be sent."""
        budget = self._budget
        return budget is not None and budget.on_exceeded == "stop" and self._read().total() >= budget.bytes_per_day

    def _check(self, site: str) -> None:
        if site != self._site:
            raise ValueError(f"this is the spending of {self._site}, not of {site}")


def allows(budget: Budget, spent: Mapping[str, int], tier: str | None, *, cheap: Collection[str] = CHEAP) -> bool:
    """Whether a tier may be used, with so many bytes spent by tier (pure)."""
    name, all_spent = tier or NONE, sum(spent.values())
    if budget.on_exceeded == "stop":
        return all_spent < budget.bytes_per_day
    own = budget.tiers.get(name)
    if own is not None and spent.get(name, 0) >= own:
        return False
    return all_spent < budget.bytes_per_day or name in cheap
