"""What the bytes of a document are; neither its name nor what a server says of it is asked (pure)."""

from __future__ import annotations

import re

from fetchworker.errors import DocumentError
from fetchworker.media import kind_of

PDF, XML = "application/pdf", "application/xml"
#: a PDF's mark may stand after some other bytes (ISO 32000-1, annex H.3.4.1)
_PDF_WITHIN = 1024
_XML = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*+<\0?(?:\?\0?x\0?m\0?l|[\w:]*(?:Invoice|CreditNote)\b)|\0<\0\?"
)
_PICTURES = frozenset({"jpeg", "png", "gif", "webp", "bmp", "tiff", "avif", "heic", "heif", "jp2"})


def media_type_of(content: bytes) -> str:
    """The media type of a document that can be read.

    Raises:
        DocumentError: it is no PDF, picture or e-invoice.
    """
    if not content:
        raise DocumentError("empty", "the file is empty")
    if b"%PDF-" in content[:_PDF_WITHIN]:
        return PDF
    kind = kind_of(content)
    if kind and kind.content_type.removeprefix("image/") in _PICTURES:
        return kind.content_type
    if _XML.match(content):
        return XML
    raise DocumentError("not_a_document", "neither a PDF, a picture nor an electronic invoice")
