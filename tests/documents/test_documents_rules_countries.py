"""What a bare dollar is and which number is the month: by where a document is from."""

import pytest

from fetchworker.documents.rules import country, layout, read

INVOICE = """
{seller} | {title}
{street} | Invoice No | LD-31
{town} | {date} | {day}
Bill To
Quarry Choir
Description | Qty | Price | Amount
Lamp | 2 | {sign}50.00 | {sign}100.00
Subtotal | {sign}100.00
{tax} | {sign}10.00
Total | {sign}110.00
"""


def made(document, **told):
    defaults = {
        "seller": "Larch Desk", "title": "INVOICE", "street": "4 Long Lane", "town": "", "date": "Invoice Date",
        "day": "03/04/2026", "sign": "$", "tax": "Tax",
    }  # fmt: skip
    return document(INVOICE.format(**defaults | told), width=1200)


def told(made, name):
    field = read(made, "invoice").fields[name]
    return field.value, field.confidence


@pytest.mark.parametrize(
    ("words", "currency", "day"),
    [
        ({"town": "Dayton, OH 45402"}, "USD", "2026-03-04"),
        ({"town": "Echuca VIC 3564", "seller": "Larch Desk Pty Ltd"}, "AUD", "2026-04-03"),
        ({"tax": "GST 15%"}, "NZD", "2026-04-03"),
        ({"town": "Singapore 349247"}, "SGD", "2026-04-03"),
        ({"sign": "S$"}, "SGD", "2026-04-03"),
        ({"sign": "R$ "}, "BRL", "2026-04-03"),
        ({"sign": "£"}, "GBP", "2026-04-03"),
        ({"sign": "₹"}, "INR", "2026-04-03"),
        ({"street": "RFC LDE010101AA0"}, "MXN", "2026-04-03"),
    ],
    ids=str,
)
def test_the_country_tells_currency_and_order(document, words, currency, day):
    page = made(document, **words)
    assert told(page, "currency")[0] == currency
    assert told(page, "currency")[1] > 0.9
    assert told(page, "invoice_date")[0] == day
    assert told(page, "invoice_date")[1] > 0.9


def test_without_a_country_neither_is_sure(document):
    page = made(document)
    assert told(page, "currency")[1] < 0.9
    assert told(page, "invoice_date")[1] < 0.9


def test_another_day_proves_the_order(document):
    page = made(document, street="Due Date | 05/15/2026", sign="")
    assert told(page, "invoice_date") == ("2026-03-04", pytest.approx(0.95, abs=0.05))
    assert told(page, "invoice_date")[1] > 0.9


def test_a_payment_is_due_after_its_invoice_whatever_the_country(document):
    page = made(document, town="Dayton, OH 45402 | Due Date | 03/05/2026")
    assert (told(page, "invoice_date")[0], told(page, "due_date")[0]) == ("2026-03-04", "2026-03-05")
    page = made(document, seller="Larch Desk Pty Ltd", street="Due Date | 04/03/2026")
    assert (told(page, "invoice_date")[0], told(page, "due_date")[0]) == ("2026-03-04", "2026-04-03")


def test_french_with_dollars_is_canadian(document):
    text = (
        "Atelier du Rang | FACTURE\nMont-Bleu QC | Date | 03/04/2026\nDésignation | Qté | Prix | Montant\n"
        "Sirop | 10 | 10,00 | 100,00\nSous-total | 100,00 $\nTPS 5 % | 5,00 $\nTVQ 9,975 % | 9,98 $\nTotal | 114,98 $"
    )
    page = document(text, width=1200)
    assert [told(page, name)[0] for name in ("currency", "invoice_date", "tax", "total")] == [
        "CAD", "2026-04-03", "14.98", "114.98",
    ]  # fmt: skip


def test_a_receipts_day_that_nothing_proves_is_not_sure(document):
    text = "NEON DINER\n{}\n03/04/2026\nTEA | 3.00\nPIE | 4.00\nTOTAL | 7.00\nCASH | 10.00\nCHANGE | 3.00"
    open_, american = (
        read(document(text.format(street)), "receipt").fields["date"] for street in ("12 Pier", "Dayton, OH 45402")
    )
    assert open_.confidence < 0.9
    assert (american.value, american.confidence > 0.9) == ("2026-03-04", True)


def test_a_languages_labels_speak_for_the_day(document):
    assert country.is_foreign(layout.sheet(document("Rechnungsnummer | 4\nGesamtbetrag | 5,00")))
    assert not country.is_foreign(layout.sheet(document("Invoice number | 4\nTotal | 5.00")))
