"""Documents made on the spot: PDFs with a text layer, pictures of receipts, and lines as if they had been read.

In ``document``, a row of text is a line of the page; its pieces, parted by ``|``, are spread over the page.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from fetchworker.documents import ReaderSettings
from fetchworker.documents.caps import Caps
from fetchworker.documents.model import Document, Line, Page

if TYPE_CHECKING:
    from pathlib import Path

#: (x, y from the top, size, text) in units of a page of 600 × 800
INVOICE = (
    (40, 60, 18, "Pinewood Lamps Ltd"),
    (40, 80, 10, "4 Harbour Road"),
    (40, 94, 10, "Leeds LS1 4AB"),
    (420, 60, 18, "INVOICE"),
    (40, 140, 10, "Bill to"),
    (40, 154, 10, "Meadow Books"),
    (380, 140, 10, "Invoice number"),
    (480, 140, 10, "PL-20417"),
    (380, 154, 10, "Invoice date"),
    (480, 154, 10, "14 March 2025"),
    (40, 220, 10, "Description"),
    (300, 220, 10, "Qty"),
    (380, 220, 10, "Unit price"),
    (500, 220, 10, "Amount"),
    (40, 240, 10, "Brass desk lamp"),
    (300, 240, 10, "2"),
    (380, 240, 10, "45.00"),
    (500, 240, 10, "90.00"),
    (380, 300, 10, "Subtotal"),
    (500, 300, 10, "90.00"),
    (380, 316, 10, "VAT 20%"),
    (500, 316, 10, "18.00"),
    (380, 332, 10, "Total GBP"),
    (500, 332, 10, "108.00"),
)
RECEIPT = (
    "BRIGHT CORNER SHOP", "12 Mill Lane", "York YO1 7HH", "", "Date: 03/05/2024 14:20", "", "Milk 2.50", "Bread 3.20",
    "Apples 1.80", "", "TOTAL GBP 7.50", "CASH 10.00", "CHANGE 2.50", "Thank you for your visit",
)  # fmt: skip


def _shown(shown: tuple[float, float, float, str], angle: int, mode: int) -> str:
    x, y, size, text = shown
    cos, sin = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}[angle]
    # the page turned by the angle about its lower left corner, and moved back onto the sheet
    at = {0: (x, 800 - y), 90: (y, x), 180: (600 - x, y), 270: (800 - y, 600 - x)}[angle]
    escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT {mode} Tr /F1 {size} Tf {cos} {sin} {-sin} {cos} {at[0]} {at[1]} Tm ({escaped}) Tj ET"


def _pdf(
    *pages: Any, angle: int = 0, rotate: int = 0, size: tuple[int, int] | None = None, mode: int = 0, draw: str = ""
) -> bytes:
    """A PDF whose pages are lists like ``INVOICE``; letters run at ``angle``, ``/Rotate`` is ``rotate``."""
    width, height = size or ((600, 800) if angle % 180 == 0 else (800, 600))
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for place, page in enumerate(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Rotate {rotate} "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * place} 0 R >>"
        )
        content = draw + "\n" + "\n".join(_shown(shown, angle, mode) for shown in page)
        objects.append(f"<< /Length {len(content.encode('cp1252'))} >>\nstream\n{content}\nendstream")
    return _file(objects)


def _file(objects: list[str]) -> bytes:
    made, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(made))
        made += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(made)}\n%%EOF\n"
    return made + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()


def _receipt(lines: Any = RECEIPT, *, turn: int = 0, format: str = "PNG", scale: int = 28, **options: Any) -> bytes:  # noqa: A002
    """A picture of a receipt."""
    page = Image.new("RGB", (scale * 20, scale * (2 + 2 * len(lines))), "white")
    draw, font = ImageDraw.Draw(page), ImageFont.load_default(scale)
    for place, line in enumerate(lines):
        draw.text((scale, scale + place * scale * 1.8), line, fill="black", font=font)
    made = io.BytesIO()
    page.rotate(turn, expand=True, fillcolor="white").save(made, format, **options)
    return made.getvalue()


def _form(rows: Any, filled: str) -> bytes:
    """A page with a form field that somebody filled in."""
    content = "\n".join(_shown(row, 0, 0) for row in rows)
    shown = f"/Tx BMC BT /F1 10 Tf 0 0 1 rg 2 4 Td ({filled}) Tj ET EMC"
    resources = "/Resources << /Font << /F1 3 0 R >> >>"
    return _file([
        "<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R] >> >>",
        "<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] {resources} /Contents 5 0 R /Annots [6 0 R] >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        "<< /Type /Annot /Subtype /Widget /FT /Tx /T (n) /F 4 /Rect [300 300 400 320] /AP << /N 7 0 R >> >>",
        f"<< /Subtype /Form /BBox [0 0 100 20] {resources} /Length {len(shown)} >>\nstream\n{shown}\nendstream",
    ])  # fmt: skip


@pytest.fixture(scope="session")
def form_of() -> Any:
    return _form


@pytest.fixture(scope="session")
def pdf_of() -> Any:
    return _pdf


@pytest.fixture(scope="session")
def invoice_pdf() -> bytes:
    return _pdf(INVOICE)


@pytest.fixture(scope="session")
def invoice_rows() -> Any:
    return INVOICE


@pytest.fixture(scope="session")
def receipt_of() -> Any:
    return _receipt


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder in which the models' folders are made once."""
    return tmp_path_factory.mktemp("documents-state")


@pytest.fixture
def settings_of(models: Path) -> Any:
    """Settings of a reader with one worker that may take its time, but for what is named."""

    def make(*, caps: Any = None, **changes: Any) -> ReaderSettings:
        return ReaderSettings(
            **{"state_dir": models, "workers": 1, "caps": Caps(**{"seconds": 1800.0} | (caps or {})), **changes}
        )

    return make


_ROW, _SIZE = 30.0, 20.0


def made(text: str, *, width: float = 600.0, score: float = 0.995, size: float = 12.0) -> Document:
    lines: list[Line] = []
    rows = text.strip("\n").split("\n")
    for number, row in enumerate(rows):
        pieces = [piece.strip() for piece in row.split("|")]
        y = 40 + number * _ROW
        for place, piece in enumerate(pieces):
            if piece:
                across = len(piece) * size * 0.8
                last = place == len(pieces) - 1 and place > 0
                x = width - 20 - across if last else 20 + place * (width - 40) / len(pieces)
                lines.append(Line(len(lines), 1, piece, score, (x, y, x + across, y + _SIZE)))
    page = Page(1, width, 80 + len(rows) * _ROW, tuple(lines), "ocr")
    return Document("0" * 64, (page,), 1, 1, "test", "image/png")


@pytest.fixture
def document() -> Any:
    return made
