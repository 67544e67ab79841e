"""``scrapy document-score``, with lines that were read before: no engine is needed for them."""

import json
from dataclasses import asdict
from xml.etree import ElementTree as ET

import pytest

from fetchworker.demo.invoices import invoices


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


def test_one_folder_is_wanted(project):
    done = project.scrapy("document-score")
    assert done.returncode == 2
    assert "folder" in done.stdout + done.stderr
