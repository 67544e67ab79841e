"""The demo plays TikTok Shop: products of both generations of pages, reviews, searches, and the puzzle before them.

A visitor who has not been on www.tiktok.com gets the shell of a page without data. Calls of scripts are taken from
those who come from the page that makes them, with its cookies: others get an empty answer, or code 100000.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from fetchworker.demo.model import Reply, RequestInfo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.demo.log import Log

HOSTS = ("www.tiktok.com", "shop.tiktok.com")
CHALLENGE = "challenge"
#: products by their place; even ones have pages of 2025, odd ones of 2026
FIRST, COUNT = 1729000000000000100, 50
#: sold in Great Britain alone; behind the log-in page
ELSEWHERE, WALLED = str(FIRST + 40), str(FIRST + 41)
REVIEWS, SHOWN = 45, 5
FIRST_HITS, MORE_HITS = 15, 30
_PRODUCT = re.compile(r"/(?:shop/)?(?:(?P<region>[a-z]{2})/)?(?:pdp|view/product)/(?:[^/]+/)?(?P<number>\d{15,21})/?$")
_SEARCH = re.compile(r"/(?:shop/)?(?:[a-z]{2}/)?s(?:/(?P<words>[^/]+))?/?$")
_HTML, _JSON = ("content-type", "text/html; charset=utf-8"), ("content-type", "application/json; charset=utf-8")
_COLOURS, _NAMES = ("Sand", "Moss", "Slate"), ("Ada", "Bo", "Cleo", "Dag", "Eli")


class TiktokShop:
    """The app.

    Args:
        challenge_exits: the first page that each exit asks for is the puzzle.
        log: gets an event of type ``behaviour`` for each puzzle.
    """

    def __init__(self, *, challenge_exits: bool = False, log: Log | None = None) -> None:
        self.challenge_exits = challenge_exits
        self._log, self._exits, self._guests = log, set[str](), 0

    def __call__(self, request: RequestInfo) -> Reply:
        """Answer a request."""
        if request.route.startswith("/api/"):
            return self._call(request)
        if request.host == HOSTS[0] and request.route in ("/", "/shop", "/login"):
            return self._home(request)
        if self.challenge_exits and request.peer not in self._exits:
            return self._challenge(request)
        if "ttwid" not in request.cookies():
            return _html('<title></title><script type="application/json">{"bid":"tiktok_webapp"}</script>')
        product, search = _PRODUCT.match(request.route), _SEARCH.match(request.route)
        if product:
            return _product(product["number"], product["region"])
        words = unquote((search and search["words"]) or "") or request.query().get("q", "")
        return _search(words, request) if search and words else _html("<title>Not here</title>", 404)

    def _home(self, request: RequestInfo) -> Reply:
        reply = _html("<title>TikTok - Make Your Day</title><p>captcha, verify, Log in to TikTok</p>")
        if "ttwid" not in request.cookies():
            self._guests += 1
            fields = "Path=/; Domain=.tiktok.com; Secure"
            names = (f"ttwid=demo{self._guests}", f"msToken=demo{self._guests}")
            reply.headers = [*reply.headers, *(("set-cookie", f"{name}; {fields}") for name in names)]
        return reply

    def _challenge(self, request: RequestInfo) -> Reply:
        self._exits.add(request.peer)
        if self._log is not None:
            self._log.event(
                "behaviour", what=CHALLENGE, peer=request.peer, connection=request.connection.id, path=request.path
            )
        config = {"verify_data": {"code": "10000", "from": "demo", "type": "verify", "subtype": "slide"}}
        script = f'<script type="application/json" id="captcha-config">{json.dumps(config)}</script>'
        return _html(f'<title>Security Check</title><div id="captcha_container"></div>{script}')

    def _call(self, request: RequestInfo) -> Reply:
        guest, referer = request.cookies().get("ttwid"), request.header("referer") or ""
        try:
            asked = json.loads(request.body)
        except ValueError:
            return _json({"code": 10101, "message": "bad request"})
        if request.route.endswith("/get_product_reviews"):
            number = str(asked.get("product_id"))
            return _reviews(number, asked) if guest and number in referer else Reply(200, (_JSON,), b"")
        if request.route.endswith("/s/product_list") and guest:
            after = json.loads(asked.get("load_more_params", "{}"))
            if after.get("page_token") == _token(guest, after.get("search_word", "")):
                return _more(after, guest)
        return _json({"code": 100000, "message": ""})


# ── products ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _place(number: str) -> int | None:
    place = int(number) - FIRST
    return place if 0 <= place < COUNT else None


def _title(place: int) -> str:
    return f"Clay mug no. {place}, {_COLOURS[place % 3].lower()}"


def _price(place: int) -> str:
    return f"{8 + place % 7}.{place % 10}5"


def _product(number: str, region: str | None) -> Reply:
    place = _place(number)
    if number == WALLED:
        return Reply(302, (("location", "https://www.tiktok.com/login?redirect_url=x"),))
    if place is None or (number == ELSEWHERE and region != "gb"):
        data: dict[str, Any] = {"error_code": 23002002, "error_message": "get product detail not exist"}
    else:
        data = _of_2026(number, place) if place % 2 else _of_2025(number, place)
    component = {"component_type": "product_info", "component_name": "product_info", "component_data": data}
    return _router("(region)/pdp/(product_name_slug$)/(product_id)/page", [_decoy(), component])


def _decoy() -> dict[str, Any]:
    return {"component_name": "feed_list_you_may_like", "component_data": {"products": [_card(COUNT + 1)]}}


def _router(route: str, components: list[dict[str, Any]]) -> Reply:
    page = {
        "basic_info": {"lang": "en", "risk_level": "low"},
        "bot_info": {"is_bot": False},
        "region_info": {"real_region": "US", "sale_region": "US"},
        "page_config": {"components_map": components, "global_data": {}},
    }
    data = json.dumps({"loaderData": {"layout": None, route: page}}).replace("/", "\\u002F").replace("<", "\\u003c")
    loader = '<script src="/oec-ttweb-captcha/loader.js"></script>'
    return _html(f'<title></title>{loader}<script type="application/json" id="__MODERN_ROUTER_DATA__">{data}</script>')


def _of_2025(number: str, place: int) -> dict[str, Any]:
    skus = [
        {
            "sku_id": f"{number}{n}",
            "sku_sale_props": [{"prop_name": "Colour", "prop_value": colour}],
            "stock": n,
            "price": {"real_price": {"price_val": _price(place), "currency": "USD"}},
        }
        for n, colour in enumerate(_COLOURS)
    ]
    base = {
        "title": _title(place),
        "desc_detail": json.dumps([{"type": "text", "text": "Thrown by hand."}, {"type": "image", "image": {}}]),
        "images": [{"url_list": [f"https://pictures.example/{place}.webp"]}],
        "specifications": [{"name": "Brand", "value": "Kiln Lane"}, {"name": "Material", "value": "Stoneware"}],
        "sold_count": place * 10,
        "price": {"min_sku_price": _price(place), "max_sku_price": _price(place), "currency": "USD",
                  "min_sku_original_price": "19.95", "real_price": f"${_price(place)}"},
    }  # fmt: skip
    info = {
        "product_id": number,
        "status": 1,
        "seller": {"seller_id": "7490000000000000001", "name": "Kiln Lane", "product_count": COUNT},
        "product_base": base,
        "skus": skus,
        "logistic": {"delivery_name": "Standard", "shipping_fee": {"price_val": "4.5", "currency": "USD"}},
        "product_detail_review": {
            "product_rating": 4.6,
            "review_count": REVIEWS,
            "review_items": [
                {"review": {"review_id": _review_id(number, n), "rating": 5 - n % 3, "display_text": f"Good clay, {n}.",
                            "review_timestamp": str(1_780_000_000_000 + n * 1000)},
                 "review_user": {"name": _NAMES[n % 5]}, "sku_specification": "Colour: Moss"}
                for n in range(SHOWN)
            ],
        },
    }  # fmt: skip
    return {"error_code": 0, "product_info": info, "categories": _categories()}


def _of_2026(number: str, place: int) -> dict[str, Any]:
    price = {"sale_price_decimal": _price(place), "origin_price_decimal": "19.95", "currency_name": "USD"}
    ids = [f"{number}{n}" for n in range(2)]
    model = {
        "product_id": number,
        "name": _title(place),
        "seller_id": "7490000000000000001",
        "sold_count": str(place * 10),
        "description": json.dumps([{"type": "text", "text": "Thrown by hand."}]),
        "images": [{"url_list": [f"https://pictures.example/{place}.webp"]}],
        "product_properties": [{"property_name": "Brand", "property_values": [{"property_value_name": "Kiln Lane"}]}],
        "skus": [
            {"sku_id": sku, "sku_quantity": {"available_quantity": n},
             "property_pairs": [{"sku_property_name": "Colour", "sku_property_value_name": _COLOURS[n]}]}
            for n, sku in enumerate(ids)
        ],
    }  # fmt: skip
    offered = {"min_price": {**price, "sku_id": ids[0]}, "skus_price": dict.fromkeys(ids, price)}
    info = {
        "base_resp": {"StatusCode": 0},
        "product_model": model,
        "promotion_model": {"promotion_product_price": offered},
        "review_model": {"product_overall_score": 4.6, "product_review_count": str(REVIEWS)},
        "seller_model": {"shop_name": "Kiln Lane"},
        "logistic_model": {"pkg_of_service": {"7630000000000000000": {"shipping_fee": "4.50"}}},
    }
    shop = {"seller_id": "7490000000000000001", "shop_name": "Kiln Lane", "shop_rating": "4.7"}
    listed = {
        "product_reviews": [_review(number, n) for n in range(SHOWN)],
        "total_reviews": str(REVIEWS),
        "has_more": True,
    }
    return {"error_code": 0, "product_info": info, "shop_info": shop, "categories": _categories(), **listed}


def _categories() -> list[dict[str, Any]]:
    return [
        {"level": 2, "is_leaf": True, "category_name": "Mugs"},
        {"level": 1, "is_leaf": False, "category_name": "Kitchen"},
    ]


# ── reviews ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _review_id(number: str, n: int) -> str:
    return f"74{number[-6:]}{n:011d}"


def _review(number: str, n: int) -> dict[str, Any]:
    return {
        "review_id": _review_id(number, n), "product_id": number, "review_rating": 5 - n % 3,
        "review_text": f"Good clay, {n}.", "review_time": str(1_780_000_000_000 + n * 1000), "review_country": "US",
        "reviewer_name": "*****" if n == 1 else _NAMES[n % 5],
    }  # fmt: skip


def _reviews(number: str, asked: Mapping[str, Any]) -> Reply:
    if _place(number) is None:
        return _json({"code": 0, "data": {"global_data": {"product_info": {"error_code": 23002102}}}})
    size = int(asked.get("page_size", 20))
    start = (int(asked.get("page_start", 1)) - 1) * size
    listed = [_review(number, n) for n in range(start, min(start + size, REVIEWS))]
    ratings = {"review_count": str(REVIEWS), "overall_score": 4.6}
    data = {"product_reviews": listed, "total_reviews": str(REVIEWS), "has_more": start + size < REVIEWS,
            "review_ratings": ratings}  # fmt: skip
    return _json({"code": 0, "message": "", "data": data})


# ── searches ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _card(place: int) -> dict[str, Any]:
    return {
        "product_id": str(FIRST + place),
        "title": _title(place),
        "image": {"url_list": [f"https://pictures.example/{place}.webp"]},
        "product_price_info": {"sale_price_decimal": _price(place), "origin_price_decimal": "19.95",
                               "currency_name": "USD"},
        "rate_info": {"score": 4.6, "review_count": str(REVIEWS)},
        "sold_info": {"sold_count": place * 10},
        "seller_info": {"seller_id": "7490000000000000001", "shop_name": "Kiln Lane"},
        "seo_url": {"canonical_url": f"https://shop.tiktok.com/us/pdp/clay-mug/{FIRST + place}"},
    }  # fmt: skip


def _token(guest: str, words: str) -> str:
    return hashlib.sha256(f"{guest} {words}".encode()).hexdigest()[:16]


def _found(words: str) -> list[int]:
    return [place for place in range(COUNT) if all(word in _title(place).lower() for word in words.lower().split())]


def _search(words: str, request: RequestInfo) -> Reply:
    number = int(request.query().get("page", "1"))
    start = 0 if number == 1 else FIRST_HITS + (number - 2) * MORE_HITS
    data = _hits(words, start, FIRST_HITS if number == 1 else MORE_HITS, request.cookies()["ttwid"])
    component = {"component_type": "feed_list", "component_name": "feed_list_search_word", "component_data": data}
    links = {
        "component_name": "related_link_search_words",
        "component_data": {"related_links": [{"name": "clay bowl"}]},
    }
    return _router("(region)/(route_page_name)/page", [_decoy(), component, links])


def _hits(words: str, start: int, size: int, guest: str) -> dict[str, Any]:
    found = _found(words)
    after = {"offset": start + size, "page_token": _token(guest, words), "api_source": 2}
    more = start + size < len(found)
    return {
        "products": [_card(place) for place in found[start : start + size]],
        "has_more": more,
        "load_more_params": after if more else {},
    }


def _more(after: Mapping[str, Any], guest: str) -> Reply:
    data = _hits(after["search_word"], int(after.get("offset", 0)), MORE_HITS, guest)
    return _json({"code": 0, "message": "", "data": data})


def _html(body: str, status: int = 200) -> Reply:
    return Reply(status, (_HTML,), f"<!DOCTYPE html><html><head>{body}</head></html>".encode())


def _json(value: Any) -> Reply:
    return Reply(200, (_JSON,), json.dumps(value).encode())
