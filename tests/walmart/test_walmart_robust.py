"""Whatever a page holds, a parser gives checked items or says what it misses."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fetchworker.demo.mutations import places, replaced
from fetchworker.errors import ContractError

OPERATIONS = ["search", "product", "reviews"]
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**25), 10**25), st.floats(), st.text(max_size=12),
    st.sampled_from(["", " ", "\ud800", "$1,2,3", "0", "https://[x", "1/1/0001", "<b", "&#x110000;", [], {}, [None],
    [[]], {"": 0}]),
)  # fmt: skip


def good(site):
    form = {"usItemId": "170018", "id": "X", "variants": ["c-b"], "priceInfo": {"currentPrice": {"price": 9.5}},
            "availabilityStatus": "IN_STOCK"}  # fmt: skip
    product = site.product(
        upc="012345678905", variantCriteria=[{"name": "Color", "variantList": [{"id": "c-b", "name": "Blue"}]}],
        variantsMap={"X": form}, imageInfo={"allImages": [{"url": "https://i5.example/1.jpeg"}]}, sellerName="Wick",
        category={"path": [{"name": "Home"}]}, fulfillmentLabel=[{"message": "soon"}], location={"storeIds": ["7"]},
        fulfillmentOptions=[{"type": "SHIPPING", "speedDetails": {"fulfillmentPrice": {"price": 3}}}],
    )  # fmt: skip
    reviews = {"customerReviews": [site.review(), site.review(2, media=[{"normalUrl": "https://i5.example/a"}])],
               "totalReviewCount": 30, "reviewsWithTextCount": 30, "pagination": {"next": {"num": 2}}}  # fmt: skip
    idml = {"specifications": [{"name": "a", "value": "b"}], "longDescription": "<p>x</p>"}
    card = site.card(priceInfo={"linePrice": "$1.00", "wasPrice": {"price": 2}, "priceRangeString": "$1.00 – $2.00"})
    return {
        "search": {"searchResult": site.result(site.stack(card, site.card("170018")), site.stack())},
        "product": {"data": {"product": product, "idml": idml, "reviews": reviews}},
        "reviews": {"data": {"product": {"usItemId": "170017"}, "reviews": reviews}},
    }


def attempt(site, operation, body):
    with suppress(ContractError):
        site.parsed(operation, body)


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_value_anywhere(site, operation, data):
    tree = good(site)[operation]
    for _ in range(data.draw(st.integers(1, 3))):
        tree = replaced(tree, data.draw(st.sampled_from(list(places(tree)))), data.draw(VALUES))
        if not isinstance(tree, dict):
            break
    attempt(site, operation, site.document(tree))


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(permille=st.integers(0, 1000), junk=st.binary(max_size=20), at=st.integers(0, 1000))
def test_bodies_cut_and_soiled(site, operation, permille, junk, at):
    body = site.document(good(site)[operation]).encode()
    attempt(site, operation, body[: len(body) * permille // 1000])
    place = len(body) * at // 1000
    attempt(site, operation, body[:place] + junk + body[place + len(junk) :])


@settings(max_examples=300)
@given(operation=st.sampled_from(OPERATIONS), raw=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes(site, operation, raw):
    attempt(site, operation, raw)


def test_deep_and_endless_bodies_are_no_trap(site):
    for body in (
        '<script id="__NEXT_DATA__">' + '{"props":' * 50_000, '{"data":' * 50_000, "<script " * 100_000,
        '<script id="__NEXT_DATA__"' * 20_000, "<title>" * 100_000 + site.listing(),
    ):  # fmt: skip
        for operation in OPERATIONS:
            attempt(site, operation, body)


def test_a_large_page_is_read_in_one_pass(site, calls):
    """Twice the page costs twice the calls."""

    def read(count):
        cards = [site.card(str(170000 + number), note="x" * 2_000) for number in range(count)]
        body = site.results(site.stack(*cards))
        return calls(lambda: site.parsed("search", body))

    assert read(80) < 2.1 * read(40)


def test_lone_surrogates_in_json(site):
    body = site.listing(site.product(name="Tin \ud83d lamp"))
    assert "\\ud83d" in body
    assert site.parsed("product", body).items[0].name
    assert json.dumps(site.parsed("product", body).items[0].name)
