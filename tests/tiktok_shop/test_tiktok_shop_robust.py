"""Whatever a body holds, a parser gives checked items or says what it misses."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fetchworker.demo.mutations import places, replaced
from fetchworker.errors import ContractError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.floats() | st.text(max_size=8) | st.just("1.300,5"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
SLOW = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def attempt(site, operation, body, **values):
    with suppress(ContractError):
        site.parsed(operation, body, **values)


def good(site):
    """A good body of each operation, and how it is made of its data."""
    answers = site.hits(site.card(1), site.card(2), more={"offset": 3})
    return {
        "old": ("product", site.old(), site.page),
        "new": ("product", site.new(), site.page),
        "shown": ("reviews", site.old(), site.page),
        "listed": ("reviews", site.answer(site.review(1), site.review(2), more=True), lambda data: data),
        "search": ("search", {"code": 0, "data": answers}, lambda data: data),
        "hits": ("search", answers, lambda data: site.router(site.component(data, "feed_list_search_word"))),
    }


@SLOW
@pytest.mark.parametrize("name", ["old", "new", "shown", "listed", "search", "hits"])
@given(data=st.data())
def test_one_part_is_anything(site, name, data):
    operation, value, made = good(site)[name]
    path = data.draw(st.sampled_from(list(places(value))))
    cursor = {"cursor": "2"} if name == "listed" else {}
    attempt(site, operation, made(replaced(value, path, data.draw(JSON))), **cursor)


@SLOW
@pytest.mark.parametrize("operation", ["product", "reviews", "search"])
@given(text=st.text(max_size=200) | st.binary(max_size=200))
def test_any_text(site, operation, text):
    attempt(site, operation, text)


@pytest.mark.parametrize("name", ["old", "new", "shown", "listed", "search", "hits"])
def test_bodies_cut_anywhere(site, name):
    operation, value, made = good(site)[name]
    whole = made(value)
    body = (whole if isinstance(whole, str) else json.dumps(whole)).encode()
    for end in range(0, len(body), max(1, len(body) // 300)):
        attempt(site, operation, body[:end])


def test_huge_and_deep_bodies_are_no_trap(site):
    for deep in ('{"a":' * 50_000, "[" * 50_000, '<script id="__MODERN_ROUTER_DATA__">' + "[" * 50_000):
        for operation in ("product", "reviews", "search"):
            attempt(site, operation, deep)
    attempt(site, "product", "__MODERN_ROUTER_DATA__ " * 50_000)
    attempt(site, "product", '<script id="__MODERN_ROUTER_DATA__" ' * 20_000)
    attempt(site, "product", site.page(site.old(base={"desc_detail": "[" * 100_000})))
    attempt(site, "product", site.page(site.old(skus=[site.sku(1, price="9" * 5000)])))
