"""Scrapy's redirects, with the Referer left to the impersonation (a browser keeps the first page's over all hops)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.redirect import RedirectMiddleware as ScrapyRedirects

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class RedirectMiddleware(ScrapyRedirects):
    """Follows redirects; each hop is a request of its own."""

    def handle_referer(self, request: Request, response: Response) -> None:
        """``meta["fw_referer"]`` goes on as it is."""

    def _engine_started(self) -> None:
        """Scrapy's own would warn that no RefererMiddleware is there."""
