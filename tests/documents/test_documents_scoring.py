"""Scores: what counts as right, and what a report says."""

import json
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.documents.model import Field, Reading
from fetchworker.documents.scoreboard import plot, table
from fetchworker.documents.scoring import same, score

TRUTH = {
    "kind": "invoice",
    "fields": {
        "seller": "Harbour Works Ltd.",
        "date": "2023-08-07",
        "total": "1,057.00",
        "tax": "7.00",
        "buyer": None,
        "line_items": [
            {"description": "Shelf", "quantity": "2", "unit_price": "10.00", "amount": "20.00"},
            {"description": "Fitting", "quantity": None, "unit_price": None, "amount": "30.00"},
        ],
    },
    "not_printed": ["tax"],
}


def reading(**values):
    fields = {name: Field(value, 0.95, 1, (0, 0, 1, 1), (0,)) for name, value in values.items()}
    rows = [
        {"description": Field("SHELF", 0.9), "quantity": Field("2", 0.9), "unit_price": Field("10.00", 0.9),
         "amount": Field("20.00", 0.9)},
        {"description": Field("Filling", 0.9), "amount": Field("30.00", 0.9)},
    ]  # fmt: skip
    return Reading("invoice", 1.0, fields, rows)


@pytest.mark.parametrize(
    ("name", "truth", "value", "exact", "alike"),
    [
        ("company", "MR. D.I.Y. SDN BHD", "mr diy sdn bhd", True, True),
        ("company", "Café Noir", "Cafe Noir", False, True),
        ("company", "99 MART S/B", "99 MART 5/B", False, True),
        ("company", "99 MART", "98 MART", False, False),
        ("date", "12/02/2018", "2018-02-12", True, True),
        ("date", "15 JUN 18", "2018-06-15", True, True),
        ("date", "12/02/2018", "2018-12-02", False, False),
        ("total", "RM 1,007.50", "1007.50", True, True),
        ("total", "7.5", "7.50", True, True),
        ("total", "7.50", "7.60", False, False),
        ("total", "7.50", None, False, False),
    ],
)
def test_what_counts_as_right(name, truth, value, exact, alike):
    assert same(name, truth, value) == (exact, alike)


def test_a_report_counts_what_the_truth_knows_and_what_is_printed():
    told = reading(seller="HARBOUR WORKS LTD", invoice_date="2023-08-07", total="1050.00", tax="9.00", buyer="Nobody")
    report = score([("one.pdf", told, TRUTH)])
    assert {name for _, name in report.fields} == {"seller", "invoice_date", "total"}
    assert (report.all.fields, report.all.exact) == (3, 2)
    assert report.wrong == [("one.pdf", "total", "1,057.00", "1050.00")]
    assert (report.rows.fields, report.rows.exact, report.rows.normalised) == (2, 1, 2)
    assert report.sure == (3, 2)


def test_a_document_that_was_not_read_is_wrong_in_all_fields():
    report = score([("one.pdf", None, TRUTH)])
    assert (report.failed, report.all.fields, report.all.exact, report.kinds.exact) == (1, 3, 0, 0)


def test_a_report_as_json_and_as_a_table():
    report = score([("one.pdf", reading(seller="Harbour Works Ltd", total="1057"), TRUTH)])
    told = json.loads(json.dumps(report.to_json()))
    assert told["fields"]["invoice.seller"]["exact_share"] == 1.0
    assert told["all"]["fields"] == 3
    assert "invoice.seller" in table(report)
    assert "1 documents, 0 not read" in table(report)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=60))
def test_the_curve_holds_every_field_once_and_its_plot_is_xml(told):
    report = score([])
    report.told = told
    curve = report.curve()
    assert sum(count for _, _, count in curve) == len(told)
    assert all(0 <= mean <= 1 and 0 <= good <= 1 for mean, good, _ in curve)
    drawn = ET.fromstring(plot(report))
    assert len(drawn.findall("{http://www.w3.org/2000/svg}circle")) == len(curve)
