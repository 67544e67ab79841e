"""PDF files of texts and ruled lines: one built-in face, no library (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.documents.model import Box

    Text = tuple[str, float, float, float]

#: points for a pixel at 150 dots per inch
_POINT = 72 / 150


def pdf(pages: Sequence[Sequence[Text]], rulings: Sequence[Sequence[Box]], size: tuple[float, float]) -> bytes:
    """Pages of texts (text, left, top, height in pixels at 150 dots per inch) as a PDF file."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    kids = []
    for texts, rules in zip(pages, rulings, strict=True):
        content = _content(texts, rules, size[1])
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        box = f"[0 0 {size[0] * _POINT:.2f} {size[1] * _POINT:.2f}]"
        resources = "<< /Font << /F1 3 0 R >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox {box} /Resources {resources} "
            f"/Contents {len(objects)} 0 R >>".encode()
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    return _file(objects)


def _content(texts: Sequence[Text], rules: Sequence[Box], height: float) -> bytes:
    parts = [
        b"BT /F1 %.2f Tf 1 0 0 1 %.2f %.2f Tm (%s) Tj ET"
        % (size * _POINT * 1.02, left * _POINT, (height - top - 0.8 * size) * _POINT, _escaped(text))
        for text, left, top, size in texts
    ]
    parts += [
        b"%.2f %.2f %.2f %.2f re f"
        % (box[0] * _POINT, (height - box[3]) * _POINT, (box[2] - box[0]) * _POINT, (box[3] - box[1]) * _POINT)
        for box in rules
    ]
    return b"\n".join(parts)


def _escaped(text: str) -> bytes:
    data = text.encode("cp1252", "replace")
    return data.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _file(objects: list[bytes]) -> bytes:
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
