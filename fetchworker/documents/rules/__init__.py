"""Engine A: what a document says, by layout rules over its lines (pure; no model, no network).

Lines become cells and rows (:mod:`.layout`), labels in eight languages (``labels.yaml``) tell what stands beside them,
arithmetic chooses among amounts. Each field has a confidence (:mod:`.confidence`), its place, and the ids of its lines.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from fetchworker.documents.model import Reading
from fetchworker.documents.rules import confidence, goods, invoices, items, kind, layout, money, receipts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.documents.model import Document, Field, Wanted
    from fetchworker.documents.rules.value import Value

ENGINE = "rules"
RECEIPT_FIELDS = ("company", "date", "address", "total", "tax", "currency", "payment")
INVOICE_FIELDS = (
    "seller",
    "buyer",
    "invoice_number",
    "invoice_date",
    "due_date",
    "currency",
    "subtotal",
    "tax",
    "total",
)

__all__ = ["ENGINE", "INVOICE_FIELDS", "RECEIPT_FIELDS", "read"]


def read(document: Document, kind: Wanted = "auto") -> Reading:
    """The fields of a document.

    Args:
        document: its pages with their lines.
        kind: ``invoice`` or ``receipt`` where it is known; ``auto`` decides by the document itself.

    Returns:
        A reading with all fields of its kind (``value`` is None where nothing is printed); of ``other`` documents the
        kind alone.
    """
    sheet = layout.sheet(document)
    found, sure = _kind(sheet) if kind == "auto" else (kind, 1.0)
    engine = f"{document.engine}+{ENGINE}" if document.engine else ENGINE
    if not sheet.rows:  # of nothing nothing is sure
        return Reading("other" if kind == "auto" else kind, 0.0 if kind == "auto" else sure, engine=engine)
    if found == "other":
        return Reading(found, sure, engine=engine)
    if found == "receipt":
        told = receipts.read(sheet)
        mark = money.decimal_mark(cell.text for cell in sheet.cells)
        rows = goods.read(sheet, mark, told)
        return Reading(found, sure, _fields(told), [_fields(row) for row in rows], engine)
    fields = _fields(invoices.read(sheet))
    return Reading(found, sure, fields, _items(sheet, fields), engine)


_kind = kind.kind


def _items(sheet: layout.Sheet, fields: dict[str, Field]) -> list[dict[str, Field]]:
    mark = money.decimal_mark(cell.text for cell in sheet.cells)
    sums = {Decimal(value) for name in ("subtotal", "total") if (value := fields[name].value)}
    rows = items.read(sheet, mark) or items.of_sum(sheet, mark, sums)
    return [_fields(row) for row in rows]


def _fields(values: Mapping[str, Value | None]) -> dict[str, Field]:
    return {name: confidence.field(value) for name, value in values.items()}
