from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.reading.money import CODES, SHARED, Money, amount, amounts, decimal, money
from fetchworker.spiders.reading import dollars

SHOPS = [("EUR {}", "EUR"), ("{} EUR", "EUR"), ("€{}", "EUR"), ("US ${}", "USD"), ("£{}", "GBP"), ("{} zł", "PLN")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$7.57", [("7.57", None)]), ("US $3,971.45", [("3971.45", "USD")]), ("USD9.75", [("9.75", "USD")]),
        ("IDR1,523,406.05", [("1523406.05", "IDR")]), ("EUR 17,72 bis EUR 18,66", [("17.72", "EUR"), ("18.66", "EUR")]),
        ("17,72 EUR à 18,66 EUR", [("17.72", "EUR"), ("18.66", "EUR")]), ("S$ 200.00", [("200.00", "SGD")]),
        ("3,858 円 ～ 13,507 円", [("3858", "JPY"), ("13507", "JPY")]), ("EUR 1.300", [("1300", "EUR")]),
        ("EUR 1.234,50", [("1234.50", "EUR")]), ("1 234,56 EUR", [("1234.56", "EUR")]), ("£0.99", [("0.99", "GBP")]),
        ("CHF 1'234.50", [("1234.50", "CHF")]), ("C $339.96", [("339.96", "CAD")]), ("AU $12.50", [("12.50", "AUD")]),
        ("MXN $1,234.00", [("1234.00", "MXN")]), ("123,45 zł", [("123.45", "PLN")]), ("KWD 1.234", [("1.234", "KWD")]),
        ("R$ 1.234,56", [("1234.56", "BRL")]), ("+$151.38 delivery", [("151.38", None)]),
        ("€ 0.500", [("0.500", "EUR")]),
        ("HK$ 1,000", [("1000", "HKD")]), ("EUR 007,50", [("7.50", "EUR")]), ("EUR 12.345.678", [("12345678", "EUR")]),
        ("12 bids", []), ("EURO 5", []), ("BUSD 5", []), ("100% positive (59)", []), ("", []), (None, []),
        ("kroner 500", []), ("500 krona", []), ("krill 5", []), ("12 leise", []),
    ],
)  # fmt: skip
def test_amounts_in_texts(text, found):
    assert amounts(text) == [Money(*pair) for pair in found]
    assert amount(text) == (Money(*found[0]) if found else None)


def test_a_bare_dollar_means_what_the_page_says():
    assert amount("$5.00", dollar="CAD") == Money("5.00", "CAD")
    assert amount("US $5.00", dollar="CAD") == Money("5.00", "USD")


SHARED_SIGNS = [
    ("ja-JP", "¥1,234", "1234", "JPY"), ("zh-CN", "¥ 1,234.50", "1234.50", "CNY"), ("ja-JP", "￥980", "980", "JPY"),
    ("zh-CN", "1,234.50元", "1234.50", "CNY"), ("sv-SE", "1 234,50 kr", "1234.50", "SEK"),
    ("nb-NO", "kr 1 234,50", "1234.50", "NOK"), ("da-DK", "1.234,50 kr.", "1234.50", "DKK"),
    ("is-IS", "1.234 kr.", "1234", "ISK"), ("da-DK", "Kr. 99", "99", "DKK"), ("en-IN", "Rs. 1,23,456", "123456", "INR"),
    ("en-PK", "Rs 1,234", "1234", "PKR"), ("si-LK", "₨1,234.00", "1234.00", "LKR"),
    ("ro-RO", "1.234,50 lei", "1234.50", "RON"),
    ("ar-SA", "﷼ 1,234", "1234", None), ("es-MX", "$1,234.50", "1234.50", "MXN"),
    ("en-CA", "$1,234.50", "1234.50", "CAD"),
]  # fmt: skip


@pytest.mark.parametrize(("locale", "text", "value", "currency"), SHARED_SIGNS)
def test_a_sign_that_countries_share_means_what_the_page_says(locale, text, value, currency):
    assert amounts(text) == [Money(value, None)], "nobody tells"
    assert amounts(text, dollar=dollars.of_locale(locale)) == [Money(value, currency)]
    other = "JPY" if currency != "JPY" and "¥" not in text else "EUR"
    assert amounts(text, dollar=other) == [Money(value, None)], "the page's own currency is written otherwise"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('"priceCurrency":"JPY"', "JPY"), ('"currency": "SEK"', "SEK"),
        ('"currency":"USD","convertedCurrency":"JPY"', "USD"),
        ('"currency":"SEK","currencyCode":"NOK"', None), ('"currency":"EUR"', None), ("", None),
    ],
)  # fmt: skip
def test_what_a_page_names_beside_its_prices(source, found):
    assert dollars.named(source) == found


@pytest.mark.parametrize(
    ("value", "currency", "found"),
    [
        (3971.45, "USD", "3971.45"), (3500, "eur", "3500"), ("12.50", "EUR", "12.50"), (0.1, "USD", "0.1"),
        (1e22, "USD", "10000000000000000000000"), ("12,50", "EUR", None), (True, "EUR", None), (None, "EUR", None),
        (5, None, None), (5, "XXX", None), (float("nan"), "USD", None), (float("inf"), "USD", None), ([5], "USD", None),
    ],
)  # fmt: skip
def test_json_values(value, currency, found):
    told = money(value, currency)
    assert (told.value if told else None) == found


@given(st.integers(0, 10**9), st.integers(0, 99), st.sampled_from(SHOPS), st.booleans())
def test_an_amount_survives_the_way_a_shop_writes_it(whole, cents, shop, continental):
    form, currency = shop
    number = f"{whole:,}.{cents:02d}"
    if continental:
        number = number.translate(str.maketrans(",.", ".,"))
    assert amounts(form.format(number)) == [Money(f"{whole}.{cents:02d}", currency)]


@given(st.text(alphabet="0123456789., $€'EURUSDSA\u00a0円¥kr.", max_size=60))
def test_whatever_is_found_is_a_decimal_string_and_a_code(text):
    for found in amounts(text):
        assert re.fullmatch(r"\d+(\.\d+)?", found.value)
        assert found.currency in CODES or (found.currency is None and any(sign in text for sign in SHARED))


@given(st.from_regex(r"[0-9][0-9.,' ]{0,20}", fullmatch=True))
def test_numbers_never_fail(number):
    found = decimal(number)
    assert found is None or re.fullmatch(r"\d+(\.\d+)?", found)
