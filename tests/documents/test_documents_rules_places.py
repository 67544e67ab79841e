"""Labels in the places of labels, names before their addresses, sums in bands, and what is no invoice."""

import pytest

from fetchworker.documents.rules import columns, layout, money, parties, read, totals

HEAD = """
Amber Kiln Ltd | INVOICE
3 Quay Street | Invoice No | AK-7
Leeds LS1 4AB | Invoice Date | 14/03/2026
"""
GOODS = "Description | Qty | Price | Amount\nVase | 2 | 50.00 | 100.00\n"
SUMS = "Subtotal | £100.00\nVAT 20% | £20.00\nTotal | £120.00"


def fields(made, kind="auto"):
    return {name: field.value for name, field in read(made, kind).fields.items()}


def sheet(document, text):
    return layout.sheet(document(text, width=1200))


@pytest.mark.parametrize(
    ("row", "buyer"),
    [
        ("Customer: Quarry Choir, 4 Hill Road, Bath BA1 5AA", "Quarry Choir"),
        ("Billed to: Mirror Canning Co., 77 Pit Rd, Suite 4, Dover, DE 19901", "Mirror Canning Co."),
        ("Cliente: Quinta do Lago Seco, S.A., Estrada Velha 2, 3360-191 Penacova", "Quinta do Lago Seco, S.A."),
        ("Buyer: Finch & Marrow LLP, Leeds", "Finch & Marrow LLP"),
        ("Kunde: Stadtwerke Amselheim", "Stadtwerke Amselheim"),
    ],
)
def test_a_name_ends_where_its_address_begins(document, row, buyer):
    found = parties.buyer(sheet(document, HEAD + row + "\n" + GOODS + SUMS))
    assert found
    assert found.text == buyer


@pytest.mark.parametrize("row", ["Fietsbel koper", "Date de facturation | 14/03/2026", "Repairs for a client"])
def test_a_word_that_happens_to_be_a_label_is_none(document, row):
    assert parties.buyer(sheet(document, f"{HEAD}{row}\nBinnenband\n{SUMS}")) is None


def test_short_captions_stand_alone(document):
    text = "Van: | Aan:\nTouwslagerij Linde B.V. | Jachthaven Kade\nDijk 4 | Kade 1\nFactuur\n" + SUMS
    found = fields(document(text, width=1200), "invoice")
    assert (found["seller"], found["buyer"]) == ("Touwslagerij Linde B.V.", "Jachthaven Kade")


def test_titles_of_other_languages_and_heads_of_tables_sell_nothing(document):
    found = fields(document("Faktura\nNordlys Bakeri AS\nFakturanr | 17\n" + SUMS, width=1200), "invoice")
    assert found["seller"] == "Nordlys Bakeri AS"


def test_a_salutation_is_not_the_buyer(document):
    text = "Rechnung an\nHerrn\nKasimir Wildgrube\nAm Anger 1\n07743 Jena\n" + SUMS
    assert fields(document(text, width=1200), "invoice")["buyer"] == "Kasimir Wildgrube"


def test_a_name_goes_on_in_the_next_row(document):
    text = "Seller | Customer\nWick & Pryor Joinery | Quarry Choir\nLtd | 4 Hill Road\nUnit 9 | Bath BA1 5AA\n" + SUMS
    assert fields(document(text, width=1200), "invoice")["seller"] == "Wick & Pryor Joinery Ltd"


def test_sums_in_a_band(document):
    text = f"{HEAD}{GOODS}Subtotal | VAT 20% | Total\n£100.00 | £20.00 | £120.00"
    found = read(document(text, width=1200))
    assert [found.fields[name].value for name in ("subtotal", "tax", "total")] == ["100.00", "20.00", "120.00"]
    assert found.fields["total"].confidence > 0.9


def test_heads_that_share_a_cell_are_parted(document):
    (row,) = sheet(document, "Invoice number Invoice date Due date").rows
    assert [cell.text for cell in columns.spread(row, "invoice_number", "invoice_date", "due_date").cells] == [
        "Invoice number", "Invoice date", "Due date",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sums", "total", "sure"),
    [
        (SUMS, "120.00", True),
        (SUMS.replace("120.00", "150.00"), "150.00", False),
        (SUMS.replace("Total | £120.00", "Shipping | £5.00\nTotal | £125.00"), "125.00", True),
        (SUMS.replace("Total | £120.00", "IRPF -15% | -£15.00\nTotal | £105.00"), "105.00", True),
        (SUMS + "\nDeposit paid | £50.00\nBalance due | £70.00", "120.00", True),
        (SUMS + "\nDeposit | -£50.00\nBalance due | £70.00", "120.00", True),
    ],
    ids=["adds up", "contradicts", "carriage", "withheld", "deposit paid", "deposit"],
)
def test_the_total_is_what_the_parts_make(document, sums, total, sure):
    field = read(document(HEAD + GOODS + sums, width=1200)).fields["total"]
    assert (field.value, field.confidence >= 0.9) == (total, sure)


def test_a_receipts_total_that_its_parts_contradict_is_not_sure(document):
    text = "FAIR MARKET\n80 Oak St\n14/03/2026\nMILK | 7.00\nSUBTOTAL | 7.00\nTAX | 0.50\nTOTAL | 9.50\nTHANK YOU"
    assert read(document(text), "receipt").fields["total"].confidence < 0.9


@pytest.mark.parametrize(
    ("foot", "due"),
    [
        ("Bei Zahlung bis 24.03.2026 abzüglich 2% Skonto. Ohne Abzug zahlbar bis 13.04.2026.", "2026-04-13"),
        ("2% Skonto bei Zahlung bis 24.03.2026, netto zahlbar bis 13.04.2026", "2026-04-13"),
        ("Mit 2% Skonto bis 24.03.2026, sonst zahlbar bis\n13.04.2026.", "2026-04-13"),
        ("Zahlbar bis 13.04.2026", "2026-04-13"),
    ],
)
def test_a_day_for_less_is_not_the_day_it_is_due(document, foot, due):
    head = "Fink Druck GmbH | RECHNUNG\nRechnungsnummer | 7\nRechnungsdatum | 14.03.2026\nGesamtbetrag | 119,00 €"
    text = f"{head}\n{foot}"
    assert fields(document(text, width=1600), "invoice")["due_date"] == due


@pytest.mark.parametrize(
    "title",
    ["QUOTATION", "Order confirmation", "Delivery note 4471", "Payment reminder", "Auftragsbestätigung", "Devis",
     "Kontoauszug", "Preventivo", "Pakbon"],
)  # fmt: skip
def test_what_calls_itself_something_else_is_no_invoice(document, title):
    text = f"Amber Kiln Ltd\n{title}\nDate | 14/03/2026\nBill To\nQuarry Choir\n{GOODS}{SUMS}"
    assert read(document(text, width=1200)).kind == "other"


def test_an_invoice_may_refer_to_an_order(document):
    text = f"{HEAD}Delivery note | DN-4\nBill To\nQuarry Choir\nOrder confirmation 17\n{GOODS}{SUMS}"
    assert read(document(text, width=1200)).kind == "invoice"


@pytest.mark.parametrize(
    ("text", "mark", "values"),
    [
        ("₹1,26,000.00", ".", ["126000.00"]),
        ("12,00,000.00", ".", ["1200000.00"]),
        ("S$95.14", ".", ["95.14"]),
        ("R$ 100,00", ",", ["100.00"]),
        ("Te betalen€ 2.539,59", ",", ["2539.59"]),
        ("Te betalen voor 19-4-2026", ",", []),
        ("19-4- 2026-03-14 1/2/26", ".", []),
        ("1 Marmalade 12.00", ".", ["12.00"]),
    ],
)
def test_amounts_of_all_places(text, mark, values):
    found = [amount for amount in money.amounts(text, mark) if amount.money or amount.value < 0]
    assert [str(amount.value) for amount in found] == values


def test_amounts_without_decimals_are_money_where_none_has_any(document):
    text = "Batik Rumah | INVOICE\nInvoice No | K-3\nInvoice Date | 14/03/2026\nSubtotal | 1.200.000\nTotal | 1.332.000"
    assert fields(document(text, width=1200))["total"] == "1332000.00"
    assert money.decimal_mark(["12.000", "14.03.26"]) == money.WHOLE
    assert money.decimal_mark(["12.000", "3,50"]) == ","


@pytest.mark.parametrize(
    ("head", "row", "item"),
    [
        ("Details | Qty | Unit | Net", "Plank | 2 | £8.78 | £17.56", ("2", "8.78", "17.56")),
        ("Details | Qty | Unit | Price | Net", "Plank | 2 | m | 8.78 | 17.56", ("2", "8.78", "17.56")),
        ("Description | Qty | Price | Amount", "Screw | 1000 | 0.1250 | 125.00", ("1000", "0.125", "125.00")),
        ("Bezeichnung | MwSt | Brutto", "Buch | 7% | 53,50", (None, None, "53.50")),
    ],
)
def test_columns_hold_what_multiplies(document, head, row, item):
    (found,) = read(document(f"{HEAD}{head}\n{row}\nTotal | 17.56", width=1200), "invoice").line_items
    told = tuple(found[name].value if name in found else None for name in ("quantity", "unit_price", "amount"))
    assert told == item


def test_what_stands_beside_a_table_is_none_of_it(document):
    text = " | Details | Qty | Price | Amount\nHill Road 4 | Plank | 2 | 8.78 | 17.56\nTotal | 17.56"
    (found,) = read(document(text, width=1200), "invoice").line_items
    assert found["description"].value == "Plank"


RECEIPT = """
{company}
{street}
{town}
14.03.2026 10:12
Brot | 3,00 €
Summe | 3,00 €
{paid} | 3,00 €
Vielen Dank
"""


@pytest.mark.parametrize(
    ("paid", "payment"),
    [("PIN", "card"), ("EC", "card"), ("CB", "card"), ("Contactless", "card"), ("NETS", "card"), ("Twint", "twint"),
     ("UPI", "upi"), ("Bar", "cash")],
)  # fmt: skip
def test_words_that_mean_a_payment(document, paid, payment):
    text = RECEIPT.format(company="Laden Ost", street="Am Markt 11", town="17489 Greifswald", paid=paid)
    assert fields(document(text), "receipt")["payment"] == payment


def test_goods_that_are_called_as_a_payment_is(document):
    text = "FAIR MARKET\n14/03/2026\nCard | 3.00\nTOTAL | 3.00\nCASH | 5.00\nCHANGE | 2.00"
    assert fields(document(text), "receipt")["payment"] == "cash"
    assert totals.role("Pin 3.00")
    assert totals.role("Pin code 3.00") is None


@pytest.mark.parametrize(
    ("street", "town"),
    [("Hauptstr. 5", "83278 Traunstein"), ("Dorpsstraat 88", "8701 AB Bolsward"), ("Largo da Sé 2", "7000-501 Évora"),
     ("12 Anna Lane", "Chennai 600002")],
)  # fmt: skip
def test_a_street_belongs_to_its_town(document, street, town):
    text = RECEIPT.format(company="Bäckerei Sonnlicht", street=street, town=town, paid="Bar")
    found = fields(document(text, score=1.0), "receipt")
    assert found["address"] == f"{street} {town}"
    assert found["company"] == "Bäckerei Sonnlicht", "nobody misread a text layer"


def test_an_address_ends_where_goods_begin(document):
    text = "THISTLE BOOKS LTD\n4 Nethergate, Dundee DD1 4EA\n3 Atlas £23.04\nTotal £23.04\nCard £23.04\n14 Mar 2026"
    assert fields(document(text), "receipt")["address"] == "4 Nethergate, Dundee DD1 4EA"


def test_a_narrow_page_of_a_program_is_a_receipt(document):
    text = RECEIPT.format(company="Laden Ost", street="Am Markt 11", town="17489 Greifswald", paid="EC")
    assert read(document(text, score=1.0)).kind == "receipt"


def test_money_that_went_back(document):
    text = "FAIR MARKET\n14/03/2026\nREFUND MILK | -3.00\nSUBTOTAL | -3.00\nTAX | -0.25\nTOTAL | -3.25\nCARD | -3.25"
    assert fields(document(text), "receipt")["total"] == "-3.25"
