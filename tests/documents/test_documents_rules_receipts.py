"""Receipts of invented shops."""

from dataclasses import replace

import pytest

from fetchworker.documents.rules import read

SHOP = """
SUNNY HILL TRADING SDN BHD
(778899-X)
NO. 12, JALAN MAWAR 3,
TAMAN DAMAI, 43000 KAJANG,
SELANGOR
TEL : 03-5550 1234
GST ID : 000123456789
TAX INVOICE
Receipt No : 4711 | Date : 03/04/2018 14:22
Item | Qty | Price | Amount
LAMP OIL | 2 | 10.60 | 21.20
BROOM | 1 | 8.83 | 8.83
"""
SUMS = """
TOTAL QTY : 3 | 30.03
SUB TOTAL (EXCL GST) | 28.33
TOTAL GST | 1.70
ROUNDING | 0.02
TOTAL (RM) | 30.05
CASH | 50.00
CHANGE | 19.95
GST SUMMARY
TAX CODE | % | AMOUNT | TAX
SR | 6 | 28.33 | 1.70
TOTAL | 28.33 | 1.70
THANK YOU
"""


def values(reading):
    return {name: field.value for name, field in reading.fields.items()}


def test_a_receipt_is_read(document):
    reading = read(document(SHOP + SUMS.lstrip("\n")))
    assert reading.kind == "receipt"
    assert values(reading) == {
        "company": "SUNNY HILL TRADING SDN BHD",
        "date": "2018-04-03",
        "address": "NO. 12, JALAN MAWAR 3, TAMAN DAMAI, 43000 KAJANG, SELANGOR",
        "total": "30.05",
        "tax": "1.70",
        "currency": "MYR",
        "payment": "cash",
    }
    assert reading.fields["total"].confidence > 0.9


def test_arithmetic_mends_a_misread_total(document):
    reading = read(document(SHOP + SUMS.replace("TOTAL (RM) | 30.05", "TOTAL (RM) | 30.06").lstrip("\n")))
    assert reading.fields["total"].value == "30.05"


def test_a_total_whose_label_was_not_read_is_what_was_paid(document):
    reading = read(document(SHOP + SUMS.replace("TOTAL (RM) | 30.05", "| 30.05").lstrip("\n")))
    assert reading.fields["total"].value == "30.05"


def test_a_summary_of_tax_codes_is_no_total(document):
    reading = read(document(SHOP + SUMS.replace("CASH | 50.00\nCHANGE | 19.95\n", "").lstrip("\n")))
    assert reading.fields["total"].value == "30.05"


@pytest.mark.parametrize(
    ("head", "company"),
    [
        ("A. WRITER\nBUKU TA .K (TAMAN SURIA) SDN BND\n789417-W", "BUKU TA .K (TAMAN SURIA) SDN BHD"),
        ("*** COPY ***\nLEAF MARKETING SDN BHD\nROC NO: 538358-H", "LEAF MARKETING SDN BHD"),
        ("LEAF INTERNATIONAL SDN BHD\n23 MAR 2018 18:24\n(867388-U)", "LEAF INTERNATIONAL SDN BHD"),
        ("MORNING MART S/B (519537-X)", "MORNING MART S/B"),
        ("GOLDEN LEAF HARDWARE ENTERPRISE\n(SETIA) SDN BHD", "GOLDEN LEAF HARDWARE ENTERPRISE (SETIA) SDN BHD"),
        ("GOLDEN LEAF BOOKS\nSDN BHD", "GOLDEN LEAF BOOKS SDN BHD"),
        ("NOODLE BAR\nGOLDEN LEAF FOODS SDN BHD\n(894996-D)", "GOLDEN LEAF FOODS SDN BHD"),
        ("TAX INVOICE\nRESTORAN DAMAI", "RESTORAN DAMAI"),
        ("A02045\nPERNIAGAAN DAMAI\nJM0325955-V", "PERNIAGAAN DAMAI"),
        ("LEAF FOODS SDN BHD\nFORMERLY KNOWN AS\nOLD LEAF FOODS SDN BHD", "LEAF FOODS SDN BHD"),
    ],
)
def test_the_company_is_the_one_that_issued_it(document, head, company):
    body = SHOP.replace("SUNNY HILL TRADING SDN BHD\n(778899-X)", head)
    assert read(document(body + SUMS.lstrip("\n")), "receipt").fields["company"].value == company


def test_a_sign_that_was_hardly_read_is_not_the_company(document):
    made = document(
        SHOP.replace("SUNNY HILL TRADING SDN BHD\n(778899-X)", "Gvaltn\nRESTORAN DAMAI") + SUMS.lstrip("\n")
    )
    sign = replace(made.pages[0].lines[0], score=0.6, box=(20.0, 30.0, 200.0, 68.0))
    page = replace(made.pages[0], lines=(sign, *made.pages[0].lines[1:]))
    assert read(replace(made, pages=(page,)), "receipt").fields["company"].value == "RESTORAN DAMAI"


def test_the_buyers_name_is_not_the_company(document):
    body = SHOP.replace("Receipt No", "BILL TO:\nGIANT WORKS (M) SDN BHD\nReceipt No")
    assert read(document(body + SUMS.lstrip("\n"))).fields["company"].value == "SUNNY HILL TRADING SDN BHD"


def test_taxes_of_a_summary_are_added_where_no_row_names_the_tax(document):
    lines = SUMS.replace("SUB TOTAL (EXCL GST) | 28.33\nTOTAL GST | 1.70\n", "")
    two = lines.replace("SR | 6 | 28.33 | 1.70", "SR | 6 | 20.00 | 1.20\nSR | 6 | 8.33 | 0.50")
    assert read(document(SHOP + two.lstrip("\n"))).fields["tax"].value == "1.70"


def test_a_till_without_cents(document):
    body = "SUNNY SHOP\nNO 1, JALAN BESAR\n01/02/2018 12:00\nTEA | 120\nTOTAL | 120\nCASH | 150\nCHANGE | 30"
    assert read(document(body), "receipt").fields["total"].value == "120.00"


def test_no_currency_without_a_token_for_it(document):
    text = SHOP + SUMS.replace("(RM)", "").lstrip("\n")
    assert read(document(text)).fields["currency"].value is None


def test_a_card_pays_the_total(document):
    text = SHOP + SUMS.replace("CASH | 50.00\nCHANGE | 19.95", "VISA | 30.05").lstrip("\n")
    assert values(read(document(text)))["payment"] == "card"


def test_a_badly_read_line_makes_its_field_less_sure(document):
    good, bad = (read(document(SHOP + SUMS.lstrip("\n"), score=score)) for score in (0.995, 0.92))
    assert good.fields["company"].confidence > 0.85 > bad.fields["company"].confidence
    assert bad.fields["total"].confidence > 0.9  # it adds up


@pytest.mark.parametrize(
    "text",
    [
        "Dear Mr. Sample,\nthank you for your letter of 3 March 2024.\nWe agree to pay 1,200.00 EUR for the damage.",
        "First Bank\nAccount statement\nDate | Text | Debit | Balance\n01/02/2024 | Card | 12.00 | 88.00",
        "Harbour Works Ltd\nDelivery Note | DN-100\nItem | Quantity\nShelf | 2\nHinge | 10",
        "CAFE SOL\nEspresso | 2.50\nCappuccino | 3.50",
    ],
)
def test_letters_statements_and_menus_are_neither(document, text):
    assert read(document(text, width=1000)).kind == "other"


def test_nothing_to_read_is_nothing(document):
    for text in ("", "Dear Sir or Madam,\nwe look forward to our visit.\nYours, A. Person"):
        reading = read(document(text))
        assert reading.kind == "other"
        assert not reading.fields
