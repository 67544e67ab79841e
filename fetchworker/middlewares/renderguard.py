"""What keeps browser steps from becoming a loop, or a crowd: limits per request, site and identity."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import math
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from fetchworker.browser.program import find_program
from fetchworker.download.browsersettings import engine_options
from fetchworker.download.profiles import get_profile
from fetchworker.errors import ConfigError
from fetchworker.tasks import end

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from scrapy.settings import BaseSettings

    from fetchworker.config import Environment
    from fetchworker.download.wire import Wire
    from fetchworker.pace import Waits
    from fetchworker.runtime import Runtime

logger = logging.getLogger(__name__)

#: steps of a request, whatever its identities
MOST = 2
#: failed steps of a site in a row, and the seconds for which it has none after them
FAILURES, PAUSE = 5, 600.0
#: identities whose last step is remembered
_KNOWN = 2000
#: seconds that requests of a session wait for its step
_LONGEST = 120.0


def check_browser(settings: BaseSettings, environment: Environment, *, site: str, profile: str) -> None:
    """See that a browser can load the site's pages.

    Args:
        settings: Scrapy's.
        environment: the configuration.
        site: its name.
        profile: whom its sessions are to look like.

    Raises:
        ConfigError: what is missing, or contradicts it.
    """
    if importlib.util.find_spec("playwright") is None:
        raise ConfigError("pages need a browser, and playwright is not installed: see `scrapy doctor`")
    try:
        find_program(engine_options(settings, environment).program)
    except ConfigError as exc:
        raise ConfigError(f"{exc.message} (`scrapy doctor` says what is there)") from exc
    known = get_profile(profile)
    if known.family != "chromium":
        raise ConfigError(
            f"the profile {known.name} is no Chromium, and the browser is one: choose a chrome profile for "
            f"{site}, or no browser (render: never, pool.via: http)"
        )


class Guard:
    """Whether a site may have a step now. ``clock``: seconds, monotonic."""

    def __init__(self, runtime: Runtime, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._runtime = runtime
        self._clock = clock
        self._failures = 0
        self._closed_until = -math.inf
        self._usable: bool | None = None

    def allows(self, identity: str | None, before: Collection[str]) -> bool:
        """Whether one more step may be made.

        Args:
            identity: whose it would be; None where it may be that of one that had a step.
            before: the identities that had one for the same request.
        """
        return identity not in before and len(before) < MOST and not self.paused

    @property
    def paused(self) -> bool:
        """Whether too many steps in a row have failed a while ago."""
        return self._clock() < self._closed_until

    def check(self, settings: BaseSettings) -> None:
        """Raise ConfigError where the site's pages cannot be given to a browser."""
        runtime = self._runtime
        check_browser(settings, runtime.environment, site=runtime.site, profile=runtime.profile)

    def can(self, wire: Wire, settings: BaseSettings) -> bool:
        """Whether there is a browser for this identity; one warning where there is none."""
        if self._usable is None:
            try:
                self.check(settings)
                self._usable = True
            except ConfigError as exc:
                self._usable = False
                logger.warning("%s: no page is given to a browser: %s", self._runtime.site, exc.message)
        return self._usable and get_profile(wire.session.profile).family == "chromium"

    def told(self, *, good: bool) -> None:
        """How a step ended."""
        self._failures = 0 if good else self._failures + 1
        if self._failures < FAILURES:
            return
        self._failures, self._closed_until = 0, self._clock() + PAUSE
        self._runtime.count(f"render_paused/{self._runtime.site}")
        logger.warning(
            "%s: %d browser steps in a row failed; there are none for %d minutes",
            self._runtime.site, FAILURES, PAUSE // 60,
        )  # fmt: skip


class Standing:
    """The steps against challenges that are under way, and when identities had their last good one.

    A session that has passed a challenge has passed it for all its requests: it needs one step, not one each.
    """

    def __init__(self, waits: Waits) -> None:
        self._waits = waits
        self._flights: dict[str, asyncio.Event] = {}
        self._solved: OrderedDict[str, float] = OrderedDict()

    def begins(self, identity: str) -> None:
        """A step is under way."""
        self._flights.setdefault(identity, asyncio.Event())

    def landed(self, identity: str, *, good: bool) -> None:
        """It is over."""
        flight = self._flights.pop(identity, None)
        if flight is not None:
            flight.set()
        if good:
            self._solved[identity] = time.monotonic()
            self._solved.move_to_end(identity)
            while len(self._solved) > _KNOWN:
                self._solved.popitem(last=False)

    async def solved(self, identity: str, *, since: float) -> bool:
        """Whether another request's step went well since this one was sent; one that is under way is waited for."""
        flight = self._flights.get(identity)
        if flight is not None and not await self._over(flight) and self._flights.get(identity) is flight:
            del self._flights[identity]  # its request was dropped
        return self._solved.get(identity, -1.0) >= since

    async def _over(self, flight: asyncio.Event) -> bool:
        """Wait as all do that are between two tries: the crawl may end, and other requests are taken meanwhile."""
        landed, patience = asyncio.ensure_future(_landing(flight)), asyncio.ensure_future(self._waits.sleep(_LONGEST))
        try:
            await asyncio.wait((landed, patience), return_when=asyncio.FIRST_COMPLETED)
        finally:
            await end(landed, patience)
        return flight.is_set()


async def _landing(flight: asyncio.Event) -> None:
    await flight.wait()
