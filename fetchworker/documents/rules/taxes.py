"""The tax in a receipt's total: one row's, those of several rates together, or a summary's (pure)."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from fetchworker.documents.rules import money
from fetchworker.documents.rules.value import Value

if TYPE_CHECKING:
    from fetchworker.documents.rules.layout import Cell
    from fetchworker.documents.rules.totals import Told

_RATE = re.compile(r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,3})?)\s?%")
_CENTS = Decimal("0.05")
#: what a tax was rounded by, with what other rounding of it adds
_ROUNDED = Decimal("0.006")
#: a total is rounded to whole units at most
_WHOLE = Decimal(1)


def tax(told: list[Told], summary: list[list[tuple[Decimal, Cell]]], total: Value | None) -> Value | None:
    """The tax in a receipt's total.

    Args:
        told: the labelled amounts.
        summary: the rows of a summary by tax codes, with their amounts.
        total: what had to be paid.
    """
    return _several(told, total) or _one(told, total) or _summed(summary, total)


def _several(told: list[Told], total: Value | None) -> Value | None:
    """The taxes of several rates together, if with what they are of they make the total."""
    if total is None:
        return None
    whole = Decimal(total.text)
    rated = {
        (rate, entry.words): entry
        for entry in told
        if entry.role == "tax" and entry.money and not entry.summary and 0 < entry.value < whole
        for rate in _rates(entry)[:1]
    }
    sum_ = sum((entry.value for entry in rated.values()), Decimal(0))
    if len(rated) < 2 or not (_is_added(told, sum_, whole) or _is_of(rated, whole)):
        return None
    rows = list(rated.values())
    cells = tuple(dict.fromkeys(cell for entry in rows for cell in entry.cells))
    return Value(money.printed(sum_), cells, 0.95, 1.01, seen=rows[-1].cell.text)


def _is_added(told: list[Told], sum_: Decimal, whole: Decimal) -> bool:
    """Whether a subtotal, a tax and what rounding is told make the total."""
    parts = [Decimal(0), *(entry.value for entry in told if entry.role == "rounding" and abs(entry.value) < _WHOLE)]
    return any(
        entry.role == "subtotal" and abs(entry.value + sum_ + sign * part - whole) < _CENTS
        for entry in told
        for part in parts
        for sign in (1, -1)
    )


def _is_of(rated: dict[tuple[Decimal, str], Told], whole: Decimal) -> bool:
    """Whether the amounts that have these taxes in them, by their rates, are all of the total."""
    if any(rate <= 0 for rate, _ in rated):
        return False
    shares = [(entry.value, (100 + rate) / rate) for (rate, _), entry in rated.items()]
    near = sum((_ROUNDED * times for _, times in shares), Decimal(0))
    return abs(sum((value * times for value, times in shares), Decimal(0)) - whole) <= near


def _rates(entry: Told) -> list[Decimal]:
    return [Decimal(rate.replace(",", ".")) for rate in _RATE.findall(f"{entry.label.text} {entry.cell.text}")]


def _one(told: list[Told], total: Value | None) -> Value | None:
    """The tax in the total: its label's amount, or the summary's last column."""
    limit = Decimal(total.text) if total else Decimal(10**9)
    plain = [
        entry
        for entry in told
        if entry.role == "tax" and entry.money and not entry.summary and 0 <= entry.value < limit
    ]
    summary = [entry for entry in told if entry.summary and len(entry.beside) > 1 and 0 <= entry.value < limit]
    if plain:
        last = plain[-1]
        agreed = any(entry.value == last.value for entry in summary) or _is_taxed(told, last, total)
        return Value(money.printed(last.value), last.cells, 0.95 if agreed else 0.85, seen=last.cell.text)
    if summary:
        entry = summary[-1]
        return Value(money.printed(entry.value), entry.cells, 0.8, seen=entry.cell.text)
    return None


def _is_taxed(told: list[Told], tax: Told, total: Value | None) -> bool:
    """Whether a tax fits the total: with the subtotal it makes it, or its printed rate does."""
    if total is None:
        return False
    whole = Decimal(total.text)
    if any(entry.role == "subtotal" and abs(entry.value + tax.value - whole) <= _CENTS for entry in told):
        return True
    return any(abs(whole * rate / (100 + rate) - tax.value) <= _CENTS for rate in _rates(tax))


def _summed(rows: list[list[tuple[Decimal, Cell]]], total: Value | None) -> Value | None:
    """The taxes of a summary's rows together, if with their nets they are the total."""
    if not rows or total is None:
        return None
    pairs = [_pair(row) for row in rows]
    tax = sum((tax[0] for _, tax in pairs), Decimal(0))
    net = sum((net[0] for net, _ in pairs), Decimal(0))
    proved = abs(net + tax - Decimal(total.text)) <= _CENTS
    if tax < 0 or tax > net or (len(rows) > 1 and not proved):
        return None
    cells = tuple(tax[1] for _, tax in pairs)
    return Value(money.printed(tax), cells, 0.95 if proved else 0.6, seen=cells[-1].text)


def _pair(row: list[tuple[Decimal, Cell]]) -> tuple[tuple[Decimal, Cell], tuple[Decimal, Cell]]:
    """Net and tax of a row: the first two, but behind a rate without its sign, or behind both together."""
    net, tax, *others = row
    if not others or abs(net[0] + tax[0] - others[0][0]) < _CENTS:
        return net, tax
    rated = abs(net[0] * tax[0] / 100 - others[0][0]) < _CENTS
    together = abs(tax[0] + others[0][0] - net[0]) < _CENTS
    if together and tax[0] < others[0][0]:
        return others[0], tax
    return (tax, others[0]) if rated or together else (net, tax)
