from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fetchworker.items import SearchPage, SearchResult

LEFT = "<span class='s-card__time'><span class='clipped'>Left</span><span class='s-card__time-left'>{}</span></span>"
MULTI_PRICE = (
    '<span class="s-card__price">{}</span><span class="s-card__price"> {} </span><span class="s-card__price">{}</span>'
)


def only(found) -> SearchResult:
    (result,) = [item for item in found.items if item.kind == "search_result"]
    return result


def summary(found) -> SearchPage:
    assert found.items[-1].kind == "search_page"
    return found.items[-1]


def test_a_card(site):
    card = site.card(
        226000000001, "Buy It Now", "+$5.25 delivery", "Located in Portugal", "1,045+ sold", "18+ watchers",
        "<span>potter_ana </span><span>98.7% positive (59.8K)</span>", "Free returns",
    )  # fmt: skip
    found = only(site.parsed("search", site.results(card)))
    assert (found.id, found.name, found.position, found.exact) == ("226000000001", "Blue vase", 1, True)
    assert (found.price, found.currency, found.list_price, found.condition) == ("20.00", "USD", None, "Brand New")
    assert (found.shipping, found.shipping_price, found.shipping_currency) == ("+$5.25 delivery", "5.25", "USD")
    assert (found.location, found.sold_count, found.seller) == ("Portugal", 1045, "potter_ana")
    assert (found.listing_type, found.bids, found.sponsored) == ("fixed", None, False)
    assert found.image_url == "https://i.ebayimg.com/images/g/226000000001/s-l500.jpg"
    assert found.url == "https://www.ebay.com/itm/226000000001"
    assert found.extra == {"watchers": 18, "seller_rating": 98.7, "seller_feedback_count": 59800}


def test_a_card_of_the_old_layout(site):
    card = site.old_card(
        225000000001,
        '<span class="s-item__bids s-item__bidCount">5 bids</span><span> · </span><span class="s-item__time">'
        '<span class="clipped">Time left</span><span class="s-item__time-left">3h left</span> '
        '<span class="s-item__time-end">(Today 10:00 PM)</span></span>',
        '<span class="s-item__purchase-options">Buy It Now</span>',
        '<span class="s-item__shipping s-item__logisticsCost">Free shipping</span>',
        '<span class="s-item__location s-item__itemLocation">from Norway</span>',
        '<span class="s-item__hotness"><span class="BOLD">32 sold</span></span>',
        '<span class="s-item__trending-price"><span class="clipped">List price: </span>'
        '<span class="STRIKETHROUGH">$50.00</span></span>',
        seller="oak.house (2,834) 100%",
    )
    found = only(site.parsed("search", site.results(card)))
    assert (found.id, found.name, found.condition) == ("225000000001", "Oak chair", "Pre-Owned")
    assert (found.price, found.list_price, found.currency) == ("35.00", "50.00", "USD")
    assert (found.listing_type, found.bids, found.sold_count) == ("both", 5, 32)
    assert (found.shipping, found.shipping_price, found.location) == ("Free shipping", "0", "Norway")
    assert (found.seller, found.extra["seller_feedback_count"], found.extra["seller_rating"]) == (
        "oak.house",
        2834,
        100.0,
    )
    assert (found.extra["time_left"], found.extra["time_end"]) == ("3h left", "(Today 10:00 PM)")
    assert found.extra["subtitle"] == ["Oak"]
    assert found.image_url == "https://i.ebayimg.com/thumbs/images/g/225000000001/s-l225.jpg"
    assert found.sponsored is None


def test_old_cards_in_a_language_nobody_knows_are_read_by_their_classes(site):
    card = site.old_card(
        225000000001, '<span class="s-item__bids">5 tawarji</span>',
        '<span class="s-item__shipping">+ 4,50 EUR xyz</span>',
        '<span class="s-item__location">xy Zedonia</span>', price="12,00 EUR",
    )  # fmt: skip
    found = only(site.parsed("search", site.results(card)))
    assert (found.listing_type, found.bids) == ("auction", 5)
    assert (found.shipping_price, found.shipping_currency, found.location) == ("4.50", "EUR", "xy Zedonia")


def test_an_older_card_without_wrapped_details(site):
    card = (
        site.old_card()
        .replace("s-item__detail s-item__detail--primary", "s-item__x")
        .replace("</li>", '<span class="s-item__purchase-options-with-icon">or Best Offer</span></li>')
    )
    found = only(site.parsed("search", site.results(card)))
    assert (found.price, found.listing_type, found.extra["best_offer"]) == ("35.00", "fixed", True)


def test_an_id_may_stand_in_the_hexadecimal_name_of_the_element_alone(site):
    assert only(site.parsed("search", site.results(site.old_card(225000000001, link=False)))).id == "225000000001"


@pytest.mark.parametrize(
    ("price", "low", "high", "currency"),
    [
        (MULTI_PRICE.format("EUR 17,72", "bis", "EUR 18,66"), "17.72", "18.66", "EUR"),
        (MULTI_PRICE.format("$6.79", "to", "$1,009.48"), "6.79", "1009.48", "USD"),
        ("3,858 円 ～ 13,507 円", "3858", "13507", "JPY"),
        ("17,72 EUR à 18,66 EUR", "17.72", "18.66", "EUR"),
        ("Da EUR 17,72 a EUR 18,66", "17.72", "18.66", "EUR"),
    ],
)
def test_price_ranges(site, price, low, high, currency):
    found = only(site.parsed("search", site.results(site.card(price=price))))
    assert (found.price, found.price_min, found.price_max, found.currency) == (None, low, high, currency)


@pytest.mark.parametrize(
    ("price", "value", "currency"),
    [
        ("IDR1,523,406.05", "1523406.05", "IDR"), ("S$ 200.00", "200.00", "SGD"), ("USD9.75", "9.75", "USD"),
        ("£1,200.50", "1200.50", "GBP"), ("AU $45.00", "45.00", "AUD"), ("EUR 1.299,00", "1299.00", "EUR"),
    ],
)  # fmt: skip
def test_the_currency_is_that_of_the_price_not_of_the_shop(site, price, value, currency):
    found = only(site.parsed("search", site.results(site.card(price=price))))
    assert (found.price, found.currency) == (value, currency)


@pytest.mark.parametrize(
    ("market", "data", "currency"),
    [
        ("CA", "", "CAD"), ("AU", "", "AUD"), ("SG", "", "SGD"), ("HK", "", "HKD"), ("US", "", "USD"), ("DE", "", None),
        (None, "", None), (None, '{"marketplaceId":"EBAY-AU"}', "AUD"), (None, 'e.C={lng:"en-CA",pageId:1}', "CAD"),
        (None, '{"locale":"en-US"}', "USD"), (None, '{"locale":"en"}', None), (None, '{"locale":"en-GB"}', None),
        ("US", '{"price":{"value":5,"currency":"CAD"}}', "CAD"), ("US", '{"currency":"$"}', "USD"),
        ("US", '{\\"currency\\":\\"AUD\\"}', "AUD"), ("AU", '{"currency":"USD"},{"currency":"CAD"}', "AUD"),
        ("AU", '{"convertedFromCurrency":"USD"}', "AUD"), ("AU", '{"priceCurrency":"EUR"}', "AUD"),
        ("US", 'e.C={lng:"es-CO"}', "USD"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("host", ["www.ebay.com", "www.ebay.ca"])
def test_a_bare_dollar_is_what_the_page_says_whatever_its_host(site, market, data, currency, host):
    card = site.card(226000000001, "+$5.25 delivery", host=host)
    script = f"<script>{data}</script>"
    found = only(site.parsed("search", site.results(card, market=market, after=script), url=f"https://{host}/sch/"))
    assert (found.currency, found.url) == (currency, f"https://{host}/itm/226000000001")
    assert (found.price, found.shipping_price, found.shipping_currency) == ("20.00", "5.25", currency)


def test_a_range_of_bare_dollars_stays_a_range(site):
    found = only(
        site.parsed("search", site.results(site.card(price=MULTI_PRICE.format("$1", "to", "$2")), market=None))
    )
    assert (found.price, found.price_min, found.price_max, found.currency) == (None, "1", "2", None)


@pytest.mark.parametrize(
    "row",
    ["<span>Was: </span><span class='strikethrough'>$30.00</span><span>33% off</span>",
    "<span>List price: $30.00 33% off</span>",
     "<span>UVP $30.00</span>"],
)  # fmt: skip
def test_former_prices(site, row):
    found = only(site.parsed("search", site.results(site.card(1234567890, row))))
    assert (found.price, found.list_price) == ("20.00", "30.00")


def test_a_former_price_beside_the_price(site):
    struck = '<span class="su-styled-text secondary strikethrough large">$30.00</span>'
    found = only(site.parsed("search", site.results(site.card(more=struck))))
    assert (found.price, found.list_price, found.price_max) == ("20.00", "30.00", None)


def test_what_was_paid_after_an_offer_is_not_told(site):
    price = '<span class="s-card__price strikethrough">$20.00</span>'
    card = site.card(1234567890, "Best offer accepted", price=price, caption="Sold  Feb 18, 2026")
    found = only(site.parsed("search", site.results(card)))
    assert (found.price, found.list_price, found.currency, found.sold_at) == (None, "20.00", "USD", "2026-02-18")
    assert found.extra["best_offer_accepted"] is True


@pytest.mark.parametrize(
    ("caption", "sold", "ended"),
    [
        ("Sold  Feb 18, 2026", "2026-02-18", None), ("Verkauft  24. Jan. 2026", "2026-01-24", None),
        ("Vendu le 3 févr. 2026", "2026-02-03", None), ("Venduto  24 gen 2026", "2026-01-24", None),
        ("Vendido el 24 ene 2026", "2026-01-24", None), ("Ended Feb 18, 2026", None, "2026-02-18"),
        ("Beendet 24. Jan. 2026", None, "2026-01-24"), ("NEW LOW PRICE", None, None),
    ],
)  # fmt: skip
def test_captions_of_listings_that_are_over(site, caption, sold, ended):
    found = only(site.parsed("search", site.results(site.card(caption=caption))))
    assert (found.sold_at, found.extra.get("ended_at")) == (sold, ended)
    assert found.extra.get("caption") == (None if sold or ended else caption)


def test_the_day_of_a_sale_may_stand_behind_another_caption(site):
    card = site.old_card(caption="NEW LOW PRICE", more='<span class="s-item__title--tag">Sold  Nov 29, 2022</span>')
    found = only(site.parsed("search", site.results(card)))
    assert (found.sold_at, found.extra["caption"]) == ("2022-11-29", "NEW LOW PRICE")


@pytest.mark.parametrize(
    ("rows", "kind", "bids"),
    [
        (["3 bids"], "auction", 3), (["0 Gebote · 3 T 4 Std"], "auction", 0), (["1 enchère"], "auction", 1),
        (["2 offerte"], "auction", 2), (["12 pujas"], "auction", 12), (["1 bid", "or Best Offer"], "auction", 1),
        (["1 bid", "Sofort-Kaufen"], "both", 1), (["Compralo Subito"], "fixed", None),
        (["Achat immédiat"], "fixed", None),
        (["¡Cómpralo ya!"], "fixed", None), (["oder Preisvorschlag"], "fixed", None),
        (["ou Offre directe"], "fixed", None),
        (["Free returns"], None, None),
        ([f"<span>4 xyzs</span><span> · </span>{LEFT.format('2d')}"], "auction", 4),
        ([LEFT.format("9 T 9 Std"), "Sofort-Kaufen"], "fixed", None),
    ],
)  # fmt: skip
def test_how_it_is_sold(site, rows, kind, bids):
    found = only(site.parsed("search", site.results(site.card(1234567890, *rows))))
    assert (found.listing_type, found.bids) == (kind, bids)


@pytest.mark.parametrize(
    ("row", "price", "currency"),
    [
        ("+$5.25 delivery", "5.25", "USD"), ("+EUR 4,99 Lieferung", "4.99", "EUR"),
        ("Gratis 2-3 Tage Lieferung", "0", None),
        ("Free International Shipping", "0", None), ("+5,00 EUR de frais de livraison", "5.00", "EUR"),
        ("Spedizione gratuita", "0", None), ("+USD34.47 por el envío", "34.47", "USD"), ("Envío gratis", "0", None),
        ("+ ca. EUR 12,96 Versand", "12.96", "EUR"), ("+S$ 10.00 xyz", "10.00", "SGD"),
        ("Free returns", None, None), ("Kostenloser Rückversand", None, None),
        ("Lieferung an Abholstation möglich", None, None), ("EUR 20 Rabatt ab EUR 99 Bestellwert", None, None),
    ],
)  # fmt: skip
def test_shipping(site, row, price, currency):
    found = only(site.parsed("search", site.results(site.card(1234567890, row))))
    assert (found.shipping_price, found.shipping_currency) == (price, currency)
    assert found.shipping == (row if price else None)


@pytest.mark.parametrize(
    ("row", "place"),
    [
        ("Located in United States", "United States"), ("from Italy", "Italy"),
        ("aus Großbritannien", "Großbritannien"),
        ("de Estados Unidos", "Estados Unidos"), ("da Cina", "Cina"), ("Direct from Kiln & Co", None),
        ("Last one", None),
    ],
)  # fmt: skip
def test_locations(site, row, place):
    assert only(site.parsed("search", site.results(site.card(1234567890, row)))).location == place


@pytest.mark.parametrize(
    ("row", "name", "count", "share"),
    [
        ("<span>ana-84 </span><span>96,7% positivo (44)</span>", "ana-84", 44, 96.7),
        ("<span>Kiln_House (132,409) 98.7%</span>", "Kiln_House", 132409, 98.7),
        ("<span>on.kiln  99.8% positive (173.8K)</span><span>Top Rated Plus</span>", "on.kiln", 173800, 99.8),
        ("<span>new.shop </span><span>0% positive (0)</span>", "new.shop", 0, 0.0),
    ],
)
def test_sellers(site, row, name, count, share):
    found = only(site.parsed("search", site.results(site.card(1234567890, row))))
    assert (found.seller, found.extra.get("seller_feedback_count")) == (name, count)
    assert found.extra.get("seller_rating") == share


@pytest.mark.parametrize(("ticket", "sponsored"), [("ORG", False), ("PL", True), ("PLX", True), ("ZZ", None)])
def test_paid_cards_are_told_by_their_link_not_by_the_word(site, ticket, sponsored):
    assert only(site.parsed("search", site.results(site.card(ticket=ticket)))).sponsored is sponsored


def test_the_condition_stands_behind_the_sellers_own_words(site):
    lines = ['<span class="su-styled-text">Fast! | From the kiln</span>',
             '<span class="su-styled-text">Neu | </span><span class="su-styled-text">Gewerblich</span>']  # fmt: skip
    subtitle = "".join(f'<div class="s-card__subtitle">{line}</div>' for line in lines)
    found = only(site.parsed("search", site.results(site.card(subtitle=subtitle))))
    assert (found.condition, found.extra["subtitle"]) == ("Neu", ["Fast!", "From the kiln", "Gewerblich"])


def test_stars(site):
    stars = '<div class="x-star-rating"><span class="clipped">4,5 von 5 Sternen.</span></div>'
    reviews = (f'<div class="s-card__reviews">{stars}'
               '<span class="s-card__reviews-count">(1.234)</span></div>')  # fmt: skip
    found = only(site.parsed("search", site.results(site.card(reviews=reviews))))
    assert (found.rating, found.reviews_count) == (4.5, 1234)


def test_a_variation_keeps_its_address(site):
    found = only(site.parsed("search", site.results(site.card(query="&var=42&epid=77"))))
    assert (found.url, found.extra["epid"]) == ("https://www.ebay.com/itm/226000000001?var=42", "77")
    assert only(site.parsed("search", site.results(site.card(query="&var=0")))).url.endswith("/itm/226000000001")


# ── which cards are hits ─────────────────────────────────────────────────────────────────────────────────────────────


def test_hits_for_fewer_words_are_not_exact(site):
    body = site.results(
        site.card(226000000001), site.river("REWRITE_START", "Results matching fewer words"), site.card(226000000002),
        site.card(226000000003), total="1",
    )  # fmt: skip
    found = site.parsed("search", body)
    assert [item.exact for item in found.items[:-1]] == [True, False, False]
    told = summary(found)
    assert (told.total_results, told.results_count, told.exact_count, told.next_cursor) == (1, 3, 1, None)


@pytest.mark.parametrize(
    "before", ["<div class='srp-river-answer srp-river-answer--REWRITE_START'>fewer words</div>", ""]
)
def test_zero_results_have_no_exact_hits_whatever_follows(site, before):
    found = site.parsed(
        "search", site.results(site.card(226000000001), site.card(226000000002), total="0", before=before)
    )
    assert [item.exact for item in found.items[:-1]] == [False, False]
    assert (summary(found).total_results, summary(found).exact_count, summary(found).results_count) == (0, 0, 2)


def test_cards_in_carousels_and_placeholders_are_no_hits(site):
    placeholder = site.card(123456, title="Shop on eBay")
    body = site.results(
        placeholder, site.river("ITEMS_CAROUSEL", f"<ul>{site.card(226000000009)}</ul>"), site.card(226000000001),
        before=f"<ul class='x'>{site.old_card(123456)}</ul>", after=f"<ul>{site.card(226000000008)}</ul>",
    )  # fmt: skip
    assert only(site.parsed("search", body)).id == "226000000001"


def test_both_layouts_may_share_a_page(site):
    found = site.parsed("search", site.results(site.card(226000000001), site.old_card(225000000001)))
    assert [item.id for item in found.items[:-1]] == ["226000000001", "225000000001"]
