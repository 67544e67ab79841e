"""Invoices and receipts: bytes in, fields out, with the chance that each is right and where it stands.

Nothing here imports what the extra ``documents`` brings: worker processes do, when there is something to read.
"""

from fetchworker.documents.model import Document, Field, Line, Page, Reading, Wanted, Word
from fetchworker.documents.reader import DocumentReader, Examined
from fetchworker.documents.settings import ReaderSettings, check_installed

__all__ = [
    "Document",
    "DocumentReader",
    "Examined",
    "Field",
    "Line",
    "Page",
    "ReaderSettings",
    "Reading",
    "Wanted",
    "Word",
    "check_installed",
]
