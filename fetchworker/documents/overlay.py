"""A page with its lines, fields and confidences drawn over it: people check by looking."""

from __future__ import annotations

import io
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

    from fetchworker.documents.model import Document, Field, Reading

#: colours: a line of text, and a field from unsure to sure
_LINE, _UNSURE, _DOUBTED, _SURE = "#9db7d8", "#d62828", "#e08e0b", "#1b8a3a"
_SURE_FROM, _DOUBTED_FROM = 0.9, 0.6
#: pixels between pages
_GAP = 12


def drawn(document: Document, reading: Reading, pictures: dict[int, Image.Image]) -> bytes:
    """The pages of a document under each other, as a PNG.

    Args:
        document: its lines.
        reading: its fields.
        pictures: each page as it was read; they are drawn on.
    """
    from PIL import Image  # noqa: PLC0415  # of an extra

    pages = [_page(document, reading, number, pictures[number]) for number in _numbers(document, pictures)]
    width, height = max(page.width for page in pages), sum(page.height + _GAP for page in pages) - _GAP
    whole = Image.new("RGB", (width, height), "#444444")
    top = 0
    for page in pages:
        whole.paste(page, (0, top))
        top += page.height + _GAP
    written = io.BytesIO()
    whole.save(written, "PNG")
    return written.getvalue()


def _numbers(document: Document, pictures: dict[int, Image.Image]) -> list[int]:
    return [page.number for page in document.pages if page.number in pictures]


def _page(document: Document, reading: Reading, number: int, picture: Image.Image) -> Image.Image:
    from PIL import ImageDraw  # noqa: PLC0415  # of an extra

    draw = ImageDraw.Draw(picture)
    size = max(11, picture.width // 90)
    for page in document.pages:
        if page.number == number:
            for line in page.lines:
                draw.rectangle(line.box, outline=_LINE)
    for place, row in enumerate(reading.line_items, 1):
        for cell in row.values():  # their values are seen: a label would hide the row above
            _mark(draw, cell, number, f"{place} {cell.confidence:.2f}", size * 2 // 3)
    for name, found in reading.fields.items():
        _mark(draw, found, number, f"{name} {found.value} {found.confidence:.2f}", size)
    return picture


def _mark(draw: ImageDraw.ImageDraw, found: Field, number: int, label: str, size: int) -> None:
    from PIL import ImageFont  # noqa: PLC0415  # of an extra

    if found.page != number or found.box is None:
        return
    colour = _SURE if found.confidence >= _SURE_FROM else _DOUBTED if found.confidence >= _DOUBTED_FROM else _UNSURE
    draw.rectangle(found.box, outline=colour, width=3)
    font = ImageFont.load_default(size)
    # the font that Pillow brings has no accents
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode()
    left, top, right, bottom = draw.textbbox((0, 0), plain, font=font)
    x = max(0.0, min(found.box[0], draw.im.size[0] - (right - left) - 4))
    y = max(0.0, found.box[1] - (bottom - top) - 5)
    draw.rectangle((x, y, x + right - left + 4, y + bottom - top + 4), fill=colour)
    draw.text((x + 2 - left, y + 2 - top), plain, fill="white", font=font)
