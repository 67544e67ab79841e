from __future__ import annotations

import json

import pytest

from fetchworker.errors import ContractError


def hits(found):
    return [item for item in found.items if item.kind == "search_result"]


def only(found):
    (result,) = hits(found)
    return result


def test_a_card(site):
    card = site.card(
        priceInfo={
            "linePrice": "$12.50", "linePriceDisplay": "Now $12.50", "wasPrice": "$1,020.00", "unitPrice": "9.9 ¢/oz",
            "shipPrice": "+$4.99 shipping", "priceRangeString": "Options from $12.50 – $30.00",
        },
        badges={"flags": [{"text": "Best seller"}, {}]},
    )  # fmt: skip
    found = only(site.parsed("search", site.results(site.stack(card))))
    assert (found.id, found.name, found.position, found.exact) == ("170017", "Tin lamp & hook", 1, None)
    assert (found.price, found.currency, found.list_price) == ("12.50", "USD", "1020.00")
    assert (found.price_min, found.price_max) == ("12.50", "30.00")
    assert (found.shipping, found.shipping_price, found.shipping_currency) == ("+$4.99 shipping", "4.99", "USD")
    assert (found.seller, found.rating, found.reviews_count, found.sponsored) == ("Lamps & Co", 4.5, 8, False)
    assert (found.availability, found.image_url) == ("in_stock", "https://i5.example/l.jpeg")
    assert found.url == "https://www.walmart.com/ip/Tin-lamp/170017"
    assert found.extra["unit_price"] == "9.9 ¢/oz"
    assert found.extra["badges"] == ["Best seller"]


def test_the_page(site):
    body = site.document(
        {
            "searchResult": site.result(site.stack(site.card()), spelling={"correctedTerm": "lamp"}),
            "pageMetadata": {"location": {"storeId": "77", "postalCode": "00001"}},
        },
        page="/search",
    )
    found = site.parsed("search", body)
    page = found.items[-1]
    assert (page.kind, page.query, page.total_results, page.page) == ("search_page", "lamp", 80, 1)
    assert (page.next_cursor, page.results_count, page.store_id) == ("2", 1, "77")
    assert page.extra == {"corrected_query": "lamp", "last_page": 2, "sort": "best_match", "postal_code": "00001"}
    assert found.cursor == "2"


def test_several_branches_are_none(site):
    assert site.parsed("search", site.results(site.stack(site.card()))).items[-1].store_id is None


@pytest.mark.parametrize(
    ("page", "last", "following"), [(1, 2, "2"), (2, 2, None), (24, 60, "25"), (25, 60, None), (1, None, None)]
)
def test_pages_end_at_the_sites_last_one(site, page, last, following):
    found = site.parsed("search", site.results(site.stack(site.card()), page=page, last=last))
    assert found.cursor == following


def test_a_page_without_cards_is_the_end(site):
    found = site.parsed("search", site.results(site.stack(), page=3, last=9), cursor="3", query="lamp")
    assert (found.cursor, found.items[-1].results_count) == (None, 0)


def test_nothing_found_is_an_answer(site):
    found = site.parsed("search", site.results(total=0, last=0), query="no such lamp")
    (page,) = found.items
    assert (page.total_results, page.results_count, page.query) == (0, 0, "no such lamp")


def test_a_failed_search_is_none(site):
    with pytest.raises(ContractError, match="failed"):
        site.parsed("search", site.results(total=0, errorResponse={"errors": [{"code": 500}]}))


def test_what_is_no_product_is_left_out(site):
    places = [{"__typename": "AdPlaceholder", "type": "Video"}, {"__typename": "TileTakeOverProductPlaceholder"}, {}]
    found = site.parsed("search", site.results(site.stack(*places, site.card())))
    assert only(found).position == 1


def test_groups_are_told_apart(site):
    found = hits(site.parsed("search", site.results(
        site.stack(site.card("170017")), site.stack(site.card("170018"), title="Only here"),
        site.stack(site.card("170019"), title="Other words", isPartialResult=True),
        site.stack(site.card("170020"), title="Again", query="lamp", queryUsedForSearchResults="lantern"),
    )))  # fmt: skip
    assert [result.extra["group"] for result in found] == ["Results", "Only here", "Other words", "Again"]
    assert [result.exact for result in found] == [None, None, False, False]
    assert [result.position for result in found] == [1, 2, 3, 4]


def test_advertised_things_come_once(site):
    stack = site.stack(site.card("170017", isSponsoredFlag=True), site.card("170018"), site.card("170017"))
    found = site.parsed("search", site.results(stack))
    first, second = hits(found)
    assert (first.id, first.sponsored, first.extra["also_unsponsored"]) == ("170017", True, True)
    assert (second.id, second.position, second.sponsored) == ("170018", 2, False)
    later = site.parsed(
        "search", site.results(stack, page=2), cursor="2", number=2, seen=2, state=found.state, query="x"
    )
    assert [item.kind for item in later.items] == ["search_page"]


@pytest.mark.parametrize("price", [0, None, -1, True, "12", 1e300])
def test_a_price_that_is_none(site, price):
    found = only(site.parsed("search", site.results(site.stack(site.card(price=price, priceInfo={"linePrice": ""})))))
    assert (found.price, found.currency) == (None, None)


@pytest.mark.parametrize(
    ("locale", "tree", "currency", "shop"),
    [
        ("en-US", {}, "USD", "walmart.com"), ("es-US", {}, "USD", "walmart.com"), ("en-CA", {}, "CAD", "walmart.ca"),
        ("fr-CA", {}, "CAD", "walmart.ca"), ("dev", {"runtimeConfig": {"tenantV2": {"bu": "WALMART-CA"}}}, "CAD",
        "walmart.ca"),
        ("en-MX", {}, None, "walmart.com"), ("none", {}, None, "walmart.com"),
    ],
)  # fmt: skip
def test_the_currency_is_the_pages(site, locale, tree, currency, shop):
    body = site.document({"searchResult": site.result(site.stack(site.card()))}, page="/search", locale=locale, **tree)
    found = only(site.parsed("search", body))
    assert (found.price, found.currency) == ("12.50", currency)
    assert found.url == f"https://www.{shop}/ip/Tin-lamp/170017"


@pytest.mark.parametrize(
    ("shown", "price"),
    [("$4.07", "4.07"), ("Now $1,234.50", "1234.50"), ("4,07 $", "4.07"), ("1\u00a0234,07 $", "1234.07"),
    ("Now 12 C$", "12"),
     ("$.00", None), ("soon", None), ("", None)],
)  # fmt: skip
def test_prices_that_are_texts_alone(site, shown, price):
    card = site.card(price=None, priceInfo={"linePrice": shown})
    found = only(site.parsed("search", site.results(site.stack(card), locale="fr-CA")))
    assert (found.price, found.currency) == (price, "CAD" if price else None)


def test_how_the_site_judged_the_visitor(site):
    tree = {"props": {"pageProps": {
        "initialData": {"searchResult": site.result(site.stack(site.card()))}, "isIpLevelBot": True,
        "countryRegion": {"countryCode": "US", "regionCode": "CA"},
    }}}  # fmt: skip
    page = site.parsed("search", site.document({}, page="/search", **tree)).items[-1]
    assert (page.extra["is_ip_level_bot"], page.extra["country_region"]) == (True, "US-CA")


def test_an_answer_of_the_interface(site):
    """Its cards stand under ``itemsV2``, have no price of their own and name no currency."""
    info = {"currentPrice": {"price": 3.97, "priceString": "$3.97", "currencyUnit": None},
            "wasPrice": {"price": 5, "priceString": "$5.00"},
            "unitPrice": {"priceString": "22.1 ¢/oz"}, "priceRange": {"minPrice": 3.97, "maxPrice": 9}}  # fmt: skip
    stack = {"itemsV2": [site.card(price=None, priceInfo=info), {"__typename": "MarqueePlaceholder"}], "meta": None}
    body = json.dumps({"data": {"search": {"searchResult": site.result(stack)}}})
    found = only(site.parsed("search", body))
    assert (found.price, found.currency, found.list_price) == ("3.97", None, "5.00")
    assert (found.price_min, found.price_max, found.extra["unit_price"]) == ("3.97", "9.00", "22.1 ¢/oz")


@pytest.mark.parametrize("key", ["usItemId", "name"])
def test_a_card_without_what_it_promises(site, key):
    with pytest.raises(ContractError, match=key):
        site.parsed("search", site.results(site.stack(site.card(**{key: None}))))


@pytest.mark.parametrize(
    "body",
    ["", "<html></html>", "null", "[]", '{"productId": "1"}', '{"data": null}', '<script id="__NEXT_DATA__">{"props"',
     "<script id='__NEXT_DATA__'>[1]</script>", '<script id="__NEXT_DATA__"'],
)  # fmt: skip
def test_bodies_without_a_state(site, body):
    for operation in ("search", "product", "reviews"):
        with pytest.raises(ContractError):
            site.parsed(operation, body)


def test_a_listing_is_no_search(site):
    with pytest.raises(ContractError, match="itemStacks"):
        site.parsed("search", site.listing())


@pytest.mark.parametrize("attributes", ['nonce="" aria-hidden="true"', "", 'data-x=">"'])
def test_the_script_is_found_by_its_id(site, attributes):
    body = site.document({"searchResult": site.result(site.stack(site.card()))}, attributes=attributes)
    if ">" in attributes:
        body = body.replace('data-x=">"', 'data-x="&gt;"')
    assert only(site.parsed("search", body)).id == "170017"
