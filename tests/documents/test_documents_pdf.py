"""PDFs: which text layers are read, how their letters become lines, and what ends in a typed error."""

from __future__ import annotations

import io

import pypdf
import pytest
from PIL import Image

from fetchworker.documents.caps import Caps
from fetchworker.documents.model import Line, Page
from fetchworker.documents.pages import Opener
from fetchworker.documents.pdf import Pdf
from fetchworker.documents.splitting import together
from fetchworker.errors import DocumentError


def no_engine():
    raise AssertionError("this page needs no OCR")


def opened(content, **caps):
    return Opener(Caps(**caps), no_engine).open(content)


def texts(page):
    return [line.text for line in page.lines]


def rewritten(content, **encryption):
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(content))
    if encryption:
        writer.encrypt(**encryption)
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


def test_what_stands_in_columns_is_lines_of_their_own(invoice_pdf):
    (document,) = opened(invoice_pdf)
    (page,) = document.pages
    assert texts(page)[:4] == ["Pinewood Lamps Ltd", "INVOICE", "4 Harbour Road", "Leeds LS1 4AB"]
    assert texts(page)[-2:] == ["Total GBP", "108.00"]
    assert (page.source, document.engine, document.pages_read, document.pages_total) == ("text", "text-layer", 1, 1)
    assert [line.id for line in page.lines] == list(range(len(page.lines)))
    first = page.lines[0]
    assert [word.text for word in first.words] == ["Pinewood", "Lamps", "Ltd"]
    assert first.score == 1.0
    # 40 units from the left, its base line 60 from the top, at 200 dots per inch
    assert first.box[0] == pytest.approx(40 * 200 / 72, abs=3)
    assert first.box[1] < 60 * 200 / 72 < first.box[3]


@pytest.mark.parametrize("angle", [90, 180, 270])
@pytest.mark.parametrize("rotate", [0, 90, 270])
def test_a_page_is_read_upright_however_it_lies(pdf_of, invoice_rows, invoice_pdf, angle, rotate):
    upright = opened(invoice_pdf)[0].pages[0]
    content = pdf_of(invoice_rows, angle=angle, rotate=rotate)
    (page,) = opened(content)[0].pages
    assert texts(page) == texts(upright)
    assert page.lines[0].box == pytest.approx(upright.lines[0].box, abs=3)
    pdf = Pdf(content, Caps())
    picture = pdf.picture(1)
    pdf.close()
    assert picture.size == pytest.approx((page.width, page.height), abs=2)
    x0, y0, x1, y1 = map(int, page.lines[0].box)
    assert min(picture.convert("L").crop((x0, y0, x1, y1)).tobytes()) < 64, "the box is where the ink is"


def test_what_was_filled_into_a_form_is_read(form_of, invoice_rows):
    content = form_of(invoice_rows, "PL-99999")
    (page,) = opened(content)[0].pages
    (line,) = [line for line in page.lines if "PL-99999" in line.text]
    assert line.box[0] == pytest.approx(302 * 200 / 72, abs=3)
    pdf = Pdf(content, Caps())
    picture = pdf.picture(1)
    pdf.close()
    assert min(picture.convert("L").crop(tuple(map(int, line.box))).tobytes()) < 128, "and seen"


def test_ruled_lines_are_told(pdf_of, invoice_rows):
    (page,) = opened(pdf_of(invoice_rows, draw="1 w 40 570 m 560 570 l S 40 500 100 20 re S"))[0].pages
    scale = 200 / 72
    flat = [box for box in page.rulings if box[3] - box[1] < 10 and box[2] - box[0] > 500 * scale]
    assert flat[0] == pytest.approx((40 * scale, 230 * scale, 560 * scale, 230 * scale), abs=4)
    assert len(page.rulings) == 5, "the line, and the four edges of the box"


@pytest.mark.parametrize(
    "page",
    [
        [(40, 60 + 20 * n, 12, "•• †‡ ¤¦ ~~~ ¬¬") for n in range(6)],
        [(40 + 12 * n, 60, 12, letter) for n, letter in enumerate("I N V O I C E T O T A L D U E N O W")],
        [(40, 60 + 20 * n, 12, "(cid:12)(cid:9) (cid:44) text (cid:3)") for n in range(6)],
    ],
    ids=["signs", "letters", "cids"],
)
def test_a_layer_that_is_no_text_is_not_believed(pdf_of, page):
    pdf = Pdf(pdf_of(page), Caps())
    assert pdf.page(1).words is None
    pdf.close()


def test_what_another_reader_hid_under_a_scan_is_not_believed(pdf_of, invoice_rows):
    made = io.BytesIO()
    Image.new("RGB", (600, 800), "white").save(made, "PDF")
    writer = pypdf.PdfWriter(clone_from=made)
    writer.pages[0].merge_page(pypdf.PdfReader(io.BytesIO(pdf_of(invoice_rows, mode=3))).pages[0])
    whole = io.BytesIO()
    writer.write(whole)
    pdf = Pdf(whole.getvalue(), Caps())
    assert pdf.page(1).words is None
    pdf.close()


def test_pages_over_the_cap_are_counted_and_not_read(pdf_of):
    pages = [[(40, 60, 12, "Nothing but words on this page")] for _ in range(30)]
    (document,) = opened(pdf_of(*pages), pages=4)
    assert (document.pages_read, document.pages_total, len(document.pages)) == (4, 30, 4)


def test_a_huge_page_is_scaled(pdf_of):
    (document,) = opened(pdf_of([(40, 600, 300, "x")], size=(14_400, 14_400)), edge=2000)
    assert max(document.pages[0].width, document.pages[0].height) == 2000


def test_with_an_owners_password_a_file_opens_and_with_a_users_it_does_not(invoice_pdf):
    owned = rewritten(invoice_pdf, user_password="", owner_password="x", algorithm="AES-256")
    assert texts(opened(owned)[0].pages[0])[0] == "Pinewood Lamps Ltd"
    with pytest.raises(DocumentError) as caught:
        opened(rewritten(invoice_pdf, user_password="x", owner_password="y", algorithm="AES-256"))
    assert caught.value.reason == "encrypted"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><html><body>invoice</body></html>", "not_a_document"),
        (b"PK\x03\x04word/document.xml", "not_a_document"),
        (b"%PDF-1.4\n", "truncated"),
        (b"%PDF-1.7\n%%EOF", "truncated"),
        (b"<?xml version='1.0'?><rss><channel/></rss>", "not_a_document"),
    ],
)
def test_what_is_no_document_says_so(content, reason):
    with pytest.raises(DocumentError) as caught:
        opened(content)
    assert caught.value.reason == reason


def test_too_many_bytes_name_their_cap(invoice_pdf):
    with pytest.raises(DocumentError, match="FETCHWORKER_DOCUMENTS_BYTES") as caught:
        opened(invoice_pdf, bytes=100)
    assert caught.value.context == {"reason": "too_big", "cap": "bytes"}


def test_documents_in_one_file_are_told_apart_by_page_numbers(pdf_of, invoice_rows):
    def page(number, total, name):
        return [*invoice_rows[1:], (40, 60, 18, name), (280, 780, 8, f"Page {number} of {total}")]

    content = pdf_of(page(1, 2, "Pinewood"), page(2, 2, "Pinewood"), page(1, 1, "Oakwood"), page(1, 3, "Elmwood"))
    documents = opened(content)
    assert [[page.number for page in document.pages] for document in documents] == [[1, 2], [3], [4]]
    ids = [line.id for document in documents for page in document.pages for line in page.lines]
    assert len(set(ids)) == len(ids)


def numbered(number, *rows):
    lines = tuple(
        Line(n, number, text, 1.0, (40.0 + 300 * column, 20.0 * n, 340.0 + 300 * column, 20.0 * n + 15))
        for n, row in enumerate(rows)
        for column, text in enumerate(row.split("|"))
    )
    return Page(number, 600, 800, lines, "text")


@pytest.mark.parametrize(
    ("pages", "groups"),
    [
        ([["Invoice no: A-1"], ["Invoice no: A-2"]], [[1], [2]]),
        ([["Invoice no: A-1"], ["Invoice no: A-1"]], [[1, 2]]),
        ([["Rechnungsnummer|2024-17"], ["Rechnungsnummer|2024-18"], ["AGB"]], [[1], [2, 3]]),
        ([["Facture n° 2024-12"], ["Facture n° 2024-13"]], [[1], [2]]),
        ([["Seite 1/2"], ["Seite 2/2"], ["Seite 1/1"]], [[1, 2], [3]]),
        ([["Página 1 de 2"], ["Página 2 de 2"], ["Anexo"]], [[1, 2], [3]]),
        ([["1 / 2"], ["2 / 2"]], [[1, 2]]),
        ([["Page 1"], ["Page 2"], ["Page 1"]], [[1, 2], [3]]),
        ([["words"], ["more words"]], [[1, 2]]),
        ([[f"row {n}" for n in range(9)], [f"ROW {n}" for n in range(9)]], [[1], [2]]),
        ([[f"row {n}" for n in range(9)], [f"row {n}" for n in range(5, 14)]], [[1, 2]]),
        ([["Page 3 of 2"], ["5 of 7 lamps"]], [[1, 2]]),
    ],
)
def test_pages_belong_together_unless_they_say_otherwise(pages, groups):
    made = [numbered(n, *rows) for n, rows in enumerate(pages, 1)]
    assert [[page.number for page in group] for group in together(made)] == groups
