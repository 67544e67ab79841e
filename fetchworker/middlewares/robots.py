"""robots.txt, asked for once a host and not for its own sake.

Rules are kept for a day (RFC 9309, 2.4). A robots.txt that is refused, or cannot be had, says nothing: no rules are
known then, the crawl goes on, and the next look is due after some minutes. It is asked for once, and once more after a
fault of the way; a refusal blames no exit (:mod:`fetchworker.middlewares.outcome`).

Stats: Scrapy's ``robotstxt/*``, and ``fetchworker/robots_unknown/<site>``.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler

from fetchworker.middlewares.outcome import RETRIES
from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser

logger = logging.getLogger(__name__)

#: seconds that rules are kept, and that pass before a robots.txt that could not be had is asked for again
KEPT, AGAIN = 86_400.0, 600.0
#: seconds that a transfer of robots.txt may take: the page that waits for it is what is wanted
LONGEST = 10.0
#: hosts that are remembered; the one longest known is asked again
_MOST = 10_000


@dataclass(eq=False, slots=True)
class _Look:
    """At one robots.txt: the task that asks for it, who waits, and when it is too old (of the monotonic clock)."""

    task: asyncio.Task[RobotParser | None] | None = None
    waiting: int = 0
    until: float = float("inf")


class RobotsMiddleware(RobotsTxtMiddleware):
    """Scrapy's, but one look serves all who wait, whoever of them gives up meanwhile."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._runtime = Runtime.of(crawler)
        self._looks: OrderedDict[str, _Look] = OrderedDict()  # by origin

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware.

        Raises:
            NotConfigured: robots.txt is not obeyed.
        """
        return cls(crawler)

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """The rules of the request's host; None: there are none that are known."""
        url = urlparse_cached(request)
        origin = f"{url.scheme}://{url.netloc}"
        look = self._looks.get(origin)
        if look is None or look.until < time.monotonic():
            self._looks[origin] = look = _Look()
            look.task = asyncio.ensure_future(self._look(origin, request, look))
            self._forget()
        return await self._awaited(origin, look)

    async def _awaited(self, origin: str, look: _Look) -> RobotParser | None:
        assert look.task is not None
        look.waiting += 1
        try:
            return await asyncio.shield(look.task)
        finally:
            look.waiting -= 1
            if not look.waiting and not look.task.done():  # nobody wants it any more
                look.task.cancel()
                if self._looks.get(origin) is look:
                    del self._looks[origin]

    def _forget(self) -> None:
        while len(self._looks) > _MOST and next(iter(self._looks.values())).until < float("inf"):
            self._looks.popitem(last=False)

    async def _look(self, origin: str, request: Request, look: _Look) -> RobotParser | None:
        assert self.crawler.engine is not None
        self._stats.inc_value("robotstxt/request_count")
        rules, kept = None, AGAIN
        try:
            response = await self.crawler.engine.download_async(self._request(origin))
            rules, kept = await self._parsed(response, request), KEPT
        except IgnoreRequest:
            pass
        except Exception as exc:  # noqa: BLE001  # whatever it was, the page is what is wanted
            self._unknown(origin, exc)
        look.until = time.monotonic() + kept
        return rules

    def _request(self, origin: str) -> Request:
        timeout = min(self._runtime.config.timeout, LONGEST)
        meta = {"dont_obey_robotstxt": True, RETRIES: 1, "download_timeout": timeout}
        return Request(f"{origin}/robots.txt", priority=self.DOWNLOAD_PRIORITY, meta=meta, callback=NO_CALLBACK)

    async def _parsed(self, response: Response, request: Request) -> RobotParser:
        self._stats.inc_value("robotstxt/response_count")
        self._stats.inc_value(f"robotstxt/response_status_count/{response.status}")
        rules: RobotParser = build_from_crawler(self._parserimpl, self.crawler, response.body)
        await self.crawler.signals.send_catch_log_async(
            signal=signals.robots_parsed, robotparser=rules, request=request
        )
        return rules

    def _unknown(self, origin: str, error: Exception) -> None:
        self._stats.inc_value(f"robotstxt/exception_count/{type(error)}")
        self._runtime.count(f"robots_unknown/{self._runtime.site}")
        logger.warning("robots.txt of %s could not be had, so no rules are known: %s", origin, error)
