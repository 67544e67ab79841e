"""Arguments, addresses and requests of the spider."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import orjson
import pytest

from fetchworker.contracts import Call
from fetchworker.errors import ArgumentError
from fetchworker.sites import load_sites
from fetchworker.spiders.tiktok_shop import contract
from fetchworker.spiders.tiktok_shop.spider import TiktokShopSpider

NUMBER = "1729000000000000001"
CURSOR = '{"offset":15,"page_token":"t1"}'


def resolved(**arguments):
    call = TiktokShopSpider.make_resolver().arguments(arguments).call
    return call.operation, call.params.model_dump(exclude_defaults=True)


def fetches(operation, *, cursor=None, page=1, **values):
    chosen = TiktokShopSpider.operations[operation]
    return chosen.fetches(None, Call(operation, chosen.params(**values), cursor=cursor, page=page))


@pytest.mark.parametrize(
    ("url", "operation", "params"),
    [
        (f"https://shop.tiktok.com/us/pdp/clay-mug/{NUMBER}?source=x", "product", {"product": NUMBER, "region": "us"}),
        (f"https://shop.tiktok.com/gb/pdp/{NUMBER}/", "product", {"product": NUMBER, "region": "gb"}),
        (f"https://shop.tiktok.com/view/product/{NUMBER}", "product", {"product": NUMBER}),
        (f"https://www.tiktok.com/shop/pdp/clay-mug/{NUMBER}#a", "product", {"product": NUMBER}),
        (f"https://www.tiktok.com/shop/de/pdp/becher/{NUMBER}", "product", {"product": NUMBER, "region": "de"}),
        (f"http://www.tiktok.com/view/product/{NUMBER}?_svg=1", "product", {"product": NUMBER}),
        ("https://shop.tiktok.com/us/s?q=clay+mug%26co&page=2", "search", {"query": "clay mug&co"}),
        ("https://shop.tiktok.com/de/s?a=1&q=becher", "search", {"query": "becher", "region": "de"}),
        ("https://www.tiktok.com/shop/s/clay%20mug%2B", "search", {"query": "clay mug+"}),
        ("https://www.tiktok.com/shop/s?q=mug&region=GB", "search", {"query": "mug", "region": "gb"}),
    ],
)
def test_addresses_name_the_same_calls_as_arguments(url, operation, params):
    assert resolved(url=url) == (operation, params)
    assert resolved(operation=operation, **params) == (operation, params)


@pytest.mark.parametrize(
    "url",
    ["https://www.tiktok.com/@ada", "https://shop.tiktok.com/us/pdp/12", f"https://shop.example.com/us/pdp/{NUMBER}",
     "https://www.tiktok.com/shop", f"https://shop.tiktok.com.evil.example/view/product/{NUMBER}"],
)  # fmt: skip
def test_other_addresses_name_none(url):
    with pytest.raises(ArgumentError):
        resolved(url=url)


def test_arguments_name_their_operation():
    assert resolved(product=int(NUMBER)) == ("product", {"product": NUMBER})
    assert resolved(query="  c++  mug 50% ") == ("search", {"query": "c++ mug 50%"})
    assert resolved(operation="reviews", url=f"https://shop.tiktok.com/gb/pdp/x/{NUMBER}") == (
        "reviews", {"product": NUMBER, "region": "gb"},
    )  # fmt: skip
    assert resolved(operation="search", url="https://www.tiktok.com/shop/s/mug", limit="3")[1]["limit"] == 3


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"product": "12"}, "15 to 21 digits"),
        ({"product": NUMBER, "region": "xx"}, "must be one of us, gb"),
        ({"query": " "}, "must not be empty"),
        ({"query": "mug", "cursor": "2"}, "next_cursor"),
        ({"query": "mug", "cursor": "[]"}, "next_cursor"),
        ({"operation": "reviews", "product": NUMBER, "cursor": "x"}, "number of a page"),
        ({"operation": "search", "url": "https://shop.tiktok.com/us/pdp/x"}, "address of a search"),
        ({"operation": "search"}, "query"),
    ],
)
def test_wrong_arguments(arguments, told):
    with pytest.raises(ArgumentError, match=told):
        resolved(**arguments)


def test_a_product_has_two_ways():
    page, share = fetches("product", product=NUMBER, region="gb")
    assert (page.strategy, page.url) == ("page", f"https://shop.tiktok.com/gb/pdp/{NUMBER}")
    assert (share.strategy, share.url) == ("share", f"https://www.tiktok.com/view/product/{NUMBER}")
    assert fetches("product", product=NUMBER)[0].url == f"https://shop.tiktok.com/view/product/{NUMBER}"


def test_reviews_follow_the_page():
    assert [fetch.strategy for fetch in fetches("reviews", product=NUMBER)] == ["page", "share"]
    (call,) = fetches("reviews", product=NUMBER, region="us", cursor="3")
    assert (call.method, call.destination) == ("POST", "xhr")
    assert call.url == "https://shop.tiktok.com/api/shop/pdp_desktop/get_product_reviews"
    assert call.referer == f"https://shop.tiktok.com/us/pdp/{NUMBER}"
    body = orjson.loads(call.body)
    assert (body["product_id"], body["page_start"], body["page_size"]) == (NUMBER, 3, 20)


def test_searches_follow_the_page():
    page, other = fetches("search", query="clay mug", region="gb")
    assert page.url == "https://shop.tiktok.com/gb/s?q=clay%20mug"
    assert other.url == "https://www.tiktok.com/shop/s/clay%20mug"
    call, numbered = fetches("search", query="clay mug", cursor=CURSOR, page=2)
    body = orjson.loads(call.body)
    assert orjson.loads(body["load_more_params"]) == {
        "filters": [], "exclude_product_ids": [], "seller_id": "", "offset": 15, "page_token": "t1",
        "search_word": "clay mug",
    }  # fmt: skip
    assert orjson.loads(body["component_info"])["component_name"] == "feed_list_search_word"
    assert (call.referer, numbered.url) == (
        "https://shop.tiktok.com/us/s?q=clay%20mug", "https://shop.tiktok.com/us/s?q=clay%20mug&page=2",
    )  # fmt: skip
    assert len(fetches("search", query="clay mug", cursor=CURSOR)) == 1, "a cursor of another crawl has no number"


def test_visits_come_first():
    assert [visit.url for visit in TiktokShopSpider.visits(contract.SHOP)] == [
        "https://www.tiktok.com/", "https://www.tiktok.com/shop",
    ]  # fmt: skip


def test_reading_a_stored_call_changes_nothing():
    for operation, values in (
        ("search", {"query": "a%20b+c", "region": "GB", "cursor": CURSOR, "limit": 3}),
        ("search", {"url": "https://shop.tiktok.com/us/s?q=a%2520b"}),
        ("reviews", {"product": NUMBER, "cursor": "2"}),
    ):
        model = TiktokShopSpider.operations[operation].params
        once = model(**values)
        assert model.model_validate(once.model_dump(mode="json", exclude_defaults=True)) == once


def test_requests_stay_within_the_hosts_of_the_site():
    entry = load_sites(Path(__file__).parents[2] / "sites.yaml")["tiktok_shop"]
    every = [*fetches("product", product=NUMBER), *fetches("search", query="x"), *contract.warm_up(),
             *fetches("reviews", product=NUMBER, cursor="2")]  # fmt: skip
    for fetch in every:
        host = urlsplit(fetch.url).hostname
        assert any(host == allowed or host.endswith(f".{allowed}") for allowed in entry.allowed_hosts)
    assert (entry.warmup, entry.robots, entry.concurrency) == (True, "obey", 1)


def test_the_contract_is_dated():
    assert all(sighting.fact and sighting.source and "20" in sighting.seen for sighting in contract.SIGHTINGS)
    assert {name: chosen.counts for name, chosen in TiktokShopSpider.operations.items()} == {
        "product": None, "reviews": "review", "search": "search_result",
    }  # fmt: skip
    assert all(chosen.summary for chosen in TiktokShopSpider.operations.values())
