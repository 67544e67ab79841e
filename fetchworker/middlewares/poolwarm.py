"""Keeps sessions of the pool ready: made in the background, and warmed up by the site's warm-up pages.

Stats: ``fetchworker/pool/<site>/warmed`` and ``…/warmup_failed``; ``…/made`` where the site has no warm-up page.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest

from fetchworker.contracts import Fetch
from fetchworker.download.charging import MINT
from fetchworker.errors import ConfigError, FetchworkerError, SessionExhaustedError
from fetchworker.exports.ending import close
from fetchworker.middlewares.outcome import RETRIED
from fetchworker.middlewares.pooled import KEEPS
from fetchworker.runtime.failures import line_of
from fetchworker.sessions.poolkeys import MAIN
from fetchworker.tasks import end, within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from scrapy.crawler import Crawler

    from fetchworker.runtime import Runtime
    from fetchworker.sites import SiteConfig

logger = logging.getLogger(__name__)

#: the finish reason of a crawl whose pool others use by other numbers
CONFLICT = "pool_conflict"
#: seconds between two looks at how many sessions are ready
LOOK = 5.0
#: seconds after the first warm-up that failed; doubled for each further one in a row, up to the last
_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 600.0
#: seconds that a warm-up has to end when the crawl does
_LAST = 30.0
_FAILURES = (FetchworkerError, IgnoreRequest, *RETRIED)


def pause_after(failures: int) -> float:
    """Seconds to wait after so many warm-ups in a row have failed (pure)."""
    return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(failures - 1, 30)) if failures else 0.0


class PoolWarmer:
    """The background task of one crawl.

    Args:
        crawler: the crawl's.
        runtime: the same crawl's.
        minting: a browser makes the visits, whatever the pool's ``via`` says.
        url: what is visited instead of the site's warm-up pages.

    Attributes:
        problem: why the last warm-up that failed did so, in one line.
    """

    problem = ""

    def __init__(self, crawler: Crawler, runtime: Runtime, *, minting: bool = False, url: str | None = None) -> None:
        self._crawler = crawler
        self._runtime = runtime
        self._minting = minting or (runtime.config.pool is not None and runtime.config.pool.via == "browser")
        self._url = url
        self._task: asyncio.Task[None] | None = None
        self._failures = 0
        operations = getattr(crawler.spidercls, "operations", {}).values()
        self._jars = sorted({operation.jar for operation in operations}) or [MAIN]

    def watch(self) -> None:
        """Begin when the crawl does, and end with it."""
        self._crawler.signals.connect(self._opened, signals.spider_opened)
        self._crawler.signals.connect(self._closed, signals.spider_closed)

    async def _opened(self) -> None:
        try:
            await self._runtime.leases.open()
        except ConfigError as exc:
            logger.error("%s: the crawl ends", exc)  # noqa: TRY400  # no bug of ours
            close(self._crawler, CONFLICT)
            return
        except FetchworkerError as exc:
            logger.warning("the pool is not open yet: %s", exc)
        if self._runtime.leases.terms.min_idle:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _closed(self) -> None:
        await within(_LAST, end(self._task), "warm-ups")

    async def _run(self) -> None:
        while True:
            made = False
            for jar in self._jars:
                with suppress(FetchworkerError):  # Redis is away: the requests tell
                    made = await self._fill(jar) or made
            await asyncio.sleep(pause_after(self._failures) or (0 if made else LOOK))

    async def _fill(self, jar: str) -> bool:
        """Make one session where there are too few; whether that went well."""
        leases, terms = self._runtime.leases, self._runtime.leases.terms
        counts = await (await leases.open()).counts(jar)
        if counts.idle + counts.resting >= terms.min_idle or counts.total >= terms.max_total:
            return False
        try:
            return await self.warm(jar) is not None
        except SessionExhaustedError:  # all that may be in use at once are
            return False

    async def warm(self, jar: str) -> str | None:
        """Make one session and warm it up: its name, None where that went wrong and it was dropped.

        Raises:
            SessionExhaustedError: there may be no more sessions.
        """
        runtime, owner = self._runtime, f"warm.{secrets.token_hex(8)}"
        hold = await runtime.leases.take(jar, owner, fresh="new", wait=0, patient=False)
        hold.users += 1
        good = False
        try:
            good = await self.visited(hold.lease.session_id)
        finally:
            hold.users = max(0, hold.users - 1)
            await asyncio.shield(self._done(owner, good=good))
        return hold.lease.session_id if good else None

    async def _done(self, owner: str, *, good: bool) -> None:
        runtime = self._runtime
        done = "warmed" if self.visits else "made"
        runtime.count(f"pool/{runtime.site}/{done if good else 'warmup_failed'}")
        self._failures = 0 if good else self._failures + 1
        if good:
            await runtime.leases.release(owner)
        else:
            await runtime.leases.quarantine(owner, "its warm-up failed", seconds=0)

    async def visited(self, name: str, *, keeps: bool = False) -> bool:
        """Make the visits of a warm-up, and tell whether that went well; without them one is stored.

        Args:
            name: the session's.
            keeps: it goes on with the identity that it has, or not at all.
        """
        runtime = self._runtime
        try:
            fetches = self._visits()
            for fetch in fetches:
                assert self._crawler.engine is not None
                request = visit(fetch, {"fw_session": name, KEEPS: keeps}, minting=self._minting)
                await self._crawler.engine.download_async(request)
            if not fetches:
                sessions = await runtime.sessions()
                session = await runtime.named_session(name)
                await sessions.release(runtime.site, name, session)
        except _FAILURES as exc:
            self.problem = line_of(exc)
            logger.info("a session of %s could not be warmed up: %s", runtime.site, exc)
            return False
        return True

    @property
    def visits(self) -> bool:
        """Whether there is a page to be visited."""
        return bool(self._visits())

    def _visits(self) -> Sequence[Fetch]:
        if self._url is not None:
            return (Fetch(MINT, self._url),)
        return visits_of(self._crawler.spidercls, self._runtime.config)


def visits_of(spider: Any, config: SiteConfig) -> Sequence[Fetch]:
    """What a session of a site visits before its first request."""
    visits = getattr(spider, "visits", None)
    return visits(f"https://{config.allowed_hosts[0]}/" if config.allowed_hosts else "") if visits is not None else ()


def visit(fetch: Fetch, identity: Mapping[str, Any], *, minting: bool) -> Request:
    """The request of one such visit; ``identity`` is the meta that names the session."""
    meta: dict[str, Any] = {"fw_warmup": MINT if minting else True, "fw_harvest": True, **identity}
    meta["fw_destination"] = fetch.destination
    if fetch.referer:
        meta["fw_referer"] = fetch.referer
    return Request(fetch.url, method=fetch.method, headers=list(fetch.headers), meta=meta, dont_filter=True)
