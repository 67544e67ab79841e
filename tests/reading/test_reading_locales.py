"""A number, a day and a price as fourteen locales write them."""

from __future__ import annotations

import pytest

from fetchworker.reading.dates import day
from fetchworker.reading.money import Money, amount
from fetchworker.spiders.reading.counts import count

LOCALES = {
    "en_US": ("1,234,567", "January 24, 2026", "US $1,234.50", "USD"),
    "en_GB": ("1,234,567", "24 January 2026", "£1,234.50", "GBP"),
    "en_AU": ("1,234,567", "24 Jan 2026", "AU $1,234.50", "AUD"),
    "de_DE": ("1.234.567", "24. Januar 2026", "1.234,50 €", "EUR"),
    "de_CH": ("1’234’567", "24. Januar 2026", "CHF 1’234.50", "CHF"),
    "fr_FR": ("1\u202f234\u202f567", "24 janvier 2026", "1\u202f234,50\u00a0€", "EUR"),
    "it_IT": ("1.234.567", "24 gennaio 2026", "1.234,50 EUR", "EUR"),
    "es_ES": ("1.234.567", "24 de enero de 2026", "1234,50 €", "EUR"),
    "nl_NL": ("1.234.567", "24 januari 2026", "€ 1.234,50", "EUR"),
    "pl_PL": ("1\u00a0234\u00a0567", "24 stycznia 2026", "1234,50 zł", "PLN"),
    "pt_BR": ("1.234.567", "24 de janeiro de 2026", "R$ 1.234,50", "BRL"),
    "ja_JP": ("1,234,567", "2026年1月24日", "1,234.50 円", "JPY"),
    "tr_TR": ("1.234.567", "24.01.2026", "₺1.234,50", "TRY"),
    "en_IN": ("1,234,567", "24-Jan-2026", "₹1,234.50", "INR"),
}


@pytest.mark.parametrize("locale", LOCALES)
def test_a_number_a_day_and_a_price_of_a_locale(locale):
    number, date, price, currency = LOCALES[locale]
    assert count(number) == 1_234_567
    assert day(date) == "2026-01-24"
    assert amount(price) == Money("1234.50", currency)
