"""The day a payment is due where no label tells it: sentences, terms, and a lone ``Due`` (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from fetchworker.documents.rules import columns, dates, labels, near

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.documents.rules.layout import Cell, Row, Sheet

Day: TypeAlias = "tuple[float, dates.Found, tuple[Cell, ...]]"

#: signs between a word and the day that it tells of, at most: ``zum``, ``le``
_CLOSE = 4
#: ``30 days net (14 Aug 2026)``
_TERMS = 30


def day(sheet: Sheet) -> Day | None:
    """The day that a request for payment, terms of payment, or a lone ``Due`` tells.

    Returns:
        How well its words fit, the day, and the cells that tell it; None where nothing does.
    """
    rows = [row for row in sheet.rows if columns.opened(row) is None]
    return next((found for read in (_asked, _lone, _terms) for found in read(sheet, rows)), None)


def _asked(sheet: Sheet, rows: list[Row]) -> Iterator[Day]:
    """``Please pay by``, ``Bitte überweisen Sie … bis``, ``Gelieve te betalen tegen``."""
    for number, row in enumerate(rows):
        below = rows[number + 1 : number + 2]
        for place, cell in enumerate(row.cells):
            under = sheet.below(cell, reach=2.0)[:1] if labels.ends(cell.text, "until") else ()
            for beside in ((), row.cells[place + 1 : place + 2], *(other.cells[:1] for other in below), under):
                text = " ".join(part.text for part in (cell, *beside))
                found = _requested(text)
                if found is not None:
                    yield 0.92, found, (cell, *beside)


def _requested(text: str) -> dates.Found | None:
    """The day right behind ``by`` in a text that asked to pay before it, and spoke of no discount."""
    asked = labels.find(text, "pay")
    if asked is None or labels.find(text, "early_payment"):
        return None
    for found in dates.find(text):
        before = text[asked.end() : found.start]
        until = labels.ends(before.rstrip(" :.("), "until")
        if found.start > asked.end() and until:
            return found
    return None


def _lone(sheet: Sheet, rows: list[Row]) -> Iterator[Day]:
    """``Due`` and nothing else, and the day to the right of it or below it."""
    for row in rows:
        for place, cell in enumerate(row.cells):
            if labels.alone(cell.text, "due_alone"):
                for value in (*row.cells[place + 1 : place + 2], *sheet.below(cell, reach=2.0)[:1]):
                    found = _first(value.text)
                    if found is not None:
                        yield 0.92, found, (cell, value)


def _terms(sheet: Sheet, rows: list[Row]) -> Iterator[Day]:
    """``Terms: 30 days (14 Aug 2026)``."""
    del sheet
    for row in rows:
        for place, cell in enumerate(row.cells):
            label = labels.begins(cell.text, "terms")
            if label is None or labels.find(row.text, "early_payment"):
                continue
            beside = row.cells[place + 1 : place + 2] if not labels.compact(cell.text[label.end() :]) else ()
            text = beside[0].text if beside else cell.text[label.end() :]
            days = [] if near.is_label(text) else dates.find(text)
            if len(days) == 1 and days[0].start < _TERMS:
                yield 0.85, days[0], (cell, *beside)


def _first(text: str) -> dates.Found | None:
    days = dates.find(text)
    return days[0] if days and days[0].start < _CLOSE else None
