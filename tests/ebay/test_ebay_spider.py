from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from fetchworker.contracts import Call
from fetchworker.errors import ArgumentError
from fetchworker.sites import load_sites
from fetchworker.spiders.ebay import contract
from fetchworker.spiders.ebay.spider import EbaySpider


def resolved(**arguments):
    call = EbaySpider.make_resolver().arguments(arguments).call
    return call.operation, call.params.model_dump(exclude_defaults=True)


def fetch(operation, *, cursor=None, **values):
    chosen = EbaySpider.operations[operation]
    (found,) = chosen.fetches(None, Call(operation, chosen.params(**values), cursor=cursor))
    return found


@pytest.mark.parametrize(
    ("url", "operation", "params"),
    [
        ("https://www.ebay.com/itm/226000000001", "item", {"item": "226000000001"}),
        ("https://www.ebay.de/itm/blaue-vase/226000000001?hash=x&var=42#d", "item",
         {"item": "226000000001", "variation": "42", "domain": "ebay.de"}),
        ("http://ebay.co.uk/itm/226000000001?var=0", "item", {"item": "226000000001", "domain": "ebay.co.uk"}),
        ("https://www.ebay.com.au/itm/226000000001/?nma=1", "item", {"item": "226000000001", "domain": "ebay.com.au"}),
        ("https://www.benl.ebay.be/itm/226000000001", "item", {"item": "226000000001", "domain": "ebay.be"}),
        ("https://www.ebay.com/usr/kiln*84?_trksid=x", "seller", {"seller": "kiln*84"}),
        ("https://www.ebay.fr/sch/i.html?_nkw=vase&Brand=Kiln%20Co", "search",
         {"url": "https://www.ebay.fr/sch/i.html?_nkw=vase&Brand=Kiln%20Co"}),
        ("https://www.ebay.com/sch/kiln_84/m.html", "search", {"url": "https://www.ebay.com/sch/kiln_84/m.html"}),
    ],
)  # fmt: skip
def test_addresses_name_their_operation(url, operation, params):
    assert resolved(url=url) == (operation, params)


@pytest.mark.parametrize(
    "url",
    ["https://www.ebay.com/", "https://www.ebay.com/itm/12", "https://www.ebay.com/b/Vases/1", "https://ebay.evil.example/itm/226000000001",
     "https://www.ebay.commm/itm/226000000001"],
)  # fmt: skip
def test_other_addresses_name_none(url):
    with pytest.raises(ArgumentError):
        resolved(url=url)


def test_arguments_name_their_operation():
    assert resolved(query=" blue  vase ") == ("search", {"query": "blue vase"})
    assert resolved(seller="kiln_84", sold="true") == ("search", {"seller": "kiln_84", "sold": True})
    assert resolved(item=226000000001, domain="de") == ("item", {"item": "226000000001", "domain": "ebay.de"})
    assert resolved(operation="seller", seller="kiln_84") == ("seller", {"seller": "kiln_84"})
    assert resolved(operation="description", item="226000000001")[0] == "description"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"query": " "}, "empty"), ({"operation": "search"}, "what to look for"), ({"item": "12"}, "9 to 15 digits"),
        ({"query": "a", "domain": "example.com"}, "must be one of ebay.com"),
        ({"query": "a", "sort": "cheap"}, "best_match"),
        ({"query": "a", "page_size": "61"}, "60, 120, 240"), ({"query": "a", "cursor": "x"}, "page's number"),
        ({"seller": "two words"}, "seller's name"), ({"query": "a", "price_min": "1,5"}, "amount"),
        ({"query": "a", "filters": "[1]"}, "filters"),
        ({"query": "a", "filters": '{"a=b": "1"}'}, "no name of a filter"),
        ({"query": "a", "sold": "maybe"}, "sold"), ({"item": "226000000001", "variation": "x"}, "var="),
        ({"operation": "search", "url": "https://www.ebay.com/itm/226000000001"}, "address of a search"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_told_clearly(arguments, said):
    with pytest.raises(ArgumentError, match=said):
        resolved(**arguments)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"query": "blue vase"}, {"_nkw": "blue vase"}),
        ({"query": "a", "sold": True}, {"_nkw": "a", "LH_Sold": "1", "LH_Complete": "1"}),
        ({"query": "a", "ended": True}, {"_nkw": "a", "LH_Complete": "1"}),
        ({"query": "a", "format": "auction", "sort": "ending_soonest"}, {"_nkw": "a", "LH_Auction": "1", "_sop": "1"}),
        (
            {"query": "a", "format": "fixed", "condition": "new"},
            {"_nkw": "a", "LH_BIN": "1", "LH_ItemCondition": "1000"},
        ),
        ({"seller": "kiln*84"}, {"_ssn": "kiln*84"}),
        ({"query": "a", "price_min": "5", "price_max": "7.50"}, {"_nkw": "a", "_udlo": "5", "_udhi": "7.50"}),
        ({"query": "a", "page_size": 240}, {"_nkw": "a", "_ipg": "240"}),
        ({"query": "a", "filters": {"Brand": "Kiln & Co"}}, {"_nkw": "a", "Brand": "Kiln & Co"}),
    ],
)
def test_a_search_as_the_site_writes_it(values, expected):
    parts = urlsplit(fetch("search", **values).url)
    assert (parts.netloc, parts.path) == ("www.ebay.com", "/sch/i.html")
    assert {name: value for name, (value,) in parse_qs(parts.query).items()} == expected


def test_a_sellers_name_and_a_category_keep_their_form():
    assert fetch("search", seller="kiln*84!").url == "https://www.ebay.com/sch/i.html?_ssn=kiln*84!"
    assert fetch("search", query="a", category="870", domain="uk.ebay.co.uk".removeprefix("uk.")).url == (
        "https://www.ebay.co.uk/sch/870/i.html?_nkw=a"
    )


def test_pages_of_a_search():
    address = "https://www.ebay.de/sch/i.html?_nkw=a%20b&Brand=X%2FY&_pgn=9"
    first = fetch("search", url=address)
    assert (first.url, first.referer) == (
        "https://www.ebay.de/sch/i.html?_nkw=a%20b&Brand=X%2FY",
        "https://www.ebay.de/",
    )
    second, third = fetch("search", url=address, cursor="2"), fetch("search", url=address, cursor="3")
    assert (second.url, second.referer) == (f"{first.url}&_pgn=2", first.url)
    assert (third.url, third.referer) == (f"{first.url}&_pgn=3", second.url)


def test_listings_sellers_and_descriptions():
    assert (
        fetch("item", item="226000000001", variation="42", domain="it").url
        == "https://www.ebay.it/itm/226000000001?var=42"
    )
    assert fetch("item", item="226000000001", variation="0").url == "https://www.ebay.com/itm/226000000001"
    assert fetch("seller", seller="kiln*84", domain="es").url == "https://www.ebay.es/usr/kiln*84"
    assert fetch("description", item="226000000001").url == "https://itm.ebaydesc.com/itmdesc/226000000001"


def test_reading_a_stored_call_changes_nothing():
    stored = [
        ("search", {"query": "100% a+b", "filters": {"Brand": "X"}, "sold": True, "page_size": 120, "limit": 3}),
        ("item", {"item": "226000000001", "variation": "0", "domain": "de"}),
        ("search", {"url": "https://www.ebay.de/sch/i.html?_nkw=a+b"}),
    ]
    for operation, values in stored:
        model = EbaySpider.operations[operation].params
        once = model(**values)
        assert model.model_validate(once.model_dump(mode="json", exclude_defaults=True)) == once


def test_requests_stay_within_the_hosts_of_the_site():
    allowed = load_sites(Path(__file__).parents[2] / "sites.yaml")["ebay"].allowed_hosts or ()
    assert set(contract.DOMAINS) <= set(allowed)
    assert urlsplit(contract.description("226000000001").url).netloc in allowed


def test_the_contract_is_dated():
    assert all(sighting.fact and sighting.source and "20" in sighting.seen for sighting in contract.SIGHTINGS)
    assert {name: chosen.counts for name, chosen in EbaySpider.operations.items()} == {
        "search": "search_result", "item": None, "description": None, "seller": None,
    }  # fmt: skip
    assert all(chosen.summary for chosen in EbaySpider.operations.values())
