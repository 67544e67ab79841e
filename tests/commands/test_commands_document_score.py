"""``scrapy document-score``, with lines that were read before: no engine is needed for them."""

import json
from dataclasses import asdict
from xml.etree import ElementTree as ET

import pytest

from fetchworker.demo.invoices import invoices
from fetchworker.documents.scored import samples
from fetchworker.errors import ArgumentError


@pytest.fixture
def folder(tmp_path):
    """Two invoices with their truth, and their lines."""
    place, lines = tmp_path / "set", tmp_path / "lines"
    (place / "more").mkdir(parents=True)
    lines.mkdir()
    for number, made in enumerate(invoices(2, seed=4)):
        file = (place / "more" if number else place) / f"{made.name}.pdf"
        file.write_bytes(b"%PDF-1.4 not read here")
        truth = {"id": made.name, "kind": "invoice", "fields": made.truth, "not_printed": []}
        file.with_suffix(".json").write_text(json.dumps(truth))
        (lines / f"{file.name}.json").write_text(json.dumps(asdict(made.document())))
    return place, lines


def test_a_folder_is_scored_and_the_curve_drawn(project, folder, tmp_path):
    place, lines = folder
    plot = tmp_path / "curve.svg"
    done = project.scrapy("document-score", str(place), "--lines", str(lines), "--plot", str(plot))
    assert done.returncode == 0, done.stderr
    assert "invoice.total" in done.stdout
    assert "2 documents, 0 not read" in done.stdout
    assert ET.fromstring(plot.read_text()).tag.endswith("svg")


def test_the_score_as_json_names_what_is_wrong(project, folder):
    place, lines = folder
    truth = next(place.glob("*.json"))
    data = json.loads(truth.read_text())
    data["fields"]["total"] = "1.00"
    truth.write_text(json.dumps(data))
    done = project.scrapy("document-score", str(place), "--lines", str(lines), "--json", "--kind", "truth")
    told = json.loads(done.stdout)
    assert (told["documents"], told["all"]["fields"], told["all"]["exact"]) == (2, 18, 17)
    assert [(row["field"], row["truth"]) for row in told["wrong"]] == [("total", "1.00")]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda place, _: [path.unlink() for path in place.rglob("*.json")], "no document here has a truth"),
        (lambda place, _: next(place.glob("*.json")).write_text("{"), "not JSON"),
        (lambda place, _: next(place.glob("*.json")).write_text("[]"), "an object with `fields`"),
        (lambda _, lines: next(lines.glob("*.json")).write_text("{}"), "not the lines of a document"),
    ],
)
def test_what_cannot_be_scored_is_named(project, folder, change, told):
    place, lines = folder
    change(place, lines)
    done = project.scrapy("document-score", str(place), "--lines", str(lines))
    assert done.returncode == 2
    assert told in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(
    ("truth", "told"),
    [
        ({"kind": "novel", "fields": {}}, "kind: 'novel' is none of invoice, receipt, other"),
        ({"kind": "invoice", "fields": {"totl": "1.00"}}, "fields.totl: no field of the kind invoice"),
        ({"kind": "receipt", "fields": {"seller": "A Shop"}}, "fields.seller: no field of the kind receipt"),
        ({"kind": "invoice", "fields": {"total": 1.5}}, "fields.total: a string or null, not float"),
        ({"kind": "invoice", "fields": {"total": "much"}}, "fields.total: 'much' is no number"),
        ({"kind": "invoice", "fields": {"date": "soon"}}, "fields.date: 'soon' is no day"),
        ({"kind": "invoice", "fields": {"line_items": [3]}}, "fields.line_items[0]: an object with description"),
        ({"kind": "invoice", "fields": {"line_items": {}}}, "fields.line_items: a list of objects"),
        ({"kind": "invoice", "fields": {"line_items": [{"price": "1"}]}}, "fields.line_items[0].price: none of"),
        ({"kind": "invoice", "fields": {"line_items": [{"amount": 3}]}}, "fields.line_items[0].amount: a string"),
        ({"kind": "invoice", "fields": {}, "not_printed": ["sum"]}, "not_printed: a list of names of fields"),
    ],
)
def test_a_broken_truth_is_named_with_its_file_and_key(tmp_path, truth, told):
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "a.json").write_text(json.dumps(truth))
    with pytest.raises(ArgumentError) as caught:
        samples(tmp_path)
    assert f"{tmp_path / 'a.json'}: {told}" in caught.value.message


def test_a_broken_truth_ends_the_command(project, folder):
    place, lines = folder
    truth = next(place.glob("*.json"))
    truth.write_text(json.dumps({"kind": "invoice", "fields": {"line_items": [3]}}))
    done = project.scrapy("document-score", str(place), "--lines", str(lines))
    assert done.returncode == 2
    assert f"{truth}: fields.line_items[0]" in done.stderr
    assert "Traceback" not in done.stderr


def test_one_folder_is_wanted(project):
    done = project.scrapy("document-score")
    assert done.returncode == 2
    assert "folder" in done.stdout + done.stderr
