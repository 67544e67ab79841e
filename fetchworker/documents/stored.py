"""Read lines as JSON and back, so that what was read once can be looked at again without reading it (pure)."""

from __future__ import annotations

from typing import Any

from fetchworker.documents.model import Document, Line, Page, Word


def to_json(document: Document) -> dict[str, Any]:
    """A document as plain JSON values; the XML of an electronic invoice is left out."""
    return {
        "sha256": document.sha256,
        "pages_total": document.pages_total,
        "pages_read": document.pages_read,
        "engine": document.engine,
        "media_type": document.media_type,
        "pages": [
            {
                "number": page.number,
                "width": page.width,
                "height": page.height,
                "source": page.source,
                "rulings": [list(box) for box in page.rulings],
                "lines": [_line(line) for line in page.lines],
            }
            for page in document.pages
        ],
    }


def from_json(data: Any) -> Document:
    """A document from what :func:`to_json` made of it.

    Raises:
        ValueError: the data are none of a document.
    """
    if isinstance(data, list):  # pages alone
        data = {"pages": data}
    try:
        pages = tuple(_page(page) for page in data["pages"])
        total = data.get("pages_total", len(pages))
        read = data.get("pages_read", len(pages))
        return Document(
            str(data.get("sha256", "")), pages, total, read, data.get("engine", ""), data.get("media_type", "")
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"no stored document: {error!r}") from error


def _line(line: Line) -> dict[str, Any]:
    words = [{"text": word.text, "box": list(word.box)} for word in line.words]
    return {
        "id": line.id,
        "page": line.page,
        "text": line.text,
        "score": line.score,
        "box": list(line.box),
        "words": words,
    }


def _page(data: dict[str, Any]) -> Page:
    lines = tuple(
        Line(
            line["id"],
            line["page"],
            line["text"],
            line["score"],
            _box(line["box"]),
            tuple(Word(word["text"], _box(word["box"])) for word in line.get("words", ())),
        )
        for line in data["lines"]
    )
    rulings = tuple(_box(box) for box in data.get("rulings", ()))
    return Page(data["number"], data["width"], data["height"], lines, data["source"], rulings)


def _box(edges: Any) -> tuple[float, float, float, float]:
    left, top, right, bottom = (float(edge) for edge in edges)
    return left, top, right, bottom
