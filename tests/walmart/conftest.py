"""Small pages in the forms of the site, with invented things and people."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.items import validate
from fetchworker.spiders.walmart.spider import WalmartSpider


class Site:
    """Builds pages and reads them with the site's parsers."""

    def page(self, body: str | bytes, url: str | None = None) -> Page:
        raw = body if isinstance(body, bytes) else body.encode(errors="surrogatepass")
        return Page(url, 200, {"content-type": ["text/html; charset=utf-8"]}, raw)

    def call(self, operation: str, *, cursor=None, number=1, seen=0, state=None, **values: Any) -> Call[Any]:
        model = WalmartSpider.operations[operation].params
        params = model(**values) if values else model.model_construct()
        return Call(operation, params, cursor, number, seen, state or {})

    def parsed(self, operation: str, body: str | bytes, **values: Any) -> Parsed:
        """What the parser gives; every item is held against its model."""
        found = WalmartSpider.operations[operation].parse(self.page(body), self.call(operation, **values))
        for place, item in enumerate(found.items):
            stamp = {"item_id": f"i-{place}", "site": "walmart", "operation": operation}
            validate({**item.__dict__, **stamp, "fetched_at": "2026-01-31T10:00:00Z"})
        return found

    def document(
        self, initial: Any, *, page: str = "/ip/[...itemParams]", locale: str = "en-US", title: str = "Lamp",
        attributes: str = 'type="application/json" nonce="x1"', **tree: Any,
    ) -> str:  # fmt: skip
        """A page with this ``initialData``."""
        told = {
            "props": {"pageProps": {"initialData": initial}},
            "page": page,
            "buildId": f"production_1-{locale}",
            **tree,
        }
        script = f'<script id="__NEXT_DATA__" {attributes}>{json.dumps(told)}</script>'
        head = f"<title>{title}</title><script>window._pxAppId='PX1'</script>"
        return f"<html><head>{head}</head><body>{script}</body></html>"

    def card(self, number: str = "170017", **more: Any) -> dict[str, Any]:
        """A card as pages hold it."""
        return {
            "__typename": "Product", "usItemId": number, "id": "1LAMP0000017", "name": "Tin lamp &amp; hook",
            "price": 12.5,
            "priceInfo": {"linePrice": "$12.50", "linePriceDisplay": "$12.50", "wasPrice": "", "unitPrice": ""},
            "canonicalUrl": f"/ip/Tin-lamp/{number}?classType=REGULAR", "averageRating": 4.5, "numberOfReviews": 8,
            "sellerName": "Lamps &amp; Co", "sellerId": "S1", "isSponsoredFlag": False,
            "availabilityStatusV2": {"value": "IN_STOCK"}, "imageInfo": {"thumbnailUrl": "https://i5.example/l.jpeg"},
            **more,
        }  # fmt: skip

    def stack(self, *cards: Any, title: str = "Results", **meta: Any) -> dict[str, Any]:
        return {"title": title, "meta": {"title": title, **meta}, "items": list(cards)}

    def result(
        self, *stacks: Any, total: Any = 80, page: Any = 1, last: Any = 2, **more: Any
    ) -> dict[str, Any]:  # fmt: skip
        """A ``searchResult``."""
        properties = {"page": page, "query": "lamp", "sort": "best_match", "stores": "77,78"}
        return {
            "aggregatedCount": total, "itemStacks": list(stacks),
            "paginationV2": {"maxPage": last, "pageProperties": properties}, **more,
        }  # fmt: skip

    def results(self, *stacks: Any, locale: str = "en-US", **more: Any) -> str:
        return self.document({"searchResult": self.result(*stacks, **more)}, page="/search", locale=locale)

    def product(self, **more: Any) -> dict[str, Any]:
        """A ``product``."""
        return {
            "usItemId": "170017", "id": "1LAMP0000017", "name": "Tin lamp", "brand": "Wick", "averageRating": 4.5,
            "numberOfReviews": 8, "availabilityStatus": "IN_STOCK", "canonicalUrl": "/ip/Tin-lamp/170017?x=1",
            "priceInfo": {"currentPrice": {"price": 12.5, "priceString": "$12.50", "currencyUnit": "USD"}}, **more,
        }  # fmt: skip

    def review(self, number: int = 1, **more: Any) -> dict[str, Any]:
        return {
            "reviewId": str(number), "rating": 4, "reviewTitle": "Bright", "reviewText": "It <b>shines</b>.",
            "reviewSubmissionTime": "2/9/2026", "userNickname": "mira", "positiveFeedback": 3, "negativeFeedback": 1,
            "badges": [{"id": "VerifiedPurchaser"}], "media": None, **more,
        }  # fmt: skip

    def listing(self, product: Any = None, *, idml: Any = None, reviews: Any = None, **more: Any) -> str:
        found = self.product() if product is None else product
        return self.document({"data": {"product": found, "idml": idml, "reviews": reviews}}, **more)

    def opinions(self, reviews: Any, *, product: Any = None, **more: Any) -> str:
        """A page of reviews."""
        data = {"product": {"usItemId": "170017"} if product is None else product, "reviews": reviews}
        return self.document({"data": data}, page="/reviews/product/[itemId]", **more)


@pytest.fixture(scope="session")
def site() -> Site:
    return Site()
