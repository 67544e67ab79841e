from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fetchworker.errors import ContractError

if TYPE_CHECKING:
    from fetchworker.items import Product

PRICE = '<div class="x-bin-price"><div class="x-price-primary"><span class="ux-textspans">{}</span></div></div>'
APPROX = '<div class="x-price-approx"><span>Approximately</span><span class="x-price-approx__price">{}</span></div>'


def product(site, body="", **more) -> Product:
    return site.parsed("item", site.listing(body=body, **more)).items[0]


def spans(*texts, **more):
    return {"_type": "TextualDisplay", "textSpans": [{"_type": "TextSpan", "text": text} for text in texts], **more}


def ld(**more):
    return {"@context": "https://schema.org", "@type": "Product", "name": "Blue vase", **more}


def offer(price="20.00", currency="USD", **more):
    return {"@type": "Offer", "price": price, "priceCurrency": currency, **more}


def test_the_shown_price_is_the_sellers_and_json_ld_may_be_converted(site):
    body = PRICE.format("EUR 3,500.00") + APPROX.format("US $3,971.45")
    found = product(site, body, ld=ld(offers=offer("3971.45")))
    assert (found.price, found.currency) == ("3500.00", "EUR")
    assert (found.converted_price, found.converted_currency) == ("3971.45", "USD")


def test_a_converted_price_may_stand_in_json_ld_alone(site):
    found = product(site, PRICE.format("EUR 3,500.00"), ld=ld(offers=offer("3971.45")))
    assert (found.price, found.currency, found.converted_price, found.converted_currency) == (
        "3500.00", "EUR", "3971.45", "USD",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("value", "price", "converted"),
    [
        ({"value": 3971.45, "currency": "USD", "convertedFromValue": 3500, "convertedFromCurrency": "EUR"},
         ("3500", "EUR"), ("3971.45", "USD")),
        ({"value": 12.5, "currency": "GBP"}, ("12.5", "GBP"), (None, None)),
    ],
)  # fmt: skip
def test_the_data_of_the_page_stand_in_for_a_price_not_shown(site, value, price, converted):
    found = product(
        site, modules={"BUY_BOX": {"binModel": {"price": {"value": value}}}}, ld=ld(offers=offer("99.00", "GBP"))
    )
    assert (found.price, found.currency) == price
    if converted[0]:
        assert (found.converted_price, found.converted_currency) == converted


@pytest.mark.parametrize(
    ("offers", "price", "currency"),
    [(offer("20.00"), "20.00", "USD"), ([offer(15.5, "EUR"), offer()], "15.5", "EUR"),
     ({"@type": "AggregateOffer", "lowPrice": 7, "priceCurrency": "GBP"}, "7", "GBP"), ("nonsense", None, None)],
)  # fmt: skip
def test_json_ld_is_the_last_place_for_a_price(site, offers, price, currency):
    found = product(site, ld=ld(offers=offers))
    assert (found.price, found.currency, found.converted_price) == (price, currency, None)


def test_price_range_former_price_and_price_for_a_unit(site):
    former = '<div class="x-additional-info"><span class="ux-textspans--STRIKETHROUGH">EUR 30,00</span></div>'
    found = product(site, PRICE.format("EUR 12,00 bis EUR 1.018,50 (EUR 24,00/kg)") + former)
    assert (found.price, found.price_min, found.price_max, found.list_price) == (None, "12.00", "1018.50", "30.00")
    assert product(site, PRICE.format("EUR 12,00 (EUR 24,00/kg)")).price == "12.00"


def test_the_listings_number_is_that_of_its_canonical_address(site):
    others = json.dumps({"itemId": "226999999999", "listingId": "226888888888"})
    body = f"<a href='/itm/226777777777'>similar</a><script>{others}</script>"
    found = product(site, body, canonical="https://www.ebay.de/itm/blaue-vase/226000000001?hash=x", host="www.ebay.de")
    assert (found.id, found.url) == ("226000000001", "https://www.ebay.de/itm/226000000001")
    shown = '<div class="ux-layout-section--itemId"><span class="ux-textspans--BOLD">226000000005</span></div>'
    assert product(site, body + shown, canonical="").id == "226000000005"


def test_another_listing_in_its_place_is_no_answer(site):
    with pytest.raises(ContractError, match="another listing"):
        site.parsed("item", site.listing(number=226000000002), item="226000000001")


@pytest.mark.parametrize(
    "body",
    ["<html><title>eBay Home</title></html>", "", "{}", '<link rel="canonical" href="https://www.ebay.com/p/77">',
     '<link rel="canonical" href="https://www.ebay.com/itm/226000000001">'],
)  # fmt: skip
def test_other_pages_are_no_listing(site, body):
    with pytest.raises(ContractError):
        site.parsed("item", body)


def test_title(site):
    assert product(site, title="Blue </span><span class='ux-textspans ux-textspans--BOLD'>vase").name == "Blue vase"
    bare = '<link rel="canonical" href="https://www.ebay.com/itm/226000000001">'
    bare += '<script type="application/ld+json">{}</script>'
    told = json.dumps(ld(name="Kiln  shelf"))
    assert site.parsed("item", bare.format(told)).items[0].name == "Kiln shelf"


SELLER = """<div class="x-sellercard-atf"><div class="x-sellercard-atf__info__about-seller">
<a href="https://www.ebay.com/{}?item=1"><span class="ux-textspans ux-textspans--BOLD">Kiln House</span></a>
<span class="ux-textspans">({})</span></div><div class="x-sellercard-atf__data-item"><button>{}</button></div></div>"""


@pytest.mark.parametrize(
    ("path", "frame", "account", "url"),
    [
        ("str/kilnhouse", "kiln_84", "kiln_84", "https://www.ebay.com/str/kilnhouse"),
        ("sch/kiln_84/m.html", "", "kiln_84", "https://www.ebay.com/usr/kiln_84"),
        ("usr/kiln_84", "", "kiln_84", "https://www.ebay.com/usr/kiln_84"),
        ("str/kilnhouse", "", None, "https://www.ebay.com/str/kilnhouse"),
    ],
)
def test_sellers(site, path, frame, account, url):
    body = SELLER.format(path, "1.345", "99,6% positiv")
    body += f'<iframe id="desc_ifr" src="https://itm.ebaydesc.com/itmdesc/1?category=77&seller={frame}"></iframe>'
    found = product(site, body)
    assert found.seller is not None
    assert (found.seller.name, found.seller.id, found.seller.url) == ("Kiln House", account, url)
    assert (found.seller.rating, found.seller.feedback_count) == (99.6, 1345)
    assert found.extra["category_id"] == "77"


def test_sellers_out_of_the_pages_data(site):
    action = {"URL": "https://www.ebay.com/str/kilnhouse?_trksid=p1", "params": {"_ssn": "kiln_84"}}
    module = {"sections": [{"sellerName": spans("Kiln House", action=action)}]}
    found = product(site, modules={"SELLER_CARD_ATF": module})
    assert found.seller is not None
    assert (found.seller.id, found.seller.name, found.seller.rating) == ("kiln_84", "Kiln House", None)
    assert product(site).seller is None


SHIPPING = """<div class="ux-labels-values ux-labels-values--shipping"><div class="ux-labels-values__values">
<div class="ux-labels-values__values-content">
<div>{}<button><span class="ux-textspans">See details</span></button></div>
<div><span class="ux-textspans ux-textspans--SECONDARY">{}</span></div></div></div></div>"""


@pytest.mark.parametrize(
    ("told", "place", "expected"),
    [
        ("EUR 150.00|(approx US $170.21)|DHL", "Located in: Lyon, France",
         ("EUR 150.00 (approx US $170.21) DHL", "150.00", "EUR", "Lyon, France")),
        ("Gratis|DHL Paket", "Standort: Köln, Deutschland", ("Gratis DHL Paket", "0", None, "Köln, Deutschland")),
        ("Livraison gratuite", "Lieu où se trouve l'objet : Nice, France", ("Livraison gratuite",
        "0", None, "Nice, France")),
        ("Spedizione gratuita", "Oggetto che si trova a: Roma, Italia", ("Spedizione gratuita",
        "0", None, "Roma, Italia")),
        ("May not ship to Chile", "", ("May not ship to Chile", None, None, None)),
    ],
)  # fmt: skip
def test_shipping_and_location(site, told, place, expected):
    texts = "".join(f'<span class="ux-textspans">{text}</span>' for text in told.split("|"))
    found = product(site, SHIPPING.format(texts, place))
    assert (found.shipping, found.shipping_price, found.shipping_currency, found.location) == expected


def test_location_out_of_the_pages_data(site):
    module = {"itemLocation": {"labels": [spans("Location")], "values": [spans("Lisboa, Portugal")]}}
    assert product(site, modules={"SHIPPING": module}).location == "Lisboa, Portugal"


@pytest.mark.parametrize(
    ("availability", "message", "expected"),
    [
        ("https://schema.org/InStock", "", "in_stock"), ("http://schema.org/OutOfStock", "", "out_of_stock"),
        ("https://schema.org/PreOrder", "", "preorder"), ("https://schema.org/SoldOut", "", "out_of_stock"),
        ("https://schema.org/Discontinued", "", "ended"), (None, "", None), ("https://schema.org/Whatever", "", None),
        ("https://schema.org/InStock", "This listing sold on Wed, Aug 12 at 9:41 PM.", "ended"),
        ("https://schema.org/OutOfStock", "Dieses Angebot wurde am 3. Mai beendet.", "ended"),
        ("https://schema.org/InStock", "Bidding ended on Mon, May 4.", "ended"),
        ("https://schema.org/InStock", "This seller is away until May 4.", "in_stock"),
    ],
)  # fmt: skip
def test_availability(site, availability, message, expected):
    note = f'<div class="d-statusmessage">{message}</div>' if message else ""
    found = product(site, note, ld=ld(offers=offer(availability=availability)))
    assert found.availability == expected
    assert found.extra.get("status_message") == (message or None)


def test_an_auction_with_a_fixed_price_beside_it(site):
    body = """<div class="x-bid-price"><div class="x-price-primary">US $31.00</div></div>
    <div class="x-bid-count" data-testid="x-bid-count">1,012 bids</div>
    <div class="x-bin-price"><div class="x-price-primary">US $80.00</div></div>
    <div class="ux-timer__text">2d 3h</div>"""
    timer = {"TIMER": {"endTime": {"_type": "DateTime", "value": "2026-05-04T18:30:00.000Z"}}}
    found = product(site, body, modules=timer)
    assert (found.listing_type, found.price, found.bids, found.ends_at) == (
        "both",
        "31.00",
        1012,
        "2026-05-04T18:30:00Z",
    )
    assert found.extra["buy_now_price"] == {"price": "80.00", "currency": "USD"}
    assert found.extra["time_left"] == "2d 3h"
    fixed = product(site, PRICE.format("US $80.00"), modules=timer)
    assert (fixed.listing_type, fixed.bids, fixed.ends_at) == ("fixed", None, None)
    alone = product(site, '<div class="x-bid-price"><div class="x-price-primary">US $31.00</div></div>')
    assert (alone.listing_type, product(site).listing_type) == ("auction", None)


@pytest.mark.parametrize(
    ("text", "sold"),
    [("More than 10 available 1,253 sold", 1253), ("5 verfügbar 12 verkauft", 12), ("Dernier objet 3 vendus", 3),
     ("Last one", None)],
)  # fmt: skip
def test_sold_count(site, text, sold):
    found = product(site, f'<div class="x-quantity__availability"><span>{text}</span></div>')
    assert (found.sold_count, found.extra["quantity"]) == (sold, text)


def test_condition(site):
    shown = """<div class="x-item-condition-text"><span class="ux-textspans">Pre-owned - Fair</span>
    <span class="clipped">Pre-owned - Fair</span></div>"""
    assert product(site, shown).condition == "Pre-owned - Fair"
    module = {"CONDITION": {"displayValue": {"text": spans("Gebraucht")}}}
    assert product(site, modules=module).condition == "Gebraucht"


def test_facts_of_the_thing(site):
    told = ld(
        brand={"@type": "Brand",
        "name": "Kiln & Co"}, gtin13="4006381333931", mpn="KC-7", sku="V7", description="  A vase ",
        aggregateRating={"ratingValue": "4,7", "ratingCount": "1,012"}, offers=offer(itemCondition="https://schema.org/NewCondition"),
    )  # fmt: skip
    found = product(site, ld=told)
    assert (found.brand, found.gtin, found.sku, found.description) == ("Kiln & Co", "4006381333931", "V7", "A vase")
    assert (found.rating, found.reviews_count) == (4.7, 1012)
    assert found.extra == {"mpn": "KC-7", "item_condition": "https://schema.org/NewCondition"}


FEATURE = """<dl class="ux-labels-values ux-labels-values--{}"><dt class="ux-labels-values__labels"><span>{}</span></dt>
<dd class="ux-labels-values__values"><span>{}</span><span class="ux-x hide">the same, longer</span></dd></dl>"""


def test_attributes_as_shown_and_as_data(site):
    shown = FEATURE.format("condition", "Zustand", "Neu: …") + FEATURE.format("marke", "Marke", "Kiln & Co")
    shown += FEATURE.format("ean", "EAN:", "4006381333931") + FEATURE.format("x", "Leer", "")
    found = product(site, f'<div class="ux-layout-section--features">{shown}</div>')
    assert found.attributes == {"Marke": "Kiln & Co", "EAN": "4006381333931"}
    assert (found.brand, found.gtin) == ("Kiln & Co", "4006381333931")
    unfolded = {"textualDisplays": [spans("Hand thrown,", "glazed")]}
    rows = {
        "condition": {"labels": [spans("Condition")], "values": [spans("New: …")]},
        "farbe": {"labels": [spans("Farbe")], "values": [spans("Blau")]},
        "art": {"labels": [spans("Art:")], "values": [unfolded]},
    }
    module = {"ABOUT_THIS_ITEM": {"sections": {"features": {"dataItems": rows}}}}
    assert product(site, modules=module).attributes == {"Farbe": "Blau", "Art": "Hand thrown, glazed"}


def test_each_picture_once_in_its_largest_form(site):
    base = "https://i.ebayimg.com/images/g/"
    media = [{"image": {"originalImg": {"URL": f"{base}a/s-l500.jpg"}, "zoomImg": {"URL": f"{base}a/s-l1600.jpg"}}}]
    body = f"""<div class="ux-image-carousel"><img data-zoom-src="{base}b/s-l1600.jpg" src="{base}b/s-l500.jpg">
    <img src="{base}a/s-l140.jpg"><img data-src="{base}c/s-l500.jpg" src="data:x"></div>"""
    found = product(
        site, body, modules={"PICTURE": {"mediaList": media}}, ld=ld(image=[f"{base}b/s-l400.jpg", f"{base}d/1.jpg"])
    )
    assert found.images == [f"{base}a/s-l1600.jpg", f"{base}b/s-l1600.jpg", f"{base}c/s-l500.jpg", f"{base}d/1.jpg"]


def test_categories(site):
    entries = [{"name": "eBay"}, {"name": "Home"}, {"item": {"name": "Vases"}}]
    crumbs = [ld(), {"@type": "BreadcrumbList", "itemListElement": entries}]
    assert product(site, ld=crumbs).category_path == ["Home", "Vases"]
    shown = '<a class="seo-breadcrumb-text">Home</a><a class="seo-breadcrumb-text">Vases</a>' * 2
    assert product(site, shown).category_path == ["Home", "Vases"]


# ── variations ───────────────────────────────────────────────────────────────────────────────────────────────────────


def msku():
    def priced(value, *, gone):
        told = {"value": value * 1.1, "currency": "USD", "convertedFromValue": value, "convertedFromCurrency": "EUR"}
        return {"binModel": {"price": {"value": told}}, "quantity": {"outOfStock": gone}}

    return {
        "_type": "VariationViewModel",
        "selectMenus": [
            {"displayLabel": "Colour", "menuItemValueIds": [0, 1]},
            {"displayLabel": "Size", "menuItemValueIds": [2, 3]},
        ],
        "menuItemMap": {
            "0": {"valueId": 0, "valueName": "Blue", "displayName": "Blue", "matchingVariationIds": [501, 502]},
            "1": {"valueId": 1, "valueName": "Green", "matchingVariationIds": [503]},
            "2": {"valueId": 2, "valueName": "S", "displayName": "S", "matchingVariationIds": [501]},
            "3": {"valueId": 3, "valueName": "L", "displayName": "L", "matchingVariationIds": [502, 503]},
        },
        "variationsMap": {"501": priced(9.5, gone=False), "502": priced(100, gone=True), "503": priced(20, gone=False)},
    }


def test_variations(site):
    found = product(site, PRICE.format("EUR 9,50"), modules={"MSKU": msku()})
    assert [(v.id, v.attributes, v.price, v.currency, v.availability) for v in found.variants] == [
        ("501", {"Colour": "Blue", "Size": "S"}, "9.5", "EUR", "in_stock"),
        ("502", {"Colour": "Blue", "Size": "L"}, "100", "EUR", "out_of_stock"),
        ("503", {"Colour": "Green", "Size": "L"}, "20", "EUR", "in_stock"),
    ]
    assert (found.price, found.price_min, found.price_max) == ("9.50", "9.5", "100")


def test_the_bare_word_is_no_variation(site):
    found = product(site, '<script>{"features": {"MSKU": true}, "MSKU": {"_type": "x", "variationsMap": {}}}</script>')
    assert found.variants == []
    assert (found.price_min, found.price_max) == (None, None)


def test_variations_of_older_pages(site):
    older = {
        "menuModels": [{"displayName": "Colour", "menuItemValueIds": [0, 1]}],
        "menuItemMap": {"0": {"displayName": "Blue"}, "1": {"displayName": "Green"}},
        "itemVariationsMap": {
            "501": {"traitValuesMap": {"Colour": 0}, "price": "EUR 9,50", "inStock": True},
            "502": {
                "traitValuesMap": {"Colour": 1},
                "priceAmountValue": {"value": 12, "currency": "EUR"},
                "inStock": False,
            },
        },
    }
    found = product(site, f"<script>var itmVarModel = {json.dumps(older)};</script>")
    assert [(v.id, v.attributes, v.price, v.availability) for v in found.variants] == [
        ("501", {"Colour": "Blue"}, "9.50", "in_stock"),
        ("502", {"Colour": "Green"}, "12", "out_of_stock"),
    ]


# ── reviews, descriptions ────────────────────────────────────────────────────────────────────────────────────────────


def test_reviews_of_the_pages_data(site):
    record = {
        "reviewId": "100001", "title": spans("Lovely glaze"), "creationDate": spans("Feb 09, 2025"),
        "description": {"textualDisplays": [spans("Holds"), spans("water.")]},
        "starRating": {"averageRating": {"value": 4}}, "helpfulCount": 3,
        "author": spans(" by ") | {"textSpans": [{"text": " by "}, {"text": "ana", "action": {"URL": "x"}}]},
    }  # fmt: skip
    found = site.parsed(
        "item", site.listing(modules={"REVIEWS": {"reviewRecords": [record]}}, ld=ld(review=[{"name": "x"}]))
    )
    (review,) = found.items[1:]
    assert (review.kind, review.id, review.product_id, review.rating) == ("review", "100001", "226000000001", 4.0)
    assert (review.title, review.text, review.created_at) == ("Lovely glaze", "Holds water.", "2025-02-09")
    assert (review.author, review.helpful_count) == ("ana", 3)


def test_reviews_of_json_ld(site):
    told = [
        {"name": "Fine", "author": {"name": "ana"}, "reviewBody": "Holds water.", "datePublished": "2025-02-09",
         "reviewRating": {"ratingValue": "4.5"}},
        {"author": "bo", "reviewRating": {"ratingValue": "many"}, "datePublished": "2025-02-09T10:00:00+02:00"},
    ]  # fmt: skip
    first, second = site.parsed("item", site.listing(ld=ld(review=told))).items[1:]
    assert (first.title, first.text, first.rating, first.created_at) == ("Fine", "Holds water.", 4.5, "2025-02-09")
    assert (second.author, second.rating, second.created_at) == ("bo", None, "2025-02-09T08:00:00Z")
    single = site.parsed("item", site.listing(ld=ld(review=told[0])))
    assert len(single.items) == 2


def test_the_sellers_description(site):
    body = """<html><body><div id="ds_div"><style>p {}</style><p>Thrown by hand.</p><p>Ships from Porto.</p>
    <img src="https://i.ebayimg.com/x.jpg"><img src="/local.gif"></div></body></html>"""
    (found,) = site.parsed("description", body, item="226000000001").items
    assert (found.kind, found.id, found.description) == ("product", "226000000001", "Thrown by hand. Ships from Porto.")
    assert found.images == ["https://i.ebayimg.com/x.jpg"]
    with pytest.raises(ContractError):
        site.parsed("description", "<html><body></body></html>", item="226000000001")
