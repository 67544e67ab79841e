"""Whatever a page holds, a parser gives checked items or says what it misses."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fetchworker.errors import ContractError

OPERATIONS = st.sampled_from(["search", "item", "seller", "description"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**6) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["BUY_BOX", "MSKU", "variationsMap", "menuItemMap", "selectMenus", "itemVariationsMap", "SELLER_CARD_ATF",
    "PICTURE",
     "REVIEWS", "ABOUT_THIS_ITEM", "CONDITION", "itemLocation", "endTime", "mediaList", "sections", "binModel", "price"]
)  # fmt: skip
LD_KEYS = st.sampled_from(
    ["offers", "brand", "image", "review", "aggregateRating", "gtin13", "description", "sku", "name"]
)
ROWS = st.text(alphabet="0123456789.,%() EUR$+abcdefgsoldbids·<>", max_size=30)


def attempt(site, operation, body):
    with suppress(ContractError):
        site.parsed(operation, body)


@given(OPERATIONS, st.text(max_size=200))
def test_any_text(site, operation, text):
    attempt(site, operation, text)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(KEYS, JSON, max_size=5), st.dictionaries(LD_KEYS, JSON, max_size=5))
def test_listings_with_any_data(site, modules, told):
    attempt(site, "item", site.listing(modules=modules, ld={"@type": "Product", **told}))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(ROWS, max_size=5), ROWS, ROWS, st.sampled_from(["12", "0", "1.300+", None]))
def test_cards_with_any_rows(site, rows, price, caption, total):
    shown = [f"<span>{row}</span>" for row in rows]
    cards = [site.card(226000000001, *shown, price=price or "-", caption=caption),
             site.old_card(225000000001, *shown, price=price, caption=caption, seller=caption)]  # fmt: skip
    attempt(site, "search", site.results(*cards, total=total))


@given(st.integers(0, 400))
def test_pages_cut_anywhere(site, permille):
    body = site.listing(modules={"MSKU": {"variationsMap": {"1": {}}}}, ld={"@type": "Product", "name": "x"})
    attempt(site, "item", body[: len(body) * permille // 400])
    body = site.results(site.card(), site.old_card())
    attempt(site, "search", body[: len(body) * permille // 400])


@pytest.mark.parametrize(
    "href", ["http://[x/itm/226000000001", "//", "https://www.ebay.com/itm/226000000001?itmprp=tkp:A"]
)
def test_broken_addresses_are_no_trap(site, href):
    card = re.sub('href="[^"]*"', f'href="{href}"', site.card())
    card = re.sub('src="[^"]*"', f'src="{href}"', card)
    found = site.parsed("search", site.results(card, pagination=f'<a class="pagination__next" href="{href}"></a>'))
    assert found.items[0].id == "226000000001"
    site.parsed("item", site.listing(body=f'<iframe id="desc_ifr" src="{href}"></iframe><a href="{href}">x</a>'))


def test_deep_json_is_no_trap(site):
    deep = '{"MSKU":' * 5000
    attempt(site, "item", site.listing(body=f"<script>{deep}</script>"))
    attempt(site, "item", site.listing(body=f'<script type="application/ld+json">{"[" * 5000}</script>'))
    attempt(site, "item", site.listing(body=f"<script>{json.dumps({'variationsMap': {'1': [1]}})}</script>"))
