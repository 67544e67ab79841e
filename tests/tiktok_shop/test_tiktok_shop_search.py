"""Hits of searches, on pages and in answers."""

from __future__ import annotations

import pytest

from fetchworker.errors import ContractError

MORE = {"offset": 15, "page_token": "t1", "api_source": 2}
CURSOR = '{"api_source":2,"offset":15,"page_token":"t1"}'


def test_a_page_of_hits(site):
    found = site.parsed("search", site.results(site.card(1), site.card(2), more=MORE), query="becher", region="gb")
    first, second, page = found.items
    assert (first.position, first.id, first.name) == (1, "1729000000000000101", "Becher 1")
    assert (first.price, first.currency, first.list_price) == ("8.05", "GBP", "9.95")
    assert (first.rating, first.reviews_count, first.sold_count, first.seller) == (4.6, 45, 12, "Ofengasse")
    assert first.url == "https://shop.tiktok.com/gb/pdp/becher/1729000000000000101"
    assert (first.image_url, first.sponsored) == ("https://pictures.example/c.webp", None)
    assert second.position == 2
    assert (page.kind, page.query, page.page, page.results_count, page.next_cursor) == (
        "search_page", "becher", 1, 2, CURSOR,
    )  # fmt: skip
    assert (page.url, page.extra["related"]) == ("https://shop.tiktok.com/gb/s?q=becher", ["becher blau"])
    assert found.state == {"given": ["1729000000000000101", "1729000000000000102"]}


def test_a_cursor_and_a_verdict_can_be_written_whatever_the_site_says(site):
    odd = {"offset": 15, "page_token": "\ud83d"}
    found = site.parsed("search", site.results(site.card(1), more=odd), query="becher", region="gb")
    assert found.cursor == '{"offset":15,"page_token":"?"}'


def test_an_address_that_cannot_be_read_is_that_of_the_number(site):
    broken = {"canonical_url": "https://[shop.tiktok.com/gb/pdp/becher/1"}
    first, _ = site.parsed("search", site.results(site.card(1, seo_url=broken), more=None), query="becher").items
    assert first.url.endswith("/1729000000000000101")


def test_recommendations_are_no_hits(site):
    found = site.parsed("search", site.results(), query="becher")
    assert [item.kind for item in found.items] == ["search_page"]
    only = site.router(site.component({"products": [site.card(1)]}, "feed_list_you_may_like"))
    with pytest.raises(ContractError, match="feed_list_search_word"):
        site.parsed("search", only, query="becher")


def test_an_answer_with_more(site):
    answer = {"code": 0, "data": site.hits(site.card(2), site.card(3), more={**MORE, "offset": 45})}
    state = {"given": ["1729000000000000102"]}
    found = site.parsed("search", answer, query="becher", cursor=CURSOR, number=2, seen=15, state=state)
    assert [(item.kind, item.id) for item in found.items[:-1]] == [("search_result", "1729000000000000103")]
    assert (found.items[0].position, found.cursor) == (16, CURSOR.replace("15", "45"))


@pytest.mark.parametrize(
    "changed",
    [{"has_more": False}, {"load_more_params": {}}, {"load_more_params": None}, {"products": []}],
)
def test_the_last_page(site, changed):
    answer = {"code": 0, "data": {**site.hits(site.card(1), more=MORE), **changed}}
    assert site.parsed("search", answer, query="becher", cursor=CURSOR, number=2).cursor is None


def test_the_same_page_again_ends_the_search(site):
    answer = {"code": 0, "data": site.hits(site.card(1), more={**MORE, "offset": 99})}
    found = site.parsed("search", answer, query="becher", cursor=CURSOR, number=3,
                        state={"given": ["1729000000000000101"]})  # fmt: skip
    assert (found.cursor, found.items[-1].results_count) == (None, 0)


def test_cards_of_other_years(site):
    older = site.card(1, image=None, rate_info=None, sold_info=None, seller_info=None, seo_url="/gb/pdp/x/1",
                      images=[{"url_list": ["https://pictures.example/o.webp"]}], sold_count=7,
                      seller={"name": "Alt", "seller_id": 5}, product_rating=4.1, review_count=2,
                      product_price_info={"sale_price_format": "16,00", "currency_name": "EUR",
                                          "price_prefix": ""})  # fmt: skip
    first, second, _ = site.parsed("search", site.results(older, site.card(2, seo_url=""), more=None)).items
    assert (first.price, first.currency, first.sold_count, first.seller) == ("16.00", "EUR", 7, "Alt")
    assert (first.rating, first.reviews_count, first.image_url) == (4.1, 2, "https://pictures.example/o.webp")
    assert first.url == "https://shop.tiktok.com/gb/pdp/x/1"
    assert second.url == "https://shop.tiktok.com/view/product/1729000000000000102"


def test_the_cheapest_of_several_forms_is_no_price(site):
    told = {"sale_price_decimal": "8.05", "currency_name": "GBP", "price_prefix": "From"}
    first = site.parsed("search", site.results(site.card(1, product_price_info=told))).items[0]
    assert (first.price, first.price_min, first.list_price) == (None, "8.05", None)


def test_what_a_card_lacks_is_null(site):
    bare = {"product_id": "1729000000000000109"}
    first, page = site.parsed("search", site.results(bare, {"title": "no number"})).items
    assert (first.name, first.price, first.currency, first.rating, first.sold_count) == (None,) * 5
    assert page.results_count == 1
    unrated = site.card(1, rate_info={"score": 0, "review_count": 0})
    assert site.parsed("search", site.results(unrated)).items[0].rating is None
