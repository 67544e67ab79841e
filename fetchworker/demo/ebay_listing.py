"""The listings of the invented market, in the markup of the site (2025)."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fetchworker.demo.ebay_markup import IMAGES, English, div, document, language_of, seller_url, span, tag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fetchworker.demo.wares import Ware


def listing(ware: Ware, host: str) -> str:
    """A listing."""
    language = language_of(host)
    address = f"https://{host}/itm/{ware.number}"
    head = (
        f'<link rel="canonical" href="{address}"><script type="application/ld+json">{_product(ware, language)}</script>'
    )
    frame = f"https://itm.ebaydesc.com/itmdesc/{ware.number}?seller={quote(ware.shop.name)}&category=77"
    return document(
        f"{ware.title} | eBay", head,
        div("d-statusmessage", language.sold(ware.sold)) if ware.sold else "",
        tag("h1", "x-item-title__mainTitle", span("ux-textspans ux-textspans--BOLD", escape(ware.title))),
        *_offer(ware, language), _about(ware, host),
        div("x-item-condition-text", span("ux-textspans", ware.condition)), _delivery(ware, language),
        div("x-quantity__availability", f"3 available {language.number(ware.sold_count)} {language.sold_count}"),
        div("ux-layout-section--features", _feature("Brand", ware.shop.title), _feature("Glaze", "ash")),
        div("ux-image-carousel", f'<img data-zoom-src="{IMAGES}/{ware.number}/s-l1600.jpg">'),
        tag("iframe", "", id="desc_ifr", src=frame),
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
    price = div("x-price-primary", span("ux-textspans", language.money(ware.price)))
    if ware.type != "fixed":
        yield div("x-bid-price", price) + div("x-bid-count", f"{ware.bids} {language.bids}")
    if ware.type != "auction":
        yield div("x-bin-price", price)


def _about(ware: Ware, host: str) -> str:
    shop = ware.shop
    name = tag("a", "", span("ux-textspans ux-textspans--BOLD", shop.name), href=seller_url(shop, host))
    info = div("x-sellercard-atf__info__about-seller", name, span("ux-textspans", f"({shop.feedback})"))
    return div("x-sellercard-atf", info, tag("button", "", f"{shop.positive}% positive"))


def _delivery(ware: Ware, language: English) -> str:
    cost = language.money(ware.shipping) if ware.shipping else language.free
    rows = (div("", span("ux-textspans", cost)), div("", span("ux-textspans", f"Located in: {ware.shop.place}")))
    return div("ux-labels-values--shipping", div("ux-labels-values__values-content", *rows))


def _feature(label: str, value: str) -> str:
    cells = tag("dt", "ux-labels-values__labels", label), tag("dd", "ux-labels-values__values", escape(value))
    return tag("dl", "ux-labels-values", *cells)


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
