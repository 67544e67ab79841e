"""The goods of receipts of invented shops."""

import pytest

from fetchworker.documents.rules import read

HEAD = """
SUNNY HILL TRADING SDN BHD
NO. 12, JALAN MAWAR 3, 43000 KAJANG
TEL : 03-5550 1234
Date : 03/04/2018 14:22
"""
FOOT = """
TOTAL SALES | 30.03
ROUNDING | 0.02
TOTAL (RM) | 30.05
CASH | 50.00
CHANGE | 19.95
"""
OIL = {"description": "LAMP OIL", "quantity": "2", "unit_price": "10.60", "amount": "21.20"}
BROOM = {"description": "BROOM", "quantity": "1", "unit_price": "8.83", "amount": "8.83"}
PLAIN = [{name: row[name] for name in ("description", "amount")} for row in (OIL, BROOM)]


def goods(document, rows, foot=FOOT):
    reading = read(document(HEAD + rows.strip("\n") + foot), "receipt")
    return [{name: field.value for name, field in row.items()} for row in reading.line_items]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("LAMP OIL | 21.20\nBROOM | 8.83", PLAIN),
        ("LAMP OIL 21.20 SR\nBROOM RM 8.83 SR", PLAIN),
        ("Item | Qty | Price | Amount\nLAMP OIL | 2 | 10.60 | 21.20\nBROOM | 1 | 8.83 | 8.83", [OIL, BROOM]),
        ("2 LAMP OIL | 10.60 | 21.20\n1 BROOM | 8.83 | 8.83", [OIL, BROOM]),
        # the name above the numbers, and below them
        ("LAMP OIL\n4711001 | 2 | 10.60 | 21.20\nBROOM\n4711002 | 1 | 8.83 | 8.83", [OIL, BROOM]),
        ("4711001 | 2 | 10.60 | 21.20\nSR: LAMP OIL\n4711002 | 1 | 8.83 | 8.83\nSR: BROOM", [OIL, BROOM]),
        ("LAMP OIL\n2 PCS | 10.60 | 21.20 SR\nBROOM\n1 PCS | 8.83 | 8.83 SR", [OIL, BROOM]),
        # quantity and price in a row of their own, behind the amount or before it
        ("LAMP OIL | 21.20\n@2 X RM 10.60\nBROOM | 8.83", [OIL, PLAIN[1]]),
        ("LAMP OIL\n2 X 10.60\n21.20\nBROOM\n8.83", [OIL, PLAIN[1]]),
    ],
)
def test_goods_are_read_however_a_till_prints_them(document, rows, found):
    assert goods(document, rows) == found


def test_a_discount_counts_and_is_no_goods(document):
    assert goods(document, "LAMP OIL | 24.20\nDISCOUNT | -3.00\nBROOM | 8.83") == [
        {"description": "LAMP OIL", "amount": "24.20"}, PLAIN[1]
    ]  # fmt: skip


def test_goods_before_tax_make_the_total_without_it(document):
    foot = "\nTOTAL GST | 1.80\nTOTAL (RM) | 31.83\nCASH | 31.83\n"
    assert goods(document, "LAMP OIL | 21.20\nBROOM | 8.83", foot) == PLAIN


@pytest.mark.parametrize(
    "rows",
    [
        "LAMP OIL | 21.20\nBROOM | 8.38",  # misread
        "LAMP OIL | 21.20",  # a row that was not seen
        "21.20\n8.83",  # nothing that is named
    ],
)
def test_goods_that_do_not_add_up_or_have_no_name_are_not_told(document, rows):
    assert goods(document, rows) == []


def test_each_value_tells_its_lines_and_is_sure(document):
    reading = read(document(HEAD + "LAMP OIL | 2 | 10.60 | 21.20\nBROOM | 1 | 8.83 | 8.83" + FOOT), "receipt")
    first = reading.line_items[0]
    assert first["amount"].confidence >= 0.9
    assert first["description"].lines != first["amount"].lines
    assert len(set(first["quantity"].lines) | set(first["unit_price"].lines)) == 2
