"""What a manager of proxies knows of one site."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from fetchworker.proxies.health import SiteHealth

if TYPE_CHECKING:
    from fetchworker.proxies.health import RecentBlocks
    from fetchworker.proxies.rotation import Rotation

#: exits of gateways whose rests at one site are kept; of older ones nobody is left
MAX_EXITS = 4096

Tier = str | frozenset[str | None] | None
FRESH_AT_SITE = SiteHealth()


class Which(NamedTuple):
    """The proxies that stand in one rotation: of a tier, or several, and for a country; None: whatever it is."""

    tier: Tier
    country: str | None


@dataclass(slots=True)
class SiteState:
    """Whose turn it is, and how proxies and exits fare there."""

    recent: RecentBlocks
    rotations: dict[Which, Rotation] = field(default_factory=dict)
    health: dict[str, SiteHealth] = field(default_factory=dict)  # only proxies that rest or have rested
    exits: OrderedDict[str, SiteHealth] = field(default_factory=OrderedDict)  # of gateways, the oldest first
    suspect: bool = False

    def at(self, proxy_id: str) -> SiteHealth:
        """How a proxy or an exit fares."""
        return self.health.get(proxy_id) or self.exits.get(proxy_id, FRESH_AT_SITE)

    def note(self, proxy_id: str, health: SiteHealth, *, of_gateway: bool) -> None:
        """Keep how it fares now."""
        if not of_gateway:
            self.health[proxy_id] = health
        elif health != FRESH_AT_SITE:
            self.exits[proxy_id] = health
            if len(self.exits) > MAX_EXITS:
                self.exits.popitem(last=False)
