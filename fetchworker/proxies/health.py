"""The rules by which a proxy rests: pure steps from one state and one result to the next state.

Times are seconds of the manager's clock.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_MAX_DOUBLINGS = 64


class ProxyResult(StrEnum):
    """What a request through a proxy told about the proxy.

    ``ok``: an answer that is no block (a 404 counts, the way was free). ``blocked``: the site refused this exit.
    ``rate_limited``: the site asked it to slow down. ``transport_failure``: no answer came through the proxy.
    ``auth_failed``: the proxy itself refused our credentials (407).
    """

    OK = "ok"
    BLOCKED = "blocked"
    RATE_LIMITED = "rate_limited"
    TRANSPORT_FAILURE = "transport_failure"
    AUTH_FAILED = "auth_failed"


@dataclass(frozen=True, slots=True)
class HealthPolicy:
    """How long a proxy rests, in seconds.

    A site's block rests it for that site: ``cooldown``, twice as long each time, at most ``cooldown_max``; an ok halves
    the next one. A transport failure rests it for all sites: ``failure_rest``, doubling, at most ``cooldown``; from the
    ``dead_after``-th in a row on it is dead and tried again after ``probe``, doubling, at most ``probe_max``: by one
    request, and by another one when ``trial`` went by without a word of the first.
    """

    cooldown: float = 60.0
    cooldown_max: float = 3_600.0
    failure_rest: float = 5.0
    dead_after: int = 5
    probe: float = 600.0
    probe_max: float = 3_600.0
    trial: float = 30.0


def for_gateway(policy: HealthPolicy) -> HealthPolicy:
    """The policy for a gateway, whose exits fail by themselves: it rests only when it is dead, and is tried soon."""
    probe = min(policy.probe, policy.cooldown, 30.0)
    return replace(policy, failure_rest=0.0, probe=probe, probe_max=max(probe, min(policy.probe_max, 600.0)))


def with_cooldown(policy: HealthPolicy, cooldown: float | None, cooldown_max: float | None) -> HealthPolicy:
    """The policy with these in place of its own, where they are given.

    Raises:
        ConfigError: they contradict each other.
    """
    if cooldown is not None:
        policy = replace(policy, cooldown=cooldown)
    if cooldown_max is not None:
        policy = replace(policy, cooldown_max=cooldown_max)
    if not 0 <= policy.cooldown <= policy.cooldown_max < math.inf:
        raise ConfigError(
            f"proxy cooldown {policy.cooldown:g} s must lie between 0 and cooldown_max, {policy.cooldown_max:g} s"
        )
    return policy


@dataclass(frozen=True, slots=True)
class Breaker:
    """When a rule that finds blocks is itself suspect.

    That is when within ``window`` seconds more than ``share`` of the proxies tried at a site were blocked last, and
    these are at least ``least``.
    """

    share: float = 0.8
    least: int = 5
    window: float = 600.0

    def trips(self, tried: int, blocked: int) -> bool:
        return blocked >= self.least and blocked > self.share * tried


class RecentBlocks:
    """Each proxy's last answer from one site, as far as it is not older than ``window`` seconds."""

    def __init__(self, window: float) -> None:
        self._window = window
        self._answers: OrderedDict[str, tuple[float, bool]] = OrderedDict()  # oldest first
        self._blocked = 0

    def record(self, proxy_id: str, *, blocked: bool, now: float) -> None:
        self.forget(proxy_id)
        self._answers[proxy_id] = (now, blocked)
        self._blocked += blocked

    def forget(self, proxy_id: str) -> None:
        _, blocked = self._answers.pop(proxy_id, (0.0, False))
        self._blocked -= blocked

    def keep(self, proxy_ids: Collection[str]) -> None:
        for proxy_id in [key for key in self._answers if key not in proxy_ids]:
            self.forget(proxy_id)

    def counts(self, now: float) -> tuple[int, int]:
        """How many proxies were tried, and how many of these blocked."""
        while self._answers:
            proxy_id, (at, _) = next(iter(self._answers.items()))
            if now - at <= self._window:
                break
            self.forget(proxy_id)
        return len(self._answers), self._blocked


@dataclass(frozen=True, slots=True)
class SiteHealth:
    """One proxy at one site: the length of its last rest there (0: none counts any more) and when that ends."""

    cooldown: float = 0.0
    rest_until: float = -math.inf


@dataclass(frozen=True, slots=True)
class ProxyHealth:
    """One proxy anywhere: transport failures in a row, the end of its rest, and a 407, which stands until a reload.

    ``trial``: it was dead, and a request is finding out whether it still is.
    """

    failures: int = 0
    down_until: float = -math.inf
    auth_failed: bool = False
    trial: bool = False


def at_site(
    health: SiteHealth, result: ProxyResult, now: float, policy: HealthPolicy, retry_after: float | None = None
) -> SiteHealth:
    """What a result says about the proxy at the site it was used for."""
    if result is ProxyResult.OK:
        halved = health.cooldown / 2
        return replace(health, cooldown=halved if halved >= policy.cooldown else 0.0)
    if result not in (ProxyResult.BLOCKED, ProxyResult.RATE_LIMITED):
        return health
    asked = now + min(retry_after or 0.0, policy.cooldown_max)
    if now < health.rest_until:
        # requests that were under way when the rest began: one incident, one penalty
        return replace(health, rest_until=max(health.rest_until, asked))
    cooldown = min(policy.cooldown_max, max(policy.cooldown, health.cooldown * 2))
    return SiteHealth(cooldown, max(now + cooldown, asked))


def anywhere(health: ProxyHealth, result: ProxyResult, now: float, policy: HealthPolicy) -> ProxyHealth:
    """What a result says about the proxy as such."""
    if result is ProxyResult.AUTH_FAILED:
        return replace(health, auth_failed=True, trial=False)
    if result is not ProxyResult.TRANSPORT_FAILURE:
        if health.trial:
            return ProxyHealth(auth_failed=health.auth_failed)
        return replace(health, failures=0)  # an answer came through; a rest that began goes on to its end
    if now < health.down_until and not health.trial:
        return health  # under way when the rest began, as above
    failures = health.failures + 1
    return replace(health, failures=failures, down_until=now + _failure_rest(failures, policy), trial=False)


def tried(health: ProxyHealth, now: float, policy: HealthPolicy) -> ProxyHealth:
    """A request goes out by the proxy; a dead one is for this request alone until it is known how that went."""
    return replace(health, trial=True, down_until=now + policy.trial) if is_dead(health, policy) else health


def due_first(healths: Mapping[str, ProxyHealth], now: float) -> str | None:
    """Which of the proxies that rest after a failure, and are not being tried, is to be tried first; None: none."""
    resting = [
        (health.down_until, key)
        for key, health in healths.items()
        if health.failures and health.down_until > now and not health.trial and not health.auth_failed
    ]
    return min(resting)[1] if resting else None


def hastened(health: ProxyHealth, now: float, policy: HealthPolicy) -> ProxyHealth:
    """It is tried before its time; that it fails then does not make its rests longer and longer."""
    return replace(health, down_until=now, failures=min(health.failures, policy.dead_after))


def is_dead(health: ProxyHealth, policy: HealthPolicy) -> bool:
    return health.failures >= policy.dead_after


def rest_until(everywhere: ProxyHealth, here: SiteHealth) -> float:
    """When the proxy may be used for the site; infinity for one whose credentials were refused."""
    return math.inf if everywhere.auth_failed else max(everywhere.down_until, here.rest_until)


def _failure_rest(failures: int, policy: HealthPolicy) -> float:
    if failures < policy.dead_after:
        return _doubled(min(policy.failure_rest, policy.cooldown), failures - 1, policy.cooldown)
    return _doubled(policy.probe, failures - policy.dead_after, policy.probe_max)


def _doubled(first: float, times: int, most: float) -> float:
    return float(min(most, first * 2 ** min(times, _MAX_DOUBLINGS)))
