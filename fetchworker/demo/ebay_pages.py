"""The invented market in the markup of the site, one function per page.

Classes and data blocks as in saved pages: ``s-card`` lists (2025-07 on), ``s-item`` lists (before), listings (2025).
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from fetchworker.demo.wares import Shop, Ware

_MONTHS = ("Jan", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez")
_IMAGES = "https://i.ebayimg.com/images/g"
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


@dataclass(frozen=True)
class English:
    """How ebay.com says things."""

    code: str = "en"
    currency: str = "USD"
    buy_now: str = "Buy It Now"
    bids: str = "bids"
    free: str = "Free delivery"
    shipping: str = "delivery"
    place: str = "Located in"
    sold_count: str = "sold"
    positive: str = "positive"
    results: str = "results for"
    fewer: str = "Results matching fewer words"
    to: str = "to"

    def number(self, value: float, decimals: int = 0) -> str:
        """``1,234.50``."""
        return f"{value:,.{decimals}f}"

    def money(self, cents: int) -> str:
        """``$1,234.50``."""
        return f"${self.number(cents / 100, 2)}"

    def sold(self, day: date) -> str:
        """``Sold  Oct 3, 2026``."""
        return f"Sold  {day:%b} {day.day}, {day.year}"


@dataclass(frozen=True)
class German(English):
    """How ebay.de does."""

    code: str = "de"
    currency: str = "EUR"
    buy_now: str = "Sofort-Kaufen"
    bids: str = "Gebote"
    free: str = "Gratis Versand"
    shipping: str = "Versand"
    place: str = "aus"
    sold_count: str = "verkauft"
    positive: str = "positiv"
    results: str = "Ergebnisse für"
    fewer: str = "Ergebnisse für weniger Suchbegriffe"
    to: str = "bis"

    def number(self, value: float, decimals: int = 0) -> str:
        """``1.234,50``."""
        return super().number(value, decimals).translate(str.maketrans(",.", ".,"))

    def money(self, cents: int) -> str:
        """``EUR 1.234,50``."""
        return f"EUR {self.number(cents / 100, 2)}"

    def sold(self, day: date) -> str:
        """``Verkauft  3. Okt. 2026``."""
        return f"Verkauft  {day.day}. {_MONTHS[day.month - 1]}. {day.year}"


def _language(host: str) -> English:
    return German() if host.endswith(".de") else English()


# ── markup ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _tag(name: str, classes: str, *content: str, **attributes: str) -> str:
    told = {"class": classes, **{key.strip("_"): value for key, value in attributes.items()}}
    shown = "".join(f' {key.replace("_", "-")}="{escape(value)}"' for key, value in told.items() if value)
    return f"<{name}{shown}>{''.join(content)}</{name}>"


def _div(classes: str, *content: str, **attributes: str) -> str:
    return _tag("div", classes, *content, **attributes)


def _span(classes: str, *content: str) -> str:
    return _tag("span", classes, *content)


def _document(title: str, head: str, *body: str, language: str = "en") -> str:
    top = f"<title>{escape(title)}</title>{head}"
    return f'<!DOCTYPE html><html lang="{language}"><head>{top}</head><body>{"".join(body)}</body></html>'


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def results(found: Results, host: str) -> str:
    """A page of results: cards of 2026 on .com, of 2024 on .de."""
    language = _language(host)
    card = _old_card if isinstance(language, German) else _card
    cards = [card(ware, language, host) for ware in found.shown]
    if found.shown and found.filler:
        cards.append(_tag("li", _BOUNDARY, language.fewer))
    cards += [card(ware, language, host) for ware in found.filler]
    heading = f"{_span('BOLD', language.number(found.total))} {language.results} {_span('BOLD', escape(found.words))}"
    return _document(
        f"{found.words} | eBay",
        "",
        _seller_card(found.shop) if found.shop else "",
        _tag("h1", "srp-controls__count-heading", heading),
        _tag("ul", "s-clipped", _placeholder()),
        _div(_BOUNDARY, language.fewer) if found.filler and not found.shown else "",
        _tag("ul", "srp-results srp-list clearfix", *cards),
        _pagination(found),
        language=language.code,
    )


def _placeholder() -> str:
    link = _tag("a", "", "Shop on eBay", href="https://ebay.com/itm/123456?hash=item123546")
    return _tag("li", "s-card", link, data_listingid="123456")


def _pagination(found: Results) -> str:
    parts = urlsplit(found.address)
    kept = [part for part in parts.query.split("&") if not part.startswith("_pgn=")]
    base = f"{parts.scheme}://{parts.netloc}{parts.path}?{'&'.join(kept)}&_pgn="
    here = _tag("a", "pagination__item", str(found.page), href=f"{base}{found.page}", aria_current="page")
    return here if found.last else here + _tag("a", "pagination__next", href=f"{base}{found.page + 1}", type="next")


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
    href, shop, picture = _href(ware, host), ware.shop, f"{_IMAGES}/{ware.number}"
    price = [_span("su-styled-text bold s-card__price", part) for part in _price(ware, language)]
    if ware.list_price:
        price.append(_span("su-styled-text strikethrough", language.money(ware.list_price)))
    seller = (_span("", f"{shop.name} "), _span("", f"{shop.positive}% {language.positive} ({shop.feedback:,})"))
    title = (_span("su-styled-text", escape(ware.title)), _span("clipped", "Opens in a new window or tab"))
    image = f'<img src="{picture}/s-l140.webp" data-defer-load="{picture}/s-l500.webp">'
    return _tag(
        "li", "s-card s-card--horizontal", _tag("a", "", image, href=href),
        _div("s-card__caption", language.sold(ware.sold)) if ware.sold else "",
        _tag("a", "s-card__link", _div("s-card__title", *title), href=href),
        _div("s-card__subtitle", _span("su-styled-text", ware.condition)), _div("s-card__attribute-row", *price),
        *(_div("s-card__attribute-row", _span("su-styled-text", row)) for row in _rows(ware, language)),
        _div("s-card__attribute-row", *seller), _div("s-card__footer", "Sponsored"),
        id=f"item{int(ware.number):x}", data_listingid=ware.number,
    )  # fmt: skip


def _old_card(ware: Ware, language: English, host: str) -> str:
    shop, detail = ware.shop, "s-item__detail s-item__detail--primary"
    former = _span("STRIKETHROUGH", language.money(ware.list_price)) if ware.list_price else ""
    seller = f"{shop.name} ({language.number(shop.feedback)}) {language.number(shop.positive, 1)}%"
    title = _div("s-item__title", _tag("span", "", escape(ware.title), role="heading"))
    return _tag(
        "li", "s-item s-item__pl-on-bottom", f'<img src="{_IMAGES}/{ware.number}/s-l500.jpg">',
        _div("s-item__caption", _span("POSITIVE", language.sold(ware.sold))) if ware.sold else "",
        _tag("a", "s-item__link", title, href=_href(ware, host)),
        _div("s-item__subtitle", _span("SECONDARY_INFO", ware.condition)),
        _div(detail, _span("s-item__price", " ".join(_price(ware, language)))),
        _div(detail, _span("s-item__trending-price", former)) if former else "",
        *(_div(detail, _span("", row)) for row in _rows(ware, language)),
        _div(detail, _span("s-item__seller-info-text", seller)), id=f"item{int(ware.number):x}",
    )  # fmt: skip


# ── listings ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def listing(ware: Ware, host: str) -> str:
    """A listing."""
    language = _language(host)
    address = f"https://{host}/itm/{ware.number}"
    head = (
        f'<link rel="canonical" href="{address}"><script type="application/ld+json">{_product(ware, language)}</script>'
    )
    frame = f"https://itm.ebaydesc.com/itmdesc/{ware.number}?seller={quote(ware.shop.name)}&category=77"
    return _document(
        f"{ware.title} | eBay", head,
        _div("d-statusmessage", language.sold(ware.sold)) if ware.sold else "",
        _tag("h1", "x-item-title__mainTitle", _span("ux-textspans ux-textspans--BOLD", escape(ware.title))),
        *_offer(ware, language), _about(ware, host),
        _div("x-item-condition-text", _span("ux-textspans", ware.condition)), _delivery(ware, language),
        _div("x-quantity__availability", f"3 available {language.number(ware.sold_count)} {language.sold_count}"),
        _div("ux-layout-section--features", _feature("Brand", ware.shop.title), _feature("Glaze", "ash")),
        _div("ux-image-carousel", f'<img data-zoom-src="{_IMAGES}/{ware.number}/s-l1600.jpg">'),
        _tag("iframe", "", id="desc_ifr", src=frame),
        f"<script>$MC=(window.$MC||[]).concat({json.dumps(_model(ware, language))})</script>", language=language.code,
    )  # fmt: skip


def _product(ware: Ware, language: English) -> str:
    """JSON-LD."""
    stock = "OutOfStock" if ware.sold else "InStock"
    offer = {"@type": "Offer", "price": f"{ware.price / 100:.2f}", "priceCurrency": language.currency,
             "availability": f"https://schema.org/{stock}"}  # fmt: skip
    praise = [
        {"@type": "Review", "name": words, "reviewBody": f"{words}.", "reviewRating": {"ratingValue": str(stars)},
         "author": {"@type": "Person", "name": "a buyer"}, "datePublished": day.isoformat()}
        for words, stars, day in ware.praise
    ]  # fmt: skip
    about = {"@context": "https://schema.org", "@type": "Product", "name": ware.title}
    return json.dumps({**about, "offers": offer, "review": praise})


def _offer(ware: Ware, language: English) -> Iterable[str]:
    price = _div("x-price-primary", _span("ux-textspans", language.money(ware.price)))
    if ware.type != "fixed":
        yield _div("x-bid-price", price) + _div("x-bid-count", f"{ware.bids} {language.bids}")
    if ware.type != "auction":
        yield _div("x-bin-price", price)


def _about(ware: Ware, host: str) -> str:
    shop = ware.shop
    name = _tag("a", "", _span("ux-textspans ux-textspans--BOLD", shop.name), href=_seller_url(shop, host))
    info = _div("x-sellercard-atf__info__about-seller", name, _span("ux-textspans", f"({shop.feedback})"))
    return _div("x-sellercard-atf", info, _tag("button", "", f"{shop.positive}% positive"))


def _delivery(ware: Ware, language: English) -> str:
    cost = language.money(ware.shipping) if ware.shipping else language.free
    rows = (_div("", _span("ux-textspans", cost)), _div("", _span("ux-textspans", f"Located in: {ware.shop.place}")))
    return _div("ux-labels-values--shipping", _div("ux-labels-values__values-content", *rows))


def _feature(label: str, value: str) -> str:
    cells = _tag("dt", "ux-labels-values__labels", label), _tag("dd", "ux-labels-values__values", escape(value))
    return _tag("dl", "ux-labels-values", *cells)


def _model(ware: Ware, language: English) -> dict[str, Any]:
    """The page's data modules; the word MSKU is there without variations too."""
    modules: dict[str, Any] = {"FEATURES": {"MSKU": True}}
    if ware.forms:
        modules["MSKU"] = _variations(ware, language.currency)
    if ware.ends:
        modules["TIMER"] = {"endTime": {"_type": "DateTime", "value": f"{ware.ends:%Y-%m-%dT%H:%M:%S}.000Z"}}
    return {"w": [["s0", 0, {"model": {"modules": modules}}]]}


def _variations(ware: Ware, currency: str) -> dict[str, Any]:
    pairs = list(dict.fromkeys(pair for form in ware.forms for pair in form.attributes))
    axes = list(dict.fromkeys(axis for axis, _ in pairs))
    return {
        "_type": "VariationViewModel",
        "selectMenus": [
            {"displayLabel": axis, "menuItemValueIds": [n for n, pair in enumerate(pairs) if pair[0] == axis]}
            for axis in axes
        ],
        "menuItemMap": {
            str(n): {
                "valueId": n,
                "displayName": pair[1],
                "matchingVariationIds": [int(form.number) for form in ware.forms if pair in form.attributes],
            }
            for n, pair in enumerate(pairs)
        },
        "variationsMap": {
            form.number: {
                "binModel": {"price": {"value": {"value": form.price / 100, "currency": currency}}},
                "quantity": {"outOfStock": not form.in_stock},
            }
            for form in ware.forms
        },
    }


# ── sellers and the rest ─────────────────────────────────────────────────────────────────────────────────────────────


def _seller_url(shop: Shop, host: str) -> str:
    return f"https://{host}/usr/{quote(shop.name, safe='*')}"


def _seller_card(shop: Shop) -> str:
    stats = (
        _div("", f"{shop.positive}% positive feedback ({shop.feedback:,})"), _div("", f"{shop.sold:,} items sold"),
        _div("", f"{shop.followers:,} followers"),
    )  # fmt: skip
    name = _div("str-seller-card__store-name", _tag("h1", "", escape(shop.title)))
    return _div("str-seller-card", name, _div("str-seller-card__stats-content", *stats))


def seller(shop: Shop, host: str) -> str:
    """A seller's page."""
    about = (_tag("p", "", f"Location: {shop.place}"), _tag("p", "", "Member since: Mar 12, 2009"))
    info = _tag("section", "str-about-description__seller-info", *about)
    head = f'<link rel="canonical" href="{_seller_url(shop, host)}">'
    return _document(f"{shop.title} | eBay", head, _seller_card(shop), info)


def description(ware: Ware) -> str:
    """The seller's own text, as the frame shows it."""
    paragraphs = (_tag("p", "", f"{escape(ware.title)}."), _tag("p", "", f"Packed in straw by {ware.shop.name}."))
    return _document("", "", _div("", *paragraphs, id="ds_div"))


def home() -> str:
    """The entry page."""
    return _document("eBay Home", "", "<p>A demo.</p>")


def missing() -> str:
    """What is not there."""
    return _document("Error Page | eBay", "", "<p>We looked everywhere.</p>")


def interstitial(wanted: str) -> str:
    """The page that has a browser prove itself; the form leads to where it wanted to go."""
    form = _tag("form", "", id="destForm", method="GET", action=wanted)
    script = '<script>var config = {"loggerProps":{"serviceName":"splashui"}};</script>'
    return _document("Pardon Our Interruption...", "", "Checking your browser before you access eBay.", form, script)
