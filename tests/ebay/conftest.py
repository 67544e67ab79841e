"""Small pages in the forms of the site, with invented shops and things."""

from __future__ import annotations

import base64
import json
from html import escape
from typing import Any
from urllib.parse import quote

import pytest

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.items import validate
from fetchworker.spiders.ebay import parse
from fetchworker.spiders.ebay.spider import EbaySpider

OPENS = '<span class="clipped">Opens in a new window or tab</span>'


class Site:
    """Builds pages and reads them with the site's parsers."""

    def page(self, body: str, url: str | None = None) -> Page:
        return Page(url, 200, {"content-type": ["text/html;charset=utf-8"]}, body.encode())

    def call(self, operation: str, *, cursor=None, number=1, seen=0, **values: Any) -> Call[Any]:
        model = EbaySpider.operations[operation].params
        return Call(operation, model(**values) if values else model.model_construct(), cursor, number, seen)

    def parsed(self, operation: str, body: str, *, url: str | None = None, **values: Any) -> Parsed:
        """What the parser gives; every item is held against its model."""
        found = getattr(parse, operation)(self.page(body, url), self.call(operation, **values))
        for place, item in enumerate(found.items):
            stamp = {"item_id": f"i-{place}", "site": "ebay", "operation": operation}
            validate({**item.__dict__, **stamp, "fetched_at": "2026-01-31T10:00:00Z"})
        return found

    def ticket(self, name: str) -> str:
        """A link's ``itmprp`` that names whose listing it is."""
        code = base64.b64encode(bytes([2 * len(name)]) + name.encode() + b"\x84\xa6\x92").decode()
        return quote(f"enc:AQALAAAA|tkp:{code}", safe="")

    def card(
        self, number: int = 226000000001, *rows: str, title: str = "Blue vase", price: str = "$20.00",
        host: str = "www.ebay.com",
        subtitle: str = '<div class="s-card__subtitle"><span class="su-styled-text">Brand New</span></div>',
        caption: str = "", more: str = "", ticket: str = "ORG", query: str = "", reviews: str = "",
    ) -> str:  # fmt: skip
        """A card of the new layout; a row may be markup."""
        href = f"https://{host}/itm/{number}?_skw=vase&hash=item{number:x}&itmprp={self.ticket(ticket)}{query}"
        shown = "".join(f'<div class="s-card__attribute-row">{_span(row)}</div>' for row in rows)
        priced = price if "<" in price else f'<span class="su-styled-text s-card__price">{price}</span>'
        return f"""<li class="s-card s-card--horizontal" data-listingid="{number}" id="item{number:x}"><a href="{href}">
        <img src="https://i.ebayimg.com/images/g/{number}/s-l140.jpg"
             data-defer-load="https://i.ebayimg.com/images/g/{number}/s-l500.jpg"></a>
        <div class="s-card__caption">{caption}</div><a href="{href}"><div class="s-card__title">
        <span class="su-styled-text primary default">{title}</span>{OPENS}</div></a>
        <div class="s-card__subtitle-row">{subtitle}</div>{reviews}
        <div class="s-card__attribute-row">{priced}{more}</div>{shown}
        <div class="s-card__footer"><span>Sponsored</span></div></li>"""

    def old_card(
        self, number: int = 225000000001, *rows: str, title: str = "Oak chair", price: str = "$35.00",
        caption: str = "",
        subtitle: str = '<div class="s-item__subtitle"><span class="SECONDARY_INFO">Pre-Owned</span> · Oak</div>',
        seller: str = "", link: bool = True, more: str = "",
    ) -> str:  # fmt: skip
        """A card of the old layout."""
        href = f"https://www.ebay.com/itm/{number}?hash=item{number:x}" if link else "https://www.ebay.com/usr/x"
        shown = "".join(f'<div class="s-item__detail s-item__detail--primary">{row}</div>' for row in rows)
        return f"""<li class="s-item s-item__pl-on-bottom" id="item{number:x}" data-view="mi:1686|iid:1">
        <div class="s-item__image"><img class="s-item__image-img" src="https://ir.ebaystatic.com/cr/v/c1/s_1x2.gif"
             data-src="https://i.ebayimg.com/thumbs/images/g/{number}/s-l225.jpg"></div>
        <div class="s-item__caption">{caption}</div><a class="s-item__link" href="{href}"><div class="s-item__title">
        <span role="heading"><span class="LIGHT_HIGHLIGHT">New Listing</span>{title}</span></div>{OPENS}</a>{subtitle}
        <div class="s-item__details"><div class="s-item__detail s-item__detail--primary">
        <span class="s-item__price">{price}</span></div>{shown}{more}</div>
        <span class="s-item__seller-info-text">{seller}</span></li>"""

    def results(
        self, *entries: str, total: str | None = "1,600+", query: str = "vase", before: str = "", after: str = "",
        canonical: str = "", lang: str = "en", pagination: str = "", market: str | None = "US",
    ) -> str:  # fmt: skip
        """A page of results; ``market`` is the country that its data names."""
        number, plus = (total or "").rstrip("+"), "+" if (total or "").endswith("+") else ""
        heading = (
            f'<h1 class="srp-controls__count-heading"><span class="BOLD">{number}</span>{plus} results for '
            f'<span class="BOLD">{escape(query)}</span></h1>'
            if total is not None
            else ""
        )
        data = json.dumps({"localeInfo": {"country": market, "variant": "", "language": "en"}}) if market else ""
        head = f"<title>{escape(query)} for sale | eBay</title>{canonical}<script>$MC=[{data}]</script>"
        return f"""<!DOCTYPE html><html lang="{lang}"><head>{head}</head>
        <body>{heading}{before}<ul class="srp-results srp-list clearfix">{"".join(entries)}</ul>{after}{pagination}
        </body></html>"""

    def river(self, name: str, content: str = "", tag: str = "li") -> str:
        return f'<{tag} class="srp-river-answer srp-river-answer--{name}">{content}</{tag}>'

    def pages(self, current: int, following: int | None, *, disabled: bool = False) -> str:
        """The links under the results."""
        base = "https://www.ebay.com/sch/i.html?_nkw=vase&_dcat=15"
        arrow = f'<a class="pagination__next icon-link" href="{base}&_pgn={following}"'
        arrow += ' aria-disabled="true"></a>' if disabled else "></a>"
        return (
            f'<a class="pagination__item" aria-current="page" href="{base}&_pgn={current}">{current}</a>'
            + (arrow if following else "")
        )  # fmt: skip

    def listing(
        self, *, number: int = 226000000001, title: str = "Blue vase", body: str = "", ld: dict[str, Any] | None = None,
        modules: dict[str, Any] | None = None, canonical: str | None = None, host: str = "www.ebay.com",
    ) -> str:  # fmt: skip
        """A listing's page."""
        address = f"https://{host}/itm/{number}" if canonical is None else canonical
        block = json.dumps({"w": [["s0", 0, {"model": {"modules": modules}}]]}) if modules else ""
        told = f'<script type="application/ld+json">{json.dumps(ld)}</script>' if ld else ""
        return f"""<html><head><link rel="canonical" href="{address}">{told}</head><body>
        <h1 class="x-item-title__mainTitle"><span class="ux-textspans ux-textspans--BOLD">{title}</span>
        <span class="ux-textspans"> - </span></h1>{body}<script>$MC=(window.$MC||[]).concat({block})</script>
        </body></html>"""


def _span(row: str) -> str:
    return row if row.startswith("<") else f'<span class="su-styled-text secondary large">{row}</span>'


@pytest.fixture(scope="session")
def site() -> Site:
    return Site()
