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
#: paper of a till is narrower, in pixels of a text layer (200 to the inch): 115 mm
_NARROW = 905
#: what a document without any of is rarely a bill, and so many letters around a label make a sentence
_SUMS = frozenset({"total", "rounded", "subtotal", "tax", "paid_cash", "paid_card"})
_SENTENCE = 14
#: labels that begin as titles do: Invoice to, Order no
_REFERENCES = ("buyer", "invoice_number", "invoice_date", "other_number", "other_date", "date", "due_date")
#: a title is among so many first cells, and the number behind it has at most so many characters
_TITLES, _NUMBER = 40, 12


def kind(sheet: Sheet) -> tuple[Kind, float]:
    """The kind that a document's words and shape speak for, and the chance of that."""
    texts = [cell.text for cell in sheet.cells]
    receipt = _distinct(texts, "receipt_sign") + 0.8 * _distinct(texts, "paid_cash", "paid_card", "change", "rounding")
    invoice = 1.2 * _distinct(texts, "invoice_sign", "due_date") + 0.7 * _distinct(texts, "buyer", "invoice_date")
    invoice += 0.8 * any(labels.begins(text, "title_invoice", "credit") for text in texts[:30])
    invoice += 1.0 * invoices.is_credit(sheet)
    receipt += 1.5 * _is_roll(sheet)
    if all(cell.score == 1 for cell in sheet.cells):  # made by a program, and its pages have true sizes
        narrow = max((size[0] for size in sheet.sizes.values()), default=_NARROW) < _NARROW
        receipt, invoice = receipt + 2.0 * narrow, invoice + 2.0 * (not narrow)
    receipt += 1.0 * any(labels.begins(text, "title_receipt") for text in texts[:12])
    invoice += 1.0 * any(columns.opened(row) for row in sheet.rows)
    if _is_other(sheet):
        return "other", 0.9
    mark = money.decimal_mark(texts)
    amounts = sum(amount.money for text in texts for amount in money.amounts(text, mark))
    summed = any(entry.money and entry.role in _SUMS and not _sentence(entry) for entry in totals.told(sheet, mark))
    if amounts == 0 or max(receipt, invoice) < (1 if summed else 4):
        return "other", 0.9 if not amounts else 0.7
    margin = receipt - invoice
    sure = round(1 / (1 + exp(-abs(margin))), 3)
    return ("receipt" if margin > 0 else "invoice"), sure


def _is_other(sheet: Sheet) -> bool:
    """Whether a document calls itself a quotation, an order, a delivery note, a statement, a reminder.

    Of several titles the larger one counts, of two as large the first. An invoice that refers to an order is an
    invoice by its own title.
    """
    own: list[tuple[float, int]] = []
    others: list[tuple[float, int]] = []
    for place, cell in enumerate(sheet.cells[:_TITLES]):
        size = -round(cell.height / sheet.height, 1)
        if _titled(cell.text, "title_other"):
            others.append((size, place))
        elif _titled(cell.text, "title_invoice", "credit", "title_elsewhere", "title_receipt"):
            own.append((size, place))
    return bool(others) and (not own or min(others) < min(own))


def _titled(text: str, *names: str) -> bool:
    """Whether a text is a title, alone or with a short number behind it."""
    title = labels.begins(text, *names)
    if title is None or text[title.end() :].lstrip().startswith(":"):
        return False
    other = labels.begins(text, *_REFERENCES)
    if other and len(other[0]) > len(title[0]):
        return False
    rest = labels.compact(text[title.end() :])
    return not rest or (len(rest) <= _NUMBER and any(char.isdigit() for char in rest))


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
