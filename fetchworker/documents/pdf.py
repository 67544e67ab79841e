"""PDF files through PDFium, which is not thread-safe: only workers come here, and one page at a time."""

from __future__ import annotations

import ctypes
import math
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fetchworker.documents.textlayer import ASCENT, DESCENT, Letter, is_real, words_of
from fetchworker.errors import DocumentError

if TYPE_CHECKING:
    from PIL import Image

    from fetchworker.documents.caps import Caps
    from fetchworker.documents.model import Box, Word

#: dots per inch of a page's raster; PDF counts 72 units to the inch
_DPI, _UNITS = 200, 72
_PASSWORD = 4
#: letters, lines and attachments beyond these are not looked at
_LETTERS, _LINES, _ATTACHMENTS, _ATTACHMENT_BYTES = 30_000, 2_000, 20, 8 << 20
#: units: a ruled line is thinner and longer than these
_THIN, _SHORT = 3.0, 15.0
#: a picture that covers this much of a page is the page
_COVERS = 0.5
#: with this many shapes and hardly a word, the words may be drawn
_DRAWN = 60
_INVISIBLE = 3


@dataclass(frozen=True, slots=True)
class PdfPage:
    """One page: its words when they are real text, else None; sizes and boxes in pixels of its raster."""

    width: float
    height: float
    words: list[Word] | None
    rulings: tuple[Box, ...]


class Pdf:
    """An open PDF.

    Args:
        content: the file.
        caps: how large a raster may be.

    Raises:
        DocumentError: it is damaged, or only opens with a password.
    """

    def __init__(self, content: bytes, caps: Caps) -> None:
        import pypdfium2 as pdfium  # noqa: PLC0415  # of an extra

        self._caps = caps
        self._flat: set[int] = set()
        self._error: type[Exception] = pdfium.PdfiumError
        try:
            self._pdf = pdfium.PdfDocument(content)
        except pdfium.PdfiumError as exc:
            if exc.err_code == _PASSWORD:
                raise DocumentError("encrypted", "the PDF opens with a password only") from exc
            raise DocumentError("truncated", "the PDF is damaged or cut") from exc
        self.total = len(self._pdf)
        if not self.total:
            raise DocumentError("truncated", "the PDF has no pages: it is damaged or cut")

    def close(self) -> None:
        """Give the file back."""
        self._pdf.close()

    def attachments(self) -> list[bytes]:
        """The XML files inside."""
        found = []
        for place in range(min(self._pdf.count_attachments(), _ATTACHMENTS)):
            attachment = self._pdf.get_attachment(place)
            if not attachment.get_name().lower().endswith(".xml"):
                continue
            try:
                data = bytes(attachment.get_data())
            except self._error:
                continue
            found.append(data[:_ATTACHMENT_BYTES])
        return found

    def page(self, number: int) -> PdfPage:
        """What can be known of a page without looking at it.

        Args:
            number: from 1.

        Raises:
            DocumentError: the page is damaged.
        """
        with closing(self._load(number)) as page:
            frame = _Frame.of(page, self._caps.edge)
            words = words_of(frame.letters())
            real = words if _shows(page, words) and not frame.is_picture() else None
            return PdfPage(frame.width, frame.height, real, frame.rulings() if real is not None else ())

    def picture(self, number: int) -> Image.Image:
        """The page as an RGB picture whose text is upright where the file says how it runs.

        Raises:
            DocumentError: the page is damaged.
        """
        with closing(self._load(number)) as page:
            frame = _Frame.of(page, self._caps.edge)
            turn = (frame.turn - page.get_rotation()) % 360
            bitmap = page.render(scale=frame.scale, rotation=turn, may_draw_forms=False)
            picture: Image.Image = bitmap.to_pil().convert("RGB")
            return picture

    def _load(self, number: int) -> Any:
        import pypdfium2.raw as raw  # noqa: PLC0415, PLR0402  # of an extra

        try:
            page = self._pdf[number - 1]
            if number not in self._flat and raw.FPDFPage_GetAnnotCount(page.raw):
                # what was filled into a form, or stamped onto the page, becomes a part of it
                raw.FPDFPage_Flatten(page.raw, raw.FLAT_NORMALDISPLAY)
                page.close()
                page = self._pdf[number - 1]
            self._flat.add(number)
        except self._error as exc:
            raise DocumentError("truncated", f"page {number} of the PDF is damaged") from exc
        return page


def _shows(page: Any, words: list[Word]) -> bool:
    """Whether the words are what the page shows; a page that shows nothing else needs no other look."""
    return is_real(words) or not _pictures_or_drawings(page, words)


def _pictures_or_drawings(page: Any, words: list[Word]) -> bool:
    import pypdfium2.raw as raw  # noqa: PLC0415, PLR0402  # of an extra

    kinds = Counter(shape.type for shape in page.get_objects(max_depth=3))
    shapes = kinds[raw.FPDF_PAGEOBJ_PATH] + kinds[raw.FPDF_PAGEOBJ_SHADING]
    return bool(words and len(words) > 3) or kinds[raw.FPDF_PAGEOBJ_IMAGE] > 0 or shapes > _DRAWN  # noqa: PLR2004


class _Frame:
    """From a page's own coordinates to pixels of its raster, turned so that most of its letters are upright."""

    def __init__(self, page: Any, text: Any, box: Box, turn: int, edge: int) -> None:
        self._page, self._text, self._box = page, text, box
        self.turn = turn
        width, height = box[2] - box[0], box[3] - box[1]
        self.scale = min(_DPI / _UNITS, edge / max(width, height, 1.0))
        across, down = (width, height) if turn % 180 == 0 else (height, width)
        self.width, self.height = max(across * self.scale, 1.0), max(down * self.scale, 1.0)

    @classmethod
    def of(cls, page: Any, edge: int) -> _Frame:
        text = page.get_textpage()
        return cls(page, text, tuple(page.get_bbox()), _turn_of(text, page.get_rotation()), edge)

    def to_pixels(self, box: Box) -> Box:
        """A box of the page (left, bottom, right, top) as pixels (left, top, right, bottom)."""
        left, bottom, right, top = self._box
        x0, y0, x1, y1 = box
        match self.turn:
            case 90:
                turned = (y0 - bottom, x0 - left, y1 - bottom, x1 - left)
            case 180:
                turned = (right - x1, y0 - bottom, right - x0, y1 - bottom)
            case 270:
                turned = (top - y1, right - x1, top - y0, right - x0)
            case _:
                turned = (x0 - left, top - y1, x1 - left, top - y0)
        a, b, c, d = turned
        return a * self.scale, b * self.scale, c * self.scale, d * self.scale

    def letters(self) -> list[Letter]:
        import pypdfium2.raw as raw  # noqa: PLC0415, PLR0402  # of an extra

        found = []
        for place in range(min(self._text.count_chars(), _LETTERS)):
            code = raw.FPDFText_GetUnicode(self._text.raw, place)
            letter = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"  # noqa: PLR2004
            # a hyphen that ends a row is told as U+0002
            letter = "-" if letter == "\x02" else letter
            found.append(Letter(letter, self.to_pixels(self._letter_box(place))))
        return found

    def _letter_box(self, place: int) -> Box:
        """As wide as the letter's step, as high as its size: some fonts' own boxes are several rows high."""
        import pypdfium2.raw as raw  # noqa: PLC0415, PLR0402  # of an extra

        x0, y0, x1, y1 = self._text.get_charbox(place, loose=True)
        x, y, matrix = ctypes.c_double(), ctypes.c_double(), raw.FS_MATRIX()
        handle = self._text.raw
        if not raw.FPDFText_GetCharOrigin(handle, place, x, y) or not raw.FPDFText_GetMatrix(handle, place, matrix):
            return x0, y0, x1, y1
        size = raw.FPDFText_GetFontSize(handle, place) * math.hypot(matrix.c, matrix.d)
        up, down = ASCENT * size, DESCENT * size
        match self.turn:
            case 90:
                return x.value - up, y0, x.value + down, y1
            case 180:
                return x0, y.value - up, x1, y.value + down
            case 270:
                return x.value - down, y0, x.value + up, y1
            case _:
                return x0, y.value - down, x1, y.value + up

    def is_picture(self) -> bool:
        """Whether a picture covers the page, so that its letters, if any, were put there by another reader."""
        import pypdfium2.raw as raw  # noqa: PLC0415, PLR0402  # of an extra

        left, bottom, right, top = self._box
        area = max((right - left) * (top - bottom), 1.0)
        pictures = (shape.get_bounds() for shape in self._page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], max_depth=3))
        if not any((x1 - x0) * (y1 - y0) >= _COVERS * area for x0, y0, x1, y1 in pictures):
            return False
        texts = self._page.get_objects([raw.FPDF_PAGEOBJ_TEXT], max_depth=3)
        modes = Counter(raw.FPDFTextObj_GetTextRenderMode(text.raw) == _INVISIBLE for text in texts)
        return modes[True] >= modes[False]

    def rulings(self) -> tuple[Box, ...]:
        """The ruled lines, and the edges of ruled boxes."""
        import pypdfium2.raw as raw  # noqa: PLC0415, PLR0402  # of an extra

        found: list[Box] = []
        for shape in self._page.get_objects([raw.FPDF_PAGEOBJ_PATH], max_depth=3):
            found += (self.to_pixels(box) for box in _edges(shape.get_bounds()))
            if len(found) > _LINES:
                break
        return tuple(found[:_LINES])


def _edges(box: Box) -> list[Box]:
    x0, y0, x1, y1 = box
    if max(x1 - x0, y1 - y0) < _SHORT:
        return []
    if min(x1 - x0, y1 - y0) <= _THIN:
        return [box]
    return [(x0, y0, x1, y0), (x0, y1, x1, y1), (x0, y0, x0, y1), (x1, y0, x1, y1)]


def _turn_of(text: Any, rotation: int) -> int:
    """By how much the page must be turned clockwise for most of its letters to be upright; as told when it has none."""
    import pypdfium2.raw as raw  # noqa: PLC0415, PLR0402  # of an extra

    count = min(text.count_chars(), 500)
    if not count:
        return rotation
    angles = (raw.FPDFText_GetCharAngle(text.raw, place) for place in range(count))
    # PDFium tells clockwise angles, against ISO 32000's sense
    quarters = Counter(-round(math.degrees(angle) / 90) % 4 for angle in angles if angle >= 0)
    return quarters.most_common(1)[0][0] * 90 if quarters else rotation
