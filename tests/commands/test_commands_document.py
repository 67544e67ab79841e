"""`scrapy document`: JSON lines, pictures to look at, and an exit code for each kind of failure."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest
from PIL import Image

from tests.documents.modelserver import KEY, model_server

PAGE = ((40, 60, 18, "Pinewood Lamps Ltd"), (420, 60, 18, "INVOICE"), (40, 140, 10, "Invoice number: PL-20417"),
        (40, 160, 10, "Invoice date: 14 March 2025"), (40, 300, 10, "Total GBP 108.00"))  # fmt: skip


@pytest.fixture
def invoice(tmp_path):
    """A one-page PDF, by hand."""
    words = "\n".join(f"BT /F1 {size} Tf 1 0 0 1 {x} {800 - y} Tm ({text}) Tj ET" for x, y, size, text in PAGE)
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 5 0 R "
            "/Resources << /Font << /F1 4 0 R >> >> >>"
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Length {len(words)} >>\nstream\n{words}\nendstream",
    ]
    body = "".join(f"{n} 0 obj\n{text}\nendobj\n" for n, text in enumerate(objects, 1))
    path = tmp_path / "invoice.pdf"
    path.write_text(
        f"%PDF-1.4\n{body}trailer << /Root 1 0 R /Size 6 >>\n%%EOF\n"
    )  # readers find the objects themselves
    return path


def test_json_lines_hold_fields_with_their_places(project, invoice, tmp_path):
    (tmp_path / "none.pdf").write_bytes(b"")
    done = project.scrapy("document", "--json", str(invoice), str(tmp_path / "none.pdf"), str(invoice))
    first, failed, again = map(json.loads, done.stdout.splitlines())
    assert set(first) >= {"file", "kind", "fields", "line_items", "engine", "error"}
    assert (first["file"], first["kind"], first["error"]) == (str(invoice), "invoice", None)
    total = first["fields"]["total"]
    assert total["value"] == "108.00"
    assert set(total) == {"value", "confidence", "page", "box", "lines"}
    assert (total["page"], len(total["box"])) == (1, 4)
    assert first["fields"] == again["fields"]
    assert failed["error"]["reason"] == "empty"
    assert done.returncode == 10
    assert done.stderr.strip() == f"scrapy document: {tmp_path / 'none.pdf'}: empty: the file is empty", (
        "no bar in a pipe"
    )


def test_people_see_fields_and_a_picture(project, invoice, tmp_path):
    drawn = tmp_path / "drawn.png"
    done = project.scrapy("document", str(invoice), str(invoice), "--kind", "invoice", "--overlay", str(drawn))
    assert done.returncode == 0, done.stderr
    assert "invoice_number" in done.stdout
    assert "PL-20417" in done.stdout
    assert drawn.read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "drawn-2.png").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ([], 2, "name a file"),
        (["/nowhere/at-all.pdf"], 3, "No such file"),
        (["pyproject.toml"], 11, "not_a_document"),
        (["--kind", "novel", "x"], 2, "invalid choice"),
    ],
)
def test_each_failure_has_its_exit_code(project, arguments, code, told):
    done = project.scrapy("document", *arguments)
    assert done.returncode == code
    assert told in done.stderr


def test_a_picture_that_cannot_be_written_costs_no_other_file(project, invoice, tmp_path):
    (tmp_path / "full-2.png").mkdir()
    wanted = (str(invoice), str(invoice), str(invoice), "--overlay", str(tmp_path / "full.png"))
    done = project.scrapy("document", *wanted)
    assert done.returncode == 4
    assert "full-2.png cannot be written: Is a directory" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.count("PL-20417") == 3
    assert (tmp_path / "full.png").exists()
    assert (tmp_path / "full-3.png").exists()
    assert not list(tmp_path.glob(".*.part")), "no half picture"


def test_an_output_that_is_full_is_told(project, invoice):
    with open("/dev/full", "w") as full:  # noqa: PTH123  # a device
        _, told = project.start("document", str(invoice), stdout=full.fileno()).communicate(timeout=120)
    assert told.decode().strip() == "scrapy: the output cannot be written: No space left on device"


def test_ctrl_c_ends_quietly(project, tmp_path):
    fifo = tmp_path / "never.pdf"
    os.mkfifo(fifo)
    running = project.start("document", str(fifo), stdout=subprocess.PIPE)
    with fifo.open("wb"):  # opens once the command reads
        running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=60) == (b"", b"")
    assert running.returncode == 130


def test_nothing_is_sure_of_a_blank_page(project, tmp_path):
    Image.new("RGB", (400, 200), "white").save(tmp_path / "blank.png")
    told = json.loads(project.scrapy("document", "--json", str(tmp_path / "blank.png")).stdout)
    assert (told["kind"], told["kind_confidence"]) == ("other", 0)


def test_a_cap_is_named_by_its_setting(project, invoice):
    project.env["FETCHWORKER_DOCUMENTS_BYTES"] = "100"
    done = project.scrapy("document", str(invoice))
    assert done.returncode == 14
    assert "FETCHWORKER_DOCUMENTS_BYTES" in done.stderr


def test_what_opencv_misses_of_the_system_is_named(project, tmp_path):
    (tmp_path / "libGL.so.1").touch()
    project.env["LD_LIBRARY_PATH"] = str(tmp_path)
    scan = tmp_path / "scan.png"
    Image.new("RGB", (400, 200), "white").save(scan)
    done = project.scrapy("document", str(scan))
    assert done.returncode == 16
    assert "apt-get install libgl1 libglib2.0-0" in done.stderr


def test_a_configured_language_model_reads_beside_the_rules(project, invoice):
    with model_server() as server:
        project.env |= server.variables
        done = project.scrapy("document", "--json", str(invoice))
        server.answers = lambda _: (401, b"who are you?")
        refused = project.scrapy("document", str(invoice))
    assert (done.returncode, refused.returncode) == (0, 0), done.stderr + refused.stderr
    told = json.loads(done.stdout)
    assert told["engine"] == "text-layer+rules+llm"
    assert "note" not in told
    assert "read by rules alone; of the language model: the model's server answers with status 401" in refused.stdout
    assert len(server.asked) == 2
    for output in (done.stdout, done.stderr, refused.stdout, refused.stderr):
        assert KEY not in output


def test_a_language_model_that_may_not_be_reached_stops_the_start(project, invoice):
    project.env |= {
        "FETCHWORKER_DOCUMENTS_LLM_URL": "http://127.0.0.1:9/v1",
        "FETCHWORKER_DOCUMENTS_LLM_MODEL": "small",
    }
    done = project.scrapy("document", str(invoice))
    assert done.returncode == 2
    assert "list 127.0.0.1:9 in FETCHWORKER_EGRESS_ALLOW" in done.stderr
    assert done.stdout == ""
