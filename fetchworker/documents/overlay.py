"""A page with its lines, fields and confidences drawn over it: people check by looking."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PIL import Image, ImageDraw, ImageFont

    from fetchworker.documents.model import Box, Document, Field, Reading

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
    from PIL import ImageDraw, ImageFont  # noqa: PLC0415  # of an extra

    draw = ImageDraw.Draw(picture)
    size = max(12, picture.width // 75)
    font = ImageFont.load_default(size)
    for page in document.pages:
        if page.number == number:
            for line in page.lines:
                draw.rectangle(line.box, outline=_LINE)
    for name, found in _fields(reading):
        if found.page == number and found.box is not None:
            _mark(draw, found.box, f"{name} {found.value} {found.confidence:.2f}", found, font)
    return picture


def _fields(reading: Reading) -> Iterator[tuple[str, Field]]:
    yield from reading.fields.items()
    for place, row in enumerate(reading.line_items, 1):
        for name, cell in row.items():
            yield f"{place}.{name}", cell


def _mark(
    draw: ImageDraw.ImageDraw, box: Box, label: str, found: Field, font: ImageFont.FreeTypeFont | ImageFont.ImageFont
) -> None:
    colour = _SURE if found.confidence >= _SURE_FROM else _DOUBTED if found.confidence >= _DOUBTED_FROM else _UNSURE
    draw.rectangle(box, outline=colour, width=3)
    left, top, right, bottom = draw.textbbox((0, 0), label, font=font)
    x, y = max(0.0, min(box[0], draw.im.size[0] - (right - left))), max(0.0, box[1] - bottom - 4)
    draw.rectangle((x, y, x + right - left + 4, y + bottom + 3), fill=colour)
    draw.text((x + 2, y + 1 - min(top, 0)), label, fill="white", font=font)
