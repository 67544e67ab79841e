"""Documents from texts: a row a line, its pieces parted by ``|`` and spread over the page."""

from __future__ import annotations

from typing import Any

import pytest

from fetchworker.documents.model import Document, Line, Page

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
