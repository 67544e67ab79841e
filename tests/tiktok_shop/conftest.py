"""Small pages and answers in the forms of the shop, with invented things and people."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.items import validate
from fetchworker.spiders.tiktok_shop import parse
from fetchworker.spiders.tiktok_shop.spider import TiktokShopSpider

NUMBER = "1729000000000000001"
HTML, JSON = "text/html; charset=utf-8", "application/json"


class Site:
    """Builds bodies and reads them with the site's parsers."""

    number = NUMBER

    def call(self, operation: str, *, cursor=None, number=1, seen=0, state=None, **values: Any) -> Call[Any]:
        model = TiktokShopSpider.operations[operation].params
        return Call(
            operation, model(**values) if values else model.model_construct(), cursor, number, seen, state or {}
        )

    def parsed(self, operation: str, body: Any, *, url: str | None = None, **values: Any) -> Parsed:
        """What the parser gives; every item is held against its model."""
        raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        kind = JSON if raw[:1] in b"{[" else HTML
        found = getattr(parse, operation)(Page(url, 200, {"content-type": [kind]}, raw), self.call(operation, **values))
        for place, item in enumerate(found.items):
            stamp = {"item_id": f"i-{place}", "site": "tiktok_shop", "operation": operation}
            validate({**item.__dict__, **stamp, "fetched_at": "2026-01-31T10:00:00Z"})
        return found

    def router(self, *components: Any, route: str = "(region)/pdp/(slug$)/(product_id)/page", **beside: Any) -> str:
        """A page around components."""
        page = {"page_config": {"components_map": list(components)}, **beside}
        data = json.dumps({"loaderData": {"layout": None, route: page}}).replace("/", "\\u002F").replace("<", "\\u003c")
        return (
            '<!DOCTYPE html><html><head><title></title><script src="/oec-ttweb-captcha/x.js"></script>'
            '<script type="application/json" id="__MODERN_SSR_DATA__">{"data": 1}</script>'
            f'<script type="application/json" id="__MODERN_ROUTER_DATA__">{data}</script></head></html>'
        )

    def component(self, data: Any, name: str = "product_info") -> dict[str, Any]:
        return {"component_type": name, "component_name": name, "component_data": data}

    def sku(self, number: int, stock: Any = 3, price: Any = "12.50", currency: str = "EUR") -> dict[str, Any]:
        return {
            "sku_id": str(number), "stock": stock,
            "sku_sale_props": [{"prop_name": "Farbe", "prop_value": f"Ton {number}"}],
            "price": {"real_price": {"price_val": price, "price_str": f"{price} €", "currency": currency}},
        }  # fmt: skip

    def old(self, **changed: Any) -> dict[str, Any]:
        """The object of 2025."""
        base = {
            "title": "Becher aus Ton",
            "desc_detail": json.dumps([{"type": "text", "text": "Handgedreht."}, {"type": "image", "image": {}},
                                       {"type": "ul", "content": ["spülfest", "schwer"]}]),
            "images": [{"url_list": ["https://pictures.example/1.webp", "https://other.example/1.webp"]},
                       {"uri": "no-address"}],
            "specifications": [{"name": "Marke", "value": "Ofengasse"}, {"name": "Leer", "value": ""}],
            "sold_count": 31,
            "price": {"min_sku_price": "12.50", "max_sku_price": "14.00", "currency": "EUR",
                      "min_sku_original_price": "19.90", "real_price": "12,50 € - 14,00 €"},
        }  # fmt: skip
        info = {
            "product_id": NUMBER, "status": 1, "default_sku_id": "11",
            "seller": {"seller_id": "7490", "name": "Ofengasse", "seller_location": "Germany", "product_count": 9,
                       "link": "aweme://user/profile/1", "rating": "4.8"},
            "product_base": {**base, **changed.pop("base", {})},
            "skus": [self.sku(11), self.sku(12, 0, "14.00")],
            "logistic": {"delivery_name": "Versand", "shipping_fee": {"price_val": "4.5", "currency": "EUR"},
                         "lead_time": "Mi - Fr"},
            "product_detail_review": {"product_rating": 4.5, "review_count": 3, "review_items": [self.shown(1)]},
        }  # fmt: skip
        return {**info, **changed}

    def shown(self, number: int, **changed: Any) -> dict[str, Any]:
        """A review as a page shows it."""
        review = {"review_id": f"70{number:02}", "rating": 5, "display_text": "Schöner Becher.",
                  "review_timestamp": "1780000000000", "main_review_title": "",
                  "images": [{"url_list": ["https://pictures.example/r.webp"]}]}  # fmt: skip
        return {"review": {**review, **changed}, "review_user": {"name": "Ada K."}, "sku_id": "11",
                "sku_specification": "Farbe: Ton 11"}  # fmt: skip

    def new(self, **changed: Any) -> dict[str, Any]:
        """The object of 2026."""
        price = {"sale_price_decimal": "12.50", "origin_price_decimal": "19.90", "currency_name": "EUR",
                 "reduce_price_format": "7,40 € gespart"}  # fmt: skip
        model = {
            "product_id": NUMBER, "name": "Becher aus Ton", "seller_id": "7490", "sold_count": "31",
            "description": json.dumps([{"type": "text", "text": "Handgedreht."}]),
            "images": [{"url_list": ["https://pictures.example/1.webp"]}],
            "product_properties": [{"property_name": "Marke",
                                    "property_values": [{"property_value_name": "Ofengasse"}]},
                                   {"property_name": "Farben", "property_values": [{"property_value_name": "rot"},
                                                                                   {"property_value_name": "grau"}]}],
            "skus": [
                {"sku_id": "11", "sku_name": "B-11", "sku_quantity": {"available_quantity": 2}, "is_pre_order": False,
                 "property_pairs": [{"sku_property_name": "Farbe", "sku_property_value_name": "Ton"}]},
                {"sku_id": "12", "sku_quantity": {"available_quantity": 1}, "is_pre_order": True},
            ],
        }  # fmt: skip
        info = {
            "base_resp": {"StatusCode": 0},
            "product_model": {**model, **changed.pop("model", {})},
            "promotion_model": {"promotion_product_price": {
                "min_price": {**price, "sku_id": "11"},
                "skus_price": {"11": price, "12": {**price, "sale_price_decimal": "14.00"}}}},
            "review_model": {"product_overall_score": "4.5", "product_review_count": 3},
            "seller_model": {"shop_name": "Ofengasse"},
            "logistic_model": {"pkg_of_service": {"76334": {"reachable_item_list": [{"shipping_fee": 7.99}]}}},
        }  # fmt: skip
        return {**info, **changed}

    def page(self, info: Any, **beside: Any) -> str:
        """A product's page."""
        categories = [{"level": 2, "category_name": "Becher"}, {"level": 1, "category_name": "Küche"}]
        data = {"error_code": 0, "product_info": info, "categories": categories, **beside}
        decoy = self.component({"products": [self.card(9)]}, "feed_list_you_may_like")
        return self.router(decoy, self.component(data), basic_info={"risk_level": "low"}, bot_info={"is_bot": False})

    def review(self, number: int, **changed: Any) -> dict[str, Any]:
        """A review as the interface gives it."""
        raw = {"review_id": f"70{number:02}", "product_id": NUMBER, "sku_id": "11", "review_rating": 4,
               "review_text": "Gut.", "review_time": "1780000000000", "review_country": "DE",
               "reviewer_name": "Bo"}  # fmt: skip
        return {**raw, **changed}

    def answer(self, *reviews: Any, more: bool = False, total: Any = "45") -> dict[str, Any]:
        data = {"product_reviews": list(reviews), "total_reviews": total, "has_more": more}
        return {"code": 0, "message": "", "data": data}

    def card(self, number: int, **changed: Any) -> dict[str, Any]:
        raw = {
            "product_id": f"17290000000000001{number:02}", "title": f"Becher {number}",
            "image": {"url_list": ["https://pictures.example/c.webp"]},
            "product_price_info": {"sale_price_decimal": "8.05", "origin_price_decimal": "9.95",
                                   "currency_name": "GBP"},
            "rate_info": {"score": 4.6, "review_count": "45"}, "sold_info": {"sold_count": 12},
            "seller_info": {"seller_id": "7490", "shop_name": "Ofengasse"},
            "seo_url": {"canonical_url": f"https://shop.tiktok.com/gb/pdp/becher/17290000000000001{number:02}"},
        }  # fmt: skip
        return {**raw, **changed}

    def hits(self, *cards: Any, more: Any = None, **changed: Any) -> dict[str, Any]:
        return {"products": list(cards), "has_more": more is not None, "load_more_params": more or {}, **changed}

    def results(self, *cards: Any, **changed: Any) -> str:
        """A page of a search."""
        decoy = self.component({"products": [self.card(99)]}, "feed_list_you_may_like")
        hits = self.component(self.hits(*cards, **changed), "feed_list_search_word")
        related = self.component({"related_links": [{"name": "becher blau"}, {}]}, "related_link_search_words")
        return self.router(decoy, hits, related, route="(region)/(route_page_name)/page")


@pytest.fixture(scope="session")
def site() -> Site:
    return Site()
