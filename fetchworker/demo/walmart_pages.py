"""The invented market in the pages of the site, one function per page; keys as in pages of 2024."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from html import escape
from typing import TYPE_CHECKING, Any

from fetchworker.demo.wares import TODAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fetchworker.demo.wares import Form, Ware

IMAGES = "https://i5.walmartimages.com/seo"
REVIEWS, SHOWN_REVIEWS = 25, 10
_SENSOR = "<script>window._pxAppId = 'PXdemo000';</script>"
_DIALOG = '<div id="px-captcha"></div>'
_PRAISE = ("Holds water", "Heavier than it looks", "A lovely glaze", "It came in two pieces", "Very blue")


@dataclass(frozen=True, slots=True)
class Results:
    """One page of a search."""

    words: str
    promoted: Sequence[Ware]
    shown: Sequence[Ware]
    total: int
    page: int
    last: int


def _document(title: str, state: Mapping[str, Any], page: str, host: str, body: str = "") -> str:
    country = "CA" if host.endswith(".ca") else "US"
    tree = {
        "props": {"pageProps": {"initialData": state, "reqHost": host, "isIpLevelBot": False}}, "page": page,
        "buildId": f"demo_20261101T000000000Z-en-{country}",
        "runtimeConfig": {"tenantV2": {"bu": f"WALMART-{country}"}},
    }  # fmt: skip
    data = json.dumps(tree).replace("<", "\\u003c")
    script = f'<script id="__NEXT_DATA__" type="application/json" nonce="demo">{data}</script>'
    head = f"<title>{escape(title)}</title>{_SENSOR}"
    return f'<!DOCTYPE html><html lang="en"><head>{head}</head><body>{body}{script}</body></html>'


def results(found: Results, host: str) -> str:
    """A page of results: what is advertised first, then all of them, then a second group on the first page."""
    cards = [_card(ware, host, sponsored=True) for ware in found.promoted]
    cards += [_card(ware, host) for ware in found.shown]
    place = {"__typename": "AdPlaceholder", "type": "MarqueeDisplayAd"}
    stacks = [_stack(f'Results for "{found.words}"', found.total, [place, *cards])] if cards else []
    if found.page == 1 and found.shown:
        stacks.append(_stack("Only here", 1, [_card(found.shown[-1], host)]))
    properties = {"query": found.words, "page": found.page, "ps": "40", "sort": "best_match", "stores": "77"}
    result = {
        "aggregatedCount": found.total, "count": len(cards), "itemStacks": stacks, "errorResponse": {"errors": []},
        "paginationV2": {"maxPage": found.last, "pageProperties": properties}, "spelling": {"correctedTerm": None},
    }  # fmt: skip
    location = {"storeId": "77", "postalCode": "00000"}
    state = {"searchResult": result, "pageMetadata": {"location": location}}
    return _document(f"{found.words} - Walmart.com", state, "/search", host)


def _stack(title: str, total: int, items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"title": title, "count": total, "meta": {"title": title, "isPartialResult": None}, "items": items}


def _path(number: str, host: str, title: str) -> str:
    return f"{'/en' if host.endswith('.ca') else ''}/ip/{title.replace(' ', '-')}/{number}"


def _money(cents: int) -> str:
    return f"${cents / 100:,.2f}"


def _card(ware: Ware, host: str, *, sponsored: bool = False) -> dict[str, Any]:
    prices = sorted({form.price for form in ware.forms})
    options = f"Options from {_money(prices[0])} – {_money(prices[-1])}" if len(prices) > 1 else ""
    info = {
        "linePrice": _money(ware.price), "linePriceDisplay": _money(ware.price), "priceRangeString": options,
        "wasPrice": _money(ware.list_price) if ware.list_price else "", "unitPrice": "",
        "shipPrice": f"+{_money(ware.shipping)} shipping" if ware.shipping else "",
    }  # fmt: skip
    return {
        "__typename": "Product", "usItemId": ware.number, "id": _product_id(ware.number), "name": ware.title,
        "price": ware.price / 100, "priceInfo": info,
        "canonicalUrl": _path(ware.number, host, ware.title) + "?from=/search",
        "imageInfo": {"thumbnailUrl": f"{IMAGES}/{ware.number}.jpeg?odnHeight=180"}, "averageRating": 4.2,
        "numberOfReviews": REVIEWS, "sellerName": ware.shop.title, "sellerId": ware.shop.name,
        "isSponsoredFlag": sponsored,
        "availabilityStatusV2": {"display": "In stock", "value": "IN_STOCK"}, "preownedCondition": None,
        "badges": {"flags": [{"text": "Best seller"}] if ware.promoted else []},
    }  # fmt: skip


def _product_id(number: str) -> str:
    return f"D{number[-11:]}"


def listing(ware: Ware, host: str) -> str:
    """A listing with its first reviews."""
    images = [{"id": str(n), "url": f"{IMAGES}/{ware.number}_{n}.jpeg"} for n in range(2)]
    product = {
        "usItemId": ware.number, "id": _product_id(ware.number), "primaryUsItemId": ware.number, "name": ware.title,
        "brand": "Kiln House", "availabilityStatus": "IN_STOCK", "conditionType": "New",
        "upc": f"0{ware.number[-11:]}",
        "priceInfo": _price_info(ware.price, ware.list_price, host),
        "canonicalUrl": _path(ware.number, host, ware.title), "averageRating": 4.2, "numberOfReviews": 5,
        "shortDescription": f"<p>{escape(ware.title)}.</p><p>Fired twice.</p>",
        "imageInfo": {"allImages": images, "thumbnailUrl": images[0]["url"]},
        "category": {"path": [{"name": "Home"}, {"name": ware.category.title()}]},
        "sellerName": f"{ware.shop.title} Ltd", "sellerDisplayName": ware.shop.title, "sellerId": ware.shop.name,
        "sellerStoreFrontURL": f"https://{host}/global/seller/{ware.shop.feedback}",
        "sellerAverageRating": 4.5, "sellerReviewCount": ware.shop.feedback,
        "variantCriteria": _criteria(ware),
        "variantsMap": {_product_id(form.number): _form(form, host) for form in ware.forms},
        "location": {"storeIds": ["77"], "postalCode": "00000"},
    }  # fmt: skip
    idml = {"longDescription": "<ul><li>Stoneware</li></ul>", "specifications": [{"name": "Material", "value": "Clay"}]}
    state = {"data": {"product": product, "idml": idml, "reviews": _reviews(0, SHOWN_REVIEWS)}}
    return _document(f"{ware.title} - Walmart.com", state, "/ip/[...itemParams]", host)


def _price_info(price: int, list_price: int | None, host: str) -> dict[str, Any]:
    unit = "CAD" if host.endswith(".ca") else "USD"
    was = {"price": list_price / 100, "priceString": _money(list_price), "currencyUnit": unit} if list_price else None
    return {"currentPrice": {"price": price / 100, "priceString": _money(price), "currencyUnit": unit}, "wasPrice": was}


def _criteria(ware: Ware) -> list[dict[str, Any]]:
    found: dict[str, dict[str, str]] = {}
    for form in ware.forms:
        for name, value in form.attributes:
            found.setdefault(name, {})[_choice(name, value)] = value
    return [
        {"id": name.lower(), "name": name, "variantList": [{"id": key, "name": value} for key, value in values.items()]}
        for name, values in found.items()
    ]


def _choice(name: str, value: str) -> str:
    return f"{name}-{value}".lower().replace(" ", "")


def _form(form: Form, host: str) -> dict[str, Any]:
    return {
        "id": _product_id(form.number), "usItemId": form.number, "priceInfo": _price_info(form.price, None, host),
        "variants": [_choice(name, value) for name, value in form.attributes],
        "availabilityStatus": "IN_STOCK" if form.in_stock else "OUT_OF_STOCK",
    }  # fmt: skip


def _reviews(start: int, end: int) -> dict[str, Any]:
    return {
        "averageOverallRating": 4.2, "totalReviewCount": REVIEWS, "reviewsWithTextCount": REVIEWS,
        "ratingValueFiveCount": 10, "ratingValueFourCount": 15,
        "customerReviews": [_review(number) for number in range(start, min(end, REVIEWS))],
    }  # fmt: skip


def _review(number: int) -> dict[str, Any]:
    day = TODAY - timedelta(days=3 * number)
    badge = {"id": "VerifiedPurchaser", "glassBadge": {"text": "Verified Purchase"}}
    return {
        "reviewId": str(9000 + number), "rating": 4 + number % 2, "reviewTitle": _PRAISE[number % len(_PRAISE)],
        "reviewText": f"Bought {number % 3 + 1} of them.", "reviewSubmissionTime": f"{day.month}/{day.day}/{day.year}",
        "userNickname": f"potter{number}", "positiveFeedback": number, "negativeFeedback": 0,
        "badges": [badge] if number % 2 else [], "media": None,
    }  # fmt: skip


def reviews(ware: Ware, page: int, host: str) -> str:
    """A page of reviews, under the dialog that the site lays over pages it has served."""
    block = _reviews((page - 1) * SHOWN_REVIEWS, page * SHOWN_REVIEWS)
    following = {"num": page + 1} if page * SHOWN_REVIEWS < REVIEWS else None
    block["pagination"] = {"total": REVIEWS, "next": following}
    state = {"data": {"product": {"usItemId": ware.number, "name": ware.title}, "reviews": block}}
    return _document(f"{ware.title} reviews", state, "/reviews/product/[...itemParams]", host, _DIALOG)


def removed(host: str) -> str:
    """A listing's page without a listing."""
    return _document(
        "Walmart.com", {"data": {"product": None, "idml": None, "reviews": None}}, "/ip/[...itemParams]", host
    )


def other(page: str, host: str) -> str:
    """A page that shows no goods."""
    return _document("Walmart.com", {"data": {"contentLayout": {}}}, page, host)


def blocked() -> str:
    """The page that wants a button pressed and held."""
    return f"<html><head><title>Robot or human?</title>{_SENSOR}</head><body>{_DIALOG}</body></html>"
