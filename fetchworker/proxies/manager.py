"""The proxies of a process: which one is next for a site, and what became of those that were used."""

from __future__ import annotations

import logging
import math
import time
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any, Self

from fetchworker.errors import ConfigError, ProxyConfigError
from fetchworker.proxies.health import (
    Breaker,
    HealthPolicy,
    ProxyHealth,
    ProxyResult,
    RecentBlocks,
    SiteHealth,
    anywhere,
    at_site,
    is_dead,
    rest_until,
)
from fetchworker.proxies.parse import WatchedFile, parse_proxies, proxy_file
from fetchworker.proxies.rotation import Rotation

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from fetchworker.proxies.base import Proxy

logger = logging.getLogger(__name__)

#: sites whose state is kept; beyond it the one longest unused goes, first of those where no proxy rests
MAX_SITES = 256

_FRESH = ProxyHealth()
_FRESH_AT_SITE = SiteHealth()


@dataclass(slots=True)
class _Site:
    rotation: Rotation
    recent: RecentBlocks
    health: dict[str, SiteHealth] = field(default_factory=dict)  # only proxies that rest or have rested
    suspect: bool = False


class ProxyManager:
    """Hands out proxies and lets those rest that fail.

    ``site`` is any stable name; a proxy that rests for one site serves the others. For use by one event loop; it
    does no I/O but for :meth:`reload_if_changed`.

    Args:
        proxies: may be empty: then nothing is ever handed out.
        cooldown: seconds that a proxy rests for a site after its first block there; doubles with each further one.
        cooldown_max: the longest such rest, in seconds.
        policy: all rules of resting; ``cooldown`` and ``cooldown_max``, where given, replace its own.
        breaker: when a rule that finds blocks becomes suspect.
        file: a proxy file to watch, see :meth:`reload_if_changed`.
        clock: seconds, never going back.
        rng: the order in which unused proxies are taken, so that processes do not all begin with the same one.
    """

    def __init__(
        self,
        proxies: Iterable[Proxy],
        *,
        cooldown: float | None = None,
        cooldown_max: float | None = None,
        policy: HealthPolicy | None = None,
        breaker: Breaker | None = None,
        file: WatchedFile | None = None,
        clock: Callable[[], float] = time.monotonic,
        rng: Random | None = None,
    ) -> None:
        self._policy = _policy(policy or HealthPolicy(), cooldown, cooldown_max)
        self._breaker = breaker or Breaker()
        self._clock = clock
        self._rng = rng or Random()  # noqa: S311 (an order, no secret)
        self._proxies = {proxy.id: proxy for proxy in proxies}
        self._health: dict[str, ProxyHealth] = {}  # only proxies of which something is known
        self._sites: OrderedDict[str, _Site] = OrderedDict()  # the longest unused first
        self._file = file

    @classmethod
    def from_source(cls, value: object, *, source: str, **options: Any) -> Self:
        """A manager of what :func:`parse_proxies` makes of ``value``; if that names a file, the file is watched."""
        path = proxy_file(value)
        watched = WatchedFile(path) if path else None  # before the file is read, so that no change falls between
        return cls(parse_proxies(value, source=source), file=watched, **options)

    def __iter__(self) -> Iterator[Proxy]:
        return iter(self._proxies.values())

    def __len__(self) -> int:
        return len(self._proxies)

    def get(self, proxy_id: str) -> Proxy | None:
        """The proxy of this id, however it fares; None once it has left the list."""
        return self._proxies.get(proxy_id)

    def pick(self, site: str, *, exclude: Collection[str] = frozenset()) -> Proxy | None:
        """The proxy longest unused at the site, of those that may be used there now; None if there is none.

        ``exclude`` holds ids that this request must not have (again).
        """
        chosen = self._site(site).rotation.take(self._clock(), exclude)
        return None if chosen is None else self._proxies[chosen]

    def usable(self, proxy_id: str, site: str) -> bool:
        """Whether a proxy that a session holds may be used for the site now."""
        return proxy_id in self._proxies and self._rest_until(proxy_id, site) <= self._clock()

    def report(self, proxy_id: str, site: str, result: ProxyResult, *, retry_after: float | None = None) -> None:
        """Tell how a request through a proxy went. An id that has left the list is ignored.

        ``retry_after``: seconds the site asked for, with ``blocked`` or ``rate_limited``; at most ``cooldown_max`` of
        them are kept.
        """
        proxy = self._proxies.get(proxy_id)
        if proxy is None:
            return
        now, state, result = self._clock(), self._site(site), ProxyResult(result)
        before = self._health.get(proxy_id, _FRESH)
        after = self._health[proxy_id] = anywhere(before, result, now, self._policy)
        self._log_change(proxy, before, after)
        here = state.health.get(proxy_id, _FRESH_AT_SITE)
        state.health[proxy_id] = at_site(here, result, now, self._policy, retry_after)
        if result in (ProxyResult.OK, ProxyResult.BLOCKED):
            state.recent.record(proxy_id, blocked=result is ProxyResult.BLOCKED, now=now)
            self._watch_rule(site, state, now)

    def available(self, site: str) -> int:
        """How many proxies may be used for the site now. Looks at all of them."""
        now = self._clock()
        return sum(self._rest_until(proxy_id, site) <= now for proxy_id in self._proxies)

    def next_available_in(self, site: str) -> float | None:
        """Seconds until a proxy may be used for the site: 0.0 if one may be now, None if waiting will not help."""
        soonest = min((self._rest_until(proxy_id, site) for proxy_id in self._proxies), default=math.inf)
        return None if math.isinf(soonest) and soonest > 0 else max(0.0, soonest - self._clock())

    def suspect_rule(self, site: str) -> bool:
        """Whether so many proxies were blocked at the site of late that the rule which finds blocks may be wrong."""
        state = self._sites.get(site)
        return state is not None and self._watch_rule(site, state, self._clock())

    def reload(self, proxies: Iterable[Proxy]) -> None:
        """Put this list in place of the old one.

        Those that stay keep their rests and their turn. Refused credentials get another chance, as a reload is how an
        operator says that something was mended.
        """
        new = {proxy.id: proxy for proxy in proxies}
        stay = {key for key, proxy in new.items() if key in self._proxies and proxy.same_endpoint(self._proxies[key])}
        logger.info("proxies_reloaded total=%d new=%d gone=%d", len(new), len(new) - len(stay), len(self) - len(stay))
        self._proxies = new
        self._health = {key: replace(health, auth_failed=False) for key, health in self._health.items() if key in stay}
        for state in self._sites.values():
            state.health = {key: health for key, health in state.health.items() if key in stay}
            state.recent.keep(stay)
            state.rotation.replace(new)

    def reload_if_changed(self) -> bool:
        """Reload if the watched file is another than at the last look; True if it was. Cheap when nothing changed.

        A file that cannot be read or is wrong leaves the list as it is, and is logged as an error once.
        """
        if self._file is None or not self._file.changed():
            return False
        try:
            proxies = parse_proxies(self._file.path, source="proxy file")
        except ProxyConfigError as error:
            logger.error("proxies_reload_failed the old list stays: %s", error)  # noqa: TRY400 (a user's slip)
            return False
        self.reload(proxies)
        return True

    def snapshot(self) -> dict[str, Any]:
        """The state for stats and the doctor command: plain JSON values, labels and ids, no credentials."""
        now = self._clock()
        return {
            "total": len(self._proxies),
            "proxies": [self._describe(proxy, now) for proxy in self._proxies.values()],
            "sites": {
                site: {
                    "available": self.available(site),
                    "next_available_in": self.next_available_in(site),
                    "suspect_rule": self.suspect_rule(site),
                }
                for site in self._sites
            },
        }

    def _rest_until(self, proxy_id: str, site: str) -> float:
        state = self._sites.get(site)
        here = state.health.get(proxy_id, _FRESH_AT_SITE) if state else _FRESH_AT_SITE
        return rest_until(self._health.get(proxy_id, _FRESH), here)

    def _site(self, site: str) -> _Site:
        state = self._sites.get(site)
        if state is None:
            self._forget_a_site()
            rotation = Rotation(self._proxies, rest_until=lambda key: self._rest_until(key, site), rng=self._rng)
            state = self._sites[site] = _Site(rotation, RecentBlocks(self._breaker.window))
        self._sites.move_to_end(site)
        return state

    def _forget_a_site(self) -> None:
        if len(self._sites) < MAX_SITES:
            return
        now = self._clock()
        idle = (name for name, state in self._sites.items() if all(h.rest_until <= now for h in state.health.values()))
        del self._sites[next(idle, next(iter(self._sites)))]

    def _watch_rule(self, site: str, state: _Site, now: float) -> bool:
        tried, blocked = state.recent.counts(now)
        was_suspect, state.suspect = state.suspect, self._breaker.trips(tried, blocked)
        if state.suspect and not was_suspect:
            logger.error(
                "proxy_rule_suspect site=%s blocked=%d tried=%d: nearly every proxy is judged blocked, "
                "so look whether the rule is wrong before more proxies rest",
                site,
                blocked,
                tried,
            )
        return state.suspect

    def _log_change(self, proxy: Proxy, before: ProxyHealth, after: ProxyHealth) -> None:
        if after.auth_failed and not before.auth_failed:
            logger.error(
                "proxy_auth_failed proxy=%s id=%s: it refused the credentials (407) and is left out until the list is "
                "reloaded",
                proxy.label,
                proxy.id,
            )
        if is_dead(after, self._policy) and not is_dead(before, self._policy):
            logger.warning(
                "proxy_dead proxy=%s id=%s failures=%d next_try_in=%.0fs",
                proxy.label,
                proxy.id,
                after.failures,
                self._policy.probe,
            )

    def _describe(self, proxy: Proxy, now: float) -> dict[str, Any]:
        health = self._health.get(proxy.id, _FRESH)
        down = health.down_until > now
        state = "resting" if down else "ok"
        if down and is_dead(health, self._policy):
            state = "dead"
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


def _policy(policy: HealthPolicy, cooldown: float | None, cooldown_max: float | None) -> HealthPolicy:
    if cooldown is not None:
        policy = replace(policy, cooldown=cooldown)
    if cooldown_max is not None:
        policy = replace(policy, cooldown_max=cooldown_max)
    if not 0 <= policy.cooldown <= policy.cooldown_max < math.inf:
        raise ConfigError(
            f"proxy cooldown {policy.cooldown:g} s must lie between 0 and cooldown_max, {policy.cooldown_max:g} s"
        )
    return policy
