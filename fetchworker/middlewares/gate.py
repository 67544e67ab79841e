"""Gates that a script passes by one request of its own: it is made, with the same identity, and no script is run.

A site names its gates with ``gate`` on its spider: pure, from a page to the request that the page's script would make.
Stats: ``fetchworker/gate/<site>`` counts the gates that were met.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import DownloadFailedError, IgnoreRequest

from fetchworker.errors import FetchworkerError
from fetchworker.frontier.codec import CARRIED
from fetchworker.middlewares.redirect import another_try
from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from fetchworker.contracts import Fetch, Page
    from fetchworker.download.wire import Wire

logger = logging.getLogger(__name__)

#: the meta key of a request that came through a gate: the identity that did
PASSED = "fw_gate"


class Gate:
    """Passes the gates of one site, each identity once for a request."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler, self._runtime = crawler, Runtime.of(crawler)
        self._answer: Callable[[Page], Fetch | None] | None = getattr(crawler.spidercls, "gate", None)

    async def passed(self, request: Request, page: Page, wire: Wire | None) -> Request | None:
        """The request once more, when the page is a gate and it was passed; None else."""
        if self._answer is None or wire is None or request.meta.get(PASSED) == wire.session.identity:
            return None
        fetch = self._answer(page)
        if fetch is None:
            return None
        self._runtime.count(f"gate/{self._runtime.site}")
        assert self._crawler.engine is not None
        try:
            await self._crawler.engine.download_async(_knock(fetch, request, wire))
        except (FetchworkerError, DownloadFailedError, IgnoreRequest) as exc:
            logger.info("%s: the gate does not open (%s)", request.url, exc)
            return None
        again = another_try(request, same_identity=True)
        again.meta[PASSED] = wire.session.identity
        if not wire.session.stored:
            again.meta[CARRIED] = wire.session
        return again


def _knock(fetch: Fetch, request: Request, wire: Wire) -> Request:
    """What the script of the gate sends."""
    meta: dict[str, Any] = {"fw_warmup": True, "fw_destination": fetch.destination, PASSED: wire.session.identity}
    meta |= {"fw_request_id": request.meta.get("fw_request_id"), "fw_referer": request.url}
    if wire.session.stored:
        meta["fw_session"] = request.meta["fw_session"]
    else:
        meta[CARRIED] = wire.session
    return Request(fetch.url, method=fetch.method, headers=list(fetch.headers), meta=meta, priority=request.priority)
