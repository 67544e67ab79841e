"""Refuses requests by their URL, before anything is sent for them: no session is taken, no robots.txt asked for.

Redirects, robots.txt and warm-ups are requests too and come by here. What a URL does not tell, where its name leads, is
seen when the connection is opened (:mod:`fetchworker.egress.guard`).

Stats: ``fetchworker/egress/<layer>/<reason>`` counts refusals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached

from fetchworker.download.wire import WIRE
from fetchworker.egress import Decision, denied
from fetchworker.errors import EgressDeniedError
from fetchworker.media import MEDIA
from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

#: hosts of media that are remembered, so that their robots.txt may be asked for
_MEDIA_HOSTS = 1024
_OTHER_HOST = Decision(allowed=False, reason="other_host")


class EgressMiddleware:
    """Asks the crawl's policy, and the site's ``allowed_hosts``."""

    def __init__(self, crawler: Crawler) -> None:
        self._runtime = Runtime.of(crawler)
        self._policy = self._runtime.egress
        self._hosts = self._runtime.config.allowed_hosts
        self._media_hosts: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Let the request pass.

        Raises:
            EgressDeniedError: it may not go there.
        """
        decision = self._policy.classify(request.url)
        media = self._is_for_media(request)
        if decision.allowed and self._hosts and not media and not self._is_among(request, self._hosts):
            decision = _OTHER_HOST
        if not decision.allowed:
            request.meta.pop(WIRE, None)  # a redirect has its last hop's, which was given back
            raise denied(decision, request.url)

    def _is_for_media(self, request: Request) -> bool:
        """Whether it is for a picture, which may lie with any host, or for the robots.txt that is asked before it."""
        host = urlparse_cached(request).netloc
        if request.meta.get(MEDIA):
            if len(self._media_hosts) >= _MEDIA_HOSTS:
                self._media_hosts.clear()
            self._media_hosts.add(host)
        elif request.callback is NO_CALLBACK and host in self._media_hosts:
            request.meta[MEDIA] = True
        return bool(request.meta.get(MEDIA))

    @staticmethod
    def _is_among(request: Request, hosts: tuple[str, ...]) -> bool:
        host = urlparse_cached(request).hostname or ""
        return any(host == name or host.endswith(f".{name}") for name in hosts)

    async def process_exception(self, request: Request, exception: Exception) -> None:  # noqa: ARG002
        """Count a refusal, from here or from the handler."""
        if isinstance(exception, EgressDeniedError):
            context = exception.context
            self._runtime.count(f"egress/{context['layer']}/{context['reason']}")
