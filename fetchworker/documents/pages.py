"""From the bytes of a file to the documents in it: e-invoice XML, text layer, OCR, in this order of preference."""

from __future__ import annotations

import hashlib
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fetchworker.documents.einvoice import xml_kind
from fetchworker.documents.engine import engine_name
from fetchworker.documents.model import Document, Page
from fetchworker.documents.pdf import Pdf
from fetchworker.documents.pictures import Pictures
from fetchworker.documents.sniff import PDF, XML, media_type_of
from fetchworker.documents.splitting import together
from fetchworker.documents.textlayer import lines_of_words
from fetchworker.documents.upright import lines_of, skew_of
from fetchworker.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from PIL import Image

    from fetchworker.documents.caps import Caps
    from fetchworker.documents.engine import Engine

_TEXT_ENGINE = "text-layer"


@dataclass(slots=True)
class Opener:
    """Opens files.

    Args:
        caps: what is read at most.
        engine: makes or gives the OCR engine; not called for a page that needs none.
        progress: told the number of pages read and the number to read.
        keep: told each page's picture as it was read, for an overlay; None when there is to be none.
    """

    caps: Caps
    engine: Callable[[], Engine]
    progress: Callable[[int, int], None] = lambda _done, _total: None
    keep: Callable[[int, Image.Image], None] | None = None
    _next_id: int = field(default=0, init=False)

    def open(self, content: bytes) -> list[Document]:
        """The documents of a file.

        Raises:
            DocumentError: it cannot be read.
        """
        self._next_id = 0
        self.caps.check_bytes(len(content))
        media_type = media_type_of(content)
        digest = hashlib.sha256(content).hexdigest()
        if media_type == XML:
            return [_of_xml(digest, content, media_type)]
        if media_type == PDF:
            with closing(Pdf(content, self.caps)) as pdf:
                for xml in pdf.attachments():
                    if xml_kind(xml):
                        return [_of_xml(digest, xml, media_type, pdf.total)]
                pages, total = self._pdf_pages(pdf), pdf.total
        else:
            pictures = Pictures(content, self.caps)
            pages, total = self._pictures(pictures, min(pictures.total, self.caps.pages)), pictures.total
        return [_document(digest, group, total, len(pages), media_type) for group in together(pages)]

    def _pdf_pages(self, pdf: Pdf) -> list[Page]:
        count = min(pdf.total, self.caps.pages)
        pages = []
        for number in range(1, count + 1):
            found = pdf.page(number)
            if found.words is None:
                pages.append(self._seen(pdf.picture(number), number))
            else:
                lines = lines_of_words(found.words, page=number, first_id=self._next_id)
                self._next_id += len(lines)
                pages.append(Page(number, found.width, found.height, lines, "text", found.rulings))
                if self.keep:
                    self.keep(number, pdf.picture(number))
            self.progress(number, count)
        return pages

    def _pictures(self, pictures: Iterable[Image.Image], count: int) -> list[Page]:
        pages = []
        for number, picture in enumerate(pictures, 1):
            pages.append(self._seen(picture, number))
            self.progress(number, count)
        return pages

    def _seen(self, picture: Image.Image, number: int) -> Page:
        """A page by OCR."""
        seen, turned = self.engine().look(picture)
        if turned:
            picture = picture.rotate(turned, expand=True)
        width, height = picture.size
        skew = skew_of(seen)
        lines = lines_of(seen, skew, (width / 2, height / 2), page=number, first_id=self._next_id)
        self._next_id += len(lines)
        if self.keep:
            self.keep(number, picture.rotate(skew, fillcolor="white"))
        return Page(number, width, height, lines, "ocr")


def _of_xml(digest: str, xml: bytes, media_type: str, total: int = 1) -> Document:
    kind = xml_kind(xml)
    if kind is None:
        raise DocumentError("not_a_document", "the XML is no whole invoice in CII or UBL")
    return Document(digest, (), total, 0, f"xml-{kind}", media_type, xml, kind)


def _document(digest: str, pages: list[Page], total: int, read: int, media_type: str) -> Document:
    by_ocr = any(page.source == "ocr" for page in pages)
    engine = engine_name() if by_ocr else _TEXT_ENGINE
    return Document(digest, tuple(pages), total, read, engine, media_type)
