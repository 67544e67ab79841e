"""Whatever lines there are: nothing breaks, and what is told stands in the lines that are cited for it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fetchworker.documents import backing
from fetchworker.documents.model import Document, Line, Page, Word
from fetchworker.documents.rules import read
from fetchworker.documents.rules.repair import address, name

WORDS = [
    "TOTAL", "SUBTOTAL", "GST", "VAT 20%", "CASH", "CHANGE", "Invoice No", "INV-17", "Date", "03/04/2018", "Bill To",
    "SUNNY HILL SDN BHD", "Café SARL", "12.50", "1.234,56 €", "RM 7.00", "Qty", "Amount", "Description", "Shelf", "2",
    "GST SUMMARY", "NO. 3, JALAN DAMAI, 43000 KAJANG", "Credit Note", "due date", "-", "...", "(", "0.00", "₹ 9", "TEL",
]  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from(WORDS), st.text(max_size=24), st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
)


@st.composite
def documents(draw):
    lines = []
    pages = []
    for number in range(1, draw(st.integers(1, 2)) + 1):
        here = []
        for _ in range(draw(st.integers(0, 18))):
            x, y = draw(st.integers(0, 900)), draw(st.integers(0, 30)) * 25
            text = draw(TEXTS)
            box = (float(x), float(y), float(x + 10 * len(text)), float(y + draw(st.integers(0, 30))))
            words = tuple(Word(word, box) for word in text.split()) if draw(st.booleans()) else ()
            here.append(Line(len(lines), number, text, draw(st.floats(0, 1)), box, words))
            lines.append(here[-1])
        pages.append(Page(number, 1000.0, 800.0, tuple(here), "ocr"))
    return Document("x", tuple(pages), len(pages), len(pages), "test", "image/png")


@settings(max_examples=80)
@given(documents(), st.sampled_from(["auto", "invoice", "receipt"]))
def test_any_lines_give_a_reading_whose_values_stand_in_its_lines(document, kind):
    reading = read(document, kind)
    texts = {line.id: line for page in document.pages for line in page.lines}
    rows = [("", reading.fields), *(("item", row) for row in reading.line_items)]
    for _, fields in rows:
        for key, field in fields.items():
            assert 0 <= field.confidence <= 0.99
            if field.value is None:
                continue
            assert field.lines
            assert texts[field.lines[0]].page == field.page
            if key in {"company", "address", "description", "tax_rate"}:  # may be put right
                continue
            assert backing.backed(key, field.value, [texts[line].text for line in field.lines]), (key, field)


@given(st.text(max_size=50), st.booleans())
def test_repairs_take_any_text(text, marked):
    assert isinstance(name(text, marked=marked), str)
    assert isinstance(address(text, marked=marked), str)
