"""Invoices and credit notes: parties, number, days, sums (pure)."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING

from fetchworker.documents.rules import country, dates, due, labels, money, near, numbers, parties, sums
from fetchworker.documents.rules.currency import currency
from fetchworker.documents.rules.value import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from fetchworker.documents.rules.layout import Cell, Sheet

#: the end of a sentence or of a part of it, not that of an amount or a day
_SENTENCE = re.compile(r"(?<!\d)[.;]\s|[.;]\s+(?=[^\W\d_])|,\s+(?=[^\W\d_])")
#: a payment is due between these many days after an invoice
_TERM = range(151)


def read(sheet: Sheet) -> dict[str, Value | None]:
    """The fields of an invoice."""
    mark = money.decimal_mark(cell.text for cell in sheet.cells)
    unit = currency(sheet)
    other = parties.buyer(sheet)
    issued, due = _days(sheet)
    issuer = parties.seller(sheet, other)
    found = {
        "seller": issuer,
        "buyer": other or parties.addressed(sheet, issuer),
        "invoice_number": numbers.number(sheet),
        "invoice_date": issued,
        "due_date": due,
        "currency": unit,
        **sums.sums(sheet, mark),
    }
    return _credited(sheet, found)


def is_credit(sheet: Sheet) -> bool:
    """Whether a document calls itself a credit note: in a title, not in a sentence."""
    for cell in sheet.cells[:60]:
        match = labels.begins(cell.text, "credit")
        if match and len(labels.compact(cell.text)) - len(labels.compact(match[0])) <= 14:  # its number
            return True
    return False


def _credited(sheet: Sheet, found: dict[str, Value | None]) -> dict[str, Value | None]:
    """A credit note's sums are negative, also where they are printed without a sign."""
    total = found["total"]
    if total is None or total.text.startswith("-") or not is_credit(sheet):
        return found
    for name in ("subtotal", "tax", "total"):
        value = found[name]
        if value is not None and not value.text.startswith("-") and value.text.strip("0.") != "":
            found[name] = replace(value, text="-" + value.text)
    return found


def _days(sheet: Sheet) -> tuple[Value | None, Value | None]:
    """The day of the invoice and the day it is due."""
    every = [day for cell in sheet.cells for day in dates.find(cell.text)]
    first, proved = dates.day_first(every)
    issued = _best(sheet, ("invoice_date",)) or _behind_number(sheet) or _best(sheet, ("date",), other=True)
    paid = _best(sheet, ("due_date",), read=_due_day) or _wrapped(sheet) or due.day(sheet)
    if not proved:
        first, proved = country.order(sheet, every)
        first, proved = _by_term(issued, paid, (first, proved))
    if issued is None:
        issued = _any(sheet, paid)
    return _day(issued, day_first=first, proved=proved), _day(paid, day_first=first, proved=proved)


_Day = tuple[float, dates.Found, tuple["Cell", ...]]


def _first_day(text: str) -> dates.Found | None:
    days = dates.find(text)
    return days[0] if days and days[0].start < 24 else None  # the label's, not some later one


def _due_day(text: str) -> dates.Found | None:
    """The day behind a label, not that until which less is to be paid (``bis 3.4. 2 % Skonto, netto bis 1.5.``)."""
    if labels.find(text, "early_payment") is None:
        return _first_day(text)
    for sentence in _SENTENCE.split(text)[1:]:
        label = labels.find(sentence, "due_date")
        if label and labels.find(sentence, "early_payment") is None:
            return _first_day(sentence[label.end() :])
    return None


def _best(
    sheet: Sheet,
    names: tuple[str, ...],
    *,
    other: bool = False,
    read: Callable[[str], dates.Found | None] = _first_day,
) -> _Day | None:
    found = []
    for chance, day, cells, _ in near.beside(sheet, names, read):
        if read is _due_day and _is_early(cells[0].text, day):
            later = _due_day(cells[0].text)
            if later is None:
                continue
            day, cells = later, cells[:1]  # noqa: PLW2901  # the next part of the sentence tells it
        if other and labels.find(cells[0].text, "other_date", "due_date"):
            continue
        found.append((chance - (0.05 if other else 0.0), day, cells))
    return max(found, key=lambda entry: entry[0]) if found else None


def _wrapped(sheet: Sheet) -> _Day | None:
    """The day a payment is due where a sentence breaks between them: ``… zahlbar bis`` over ``13.04.2026``."""
    for row, below in pairwise(sheet.rows):
        days = dates.find(below.cells[0].text)
        if days and days[0].start == 0 and labels.ends(row.cells[-1].text, "due_date"):
            return 0.9, days[0], (row.cells[-1], below.cells[0])
    return None


def _is_early(text: str, day: dates.Found) -> bool:
    """Whether a text speaks of less to pay before it comes to its day: ``2% Skonto bei Zahlung bis …``."""
    early, days = labels.find(text, "early_payment"), dates.find(text)
    before = bool(early and days and early.start() < days[0].start)
    return (
        before
        and (days[0].first, days[0].second) == (day.first, day.second)
        and labels.begins(text, "due_date") is None
    )


def _behind_number(sheet: Sheet) -> _Day | None:
    """The day in a title: ``Facture n° 17 du 2 juillet 2015``."""
    for cell in sheet.cells[:80]:
        if labels.begins(cell.text, "invoice_number", "title_invoice", "credit"):
            days = dates.find(cell.text)
            if days:
                return 0.95, days[0], (cell,)
    return None


def _any(sheet: Sheet, due: _Day | None) -> _Day | None:
    """The first day of a page where no label was read."""
    for cell in sheet.cells:
        for day in dates.find(cell.text):
            if due is None or day != due[1]:
                return 0.5, day, (cell,)
    return None


def _by_term(issued: _Day | None, due: _Day | None, order: tuple[bool, bool]) -> tuple[bool, bool]:
    """The order in which a payment is due after the invoice, and not years after it, where only one has that."""
    if issued is None or due is None:
        return order
    fitting = []
    for first in (True, False):
        one, other = issued[1].iso(day_first=first), due[1].iso(day_first=first)
        if one and other and (date.fromisoformat(other) - date.fromisoformat(one)).days in _TERM:
            fitting.append(first)
    return (fitting[0], True) if len(fitting) == 1 else order


def _day(found: _Day | None, *, day_first: bool, proved: bool) -> Value | None:
    if found is None:
        return None
    iso = found[1].iso(day_first=day_first)
    match = found[0] * (dates.UNPROVED if found[1].ambiguous and not proved else 1.0)
    return Value(iso, found[2], match, seen=found[2][-1].text) if iso else None
