"""The demo's answers to a site's calls without a network: what its pages look like, for tests and benchmarks."""

from __future__ import annotations

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
    "linktree": {"profile": {"user": "nasa"}},
    "meta": {"ads": {"query": "kite"}, "ad": {"id": "700000000002000"}, "ads_archive": {"query": "kite"}},
    "threads": {
        "profile": {"user": "nasa"},
        "posts": {"user": "nasa"},
        "post": {"user": "nasa", "shortcode": "DfNRV-qGN_-"},
        "replies": {"user": "nasa", "shortcode": "DfNRV-qGN_-"},
        "likers": {"shortcode": "DfNRV-qGN_-"},
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
    tokens: dict[str, str] = {}
    if spider.warmup is not None and spider.extract_tokens is not None:
        tokens = spider.extract_tokens(await _asked(app, spider.warmup, {}))
    for fetch in made.operations[operation].fetches(made, made.started.call):
        page = await _asked(app, fetch, tokens)
        if classify(page, site=spider.name, request_url=fetch.url).outcome is Outcome.OK:
            yield fetch, page


async def _asked(app: App, fetch: Fetch, tokens: Mapping[str, str]) -> Page:
    url = urlsplit(fetch.url)
    headers = [("cookie", _cookies(tokens)), *fetch.headers, *_filled(fetch.token_headers, tokens)]
    headers += [(name, secret.prefix + ad_library.TOKEN) for name, secret in fetch.secret_headers.items()]
    form = [*(fetch.form or ()), *_filled(fetch.token_form, tokens)]
    body = urlencode(form).encode() if form else fetch.body or b""
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    connection = Connection(1, "127.0.0.9", 4000, secure=True)
    reply = app(RequestInfo(connection, 1, fetch.method, url.netloc, path, headers, body))
    if isawaitable(reply):
        reply = await reply
    answer: dict[str, list[str]] = {}
    for name, value in reply.headers:
        answer.setdefault(name.lower(), []).append(value if isinstance(value, str) else value.decode("latin-1"))
    return Page(fetch.url, reply.status, answer, b"".join([piece async for piece in reply.pieces()]))


def _filled(wanted: Mapping[str, Token], tokens: Mapping[str, str]) -> list[tuple[str, str]]:
    found = ((place, tokens.get(token.name, token.default)) for place, token in wanted.items())
    return [(place, value) for place, value in found if value is not None]


def _cookies(tokens: Mapping[str, str]) -> str:
    """Those of a guest whom every site of the demo knows and has let in."""
    return f"mid=demo; datr=demo; rd_challenge=1; csrftoken={tokens.get('csrf', '')}"
