"""The exits of one crawl's site: which is next, by which tier, and what happens when none is left."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from fetchworker.proxies import Ladder, Pause, ProxyResult, Spending, TierPolicy, country_wanted, in_country
from fetchworker.runtime.allowance import Allowance
from fetchworker.runtime.parts import hide_passwords
from fetchworker.signals import egress_back, no_egress
from fetchworker.tasks import end

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from scrapy.signalmanager import SignalManager

    from fetchworker.proxies import Proxy, ProxyManager
    from fetchworker.sites import SiteConfig

logger = logging.getLogger(__name__)

#: seconds that a probe of a paused site may take beyond the site's time limit
_MARGIN = 5.0
#: seconds after which a paused site tries an exit before its time
PROBE = 30.0


class SiteExits:
    """The manager's proxies as one site may use them.

    Stats: ``fetchworker/tier/<site>/<tier>`` counts the requests of each tier, ``escalated/<site>/<tier>`` those that a
    block led there, ``no_egress/<site>`` the pauses.

    Args:
        manager: all proxies.
        config: the site's entry.
        site: its name.
        count: adds to a stat.
        signals: the crawl's.
        spending: what tiers may still cost today; None: anything.
        probe_every: seconds after which a paused site tries an exit before its time.

    Attributes:
        waits: whether requests may wait for an exit. Who has to answer somebody at once sets it to False: then they
            fail with ``PROXY_EXHAUSTED``, and no crawl is ended.
    """

    def __init__(
        self,
        manager: ProxyManager,
        config: SiteConfig,
        *,
        site: str,
        count: Callable[[str], None],
        signals: SignalManager,
        spending: Spending | None = None,
        probe_every: float = PROBE,
    ) -> None:
        self.waits = True
        self._manager = manager
        self._config = config
        self._site = site
        self._count = count
        self._signals = signals
        self._pause = Pause(trial=config.timeout + _MARGIN, every=probe_every)
        self._allowance = Allowance(site, config, spending)
        self._ladder = _ladder(site, config, self._allowance.spending)

    # ── which one ────────────────────────────────────────────────────────────────────────────────────────────────

    def pick(self, tier: str | None = None, country: str | None = None) -> Proxy | None:
        """The next exit for the site, None when there is none.

        Args:
            tier: by this one, or a better one.
            country: in this one and no other (ISO code).
        """
        if self._ladder is None:
            tiers = self._allowance.of(self._manager.all_tiers)
            return self._manager.pick(self._site, tier=tiers, country=country)
        found = (self._manager.pick(self._site, tier=name, country=country) for name in self._ladder.ways(tier))
        return next((proxy for proxy in found if proxy is not None), None)

    def id_of_next(self, tier: str | None = None, country: str | None = None) -> str | None:
        """The id of what :meth:`pick` gives; it keeps the country that was asked for."""
        proxy = self.pick(tier, country)
        if proxy is None:
            return None
        return proxy.id if country_wanted(proxy.id) else in_country(proxy.id, country)

    def serves(self, country: str, tier: str | None = None) -> bool:
        """Whether the site has exits of a country, now or at another time; ``tier``: as of :meth:`pick`."""
        tiers = self._config.proxy_tiers
        if tiers is not None and tier in tiers:
            tiers = tiers[tiers.index(tier) :]
        return self._config.proxy != "none" and self._manager.serves(country, tiers)

    def above(self, tier: str | None = None, country: str | None = None) -> str | None:
        """The tier of the next request's exit when it is above the first one; arguments: as of :meth:`pick`."""
        if self._ladder is None:
            return None
        ways = self._ladder.ways(tier)
        usable = (name for name in ways if self._manager.any_usable(self._site, (name,), country=country))
        name = next(usable, ways[0] if ways else None)
        return name if self._ladder.is_above(name) else None

    def must_leave(self, proxy_id: str) -> bool:
        """Whether a session's exit is gone, of a tier whose budget is spent, or out of use while others are there."""
        proxy = self._manager.get(proxy_id)
        if proxy is None or not self.allows(proxy):
            return True
        if self._config.on_block == "keep" or self._manager.usable(proxy_id, self._site):
            return False
        return self.any_usable(country_wanted(proxy_id))

    def country_of(self, proxy_id: str | None) -> str | None:
        """Where the exit of an identity is, as far as it is known."""
        proxy = self._manager.get(proxy_id) if proxy_id is not None else None
        return country_wanted(proxy_id) or (proxy.country if proxy is not None else None)

    def allows(self, proxy: Proxy) -> bool:
        """Whether the budget of bytes lets a request go by the proxy now."""
        return self._allowance.allows(proxy.tier)

    @property
    def used_up(self) -> bool:
        """Whether the budget of bytes closes all tiers that there are, and nothing may go out without a proxy."""
        return self._allowance.used_up(self._manager.all_tiers)

    def rest_of(self, proxy: Proxy) -> float | None:
        """Seconds that a session rests which must leave this exit and may have it again; None: not known."""
        return (self.next_in() or None) if self.allows(proxy) else self._allowance.back_in()

    def any_usable(self, country: str | None = None) -> bool:
        """Whether there is an exit (in the country) to go by now."""
        return self._manager.any_usable(self._site, self._tiers(), country=country)

    def standing(self, country: str | None = None) -> str:
        """How the proxies stand, for an error."""
        soon = self.next_in(country)
        return f"{len(self._manager)} configured" + ("" if soon is None else f", the next in {soon:.0f} s")

    def next_in(self, country: str | None = None) -> float | None:
        """Seconds until a resting exit (in the country) may be used again; None when waiting does not help."""
        return self._manager.next_available_in(self._site, self._tiers(), country=country)

    def _tiers(self) -> Collection[str | None] | None:
        return self._allowance.of(self._manager.all_tiers) if self._ladder is None else self._ladder.ways()

    # ── how it went ──────────────────────────────────────────────────────────────────────────────────────────────

    def report(self, proxy: Proxy, result: ProxyResult, *, retry_after: float | None = None) -> None:
        """Tell how a try through a proxy ended, and how many seconds the site asked to wait."""
        self._manager.report(proxy.id, self._site, result, retry_after=retry_after)
        self._count(f"proxy/{proxy.label}/{result.value}")
        if proxy.tier:
            self._count(f"tier/{self._site}/{proxy.tier}")
        if self._ladder is not None:
            self._ladder.used(proxy.tier)
            if result is ProxyResult.OK:
                self._ladder.passed(proxy.tier)
        self.told(result)

    def told(self, result: ProxyResult) -> None:
        """An exit led to an answer, or did not."""
        lasted = self._pause.lasts
        if self._pause.told(result):
            logger.warning("egress_back site=%s: an answer came through after %.0f s, it goes on", self._site, lasted)
            self._signals.send_catch_log(egress_back, site=self._site)

    def blocked(self, proxy: Proxy, evidence: Sequence[str]) -> str | None:
        """An answer through the proxy was a block; the tier by which to try again at once, if there is a better one."""
        return None if self._ladder is None else self._ladder.blocked(proxy.tier, evidence)

    def escalated(self, tier: str) -> None:
        """A request is tried again by a better tier."""
        self._count(f"escalated/{self._site}/{tier}")

    # ── when none is left ────────────────────────────────────────────────────────────────────────────────────────

    @property
    def needed(self) -> bool:
        """Whether requests wait for an exit rather than go out without one or fail."""
        return self.waits and self._config.proxy == "required" and (len(self._manager) > 0 or self._manager.watches)

    @property
    def hopeless(self) -> bool:
        """Whether no exit will come back, however long one waits."""
        return self.next_in() is None and not self._manager.watches

    @property
    def paused_for(self) -> float:
        """Seconds that the site has been paused; 0 when it is not."""
        return self._pause.lasts

    def ask(self) -> bool:
        """Whether a request may go out now; begins the pause, with its one alert, when no exit is left."""
        tiers, times = self._tiers(), self._pause.times
        usable = self.any_usable()
        if not usable and self._pause.due():
            usable = self._manager.hasten(self._site, tiers)
        failing = not usable and self._manager.failing(tiers)
        answer = self._pause.ask(usable=usable, serious=usable or self._serious(), failing=failing)
        if self._pause.times > times:
            self._alert()
        return answer == "go"

    def _serious(self) -> bool:
        soon = self.next_in()
        return soon is None or soon > self._config.backoff.max or not self._manager.alive(self._tiers())

    def _alert(self) -> None:
        self._count(f"no_egress/{self._site}")
        soon = self.next_in()
        if soon is not None and self._manager.failing(self._tiers()):
            soon = min(soon, self._pause.every)
        outlook = _outlook(soon, watches=self._manager.watches)
        logger.error("no_egress site=%s: none of %d proxies can be used (%s)", self._site, len(self._manager), outlook)
        self._signals.send_catch_log(no_egress, site=self._site)


def _outlook(soon: float | None, *, watches: bool) -> str:
    """What becomes of a site without an exit; ``soon``: seconds until one is tried."""
    if soon is not None:
        return f"the next is tried in {soon:.0f} s; the site is paused and goes on by itself when one is back"
    if watches:
        return "none will be by itself; the site is paused until the proxy file is changed"
    return "none will be by itself; correct the list or the account with the provider, then start again"


def _ladder(site: str, config: SiteConfig, spending: Spending | None) -> Ladder | None:
    if config.proxy_tiers is None:
        return None
    policy = TierPolicy(config.proxy_tiers, requests=config.tier_requests, cooldown=config.tier_cooldown)
    return Ladder(site, policy, spending=spending)


class ListWatch:
    """Reads the proxy file again when it was changed, in a thread.

    Args:
        manager: whose list it is.
        every: seconds between two looks; 0: never.
    """

    def __init__(self, manager: ProxyManager, every: float) -> None:
        self._manager = manager
        self._every = every
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look."""
        if self._every and self._manager.watches:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """End."""
        await end(self._task)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            found = await asyncio.to_thread(self._manager.look)
            if found is not None:
                hide_passwords(found)
                self._manager.reload(found)
