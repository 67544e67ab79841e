"""The invented market in the markup of the site, one function per page.

Classes and data blocks as in saved pages: ``s-card`` lists (2025-07 on), ``s-item`` lists (before), listings (2025).
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from fetchworker.demo.ebay_markup import IMAGES, English, German, div, document, language_of, seller_url, span, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fetchworker.demo.wares import Shop, Ware

_BOUNDARY = "srp-river-answer srp-river-answer--REWRITE_START"


@dataclass(frozen=True, slots=True)
class Results:
    """One page of a search."""

    words: str
    shown: Sequence[Ware]
    filler: Sequence[Ware]
    total: int
    page: int
    last: bool
    address: str
    shop: Shop | None


def results(found: Results, host: str) -> str:
    """A page of results: cards of 2026 on .com, of 2024 on .de."""
    language = language_of(host)
    card = _old_card if isinstance(language, German) else _card
    cards = [card(ware, language, host) for ware in found.shown]
    if found.shown and found.filler:
        cards.append(tag("li", _BOUNDARY, language.fewer))
    cards += [card(ware, language, host) for ware in found.filler]
    heading = f"{span('BOLD', language.number(found.total))} {language.results} {span('BOLD', escape(found.words))}"
    return document(
        f"{found.words} | eBay",
        language.market(),
        _seller_card(found.shop) if found.shop else "",
        tag("h1", "srp-controls__count-heading", heading),
        tag("ul", "s-clipped", _placeholder()),
        div(_BOUNDARY, language.fewer) if found.filler and not found.shown else "",
        tag("ul", "srp-results srp-list clearfix", *cards),
        _pagination(found),
        language=language.code,
    )


def _placeholder() -> str:
    link = tag("a", "", "Shop on eBay", href="https://ebay.com/itm/123456?hash=item123546")
    return tag("li", "s-card", link, data_listingid="123456")


def _pagination(found: Results) -> str:
    parts = urlsplit(found.address)
    kept = [part for part in parts.query.split("&") if not part.startswith("_pgn=")]
    base = f"{parts.scheme}://{parts.netloc}{parts.path}?{'&'.join(kept)}&_pgn="
    here = tag("a", "pagination__item", str(found.page), href=f"{base}{found.page}", aria_current="page")
    return here if found.last else here + tag("a", "pagination__next", href=f"{base}{found.page + 1}", type="next")


def _href(ware: Ware, host: str) -> str:
    owner = b"\x04PL" if ware.promoted else b"\x06ORG"
    ticket = quote(f"enc:AQAL|tkp:{base64.b64encode(owner + b'demo' * 3).decode()}", safe="")
    return f"https://{host}/itm/{ware.number}?_skw=demo&hash=item{int(ware.number):x}&itmprp={ticket}"


def _rows(ware: Ware, language: English) -> Iterable[str]:
    """What a card says under the price."""
    if ware.type != "fixed":
        yield f"{ware.bids} {language.bids}"
    if ware.type != "auction":
        yield language.buy_now
    yield f"+{language.money(ware.shipping)} {language.shipping}" if ware.shipping else language.free
    yield f"{language.place} {ware.shop.place}"
    if ware.sold_count:
        yield f"{language.number(ware.sold_count)} {language.sold_count}"


def _price(ware: Ware, language: English) -> list[str]:
    prices = sorted({form.price for form in ware.forms})
    if len(prices) > 1:
        return [language.money(prices[0]), language.to, language.money(prices[-1])]
    return [language.money(ware.price)]


def _card(ware: Ware, language: English, host: str) -> str:
    href, shop, picture = _href(ware, host), ware.shop, f"{IMAGES}/{ware.number}"
    price = [span("su-styled-text bold s-card__price", part) for part in _price(ware, language)]
    if ware.list_price:
        price.append(span("su-styled-text strikethrough", language.money(ware.list_price)))
    seller = (span("", f"{shop.name} "), span("", f"{shop.positive}% {language.positive} ({shop.feedback:,})"))
    title = (span("su-styled-text", escape(ware.title)), span("clipped", "Opens in a new window or tab"))
    image = f'<img src="{picture}/s-l140.webp" data-defer-load="{picture}/s-l500.webp">'
    return tag(
        "li", "s-card s-card--horizontal", tag("a", "", image, href=href),
        div("s-card__caption", language.sold(ware.sold)) if ware.sold else "",
        tag("a", "s-card__link", div("s-card__title", *title), href=href),
        div("s-card__subtitle", span("su-styled-text", ware.condition)), div("s-card__attribute-row", *price),
        *(div("s-card__attribute-row", span("su-styled-text", row)) for row in _rows(ware, language)),
        div("s-card__attribute-row", *seller), div("s-card__footer", "Sponsored"),
        id=f"item{int(ware.number):x}", data_listingid=ware.number,
    )  # fmt: skip


def _old_card(ware: Ware, language: English, host: str) -> str:
    shop, detail = ware.shop, "s-item__detail s-item__detail--primary"
    former = span("STRIKETHROUGH", language.money(ware.list_price)) if ware.list_price else ""
    seller = f"{shop.name} ({language.number(shop.feedback)}) {language.number(shop.positive, 1)}%"
    title = div("s-item__title", tag("span", "", escape(ware.title), role="heading"))
    return tag(
        "li", "s-item s-item__pl-on-bottom", f'<img src="{IMAGES}/{ware.number}/s-l500.jpg">',
        div("s-item__caption", span("POSITIVE", language.sold(ware.sold))) if ware.sold else "",
        tag("a", "s-item__link", title, href=_href(ware, host)),
        div("s-item__subtitle", span("SECONDARY_INFO", ware.condition)),
        div(detail, span("s-item__price", " ".join(_price(ware, language)))),
        div(detail, span("s-item__trending-price", former)) if former else "",
        *(div(detail, span("", row)) for row in _rows(ware, language)),
        div(detail, span("s-item__seller-info-text", seller)), id=f"item{int(ware.number):x}",
    )  # fmt: skip


def _seller_card(shop: Shop) -> str:
    stats = (
        div("", f"{shop.positive}% positive feedback ({shop.feedback:,})"), div("", f"{shop.sold:,} items sold"),
        div("", f"{shop.followers:,} followers"),
    )  # fmt: skip
    name = div("str-seller-card__store-name", tag("h1", "", escape(shop.title)))
    return div("str-seller-card", name, div("str-seller-card__stats-content", *stats))


def seller(shop: Shop, host: str) -> str:
    """A seller's page."""
    about = (tag("p", "", f"Location: {shop.place}"), tag("p", "", "Member since: Mar 12, 2009"))
    info = tag("section", "str-about-description__seller-info", *about)
    head = f'<link rel="canonical" href="{seller_url(shop, host)}">'
    return document(f"{shop.title} | eBay", head, _seller_card(shop), info)


def description(ware: Ware) -> str:
    """The seller's own text, as the frame shows it."""
    paragraphs = (tag("p", "", f"{escape(ware.title)}."), tag("p", "", f"Packed in straw by {ware.shop.name}."))
    return document("", "", div("", *paragraphs, id="ds_div"))


def home() -> str:
    """The entry page."""
    return document("eBay Home", "", "<p>A demo.</p>")


def missing() -> str:
    """What is not there."""
    return document("Error Page | eBay", "", "<p>We looked everywhere.</p>")


def interstitial(wanted: str) -> str:
    """The page that has a browser prove itself; the form leads to where it wanted to go."""
    form = tag("form", "", id="destForm", method="GET", action=wanted)
    script = '<script>var config = {"loggerProps":{"serviceName":"splashui"}};</script>'
    return document("Pardon Our Interruption...", "", "Checking your browser before you access eBay.", form, script)
