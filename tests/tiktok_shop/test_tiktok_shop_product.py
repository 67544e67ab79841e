"""Products out of pages of both generations, and out of answers."""

from __future__ import annotations

import json

import pytest

from fetchworker.errors import ContractError


def product(site, body, **values):
    return site.parsed("product", body, **values).items[0]


def test_a_page_of_2025(site):
    made, review = site.parsed("product", site.page(site.old()), product=site.number).items
    assert (made.kind, made.id, made.name, made.brand) == ("product", site.number, "Becher aus Ton", "Ofengasse")
    assert (made.price, made.price_min, made.price_max, made.list_price) == ("12.50", "12.50", "14.00", "19.90")
    assert (made.currency, made.availability, made.sold_count) == ("EUR", "in_stock", 31)
    assert made.description == "Handgedreht.\nspülfest\nschwer"
    assert made.images == ["https://pictures.example/1.webp"]
    assert made.category_path == ["Küche", "Becher"]
    assert (made.rating, made.reviews_count) == (4.5, 3)
    seller = made.seller
    assert (seller.id, seller.name, seller.url, seller.rating) == ("7490", "Ofengasse", None, 4.8)
    assert (made.shipping, made.shipping_price, made.shipping_currency) == ("Versand", "4.5", "EUR")
    assert (made.location, made.attributes) == ("Germany", {"Marke": "Ofengasse"})
    assert [(form.id, form.attributes, form.price, form.availability) for form in made.variants] == [
        ("11", {"Farbe": "Ton 11"}, "12.50", "in_stock"), ("12", {"Farbe": "Ton 12"}, "14.00", "out_of_stock"),
    ]  # fmt: skip
    assert (made.extra["risk_level"], made.extra["is_bot"], made.extra["lead_time"]) == ("low", False, "Mi - Fr")
    assert (review.kind, review.id, review.product_id, review.author) == ("review", "7001", site.number, "Ada K.")


def test_a_page_of_2026(site):
    shop = {"seller_id": "7490", "shop_name": "Ofengasse", "shop_rating": "4.7", "sold_count": "900"}
    made = product(site, site.page(site.new(), shop_info=shop))
    assert (made.id, made.name, made.brand, made.sold_count) == (site.number, "Becher aus Ton", "Ofengasse", 31)
    assert (made.price, made.price_min, made.price_max, made.list_price) == ("12.50", "12.50", "14.00", "19.90")
    assert (made.currency, made.rating, made.reviews_count) == ("EUR", 4.5, 3)
    assert (made.shipping_price, made.shipping_currency) == ("7.99", "EUR")
    assert (made.seller.id, made.seller.name, made.seller.rating) == ("7490", "Ofengasse", 4.7)
    assert made.attributes == {"Marke": "Ofengasse", "Farben": "rot, grau"}
    assert [(form.id, form.sku, form.price, form.availability) for form in made.variants] == [
        ("11", "B-11", "12.50", "in_stock"), ("12", None, "14.00", "preorder"),
    ]  # fmt: skip
    assert (made.extra["saving"], made.extra["shop_sold_count"]) == ("7,40 € gespart", 900)


@pytest.mark.parametrize("route", ["shop/pdp/(product_name_slug$)/(product_id)/page", "view/product/(product_id)/page"])
def test_the_route_and_the_place_of_the_component_do_not_matter(site, route):
    empty = [{"component_name": "user_info"}, {"component_name": "x", "component_data": None}, "broken", None]
    page = site.router(*empty, site.component({"product_info": site.old()}, "another_name"), route=route)
    assert product(site, page).name == "Becher aus Ton"


def test_the_pages_global_copy_is_a_last_resort(site):
    stub = {"product_info": {"seller_id": "1", "product_id": site.number}}
    answer = {"code": 0, "data": {"components_map": [], "global_data": {"product_info": {"product_info": site.new()}}}}
    assert product(site, answer).id == site.number
    answer["data"]["components_map"] = [site.component({"product_info": site.new(model={"name": "Aus der Liste"})})]
    answer["data"]["global_data"]["product_info"] = stub
    assert product(site, answer).name == "Aus der Liste"


def test_the_object_alone_as_apps_hand_it_on(site):
    made, review = site.parsed("product", site.old()).items
    assert (made.id, review.id) == (site.number, "7001")


def test_what_is_missing_is_null(site):
    bare = {"product_id": int(site.number), "product_base": {"title": "Becher"}}
    made = product(site, site.page(bare))
    nothing = ("price", "currency", "list_price", "rating", "reviews_count", "sold_count", "availability", "seller")
    assert [getattr(made, name) for name in nothing] == [None] * len(nothing)
    assert (made.variants, made.images, made.attributes, made.shipping_price) == ([], [], {}, None)
    bare = {"product_model": {"product_id": site.number, "name": "Becher"}}
    made = product(site, site.page(bare))
    assert [getattr(made, name) for name in nothing] == [None] * len(nothing)


@pytest.mark.parametrize("count", [0, "0"])
def test_nobody_has_judged_it(site, count):
    for info in (
        site.old(product_detail_review={"product_rating": 0, "review_count": count, "review_items": []}),
        site.new(review_model={"product_overall_score": 0, "product_review_count": count}),
    ):
        made = product(site, site.page(info))
        assert (made.rating, made.reviews_count) == (None, 0)


@pytest.mark.parametrize(
    ("value", "currency", "expected"),
    [
        ("24.17", "USD", "24.17"),
        ("24,17", "EUR", "24.17"),
        ("1.234,50", "EUR", "1234.50"),
        ("1,234.50", "GBP", "1234.50"),
        ("129.000", "VND", "129000"),
        ("12.500", "IDR", "12500"),
        ("1,980", "JPY", "1980"),
        ("1 234,50", "SEK", "1234.50"),
        ("1 234,50", "PLN", "1234.50"),
        ("1'234.50", "CHF", "1234.50"),
        ("59,90", "BRL", "59.90"),
        ("399", "THB", "399"),
        (399, "THB", "399"),
        (7.99, "MYR", "7.99"),
        ("from 3", "USD", None),
        ("", "USD", None),
        ("3.00", "", None),
        ("3.00", None, None),
        (None, "USD", None),
        (True, "USD", None),
    ],
)
def test_prices_of_many_countries(site, value, currency, expected):
    form = site.sku(11, price=value, currency=currency)
    made = product(site, site.page(site.old(skus=[form], base={"price": {}})))
    assert (made.price, made.variants[0].price) == (expected, expected)
    assert made.currency == (currency if expected or (currency and len(currency) == 3) else None)


def test_the_page_opens_with_one_form(site):
    made = product(site, site.page(site.old(default_sku_id="12")))
    assert made.price == "14.00"
    made = product(site, site.page(site.old(default_sku_id="none of them")))
    assert (made.price, made.price_min) == (None, "12.50")


def test_stock_decides(site):
    made = product(site, site.page(site.old(skus=[site.sku(11, 0), site.sku(12, 0)])))
    assert made.availability == "out_of_stock"
    made = product(site, site.page(site.old(skus=[site.sku(11, None)])))
    assert (made.availability, made.variants[0].availability) == (None, None)


def test_free_delivery(site):
    free = {"free_shipping": True, "shipping_fee": {"price_val": "4.5", "currency": "EUR"}}
    assert product(site, site.page(site.old(logistic=free))).shipping_price == "0"


def test_another_products_page_is_none(site):
    with pytest.raises(ContractError, match="another product"):
        site.parsed("product", site.page(site.old()), product="1729000000000000002")


@pytest.mark.parametrize("number", [23002002, 23002102])
def test_not_sold_here_is_said_with_the_sites_number(site, number):
    page = site.router(site.component({"error_code": number, "error_message": "x"}))
    with pytest.raises(ContractError, match=f"{number}: not sold where"):
        site.parsed("product", page)
    with pytest.raises(ContractError, match="not sold where"):
        site.parsed("product", {"code": 0, "data": {"global_data": {"product_info": {"error_code": number}}}})


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("", "script#__MODERN_ROUTER_DATA__"),
        ("<html><p>__MODERN_ROUTER_DATA__</p></html>", "script#__MODERN_ROUTER_DATA__"),
        ('<script id="__MODERN_ROUTER_DATA__">{broken</script>', "script#__MODERN_ROUTER_DATA__"),
        ('<script id="__MODERN_ROUTER_DATA__">{"loaderData": {"a": {}}}</script>', "loaderData"),
        ('<script id="__MODERN_ROUTER_DATA__">{"loaderData": {"a": {"page_config": {}}}}</script>', "product_info"),
        ('{"code": 7, "message": "no"}', "code: the answer is an error: 7 no"),
        ("{}", "product_info"),
        ("[1]", "body"),
        (b"\xff\xfe\x00", "script"),
    ],
)
def test_what_is_no_product(site, body, path):
    with pytest.raises(ContractError) as caught:
        site.parsed("product", body)
    assert path in f"{caught.value.path}: {caught.value.message}"


def test_a_product_without_a_name_is_no_half_item(site):
    for info in (site.old(base={"title": "  "}), site.new(model={"product_id": None})):
        with pytest.raises(ContractError, match="product_id"):
            site.parsed("product", site.page(info))


def test_text_that_json_readers_choke_on(site):
    page = site.page(site.old(base={"title": "Becher \ud800 aus\u0001 Ton"})).replace("\\u0001", "\x01")
    assert product(site, page).name == "Becher ? aus\x01 Ton"


def test_a_large_page_is_read_in_one_pass(site, calls):
    def read(count):
        filler = [site.component({"text": "x" * 1000, "n": list(range(50))}, f"filler{n}") for n in range(count)]
        page = site.router(*filler, site.component({"product_info": site.old()})).encode()
        return calls(lambda: site.parsed("product", page))

    assert read(400) < 2.1 * read(200)


def test_a_page_around_a_page_in_a_text(site):
    quoted = json.dumps('<script id="__MODERN_ROUTER_DATA__">{}')
    assert product(site, f"<p>{quoted[1:30]}</p>" + site.page(site.old())).id == site.number
