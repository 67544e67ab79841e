"""Subtotal, tax and total of an invoice: of all labelled amounts the three that add up (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING

from fetchworker.documents.rules import labels, money, totals
from fetchworker.documents.rules.value import Value

if TYPE_CHECKING:
    from fetchworker.documents.rules.layout import Cell, Sheet
    from fetchworker.documents.rules.totals import Told

#: what rounding may leave between a sum and its parts
_NEAR = Decimal("0.02")
_PROVED = 1.01
#: what was paid before, and makes the invoice's total no less; among a receipt's goods it counts
_PREPAID = frozenset({"deposit", "deposits"})
#: what is left of the confidence in sums that contradict one another
_AGAINST = 0.7
_GENERIC = frozenset({"total", "totale", "totaal", "summe", "gesamt", "jumlah", "betrag", "brutto", "totalsales"})


@dataclass(frozen=True, slots=True)
class _Part:
    value: Decimal
    cells: tuple[Cell, ...]
    weight: float
    seen: str


def sums(sheet: Sheet, mark: str) -> dict[str, Value | None]:
    """The fields ``subtotal``, ``tax`` and ``total``."""
    told = [entry for entry in totals.told(sheet, mark, between=True) if _is_sum(entry)]
    whole = _totals(told)
    nets = [_part(entry, 1.0) for entry in told if entry.role == "subtotal"]
    taxes = _taxes(told)
    triple = _proved(whole, nets, taxes, _others(told)) or _of_row(sheet, mark, whole)
    if triple is not None:
        return {
            name: _value(part, 0.98, _PROVED) for name, part in zip(("subtotal", "tax", "total"), triple, strict=True)
        }
    total = _before_payments(max(whole, key=lambda part: part.weight, default=None), whole, told)
    net = nets[-1] if nets else None
    tax = taxes[0] if taxes else None
    if total and tax and abs(tax.value) > abs(total.value):
        tax = None
    if total and net and abs(net.value) > abs(total.value) + _NEAR and not tax:
        net = None
    against = total and net and tax and abs(net.value + tax.value - total.value) > _NEAR
    sure = _AGAINST if against else 0.9
    return {
        "subtotal": _value(net, 0.8, _AGAINST if against else 1.0),
        "tax": _value(tax, 0.8, _AGAINST if against else 1.0),
        "total": _value(total, sure, 1.0),
    }


def _is_sum(entry: Told) -> bool:
    """Whether a labelled amount may be one of the three: money, and no number of a register or an account."""
    return (
        (entry.money or (entry.role == "total" and entry.value > 0))
        and entry.role != "count"
        and not (labels.begins(entry.label.text, "contact") and not entry.money)
    )


def _part(entry: Told, weight: float) -> _Part:
    return _Part(entry.value, entry.cells, weight, entry.cell.text)


def _totals(told: list[Told]) -> list[_Part]:
    """The totals with how much their labels and places speak for them."""
    found = []
    for place, entry in enumerate(told):
        if entry.role not in {"total", "rounded"}:
            continue
        weight = 1.0 + (0.0 if entry.words in _GENERIC else 0.8) + 0.5 * place / len(told)
        weight -= 1.0 if not entry.money else 0.0
        weight -= 1.2 if entry.summary else 0.0
        found.append(_part(entry, weight))
    return found


def _taxes(told: list[Told]) -> list[_Part]:
    """The tax: all rates together first, where several rows have one, then each."""
    rows = [entry for entry in told if entry.role == "tax"]
    parts = [_part(entry, 1.0) for entry in rows]
    rated = [entry for entry in rows if re.search(r"\d\s?%|%\s?\d", entry.label.text + entry.cell.text)]
    several = rated if len(rated) > 1 else rows
    if len(several) > 1:
        cells = tuple(dict.fromkeys(cell for entry in several for cell in entry.cells))
        both = _Part(sum((entry.value for entry in several), Decimal(0)), cells, 1.0, several[-1].cell.text)
        parts.insert(0, both)
    return parts


def _before_payments(total: _Part | None, whole: list[_Part], told: list[Told]) -> _Part | None:
    """The total that payments, or a tax that is kept back, make the one that was found."""
    less = {abs(entry.value) for entry in told if entry.role in {"paid", "withheld"} or entry.words in _PREPAID}
    if total is None or not total.value:
        return total
    return next((part for part in whole if part.value - total.value in less), total)


def _others(told: list[Told]) -> list[Decimal]:
    """What may stand between net and total beside tax: nothing, rounding, a discount, carriage, all of them."""
    told = [entry for entry in told if entry.words not in _PREPAID]
    extra = [entry.value for entry in told if entry.role in {"rounding", "discount"}]
    kept = [-abs(entry.value) for entry in told if entry.role == "withheld"]
    charges = [entry.value for entry in told if entry.role == "charge"] + kept
    every = sum((*charges, *extra), Decimal(0))
    less = sum((*charges, *(-abs(value) for value in extra)), Decimal(0))
    return [Decimal(0), *(sign * value for value in extra for sign in (1, -1)), *charges, every, less]


def _proved(
    whole: list[_Part], nets: list[_Part], taxes: list[_Part], others: list[Decimal]
) -> tuple[_Part, _Part, _Part] | None:
    best: tuple[float, tuple[_Part, _Part, _Part]] | None = None
    for total, net, tax in product(whole[:12], nets[:12], taxes[:12]):
        for other in others[:12]:
            if abs(net.value + tax.value + other - total.value) > _NEAR:
                continue
            score = total.weight + (0.5 if not other else 0.0) + (0.3 if tax.value else 0.0) + 0.001 * len(tax.cells)
            if best is None or score > best[0]:
                best = (score, (net, tax, total))
            break
    return best[1] if best else None


def _of_row(sheet: Sheet, mark: str, whole: list[_Part]) -> tuple[_Part, _Part, _Part] | None:
    """A row whose amounts are net, tax and total, as tables of rates and of sums have."""
    known = {part.value for part in whole}
    for row in reversed(sheet.rows):
        run = [(amount.value, cell) for cell in row.cells for amount in money.amounts(cell.text, mark) if amount.money][
            -3:
        ]
        if len(run) < 3 or abs(run[0][0] + run[1][0] - run[2][0]) > _NEAR or run[2][0] not in known:
            continue
        net, tax, total = (_Part(value, (cell,), 1.0, cell.text) for value, cell in run)
        return net, tax, total
    return None


def _value(part: _Part | None, match: float, proof: float) -> Value | None:
    if part is None:
        return None
    return Value(money.printed(part.value), part.cells, match, proof, seen=part.seen)
