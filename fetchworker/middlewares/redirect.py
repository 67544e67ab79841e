"""Scrapy's redirects, with the Referer left to the impersonation (a browser keeps the first page's over all hops).

A chain of redirects belongs to one identity: ``meta["fw_hop_of"]`` is the one that was sent on, ``meta["fw_first"]``
what the first hop sent, where another identity has to begin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware as ScrapyRedirects

from fetchworker.download.wire import WIRE, Wire
from fetchworker.frontier.codec import CARRIED

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.http import Response

FIRST, HOP, _RESTARTS = "fw_first", "fw_hop_of", "fw_restarts"
#: so often a chain may begin again with all the hops that it may have; after that it uses up what is left of them
_MOST_RESTARTS = 20
#: meta keys of one try
_OF_TRIES = (
    WIRE, CARRIED, "download_latency", "redirect_times", "redirect_ttl", "redirect_urls", "redirect_reasons",
)  # fmt: skip


class RedirectMiddleware(ScrapyRedirects):
    """Follows redirects; each hop is a request of its own."""

    def process_response(
        self,
        request: Request,
        response: Response,
        spider: Spider | None = None,  # noqa: ARG002  # the base's signature
    ) -> Request | Response:
        """The request of the next hop, or the response that is no redirect."""
        following = super().process_response(request, response)
        if isinstance(following, Request) and FIRST not in following.meta:
            sent = {"url": request.url, "method": request.method, "body": request.body}
            following.meta[FIRST] = {**sent, "headers": dict(request.headers)}
        wire: Wire | None = request.meta.get(WIRE)
        if isinstance(following, Request) and wire is not None:
            following.meta[HOP] = wire.session.identity
        return following

    def handle_referer(self, request: Request, response: Response) -> None:
        """``meta["fw_referer"]`` goes on as it is."""

    def _engine_started(self) -> None:
        """Scrapy's own would warn that no RefererMiddleware is there."""


def another_try(request: Request, *, same_identity: bool) -> Request:
    """The request once more; for another identity from where its redirects began."""
    again = request.copy() if same_identity else request.replace(**request.meta.get(FIRST, {}))
    again.dont_filter = True
    for key in _OF_TRIES if same_identity else (*_OF_TRIES, HOP):
        again.meta.pop(key, None)
    restarts = again.meta.get(_RESTARTS, 0)
    if FIRST in again.meta and not same_identity and restarts < _MOST_RESTARTS:
        again.meta[_RESTARTS] = restarts + 1
        again.meta.pop("redirect_ttl", None)
    return again
