from __future__ import annotations

import json

import pytest

from fetchworker.errors import ContractError


def listing(site, product=None, **more):
    return site.parsed("product", site.listing(product, **more)).items[0]


def test_a_listing(site):
    product = site.product(
        upc="012345678905", conditionType="New", shortDescription="<p>Cut &amp; bent.</p><p>By hand.</p>",
        priceInfo={"currentPrice": {"price": 25, "currencyUnit": "USD"}, "wasPrice": {"price": 34.99}},
        imageInfo={"allImages": [{"url": "https://i5.example/1.jpeg"}, {"url": "https://i5.example/1.jpeg"},
        {"url": None}]},
        category={"path": [{"name": "Home"}, {"name": "Lamps"}, {}]},
        sellerName="Wick Ltd", sellerDisplayName="Wick", sellerId="S1", sellerAverageRating=4.25, sellerReviewCount=91,
        sellerStoreFrontURL="https://www.walmart.com/global/seller/1", primaryUsItemId="170001", model="T-1",
        fulfillmentLabel=[{"message": "Shipping, arrives by Mon"}],
        fulfillmentOptions=[{"type": "PICKUP"}, {"type": "SHIPPING", "speedDetails": {"freeFulfillment": True}}],
        location={"storeIds": ["77"], "postalCode": "00001"}, returnPolicy={"returnPolicyText": "90 days"},
    )  # fmt: skip
    idml = {"longDescription": "<ul><li>Tin</li><li>Glass</li></ul>",
            "specifications": [{"name": "Material", "value": "Tin"}, {"name": "", "value": "x"},
            {"name": "Size"}]}  # fmt: skip
    found = listing(
        site,
        product,
        idml=idml,
        reviews={"averageOverallRating": 4.1, "totalReviewCount": 90},
        title="Lamps &amp; more",
    )
    assert (found.id, found.sku, found.gtin, found.name, found.brand) == (
        "170017", "1LAMP0000017", "012345678905", "Tin lamp", "Wick",
    )  # fmt: skip
    assert (found.price, found.currency, found.list_price, found.availability) == ("25.00", "USD", "34.99", "in_stock")
    assert (found.price_min, found.price_max) == (None, None)
    assert found.description == "Cut & bent.\nBy hand.\nTin\nGlass"
    assert (found.images, found.category_path) == (["https://i5.example/1.jpeg"], ["Home", "Lamps"])
    assert (found.rating, found.reviews_count, found.condition, found.page_title) == (4.5, 8, "New", "Lamps & more")
    assert (found.seller.id, found.seller.name, found.seller.rating, found.seller.feedback_count) == (
        "S1", "Wick", 4.25, 91,
    )  # fmt: skip
    assert (found.shipping, found.shipping_price, found.shipping_currency) == ("Shipping, arrives by Mon", "0", "USD")
    assert found.attributes == {"Material": "Tin"}
    assert found.url == "https://www.walmart.com/ip/Tin-lamp/170017"
    assert found.extra["seller_legal_name"] == "Wick Ltd"
    assert (found.extra["group_rating"], found.extra["group_reviews_count"]) == (4.1, 90)
    assert (found.extra["store_id"], found.extra["primary_us_item_id"]) == ("77", "170001")


def test_variants(site):
    form = {"usItemId": "170018", "id": "1LAMP0000018", "variants": ["color-blue", "size-s", "color-unknown"],
            "priceInfo": {"currentPrice": {"price": 9.5, "currencyUnit": "USD"}},
            "availabilityStatus": "OUT_OF_STOCK"}  # fmt: skip
    product = site.product(
        variantCriteria=[
            {"id": "color", "name": "Color", "variantList": [{"id": "color-blue", "name": "Blue"}, {}]},
            {"id": "size", "variantList": [{"id": "size-s", "name": "S"}]}, None,
        ],
        variantsMap={"1LAMP0000018": form, "1LAMP0000019": {"variants": None,
        "priceInfo": {"currentPrice": {"price": 20}}},
                     "x": None},
    )  # fmt: skip
    found = listing(site, product)
    first, second = found.variants
    assert (first.id, first.sku, first.attributes) == ("170018", "1LAMP0000018", {"Color": "Blue", "size": "S"})
    assert (first.price, first.currency, first.availability) == ("9.50", "USD", "out_of_stock")
    assert (second.sku, second.price, second.attributes) == ("1LAMP0000019", "20.00", {})
    assert (found.price_min, found.price_max) == ("9.50", "20.00")


@pytest.mark.parametrize(
    ("told", "availability"),
    [
        ("IN_STOCK", "in_stock"),
        ("OUT_OF_STOCK", "out_of_stock"),
        ("RETIRED", "ended"),
        ("SOON", "unknown"),
        (None, None),
    ],
)
def test_availability(site, told, availability):
    assert listing(site, site.product(availabilityStatus=told)).availability == availability


def test_what_can_be_ordered_before_it_is_out(site):
    assert listing(site, site.product(preOrder={"isPreOrder": True})).availability == "preorder"


def test_a_bare_listing(site):
    found = listing(site, {"usItemId": "170017", "name": "Tin lamp"})
    assert (found.price, found.currency, found.seller, found.rating) == (None, None, None, None)
    assert found.url == "https://www.walmart.com/ip/170017"
    assert (found.images, found.variants, found.attributes) == ([], [], {})


def test_no_rating_without_reviews(site):
    assert listing(site, site.product(averageRating=0, numberOfReviews=0)).rating is None
    assert listing(site, site.product(averageRating=3, numberOfReviews=0)).rating is None


def test_the_prices_currency_is_the_listings_own(site):
    price = {"currentPrice": {"price": 3, "currencyUnit": "CAD"}}
    assert listing(site, site.product(priceInfo=price), locale="none").currency == "CAD"
    price = {"currentPrice": {"priceString": "Now $1,300.00", "currencyUnit": "bucks"}}
    found = listing(site, site.product(priceInfo=price), locale="en-CA")
    assert (found.price, found.currency) == ("1300.00", "CAD")


def test_an_answer_of_the_interface(site):
    body = json.dumps({"data": {"product": site.product(), "reviews": {"customerReviews": [site.review()]}}})
    product, review = site.parsed("product", body).items
    assert (product.id, product.page_title, review.product_id) == ("170017", None, "170017")


@pytest.mark.parametrize("key", ["usItemId", "name"])
def test_a_listing_without_what_it_promises(site, key):
    with pytest.raises(ContractError, match=key):
        listing(site, site.product(**{key: None}))


def test_no_listing(site):
    with pytest.raises(ContractError, match="usItemId"):
        site.parsed("product", site.document({"data": {"product": None}}))
    with pytest.raises(ContractError):
        site.parsed("product", site.results(site.stack(site.card())))


def test_another_listing_is_not_taken_for_the_one_asked_for(site):
    assert site.parsed("product", site.listing(), item="170017").items
    assert site.parsed("product", site.listing(), item="1LAMP0000017").items
    with pytest.raises(ContractError, match="another listing"):
        site.parsed("product", site.listing(), item="170018")
