"""Whether a document is an invoice, a receipt or something else (pure)."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from fetchworker.documents.rules import columns, invoices, labels, money, totals

if TYPE_CHECKING:
    from fetchworker.documents.model import Kind
    from fetchworker.documents.rules.layout import Sheet

#: a receipt's roll is narrow: its text is this much taller than wide
_ROLL = 1.9
#: what a document without any of is rarely a bill, and so many letters around a label make a sentence
_SUMS = frozenset({"total", "rounded", "subtotal", "tax", "paid_cash", "paid_card"})
_SENTENCE = 14


def kind(sheet: Sheet) -> tuple[Kind, float]:
    """The kind that a document's words and shape speak for, and the chance of that."""
    texts = [cell.text for cell in sheet.cells]
    receipt = _distinct(texts, "receipt_sign") + 0.8 * _distinct(texts, "paid_cash", "paid_card", "change", "rounding")
    invoice = 1.2 * _distinct(texts, "invoice_sign", "due_date") + 0.7 * _distinct(texts, "buyer", "invoice_date")
    invoice += 0.8 * any(labels.begins(text, "title_invoice", "credit") for text in texts[:30])
    invoice += 1.0 * invoices.is_credit(sheet)
    receipt += 1.5 * _is_roll(sheet)
    invoice += 2.0 * all(cell.score == 1 for cell in sheet.cells)  # made by a program, not by a till
    receipt += 1.0 * any(labels.begins(text, "title_receipt") for text in texts[:12])
    invoice += 1.0 * any(columns.opened(row) for row in sheet.rows)
    mark = money.decimal_mark(texts)
    amounts = sum(amount.money for text in texts for amount in money.amounts(text, mark))
    summed = any(entry.money and entry.role in _SUMS and not _sentence(entry) for entry in totals.told(sheet, mark))
    if amounts == 0 or max(receipt, invoice) < (1 if summed else 4):
        return "other", 0.9 if not amounts else 0.7
    margin = receipt - invoice
    sure = round(1 / (1 + exp(-abs(margin))), 3)
    return ("receipt" if margin > 0 else "invoice"), sure


def _sentence(entry: totals.Told) -> bool:
    letters = sum(char.isalpha() for char in entry.label.text)
    return letters - len(entry.words) > _SENTENCE


def _distinct(texts: list[str], *names: str) -> int:
    """How many different labels of these names a document has."""
    return len({labels.compact(match[0]) for text in texts if (match := labels.find(text, *names))})


def _is_roll(sheet: Sheet) -> bool:
    """Whether the text is narrow, or the page is."""
    if not sheet.rows or len({row.page for row in sheet.rows}) > 1:
        return False
    boxes = [row.box for row in sheet.rows]
    width = max(box[2] for box in boxes) - min(box[0] for box in boxes)
    height = max(box[3] for box in boxes) - min(box[1] for box in boxes)
    page = sheet.sizes.get(sheet.rows[0].page, (1.0, 1.0))
    letters = width / max(1.0, sheet.height)
    return height > _ROLL * width or letters < 26 or page[1] > _ROLL * page[0]  # characters' heights
