from __future__ import annotations

from pathlib import Path

import pytest

from fetchworker.contracts import Call, Page
from fetchworker.errors import ArgumentError
from fetchworker.outcomes import Outcome, classify
from fetchworker.sites import load_sites
from fetchworker.spiders.walmart import contract
from fetchworker.spiders.walmart.spider import WalmartSpider


def resolved(**arguments):
    call = WalmartSpider.make_resolver().arguments(arguments).call
    return call.operation, call.params.model_dump(exclude_defaults=True)


def fetches(operation, *, cursor=None, **values):
    chosen = WalmartSpider.operations[operation]
    return chosen.fetches(None, Call(operation, chosen.params(**values), cursor=cursor))


@pytest.mark.parametrize(
    ("url", "operation", "params"),
    [
        ("https://www.walmart.com/ip/170017", "product", {"item": "170017"}),
        ("http://walmart.com/ip/Tin-lamp/170017?classType=REGULAR#x", "product", {"item": "170017"}),
        ("https://www.walmart.com/ip/170018/170017/", "product", {"item": "170017"}),
        ("https://www.walmart.ca/en/ip/tin-lamp/4U934R03CCG4", "product",
         {"item": "4U934R03CCG4", "domain": "walmart.ca"}),
        ("https://www.walmart.ca/fr/ip/lampe/6000208798725", "product",
         {"item": "6000208798725", "domain": "walmart.ca"}),
        ("https://www.walmart.com/reviews/product/170017?page=2", "reviews", {"item": "170017"}),
        ("https://www.walmart.com/search?q=tin+lamp&sort=price_low", "search",
         {"url": "https://www.walmart.com/search?q=tin+lamp&sort=price_low"}),
        ("https://www.walmart.ca/en/search?q=lamp", "search", {"url": "https://www.walmart.ca/en/search?q=lamp"}),
    ],
)  # fmt: skip
def test_addresses_name_their_operation(url, operation, params):
    assert resolved(url=url) == (operation, params)


@pytest.mark.parametrize(
    "url",
    ["https://www.walmart.com/", "https://www.walmart.com/ip/12", "https://www.walmart.com/ip/tin-lamp",
     "https://www.walmart.com.evil.example/ip/170017", "https://www.walmart.com/browse/lamps/1", "https://www.walmart.com/searching?q=x"],
)  # fmt: skip
def test_other_addresses_name_none(url):
    with pytest.raises(ArgumentError):
        resolved(url=url)


def test_an_address_is_the_same_call_as_its_arguments():
    assert resolved(url="https://www.walmart.com/ip/x/170017") == resolved(item="170017") == resolved(item=170017)
    assert resolved(operation="reviews", url="https://www.walmart.com/ip/x/170017") == ("reviews", {"item": "170017"})


def test_arguments_name_their_operation():
    assert resolved(query=" tin  lamp ", domain="ca") == ("search", {"query": "tin lamp", "domain": "walmart.ca"})
    assert resolved(operation="reviews", item="170017", rating="2", sort="newest") == (
        "reviews", {"item": "170017", "rating": 2, "sort": "newest"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"query": " "}, "empty"), ({"operation": "search"}, "what to look for"), ({"item": "12"}, "listing's id"),
        ({"item": "tin-lamp"}, "listing's id"), ({"query": "a", "domain": "mx"}, "walmart.com, walmart.ca"),
        ({"query": "a", "sort": "cheap"}, "best_match"), ({"query": "a", "cursor": "x"}, "page's number"),
        ({"query": "a", "price_min": "1,5"}, "amount"), ({"query": "a", "facet": "brand"}, "facets"),
        ({"query": "a", "category": "home"}, "category's number"), ({"query": "a", "limit": "0"}, "limit"),
        ({"operation": "reviews", "item": "170017", "rating": "6"}, "rating"),
        ({"operation": "search", "url": "https://www.walmart.com/ip/170017"}, "address of a search"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_told_clearly(arguments, said):
    with pytest.raises(ArgumentError, match=said):
        resolved(**arguments)


def test_the_search_as_the_site_writes_it():
    (found,) = fetches(
        "search", query="tin lamp", sort="price_low", price_min="5", price_max="20.50", category="4044_1",
        facet="brand:Wick & Co",
    )  # fmt: skip
    assert found.url == (
        "https://www.walmart.com/search?q=tin+lamp&sort=price_low&min_price=5&max_price=20.50&cat_id=4044_1"
        "&facet=brand%3AWick+%26+Co"
    )
    assert found.referer == "https://www.walmart.com/"
    (found,) = fetches("search", query="lamp", domain="ca", cursor="2")
    assert (found.url, found.referer) == (
        "https://www.walmart.ca/en/search?q=lamp&page=2", "https://www.walmart.ca/en/search?q=lamp",
    )  # fmt: skip


def test_a_searchs_address_is_taken_as_it_is():
    url = "https://www.walmart.com/search?q=lamp&page=7&facet=brand%3AWick&affinityOverride=default"
    (first,), (third,) = fetches("search", url=url), fetches("search", url=url, cursor="3")
    kept = "https://www.walmart.com/search?q=lamp&facet=brand%3AWick&affinityOverride=default"
    assert (first.url, third.url, third.referer) == (kept, f"{kept}&page=3", f"{kept}&page=2")


def test_the_ways_to_reviews():
    page, product = fetches("reviews", item="170017")
    assert (page.url, page.referer) == (
        "https://www.walmart.com/reviews/product/170017",
        "https://www.walmart.com/ip/170017",
    )
    assert (product.strategy, product.url) == ("product", "https://www.walmart.com/ip/170017")
    (second,) = fetches("reviews", item="170017", cursor="2")
    assert second.url == "https://www.walmart.com/reviews/product/170017?page=2"
    (bad,) = fetches("reviews", item="170017", rating=1, sort="newest", domain="ca")
    assert bad.url == "https://www.walmart.ca/en/reviews/product/170017?ratings=1&sort=submission-desc"


@pytest.mark.parametrize(
    ("path", "address"),
    [("/ip/a/1?x=1#y", "https://www.walmart.com/ip/a/1"), ("https://other.example/ip/1", "https://other.example/ip/1"),
     (None, None), ("", None), ("http://[x/", None)],
)  # fmt: skip
def test_canonical_addresses(path, address):
    assert contract.absolute("walmart.com", path) == address


def judged(site, body, *, url="https://www.walmart.com/ip/170017", status=200, headers=None):
    page = Page(url, status, headers or {}, body.encode())
    return classify(page, site="walmart", request_url="https://www.walmart.com/ip/170017")


def test_the_dialog_over_a_served_page_is_no_block(site):
    body = site.listing().replace("<body>", '<body><div id="px-captcha"></div><h1>Robot or human?</h1>')
    verdict = judged(site, body)
    assert verdict.outcome is Outcome.OK
    assert verdict.soft
    assert judged(site, site.listing()).outcome is Outcome.OK


@pytest.mark.parametrize(
    ("body", "more", "outcome"),
    [
        ("<title>Robot or human?</title>", {"url": "https://www.walmart.com/blocked?url=Lw=="}, Outcome.CHALLENGE),
        ("<title>Robot or human?</title><p>hold</p>", {}, Outcome.CHALLENGE),
        ("", {"status": 307, "headers": {"location": ["/blocked?url=Lw==&uuid=1"]}}, Outcome.CHALLENGE),
        ('{"redirectUrl":"/blocked?url=Lw==","appId":"PX1","blockScript":"/x.js"}', {"status": 412}, Outcome.CHALLENGE),
        ("", {"status": 302, "headers": {"location": ["/account/login?returnUrl=/ip/1"]}}, Outcome.LOGIN_WALL),
        ("<p>gone</p>", {"status": 404}, Outcome.NOT_FOUND),
        ("<title>No</title>The requested URL was rejected. Please consult with your administrator</html>",
         {}, Outcome.BLOCKED),
    ],
)  # fmt: skip
def test_refusals(site, body, more, outcome):
    assert judged(site, body, **more).outcome is outcome


def test_a_listing_that_is_no_more(site):
    assert judged(site, site.document({"data": {"product": None}})).outcome is Outcome.NOT_FOUND
    assert judged(site, site.document({"data": {"layout": {}}}, page="/")).outcome is Outcome.NOT_FOUND


def test_the_shipped_entry():
    entry = load_sites(Path(__file__).parents[2] / "sites.yaml")["walmart"]
    assert (entry.robots, entry.pace) == ("obey", "identity")
    assert set(contract.DOMAINS) <= set(entry.allowed_hosts)
