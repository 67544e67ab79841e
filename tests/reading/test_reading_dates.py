from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.reading.dates import compact, day, month, month_first, utc

MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "pl": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Sold  Feb 18, 2026", "2026-02-18"), ("Verkauft  24. Jan. 2026", "2026-01-24"),
        ("Vendu le 24 janv. 2026", "2026-01-24"), ("Venduto  24 gen 2026", "2026-01-24"),
        ("Vendido el 24 de enero de 2026", "2026-01-24"), ("販売済み 2026年1月24日", "2026-01-24"),
        ("Sold 24 Jan 2026", "2026-01-24"), ("1st March 2024", "2024-03-01"), ("Sprzedane 24 paź 2026", "2026-10-24"),
        ("since 2009-03-12", "2009-03-12"), ("31.12.2025", "2025-12-31"), ("31/12/2025", "2025-12-31"),
        ("2025/12/31", "2025-12-31"), ("12-Mar-2009", "2009-03-12"), ("Sept 5, 2024", "2024-09-05"),
        ("3/4/2025", None), ("Feb 30, 2026", None), ("2026", None), ("Model 24 Pro 2026", None), ("", None),
        (None, None),
        ("Feb 30, 2026 or Feb 3, 2026", "2026-02-03"), ("120261231", None),
    ],
)  # fmt: skip
def test_days(text, found):
    assert day(text) == found


@pytest.mark.parametrize("language", MONTHS)
def test_months_have_names_in_many_languages(language):
    assert [month(name) for name in MONTHS[language].split()] == list(range(1, 13))
    assert [day(f"5 {name} 2024") for name in MONTHS[language].split()] == [f"2024-{n:02d}-05" for n in range(1, 13)]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("2025-08-12T01:59:18.000Z", "2025-08-12T01:59:18Z"), ("2025-08-12T01:59:18+02:00", "2025-08-11T23:59:18Z"),
        ("2025-08-12 01:59 +0200", "2025-08-11T23:59:00Z"), ("2025-08-12T01:59:18", None), ("2025-08-12", None),
        ("2025-13-12T01:59:18Z", None), ("0001-01-01T00:00:00+14:00", None), (5, None), (None, None),
    ],
)  # fmt: skip
def test_instants(value, found):
    assert utc(value) == found


@given(
    st.dates(date(1900, 1, 1), date(2099, 12, 31)), st.sampled_from(["%b %d, %Y", "%d %B %Y", "%Y-%m-%d", "%d.%m.%Y"])
)
def test_a_day_survives_the_way_it_is_written(when, form):
    assert day(f"Sold  {when.strftime(form)} at noon") == when.isoformat()


@given(st.text(max_size=60))
def test_never_fails(text):
    found = day(text)
    assert found is None or date.fromisoformat(found)
    utc(text)


@pytest.mark.parametrize(
    ("text", "day"),
    [("10/22/2026", "2026-10-22"), (" 1/2/2026 ", "2026-01-02"), ("22/10/2026", None), ("2/30/2026", None),
     ("10/22/26", None), ("10-22-2026", None), (None, None), (20261022, None)],
)  # fmt: skip
def test_days_with_the_month_first(text, day):
    assert month_first(text) == day


@pytest.mark.parametrize(
    ("value", "day"),
    [(20260122, "2026-01-22"), ("20260122", "2026-01-22"), (20260230, None), (2026012, None), ("2026-01-22", None),
     (None, None), (True, None), (20260122.0, None)],
)  # fmt: skip
def test_days_as_one_number(value, day):
    assert compact(value) == day
