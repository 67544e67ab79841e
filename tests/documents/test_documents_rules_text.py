"""Amounts, days and labels as documents print them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.documents.rules import dates, labels, money, totals
from fetchworker.documents.rules.repair import address, is_marked, name


@pytest.mark.parametrize(
    ("text", "mark", "values"),
    [
        ("RM 1,007.50", ".", ["1007.50"]),
        ("1.234,56 €", ",", ["1234.56"]),
        ("3 599,10 €", ",", ["3599.10"]),
        ("12'345.00", ".", ["12345.00"]),
        ("1, 007. 50", ".", ["1007.50"]),
        ("-647.30", ".", ["-647.30"]),
        ("0.01-", ".", ["-0.01"]),
        ("(25.00)", ".", ["-25.00"]),
        ("75.00SR", ".", ["75.00"]),
        ("2.1O", ".", ["2.10"]),
        (".10", ".", ["0.10"]),
        ("2 X 43.00", ".", ["2", "43.00"]),
        ("VAT 20% on 112.90", ".", ["112.90"]),
        ("₹9,640.93", ".", ["9640.93"]),
    ],
)
def test_amounts_are_read(text, mark, values):
    assert [str(found.value) for found in money.amounts(text, mark)] == values


@pytest.mark.parametrize("text", ["NL810433941B01", "12/02/2018", "16:37:00", "INV-00850", "#4711", "A4"])
def test_codes_days_and_times_are_no_amounts(text):
    assert not [found for found in money.amounts(text) if found.money]


def test_the_decimal_mark_is_the_documents_own():
    assert money.decimal_mark(["12,50", "1.250,00", "3.000"]) == ","
    assert money.decimal_mark(["12.50", "1,250.00"]) == "."


@given(st.decimals(min_value=0, max_value=10**8, places=2))
def test_every_printed_amount_is_read_again(value):
    for group, point in ((",", "."), (".", ",")):
        text = f"{value:,.2f}".replace(",", "_").replace(".", point).replace("_", group)
        assert [found.value for found in money.amounts(text, point)] == [Decimal(value)]


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("08/02/20173:43:01PM", "2017-02-08"),
        ("REG #19- 10/03/2018", "2018-03-10"),
        ("05-JAN-2017", "2017-01-05"),
        ("27 0ct 2026 10:56", "2026-10-27"),
        ("15 JUN 18 08:34:31 PM", "2018-06-15"),
        ("August 3 , 2014", "2014-08-03"),
        ("19 april 2014", "2014-04-19"),
        ("02 Juillet 2015", "2015-07-02"),
        ("3 de marzo de 2024", "2024-03-03"),
        ("7 Ogos 2023", "2023-08-07"),
        ("2024-01-21", "2024-01-21"),
        ("8-9-2022", "2022-09-08"),
        ("2O/10/2016", "2016-10-20"),
        ("28.2.24", "2024-02-28"),
    ],
)
def test_days_are_read(text, iso):
    assert dates.find(text)[0].iso(day_first=True) == iso


@pytest.mark.parametrize("text", ["192.168.10.12", "05-5501 0005", "9/13", "1 X 5.90", "LOT 1851-A", "31/31/2020"])
def test_other_numbers_are_no_days(text):
    assert not dates.find(text)


def test_the_order_of_day_and_month_is_the_pages_own():
    american = [day for text in ("03/04/2024", "01/28/2024") for day in dates.find(text)]
    assert dates.day_first(american) == (False, True)
    european = [day for text in ("03/04/2024", "28/01/2024") for day in dates.find(text)]
    assert dates.day_first(european) == (True, True)
    assert dates.day_first(dates.find("03.04.2024")) == (True, True)
    assert dates.day_first(dates.find("03/04/2024")) == (True, False)


@given(st.text(max_size=60))
def test_no_text_breaks_the_readers(text):
    assert len(labels.fold(text)) == len(text)
    for day in dates.find(text):
        assert 0 <= day.start < day.end <= len(text)
    for amount in money.amounts(text):
        assert 0 <= amount.start < amount.end <= len(text)


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("TOTAL SALES (EXCLUDING GST) :", "subtotal"),
        ("TotalSales(InclusiveofGST)", "total"),
        ("T0TAL GST", "tax"),
        ("GST @6% INCLUDED IN TOTAL", "tax"),
        ("Total Qty", "count"),
        ("ROUNDING ADJ", "rounding"),
        ("Summe netto", "subtotal"),
        ("zzgl. 19% MwSt.", "tax"),
        ("Rechnungsbetrag", "total"),
        ("Net à payer", "total"),
        ("Base imponible", "subtotal"),
        ("Totale fattura", "total"),
        ("Total sem IVA", "subtotal"),
        ("Totaal te betalen", "total"),
        ("Jumlah Keseluruhan", "total"),
        ("CASH TENDERED", "paid_cash"),
        ("CHANGE DUE", "change"),
    ],
)
def test_labels_tell_an_amounts_role_in_eight_languages(text, role):
    found = totals.role(text)
    assert found is not None
    assert found[0] == role


def test_every_label_is_found_in_its_own_text():
    for key in labels.names():
        for word in labels.words(key):
            assert labels.find(f": {word} ", key), (key, word)


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ("SUNNY HILL SON BHD", "SUNNY HILL SDN BHD"),
        ("Sunny Hill Sdn Bho", "Sunny Hill Sdn Bhd"),
        ("MORNING MART 5/B", "MORNING MART S/B"),
        ("MORNING MARTS/B", "MORNING MART S/B"),
        ("SUNNY HILL SDN. BHD.LL", "SUNNY HILL SDN. BHD"),
        ("Café Sonne", "Cafe Sonne"),
        ("Harbour Works Ltd", "Harbour Works Ltd"),
    ],
)
def test_what_ocr_does_to_names_is_undone(read, meant):
    assert name(read, marked=False) == meant


def test_words_of_addresses_are_put_right():
    assert address("LUT 12, JAIAN MAWAR, SETANGOR", marked=True) == "LOT 12, JALAN MAWAR, SELANGOR"
    assert address("9 rue Haute, Évry", marked=True) == "9 rue Haute, Évry"


def test_a_language_with_marks_keeps_them():
    assert is_marked(["Bäckerei Lindenhof", "für Größe", "Straße", "Köln am schönen Rhein"])
    assert not is_marked(["Restäurants"] + ["plain words here"] * 60)
