"""How much of a document is read at most."""

from __future__ import annotations

from dataclasses import dataclass

from fetchworker.errors import DocumentError

_MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of one file: bytes, pages, pixels of an edge after scaling, megapixels decoded, seconds, rows of items."""

    bytes: int = 20 * _MEBIBYTE
    pages: int = 20
    edge: int = 4000
    megapixels: int = 80
    seconds: float = 120
    rows: int = 2000

    def check_bytes(self, size: int) -> None:
        """See that a file is neither empty nor too big.

        Raises:
            DocumentError: it is.
        """
        if not size:
            raise DocumentError("empty", "the file is empty")
        if size > self.bytes:
            raise too_big("bytes", f"{size} bytes are more than the {self.bytes} that are read")

    def check_pixels(self, width: int, height: int) -> None:
        """See that a picture may be decoded, before it is.

        Raises:
            DocumentError: it is too big.
        """
        if width * height > self.megapixels * 1_000_000:
            raise too_big("megapixels", f"{width} × {height} pixels are more than {self.megapixels} megapixels")


def too_big(cap: str, message: str) -> DocumentError:
    """The error that names a cap and the setting behind it."""
    setting = f"FETCHWORKER_DOCUMENTS_{cap.upper()}"
    return DocumentError("too_big", f"{message} ({setting})", cap=cap)
