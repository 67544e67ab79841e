"""Invoices: a generated set in nine locales, and shapes of their own."""

from collections import Counter

import pytest

from fetchworker.demo.invoices import invoices, write
from fetchworker.documents.rules import labels, read

COUNT = 54


def right(name, truth, value):
    if name in {"seller", "buyer", "invoice_number"}:
        return labels.compact(truth) == labels.compact(value or "")
    return truth == value


@pytest.mark.parametrize("layer", [False, True], ids=["ocr", "text layer"])
def test_generated_invoices_are_read(layer):
    good, wanted, wrong = Counter(), Counter(), []
    for made in invoices(COUNT, seed=11):
        reading = read(made.document(layer=layer))
        assert reading.kind == "invoice", made.name
        for name, truth in made.truth.items():
            if name == "line_items":
                continue
            wanted[name] += 1
            good[name] += right(name, truth, reading.fields[name].value)
            if not right(name, truth, reading.fields[name].value):
                wrong.append((made.name, name, truth, reading.fields[name].value))
        rows = [{key: cell.value for key, cell in row.items() if key != "tax_rate"} for row in reading.line_items]
        wanted["rows"] += len(made.truth["line_items"])
        good["rows"] += sum(row in rows for row in made.truth["line_items"])
    assert good.total() >= 0.97 * wanted.total(), wrong
    assert good["rows"] >= 0.95 * wanted["rows"]


def test_a_set_is_written_as_files_with_their_truth(tmp_path):
    assert write(tmp_path, 9) == 9
    assert len(list(tmp_path.glob("*.pdf"))) == len(list(tmp_path.glob("*.json"))) == 9
    assert all(path.read_bytes().startswith(b"%PDF-") for path in tmp_path.glob("*.pdf"))


HEAD = """
Harbour Works Ltd | INVOICE
3 Quay Street
Bristol BS1 4DA
Bill To | Invoice No | HW-204
Old Mill School | Date | 07 August 2023
1 Church Road | Due Date | 21 August 2023
Description | Qty | Price | Amount
Shelf | 2 | £10.00 | £20.00
Fitting | 1 | £30.00 | £30.00
"""


def fields(reading):
    return {name: field.value for name, field in reading.fields.items() if field.value is not None}


def test_several_rates_are_one_tax(document):
    text = HEAD + "Net Total | £50.00\nVAT @ 20% | £6.00\nVAT @ 5% | £1.00\nGross Total | £57.00"
    found = read(document(text, width=1200))
    assert {name: fields(found)[name] for name in ("subtotal", "tax", "total")} == {
        "subtotal": "50.00",
        "tax": "7.00",
        "total": "57.00",
    }
    assert len(found.fields["tax"].lines) == 4


def test_a_table_of_rates_tells_net_tax_and_total(document):
    text = HEAD + "VAT % | Net | VAT | Total\n20 % | £50.00 | £10.00 | £60.00\nTo pay | £60.00"
    assert fields(read(document(text, width=1200)))["tax"] == "10.00"


def test_a_credit_note_is_negative_also_without_signs(document):
    text = HEAD.replace("INVOICE", "CREDIT NOTE") + "Net Total | £50.00\nVAT @ 20% | £10.00\nGross Total | £60.00"
    found = fields(read(document(text, width=1200)))
    assert (found["subtotal"], found["tax"], found["total"]) == ("-50.00", "-10.00", "-60.00")


def test_what_is_not_printed_is_not_told(document):
    found = read(document(HEAD.replace("| Due Date | 21 August 2023", "") + "Total | £60.00", width=1200))
    assert found.fields["due_date"].value is None
    assert found.fields["due_date"].confidence == 0
    assert found.fields["tax"].value is None


def test_items_go_on_over_two_rows_and_end_at_the_sums(document):
    text = HEAD.replace("Fitting | 1", "Fitting of the shelves | 1") + "Net Total | £50.00\nTotal | £50.00"
    rows = read(document(text, width=1200)).line_items
    assert [row["description"].value for row in rows] == ["Shelf", "Fitting of the shelves"]
    assert rows[0]["quantity"].value == "2"
    assert rows[1]["amount"].confidence > 0.9


def test_items_without_a_tables_head_are_what_makes_the_subtotal(document):
    text = (
        "Cloud Works Inc. | INVOICE\nInvoice Number: | 42\nStorage | $1.87\nSubtotal | $4.11\nTransfer | $2.24\n"
        "Tax | $0.00\nTotal | $4.11"
    )
    rows = read(document(text, width=1200), "invoice").line_items
    assert [(row["description"].value, row["amount"].value) for row in rows] == [
        ("Storage", "1.87"),
        ("Transfer", "2.24"),
    ]


def test_an_american_day_is_read_the_american_way(document):
    text = (
        "Maple Supply LLC | INVOICE\n12 Foundry Road\nDayton, OH 45402\nBill To | Invoice # | 77\nOld Mill Inc. | "
        "Invoice Date | 03/04/2024\nBoise, ID 83702 | Due Date | 04/03/2024\nTotal Due | $12.00"
    )
    found = fields(read(document(text, width=1200), "invoice"))
    assert (found["invoice_date"], found["due_date"]) == ("2024-03-04", "2024-04-03")


def test_a_window_envelope_tells_seller_and_buyer(document):
    text = (
        "Musterhost AG · Uferweg 40 · 63571 Gelnhausen\nFirma Beispiel | Rechnung Nr. 30064443\nHauptstr. 5 | Datum "
        "03.05.2015\n12345 Musterstadt\nMenge | Text | Preis | Gesamt EUR\n1 | Postfach | 29,19 | 29,19\n"
        "Summe Netto | 29,19\nMwSt. 19,00% auf 29,19 EUR | 5,54\nGesamtbetrag | 34,73"
    )
    found = fields(read(document(text, width=1200)))
    assert (found["seller"], found["buyer"]) == ("Musterhost AG", "Firma Beispiel")
    assert (found["subtotal"], found["tax"], found["total"]) == ("29.19", "5.54", "34.73")


def test_columns_with_their_values_below(document):
    text = (
        "Houtwerk B.V. | FACTUUR\nKlant | Factuurdatum | Factuurnummer | Vervaldatum\n"
        "K-1 | 8-9-2022 | VF100519 | 22-9-2022"
    )
    found = fields(read(document(text + "\nTotaal | € 12,00", width=1200), "invoice"))
    assert found["invoice_number"] == "VF100519"
    assert (found["invoice_date"], found["due_date"]) == ("2022-09-08", "2022-09-22")
