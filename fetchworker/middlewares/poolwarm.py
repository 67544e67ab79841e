"""Keeps sessions of the pool ready: made in the background, and warmed up by the site's warm-up pages.

Stats: ``fetchworker/pool/<site>/warmed`` and ``…/warmup_failed``.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest

from fetchworker.errors import ConfigError, FetchworkerError, SessionExhaustedError
from fetchworker.exports.ending import close
from fetchworker.middlewares.outcome import RETRIED
from fetchworker.sessions.poolkeys import MAIN
from fetchworker.tasks import end

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.crawler import Crawler

    from fetchworker.contracts import Fetch
    from fetchworker.runtime import Runtime

logger = logging.getLogger(__name__)

#: the finish reason of a crawl whose pool others use by other numbers
CONFLICT = "pool_conflict"
#: seconds between two looks at how many sessions are ready
LOOK = 5.0
#: seconds after the first warm-up that failed; doubled for each further one in a row, up to the last
_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 600.0
_FAILURES = (FetchworkerError, IgnoreRequest, *RETRIED)


def pause_after(failures: int) -> float:
    """Seconds to wait after so many warm-ups in a row have failed (pure)."""
    return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(failures - 1, 30)) if failures else 0.0


class PoolWarmer:
    """The background task of one crawl."""

    def __init__(self, crawler: Crawler, runtime: Runtime) -> None:
        self._crawler = crawler
        self._runtime = runtime
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
        await end(self._task)

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
        runtime.count(f"pool/{runtime.site}/{'warmed' if good else 'warmup_failed'}")
        self._failures = 0 if good else self._failures + 1
        if good:
            await runtime.leases.release(owner)
        else:
            await runtime.leases.quarantine(owner, "its warm-up failed", seconds=0)

    async def visited(self, name: str) -> bool:
        """Make the visits of a warm-up, and tell whether that went well; without them one is stored."""
        runtime = self._runtime
        try:
            fetches = self._visits()
            for fetch in fetches:
                assert self._crawler.engine is not None
                await self._crawler.engine.download_async(_visit(fetch, name))
            if not fetches:
                sessions = await runtime.sessions()
                session = await runtime.named_session(name)
                await sessions.release(runtime.site, name, session)
        except _FAILURES as exc:
            logger.info("a session of %s could not be warmed up: %s", runtime.site, exc)
            return False
        return True

    def _visits(self) -> Sequence[Fetch]:
        hosts = self._runtime.config.allowed_hosts
        visits = getattr(self._crawler.spidercls, "visits", None)
        return visits(f"https://{hosts[0]}/" if hosts else "") if visits is not None else ()


def _visit(fetch: Fetch, name: str) -> Request:
    meta = {"fw_warmup": True, "fw_harvest": True, "fw_destination": fetch.destination, "fw_session": name}
    if fetch.referer:
        meta["fw_referer"] = fetch.referer
    return Request(fetch.url, method=fetch.method, headers=list(fetch.headers), meta=meta, dont_filter=True)
