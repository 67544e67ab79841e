"""Whether the lines that are cited for a value hold it (pure)."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from fetchworker.documents.rules import currency, dates, labels, money

if TYPE_CHECKING:
    from collections.abc import Sequence

AMOUNTS = frozenset({"subtotal", "tax", "total", "quantity", "unit_price", "amount"})
_DAYS = frozenset({"date", "invoice_date", "due_date"})
_PLAIN = re.compile(r"-?\d{1,15}(?:\.\d{1,6})?\Z")
_PAYMENTS = {"cash": ("paid_cash",), "card": ("paid_card",)}


def backed(name: str, value: str, lines: Sequence[str]) -> bool:
    """Whether a field's value stands in these lines: days and amounts by what they are, texts by their letters.

    Args:
        name: the field's name.
        value: an ISO day, a decimal string, an ISO 4217 code, or text as printed.
        lines: the texts of the lines cited for it.
    """
    if name in _DAYS:
        return any(
            value == day.iso(day_first=order) for text in lines for day in dates.find(text) for order in (True, False)
        )
    if name in AMOUNTS:
        return _amount_backed(value, lines)
    if name == "currency":
        return any(
            value in currency.codes(text) or (value.endswith("D") and "$" in currency.codes(text)) for text in lines
        )
    if name == "payment" and value in _PAYMENTS:
        return any(labels.find(text, *_PAYMENTS[value]) for text in lines)
    wanted = labels.compact(value)
    return bool(wanted) and wanted in labels.compact(" ".join(lines))


def bare(value: str) -> str:
    """A value as it is compared with another engine's: letters and digits, amounts as numbers."""
    return str(Decimal(value).normalize()) if _PLAIN.match(value) else labels.compact(value)


def _amount_backed(value: str, lines: Sequence[str]) -> bool:
    """One of the lines' numbers, whatever its sign, or a sum of the last ones of all lines (several rates)."""
    if not _PLAIN.match(value):
        return False
    try:
        wanted = abs(Decimal(value))
    except InvalidOperation:
        return False
    found = [[abs(amount.value) for mark in ".," for amount in money.amounts(text, mark)] for text in lines]
    if any(wanted in row for row in found):
        return True
    last = [row[-1] for row in found if row]
    return len(last) > 1 and sum(last) == wanted
