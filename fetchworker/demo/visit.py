"""The demo's answers to a site's calls without a network: what its pages look like, for tests and benchmarks."""

from __future__ import annotations

import time
from http.cookies import SimpleCookie
from inspect import isawaitable
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from fetchworker.contracts import Page
from fetchworker.demo import ad_library
from fetchworker.demo.model import Connection, RequestInfo
from fetchworker.outcomes import Outcome, classify

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from fetchworker.contracts import Fetch, Token
    from fetchworker.demo.model import App
    from fetchworker.spiders.base import SiteSpider

#: site → operation → arguments of a call that the demo answers
CALLS: dict[str, dict[str, dict[str, str]]] = {
    "ads_transparency": {
        "suggestions": {"query": "kiln"},
        "creatives": {"advertiser": "AR10000000000000000001"},
        "creative": {"advertiser": "AR10000000000000000001", "creative": "CR21000000000000000000"},
    },
    "ebay": {
        "search": {"query": "vase"},
        "item": {"item": "226000000000"},
        "seller": {"seller": "ana-pots84"},
        "description": {"item": "226000000000"},
    },
    "facebook": {
        "profile": {"user": "mossandmortar"},
        "posts": {"user": "mossandmortar"},
        "post": {"id": "8100000000000103", "user": "mossandmortar"},
        "photo": {"id": "8600000000000103"},
        "video": {"id": "8400000000000101"},
        "group": {"group": "kilnfriends"},
        "events": {"user": "mossandmortar"},
        "event": {"id": "8300000000000101"},
    },
    "instagram": {
        "profile": {"user": "nasa"},
        "posts": {"user": "nasa"},
        "post": {"shortcode": "DfNRV-qGN_-"},
        "comments": {"shortcode": "DfNRV-qGN_-"},
        "reels": {"user": "nasa"},
        "search": {"query": "nasa"},
    },
    "linkedin": {
        "jobs": {"query": "potter"},
        "job": {"job": "4400000001"},
        "company": {"company": "kiln-and-reed"},
        "person": {"person": "mira-kiln"},
        "post": {"post": "mira-kiln_clay-activity-7518227005440000000-dEmo"},
        "article": {"article": "what-clay-remembers-mira-kiln-dem0"},
    },
    "linktree": {"profile": {"user": "nasa"}},
    "meta": {"ads": {"query": "kite"}, "ad": {"id": "700000000002000"}, "ads_archive": {"query": "kite"}},
    "threads": {
        "profile": {"user": "nasa"},
        "posts": {"user": "nasa"},
        "post": {"user": "nasa", "shortcode": "DfNRV-qGN_-"},
        "replies": {"user": "nasa", "shortcode": "DfNRV-qGN_-"},
        "likers": {"shortcode": "DfNRV-qGN_-"},
    },
    "tiktok_ads": {
        "library": {"query": "bowl", "region": "DE"},
        "top_ads": {},
        "top_ad": {"ad": "7100000000000000101"},
        "top_ad_analytics": {"ad": "7100000000000000101"},
        "trends": {"type": "hashtag", "country": "US"},
    },
    "tiktok_shop": {
        "product": {"product": "1729000000000000102"},
        "reviews": {"product": "1729000000000000102"},
        "search": {"query": "clay mug"},
    },
    "walmart": {
        "search": {"query": "vase"},
        "product": {"item": "226000000000"},
        "reviews": {"item": "226000000000"},
    },
}


async def pages_of(spider: type[SiteSpider], operation: str, app: App) -> AsyncIterator[tuple[Fetch, Page]]:
    """What the demo answers to each way of a call that is not refused.

    Args:
        spider: the site's.
        operation: one of :data:`CALLS`.
        app: the demo's, without behaviours.
    """
    made = spider(operation=operation, **CALLS[spider.name][operation])
    assert made.started
    guest = _Guest(app, spider)
    for fetch in made.operations[operation].fetches(made, made.started.call):
        await guest.warm_up(fetch)
        page = await guest.ask(fetch)
        if classify(page, site=spider.name, request_url=fetch.url).outcome is Outcome.OK:
            yield fetch, page


class _Guest:
    """A visitor with cookies and tokens, as a session has them."""

    def __init__(self, app: App, spider: type[SiteSpider]) -> None:
        self._app, self._spider = app, spider
        self._tokens: dict[str, str] = {}
        # of a guest whom every site of the demo knows and has let in
        self._cookies = {"mid": "demo", "datr": "demo", "rd_challenge": "1"}

    async def warm_up(self, fetch: Fetch) -> None:
        """The visits that come before a fetch."""
        extract = self._spider.extract_tokens
        for visit in self._spider.visits(fetch.url):
            page = await self.ask(visit)
            self._tokens |= extract(page) if extract is not None else {}
        if self._spider.compute_tokens is not None:
            self._tokens |= self._spider.compute_tokens("guest", int(time.time()))

    async def ask(self, fetch: Fetch) -> Page:
        """The answer to a fetch."""
        reply = self._app(self._request(fetch))
        if isawaitable(reply):
            reply = await reply
        answer: dict[str, list[str]] = {}
        for name, value in reply.headers:
            text = value if isinstance(value, str) else value.decode("latin-1")
            answer.setdefault(name.lower(), []).append(text)
        for line in answer.get("set-cookie", ()):
            self._cookies |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}
        return Page(fetch.url, reply.status, answer, b"".join([piece async for piece in reply.pieces()]))

    def _request(self, fetch: Fetch) -> RequestInfo:
        url = urlsplit(fetch.url)
        jar = {"csrftoken": self._tokens.get("csrf", ""), **self._cookies, **dict(fetch.cookies)}
        headers = [("cookie", "; ".join(f"{name}={value}" for name, value in jar.items())), *fetch.headers]
        headers += self._filled(fetch.token_headers)
        headers += [(name, secret.prefix + ad_library.TOKEN) for name, secret in fetch.secret_headers.items()]
        form = [*(fetch.form or ()), *self._filled(fetch.token_form)]
        body = urlencode(form).encode() if form else fetch.body or b""
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        connection = Connection(1, "127.0.0.9", 4000, secure=True)
        return RequestInfo(connection, 1, fetch.method, url.netloc, path, headers, body)

    def _filled(self, wanted: Mapping[str, Token]) -> list[tuple[str, str]]:
        found = ((place, self._tokens.get(token.name, token.default)) for place, token in wanted.items())
        return [(place, value) for place, value in found if value is not None]
