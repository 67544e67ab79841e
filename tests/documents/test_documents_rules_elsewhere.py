"""Numbers near titles, days due in sentences, taxes of several rates, and payments without amounts."""

import pytest

from fetchworker.documents.rules import read

HEAD = "Amber Kiln Ltd | INVOICE\n3 Quay Street |\nLeeds LS1 4AB |\n"
GOODS = "Description | Qty | Price | Amount\nVase | 2 | 50.00 | 100.00\n"
SUMS = "Subtotal | 100.00\nVAT 20% | 20.00\nTotal | 120.00\n"
TILL = "AMBER KILN SHOP\n3 Quay Street\nLeeds LS1 4AB\n14/03/2026 10:15\nVase | 70.00\nJug | 50.00\n"


def fields(made, kind):
    return {name: field.value for name, field in read(made, kind).fields.items()}


@pytest.mark.parametrize(
    ("rows", "number"),
    [
        ("Honorarnote Nr. 3/2026", "3/2026"),
        ("Parcella n. 7 del 14/03/2026", "7"),
        ("Fee note No. 9 dated 14 March 2026", "9"),
        ("Our invoice | Dated | Customer\nAK-88 | 14/03/2026 | C-5", "AK-88"),
        ("Facture | Date\nNo: AK-0962 |", "AK-0962"),
        ("Invoice\n№ 20417", "20417"),
        ("Fatura\nRua Velha 3\n3360-191 Penacova\nPortugal\nTel 000\nNúmero: 000.451", "000.451"),
    ],
)
def test_numbers_without_a_label_of_their_own(document, rows, number):
    text = f"Amber Kiln Ltd\n{rows}\n{GOODS}{SUMS}"
    assert fields(document(text, width=1200), "invoice")["invoice_number"] == number


def test_a_number_of_a_house_is_none_of_an_invoice(document):
    text = "Amber Kiln Sdn Bhd\nNo. 21\nJalan Tembikar\n14/03/2026\nTel 000\nFax 000\nInvoice\n" + GOODS + SUMS
    assert fields(document(text, width=1200), "invoice")["invoice_number"] is None


@pytest.mark.parametrize(
    "row",
    [
        "Please settle by 13 April 2026",
        "Bitte überweisen Sie den Betrag bis 13. April 2026 auf unser Konto.",
        "Merci de régler au plus tard le 13/04/2026",
        "Rogamos pagar esta factura antes del 13/04/2026",
        "Pagamento entro il 13/04/2026 con bonifico",
        "Pagamento por transferência até 13/04/2026",
        "Gelieve te betalen tegen 13 april 2026",
        "Sila jelaskan sebelum 13 April 2026",
        "À payer pour le | Réf.\n13/04/2026 | C-5",
        "Bitte überweisen Sie den Betrag bis\n13.04.2026",
        "Terms: 30 days (13 Apr 2026)",
        "Due\nApril 13, 2026",
    ],
)
def test_days_due_without_a_label_of_their_own(document, row):
    text = f"{HEAD}Invoice date: 14 March 2026\n{GOODS}{SUMS}{row}"
    found = fields(document(text, width=1200), "invoice")
    assert (found["invoice_date"], found["due_date"]) == ("2026-03-14", "2026-04-13")


@pytest.mark.parametrize("row", ["2% discount if you pay by 20 March 2026", "Goods stay ours until 20 March 2026"])
def test_other_days_of_sentences_are_not_due(document, row):
    text = f"{HEAD}Invoice date: 14 March 2026\n{GOODS}{SUMS}{row}"
    assert fields(document(text, width=1200), "invoice")["due_date"] is None


def test_a_sum_without_the_tax_is_no_tax(document):
    text = f"{HEAD}{GOODS}Ex GST | 100.00\nGST 10% | 10.00\nTotal inc GST | 110.00"
    found = fields(document(text, width=1200), "invoice")
    assert [found[name] for name in ("subtotal", "tax", "total")] == ["100.00", "10.00", "110.00"]


def test_what_is_paid_or_kept_back_makes_the_total_no_less(document):
    text = f"{HEAD}{GOODS}Total USD | 100.00\nDeposit received 01/03/2026 | -40.00\nBalance due | 60.00"
    assert fields(document(text, width=1200), "invoice")["total"] == "100.00"


@pytest.mark.parametrize(
    ("rows", "tax"),
    [
        ("Zu zahlen EUR | 120.00\nenth. 20% MwSt | 11.67\nenth. 10% MwSt | 4.55", "16.22"),
        ("Sub Total | 120.00\nCGST 2.5% | 3.00\nSGST 2.5% | 3.00\nGrand Total | 126.00", "6.00"),
        ("TOTAL | 120.00\nVAT | Net | Tax\n20% A | 58.33 | 11.67\n0% Z | 50.00 | 0.00", "11.67"),
        ("TE BETALEN | 120.00\nBTW% | Over | BTW\n9.00 | 110.09 | 9.91", "9.91"),
        ("TOTAL | 120.00\nMwSt | Brutto | Steuer | Netto\nA 20% | 120.00 | 20.00 | 100.00", "20.00"),
        ("TOTAL GST 6% | 6.79\nGST 6% | 6.79\nTOTAL | 120.00", "6.79"),
    ],
)
def test_the_tax_of_a_receipt_is_that_of_all_rates(document, rows, tax):
    assert fields(document(TILL + rows), "receipt")["tax"] == tax


@pytest.mark.parametrize(
    ("rows", "payment"),
    [
        ("TOTAL | 120.00\nMASTERCARD XXXX4410", "card"),
        ("TOTAL | 120.00\nPaid by UPI", "upi"),
        ("TOTAL | 120.00\nZahlungsart: Bankomat", "card"),
        ("TOTAL | 120.00\nForma de pago: | Efectivo", "cash"),
        ("TOTAL | 120.00\nWe take cash and cards", None),
    ],
)
def test_payments_without_an_amount(document, rows, payment):
    assert fields(document(TILL + rows), "receipt")["payment"] == payment


def test_a_tip_is_part_of_what_was_paid(document):
    rows = "Subtotal | 120.00\nTax | 9.00\nTotal | 129.00\nTip | 20.00\nAmount Charged | $149.00"
    assert fields(document(TILL + rows), "receipt")["total"] == "149.00"


@pytest.mark.parametrize(
    ("row", "currency"),
    [("RON95 24.39 L", None), ("Vase R 1 250.00", "ZAR"), ("Vase RON 1 250.00", "RON"), ("INR 1,26,000.00", "INR")],
)
def test_a_grade_of_petrol_is_no_currency(document, row, currency):
    assert fields(document(f"{TILL}{row}\nTOTAL | 120.00"), "receipt")["currency"] == currency
