"""Proxies: what one is, how a user names them, and which is next for a site."""

from __future__ import annotations

from fetchworker.proxies.base import Proxy
from fetchworker.proxies.health import Breaker, HealthPolicy, ProxyResult
from fetchworker.proxies.manager import ProxyManager
from fetchworker.proxies.parse import load_proxies, parse_proxies

__all__ = [
    "Breaker",
    "HealthPolicy",
    "Proxy",
    "ProxyManager",
    "ProxyResult",
    "load_proxies",
    "parse_proxies",
]
