"""Dresses each request as its identity's browser: headers, their order, cookies and the stream's weight.

Requests of a crawl are loads of pages (``meta["fw_destination"] = "navigate"``) unless they say ``xhr``. What the
request carries in its own headers is kept, in the place where that browser would put it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fetchworker.download.coherence import check_coherence
from fetchworker.download.headers import request_head
from fetchworker.download.languages import language_for
from fetchworker.download.profiles import get_profile
from fetchworker.download.wire import WIRE, Wire
from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class ImpersonationMiddleware:
    """Fills ``Wire.profile``, ``headers``, ``order``, ``cookie`` and ``weight``."""

    def __init__(self, crawler: Crawler) -> None:
        runtime = Runtime.of(crawler)
        profile = get_profile(runtime.config.profile)  # an unknown one must not wait for the first request
        self._language = runtime.config.accept_language
        check_coherence(profile, crawler.settings, crawler.spidercls, self._language, site=runtime.site)
        runtime.profile = profile.name  # an alias means another browser one day, and identities have one for life

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware.

        Raises:
            ConfigError: the site's profile is not known, or a setting contradicts it.
        """
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Dress the request.

        Raises:
            ContradictionError: a header of the request contradicts the profile, or the rest of the request.
        """
        wire: Wire | None = request.meta.get(WIRE)
        if wire is None:
            return
        meta, session = request.meta, wire.session
        profile = wire.profile = get_profile(session.profile)
        destination = meta.get("fw_destination", "navigate")
        head = request_head(
            profile,
            destination=destination,
            method=request.method,
            url=request.url,
            referer=meta.get("fw_referer"),
            caller_headers=[*_own(request), *((name.encode(), value.encode()) for name, value in wire.secrets)],
            cookies=session.jar.cookie_header(request.url, time.time()),
            body_length=len(request.body) if request.body else None,
            accept_language=language_for(profile, self._language, wire.proxy.country if wire.proxy else None),
            redirect_urls=meta.get("redirect_urls", ()),
        )
        wire.headers, wire.order, wire.cookie = head.lines, head.order, head.cookie
        wire.weight = profile.weight(destination)


def _own(request: Request) -> Iterator[tuple[bytes, bytes]]:
    return ((name, value) for name, values in request.headers.items() for value in values)
