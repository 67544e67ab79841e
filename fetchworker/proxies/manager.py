"""The proxies of a process: which one is next for a site, and what became of those that were used."""

from __future__ import annotations

import logging
import math
import time
from collections import OrderedDict
from dataclasses import replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, Self

from fetchworker.errors import ProxyConfigError
from fetchworker.proxies.exits import Exits, entry_id, exit_id, keeps_country, serves
from fetchworker.proxies.gateway import ExitId
from fetchworker.proxies.health import (
    Breaker,
    HealthPolicy,
    ProxyHealth,
    ProxyResult,
    RecentBlocks,
    anywhere,
    at_site,
    due_first,
    for_gateway,
    hastened,
    is_dead,
    rest_until,
    tried,
    with_cooldown,
)
from fetchworker.proxies.parse import WatchedFile, parse_proxies, proxy_file
from fetchworker.proxies.product import NO_ACCOUNTS, Accounts
from fetchworker.proxies.rotation import Rotation
from fetchworker.proxies.sitestate import FRESH_AT_SITE, SiteState, Which
from fetchworker.proxies.telling import describe, log_change

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from fetchworker.proxies.base import Proxy
    from fetchworker.proxies.sitestate import Tier

logger = logging.getLogger(__name__)

#: sites whose state is kept; beyond it the one longest unused goes, first of those where no proxy rests
MAX_SITES = 256

_FRESH = ProxyHealth()


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
        accounts: credentials of providers, for entries of the file that have none of their own.
        clock: seconds, never going back.
        wall: POSIX seconds, by which the exits of gateways grow old.
        rng: the order in which unused proxies are taken, so that processes do not all begin with the same one.

    Attributes:
        all_tiers: as ``tiers``, with None where there is a proxy without one.
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
        accounts: Accounts = NO_ACCOUNTS,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        rng: Random | None = None,
    ) -> None:
        self._policy = with_cooldown(policy or HealthPolicy(), cooldown, cooldown_max)
        self._gateway_policy = for_gateway(self._policy)
        self._breaker = breaker or Breaker()
        self._clock = clock
        self._rng = rng or Random()  # noqa: S311 (an order, no secret)
        self._proxies = {proxy.id: proxy for proxy in proxies}
        self.all_tiers = frozenset(proxy.tier for proxy in self._proxies.values())
        self._health: dict[str, ProxyHealth] = {}  # only proxies of which something is known
        self._sites: OrderedDict[str, SiteState] = OrderedDict()  # the longest unused first
        self._file = file
        self._accounts = accounts
        self._exits = Exits(wall)

    @classmethod
    def from_source(cls, value: object, *, source: str, accounts: Accounts = NO_ACCOUNTS, **options: Any) -> Self:
        """A manager of what :func:`parse_proxies` makes of ``value``; if that names a file, the file is watched."""
        path = proxy_file(value)
        watched = WatchedFile(path) if path else None  # before the file is read, so that no change falls between
        proxies = parse_proxies(value, source=source, accounts=accounts)
        return cls(proxies, file=watched, accounts=accounts, **options)

    @property
    def watches(self) -> bool:
        """Whether the list comes from a file that may be changed."""
        return self._file is not None

    @property
    def tiers(self) -> frozenset[str]:
        """The tiers of which there is a proxy."""
        return frozenset(tier for tier in self.all_tiers if tier)

    def __iter__(self) -> Iterator[Proxy]:
        return iter(self._proxies.values())

    def __len__(self) -> int:
        return len(self._proxies)

    def get(self, proxy_id: str) -> Proxy | None:
        """The proxy of this id, however it fares; None once it has left the list or its provider has given it up."""
        told = ExitId.read(proxy_id)
        entry = self._proxies.get(entry_id(proxy_id))
        if entry is None or not keeps_country(proxy_id, entry):
            return None
        return self._exits.get(told, entry) if told else entry

    def pick(
        self, site: str, *, exclude: Collection[str] = frozenset(), tier: Tier = None, country: str | None = None
    ) -> Proxy | None:
        """The proxy longest unused at the site, of those that may be used there now; None if there is none.

        A gateway gives an exit that nobody has yet. ``exclude`` holds ids that this request must not have (again),
        ``tier`` the only tier or tiers that will do, ``country`` (ISO code) the only country. A dead proxy that is due
        is handed out once, to find out.
        """
        now = self._clock()
        chosen = self._rotation(site, Which(tier, country)).take(now, exclude)
        if chosen is None:
            return None
        entry = self._proxies[chosen]
        if chosen in self._health:
            self._health[chosen] = tried(self._health[chosen], now, self._policy_of(entry))
        return self._exits.fresh(entry, country) if entry.gateway else entry

    def usable(self, proxy_id: str, site: str) -> bool:
        """Whether a proxy that a session holds may be used for the site now."""
        return self.get(proxy_id) is not None and self._rest_until(proxy_id, site) <= self._clock()

    def rests_for(self, proxy_id: str, site: str) -> float:
        """Seconds until a proxy may be used for the site: 0 if it may be now, infinity if waiting will not help."""
        return max(0.0, self._rest_until(proxy_id, site) - self._clock())

    def any_usable(self, site: str, tiers: Collection[str | None] | None = None, *, country: str | None = None) -> bool:
        """Whether a proxy (of these tiers, for that country) may be used for the site now; stops at the first."""
        now = self._clock()
        return any(self._rest_until(key, site) <= now for key in self._of(tiers, country))

    def report(self, proxy_id: str, site: str, result: ProxyResult, *, retry_after: float | None = None) -> None:
        """Tell how a request through a proxy went. An id that has left the list is ignored.

        ``retry_after``: seconds the site asked for, with ``blocked`` or ``rate_limited``; at most ``cooldown_max`` of
        them are kept.
        """
        entry = self._proxies.get(entry_id(proxy_id))
        if entry is None:
            return
        now, state, result = self._clock(), self._site(site), ProxyResult(result)
        before, policy = self._health.get(entry.id, _FRESH), self._policy_of(entry)
        after = self._health[entry.id] = anywhere(before, result, now, policy)
        log_change(entry, before, after, policy)
        if before.trial and after.down_until <= now:
            self._look_again()
        here = at_site(state.at(proxy_id), result, now, self._policy, retry_after)
        state.note(proxy_id, here, of_gateway=entry.gateway is not None)
        if result in (ProxyResult.OK, ProxyResult.BLOCKED):
            state.recent.record(proxy_id, blocked=result is ProxyResult.BLOCKED, now=now)
            self._watch_rule(site, state, now)

    def hasten(self, site: str, tiers: Collection[str | None] | None = None) -> bool:
        """Have the failed proxy (of these tiers) that is to be tried first be tried now; whether there is one."""
        now, state = self._clock(), self._site(site)
        waiting = {key: self._health[key] for key in self._of(tiers) if key in self._health}
        chosen = due_first({key: health for key, health in waiting.items() if state.at(key).rest_until <= now}, now)
        if chosen is None:
            return False
        self._health[chosen] = hastened(waiting[chosen], now, self._policy)
        self._look_again()
        return True

    def failing(self, tiers: Collection[str | None] | None = None) -> bool:
        """Whether every proxy (of these tiers) failed at its last use, or refuses our credentials."""
        known = (self._health.get(key, _FRESH) for key in self._of(tiers))
        return all(health.auth_failed or health.failures for health in known)

    def alive(self, tiers: Collection[str | None] | None = None) -> bool:
        """Whether any proxy (of these tiers) is neither dead nor refuses our credentials; it may rest."""
        known = (self._health.get(key, _FRESH) for key in self._of(tiers))
        return any(not health.auth_failed and not is_dead(health, self._policy) for health in known)

    def available(self, site: str, tiers: Collection[str | None] | None = None) -> int:
        """How many proxies (of these tiers) may be used for the site now. Looks at all of them."""
        now = self._clock()
        return sum(self._rest_until(proxy_id, site) <= now for proxy_id in self._of(tiers))

    def serves(self, country: str, tiers: Collection[str | None] | None = None) -> bool:
        """Whether there is a proxy (of these tiers) that gives exits of the country, however it fares."""
        return next(iter(self._of(tiers, country)), None) is not None

    def next_available_in(
        self, site: str, tiers: Collection[str | None] | None = None, *, country: str | None = None
    ) -> float | None:
        """Seconds until a proxy may be used for the site: 0.0 if one may be now, None if waiting will not help."""
        soonest = min((self._rest_until(proxy_id, site) for proxy_id in self._of(tiers, country)), default=math.inf)
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
        self.all_tiers = frozenset(proxy.tier for proxy in new.values())
        self._exits.forget()
        self._health = {key: replace(health, auth_failed=False) for key, health in self._health.items() if key in stay}
        for state in self._sites.values():
            state.health = {key: health for key, health in state.health.items() if key in stay}
            state.recent.keep(stay)
            for which, rotation in state.rotations.items():
                rotation.replace(self._ids(which))

    def reload_if_changed(self) -> bool:
        """Reload if the watched file is another than at the last look; True if it was. Cheap when nothing changed.

        A file that cannot be read or is wrong leaves the list as it is, and is logged as an error once.
        """
        found = self.look()
        if found is None:
            return False
        self.reload(found)
        return True

    def look(self) -> list[Proxy] | None:
        """The proxies of the watched file, for :meth:`reload`, if it is another than at the last look.

        Reads the file and changes nothing of the list, so that a thread may do it.
        """
        if self._file is None or not self._file.changed():
            return None
        try:
            return parse_proxies(self._file.path, source="proxy file", accounts=self._accounts)
        except ProxyConfigError as error:
            logger.error("proxies_reload_failed the old list stays: %s", error)  # noqa: TRY400 (a user's slip)
            return None

    def snapshot(self) -> dict[str, Any]:
        """The state for stats and the doctor command: plain JSON values, labels and ids, no credentials."""
        now = self._clock()
        return {
            "total": len(self._proxies),
            "proxies": [describe(proxy, self._of_proxy(proxy), now, self._policy) for proxy in self],
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
        here = state.at(exit_id(proxy_id)) if state else FRESH_AT_SITE
        return rest_until(self._health.get(entry_id(proxy_id), _FRESH), here)

    def _of(self, tiers: Collection[str | None] | None, country: str | None = None) -> Iterable[str]:
        if tiers is None and country is None:
            return self._proxies
        return (
            key
            for key, proxy in self._proxies.items()
            if (tiers is None or proxy.tier in tiers) and serves(proxy, country)
        )

    def _ids(self, which: Which) -> Iterable[str]:
        return self._of((which.tier,) if isinstance(which.tier, str) else which.tier, which.country)

    def _of_proxy(self, proxy: Proxy) -> ProxyHealth:
        return self._health.get(proxy.id, _FRESH)

    def _policy_of(self, entry: Proxy) -> HealthPolicy:
        return self._gateway_policy if entry.gateway else self._policy

    def _rotation(self, site: str, which: Which) -> Rotation:
        state = self._site(site)
        found = state.rotations.get(which)
        if found is None:
            rest = partial(self._rest_until, site=site)
            found = state.rotations[which] = Rotation(self._ids(which), rest_until=rest, rng=self._rng)
        return found

    def _look_again(self) -> None:
        """A rest ended before its time, which rotations do not see by themselves."""
        for state in self._sites.values():
            for which, rotation in state.rotations.items():
                rotation.replace(self._ids(which))

    def _site(self, site: str) -> SiteState:
        state = self._sites.get(site)
        if state is None:
            self._forget_a_site()
            state = self._sites[site] = SiteState(RecentBlocks(self._breaker.window))
        self._sites.move_to_end(site)
        return state

    def _forget_a_site(self) -> None:
        if len(self._sites) < MAX_SITES:
            return
        now = self._clock()
        idle = (name for name, state in self._sites.items() if all(h.rest_until <= now for h in state.health.values()))
        del self._sites[next(idle, next(iter(self._sites)))]

    def _watch_rule(self, site: str, state: SiteState, now: float) -> bool:
        tried, blocked = state.recent.counts(now)
        was_suspect, state.suspect = state.suspect, self._breaker.trips(tried, blocked)
        if state.suspect and not was_suspect:
            logger.error(
                "proxy_rule_suspect site=%s blocked=%d tried=%d: nearly every proxy is judged blocked, "
                "so look whether the rule is wrong before more proxies rest", site, blocked, tried,
            )  # fmt: skip
        return state.suspect
