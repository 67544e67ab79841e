"""Proxies: what one is, how a user names them, and which is next for a site."""

from __future__ import annotations

from fetchworker.proxies.base import Proxy
from fetchworker.proxies.gateway import country_wanted, in_country
from fetchworker.proxies.health import Breaker, HealthPolicy, ProxyResult
from fetchworker.proxies.manager import ProxyManager
from fetchworker.proxies.parse import load_proxies, parse_proxies
from fetchworker.proxies.pause import Pause
from fetchworker.proxies.tiers import Ladder, Spending, TierPolicy

__all__ = [
    "Breaker",
    "HealthPolicy",
    "Ladder",
    "Pause",
    "Proxy",
    "ProxyManager",
    "ProxyResult",
    "Spending",
    "TierPolicy",
    "country_wanted",
    "in_country",
    "load_proxies",
    "parse_proxies",
]
