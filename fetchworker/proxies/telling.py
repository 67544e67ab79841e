"""What is told of proxies, in logs and snapshots: labels and ids, never credentials."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from fetchworker.proxies.health import HealthPolicy, ProxyHealth, is_dead

if TYPE_CHECKING:
    from fetchworker.proxies.base import Proxy

logger = logging.getLogger("fetchworker.proxies.manager")


def log_change(proxy: Proxy, before: ProxyHealth, after: ProxyHealth, policy: HealthPolicy) -> None:
    """Log that a proxy refused our credentials, died or is back, once each."""
    if after.auth_failed and not before.auth_failed:
        logger.error(
            "proxy_auth_failed proxy=%s id=%s: it refused the credentials (407) and is left out until the list is "
            "reloaded",
            proxy.label,
            proxy.id,
        )
    if is_dead(after, policy) and not is_dead(before, policy):
        logger.warning(
            "proxy_dead proxy=%s id=%s failures=%d next_try_in=%.0fs",
            proxy.label,
            proxy.id,
            after.failures,
            policy.probe,
        )
    if before.trial and not after.failures:
        logger.info("proxy_back proxy=%s id=%s", proxy.label, proxy.id)


def describe(proxy: Proxy, health: ProxyHealth, now: float, policy: HealthPolicy) -> dict[str, Any]:
    """A proxy's state as plain JSON values."""
    down = health.down_until > now
    state = "resting" if down else "ok"
    if down and is_dead(health, policy):
        state = "probed" if health.trial else "dead"
    return {
        "id": proxy.id,
        "label": proxy.label,
        "scheme": proxy.scheme,
        "provider": proxy.provider,
        "country": proxy.country,
        "tier": proxy.tier,
        "state": "auth_failed" if health.auth_failed else state,
        "failures_in_a_row": health.failures,
        "back_in": health.down_until - now if down else 0.0,
    }
