"""What TikTok Shop answers to, as data, and the requests made of it.

A page carries its data as JSON in ``script#__MODERN_ROUTER_DATA__`` (pages of 2025 and 2026). The keys of its
``loaderData`` are templates of routes that changed three times in that time, so nothing here names one. What a page
has no room for, its script asks of ``/api/shop/…`` on the same host, with the same cookies and from the same address:
these legs follow the page, never stand alone. In the browser they also carry a signature of the site's security script
(``X-Tts-Oec-Bsid`` and its family), which is not made here; without it they are refused to most visitors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

import orjson

from fetchworker.contracts import Fetch

if TYPE_CHECKING:
    from collections.abc import Mapping

HOME = "https://www.tiktok.com"
SHOP = "https://shop.tiktok.com"
#: shops of 2026-07, as addresses spell them; where an address names none, the visitor's own address decides
REGIONS = ("us", "gb", "id", "my", "th", "vn", "ph", "sg", "es", "ie", "it", "de", "fr", "jp", "br", "mx")
REGION = "us"
#: a snowflake: 19 digits today
PRODUCT_ID = r"\d{15,21}"
DATA_SCRIPT = "__MODERN_ROUTER_DATA__"

#: the list of hits, by name; the other lists of products on a page are recommendations
SEARCH_COMPONENT = "feed_list_search_word"
RELATED_COMPONENT = "related_link_search_words"
#: the interface gives so many reviews a page when asked
REVIEWS_SIZE = 20
#: ``product_info.error_code`` of what is not sold where the visitor comes from: of pages, and of the API's answers
NOT_IN_REGION = (23002002, 23002102)
#: names of the attribute that holds the brand
BRAND = frozenset({"brand", "marke", "marca", "marque", "merk", "merek", "jenama", "thương hiệu", "ยี่ห้อ", "ブランド"})


class Sighting(NamedTuple):
    """Where a fact is from."""

    fact: str
    seen: str
    source: str


SIGHTINGS = (
    Sighting("pages of products, their data and both generations of the product's object", "2025-07 to 2026-09",
             "recorded pages; 2scraper/tiktok-shop-scraper"),
    Sighting("search pages at /{cc}/s?q=, 15 hits and then 30 a page", "2026-07", "public guides to that page"),
    Sighting("POST /api/shop/brandy_desktop/s/product_list with load_more_params; code 100000 when refused", "2026",
             "public clients of the search"),
    Sighting("POST /api/shop/pdp_desktop/get_product_reviews, page_start counts from 1", "2026", "public clients"),
    Sighting("a session that has been on tiktok.com before is served, fresh ones mostly are not", "2026-09-22",
             "2scraper/tiktok-shop-scraper, measured"),
)  # fmt: skip

_JSON = ("Content-Type", "application/json")


def warm_up() -> tuple[Fetch, ...]:
    """The visits that give a session its cookies (``ttwid``, ``msToken``, ``tt_chain_token``)."""
    home = f"{HOME}/"
    return Fetch("warmup", home), Fetch("warmup_shop", f"{HOME}/shop", referer=home)


def product_url(product: str, region: str | None = None) -> str:
    """Address of a product's page."""
    return f"{SHOP}/{region}/pdp/{product}" if region else f"{SHOP}/view/product/{product}"


def product_page(product: str, region: str | None = None) -> Fetch:
    """The product with what the page shows of its reviews."""
    return Fetch("page", product_url(product, region), referer=f"{HOME}/")


def product_share(product: str) -> Fetch:
    """The same product behind its share link, on the other host."""
    return Fetch("share", f"{HOME}/view/product/{product}", referer=f"{HOME}/")


def search_url(query: str, region: str, page: int = 1) -> str:
    """Address of a search."""
    told = {"q": query} | ({"page": str(page)} if page > 1 else {})
    return f"{SHOP}/{region}/s?{urlencode(told, quote_via=quote)}"


def search_page(query: str, region: str, page: int = 1) -> Fetch:
    """A page of hits with the parameters of the next one."""
    return Fetch("page", search_url(query, region, page), referer=f"{HOME}/")


def search_www(query: str) -> Fetch:
    """The first page on the other host."""
    return Fetch("www", f"{HOME}/shop/s/{quote(query, safe='')}", referer=f"{HOME}/")


def _post(strategy: str, path: str, body: Mapping[str, Any], *, referer: str) -> Fetch:
    return Fetch(
        strategy,
        SHOP + path,
        "POST",
        "xhr",
        headers=(_JSON, ("Origin", SHOP)),
        body=orjson.dumps(body),
        referer=referer,
    )


def search_more(query: str, region: str, after: Mapping[str, Any]) -> Fetch:
    """The next hits; ``after`` is the ``load_more_params`` of the page before."""
    component = {
        "component_type": "feed_list",
        "component_name": SEARCH_COMPONENT,
        "fe_config": {
            "is_main_feed": True,
            "data_source": {"type": "search_word", "params": {"count": 30, "clamp": True}},
        },
    }
    wanted = {"filters": [], "exclude_product_ids": [], "seller_id": "", **after, "search_word": query}
    body = {"component_info": orjson.dumps(component).decode(), "load_more_params": orjson.dumps(wanted).decode()}
    return _post("api", "/api/shop/brandy_desktop/s/product_list", body, referer=search_url(query, region))


def reviews(product: str, region: str | None, page: int) -> Fetch:
    """A page of a product's reviews; pages count from 1."""
    body = {
        "product_id": product,
        "sort_rule": 1,
        "page_start": page,
        "page_size": REVIEWS_SIZE,
        "review_filter": {"filter_type": 0, "filter_value": 0},
        "component_name": "reviews",
    }
    path = "/api/shop/pdp_desktop/get_product_reviews"
    return _post("api", path, body, referer=product_url(product, region))
