"""Which amounts of a document are its total, its tax, what was paid: labels on rows, and their roles (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from fetchworker.documents.rules import columns, labels, money
from fetchworker.documents.rules.layout import overlap

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from fetchworker.documents.rules.layout import Cell, Row, Sheet

#: what a label may say of the amounts behind it
ROLES = (
    "total",
    "rounded",
    "subtotal",
    "tax",
    "rounding",
    "discount",
    "paid_cash",
    "paid_card",
    "paid_other",
    "paid",
    "change",
    "count",
    "summary",
)
#: what stands between net and total: carriage, a tax that is kept back
BETWEEN = ("charge", "withheld")
#: an amount above or below a label belongs to it if their rows overlap by this share of the lower one's height
_TOUCH = 0.15
_MONEY = re.compile(r"(?<![A-Za-z])(?:EUR|USD|GBP|CHF|RM|Rs|Rp|US|[ACRS])(?![A-Za-z])|[Xx*]{2,}")
_BANDS = frozenset({"total", "rounded", "subtotal", "tax"})
#: a summary by tax codes has at most so many rows
_SUMMARY = 8


@dataclass(frozen=True, slots=True)
class Told:
    """An amount, the cell with it, and the label that tells its role (its cell, and its text without marks)."""

    role: str
    value: Decimal
    cell: Cell
    label: Cell
    words: str
    row: int
    #: whether the row belongs to a summary by tax codes
    summary: bool = False
    #: all amounts of the row behind the label, from left to right
    beside: tuple[Decimal, ...] = ()
    #: whether it is written as money is
    money: bool = True

    @property
    def cells(self) -> tuple[Cell, ...]:
        return (self.cell,) if self.cell.line == self.label.line else (self.label, self.cell)


@lru_cache(maxsize=8192)
def role(text: str, *, between: bool = False) -> tuple[str, int, str] | None:
    """The role that the longest label of a text gives, where the label ends, and the label without marks.

    Args:
        text: of a cell or a row.
        between: whether the roles count that only stand among an invoice's sums, and are goods elsewhere.
    """
    best = role(text) if between else None
    for name in BETWEEN if between else ROLES:
        match = labels.longest(text, name)
        if match is None:
            continue
        words = labels.compact(match[0])
        if best is None or len(words) > len(best[2]):
            best = (name, match.end(), words)
    return best or _paid_alone(text)


def _paid_alone(text: str) -> tuple[str, int, str] | None:
    """How it was paid, by a word (``PIN``, ``EC``, ``NETS``) that elsewhere means something else."""
    for name in ("paid_card", "paid_other"):
        match = labels.begins(text, f"{name}_alone")
        if match and not any(char.isalpha() for char in _MONEY.sub("", text[match.end() :])):
            return name, match.end(), labels.compact(match[0])
    return None


def told(sheet: Sheet, mark: str, *, between: bool = False) -> list[Told]:
    """The labelled amounts of a document in the order of its rows; behind a label the last amount counts."""
    found: list[Told] = []
    for number, row, summary in _rows(sheet, mark):
        below = sheet.rows[number + 1] if number + 1 < len(sheet.rows) else None
        band = _band(row, below, number, mark) if below is not None else []
        found += band or _told_of_row(row, number, mark, summary=summary, between=between)
    return found


def _band(row: Row, below: Row, number: int, mark: str) -> list[Told]:
    """Sums whose labels stand in one row and their amounts in the row below it, each under its own."""
    if row.page != below.page or any(amount.money for amount in _amounts_of(row, mark)):
        return []
    named = [(cell, role(cell.text)) for cell in columns.spread(row, *ROLES).cells]
    if len({entry[0] for _, entry in named if entry} & _BANDS) < 2:
        return []
    found = []
    for cell, entry in named:
        under = [other for other in below.cells if overlap(cell.box, other.box) > 0]
        amounts = [amount for amount in money.amounts(under[0].text, mark) if amount.money] if len(under) == 1 else []
        if len(amounts) != 1:
            return []
        if entry is not None:
            found.append(Told(entry[0], amounts[0].value, under[0], cell, entry[2], number + 1))
    return found


def summaries(sheet: Sheet, mark: str) -> list[list[tuple[Decimal, Cell]]]:
    """The rows of a summary by tax codes, each with its amounts: net, tax, and sometimes both together."""
    rows = []
    for _, row, summary in _rows(sheet, mark):
        named = role(row.text)
        if summary and not (named and named[0] in {"total", "paid_cash", "change"}):
            pairs = [(amount, cell) for cell in row.cells for amount in money.amounts(cell.text, mark)]
            rows.append([(amount.value, cell) for amount, cell in pairs if amount.money])
    return [row for row in rows if len(row) > 1]


def _rows(sheet: Sheet, mark: str) -> Iterator[tuple[int, Row, bool]]:
    """The rows with their numbers, and whether each is part of a summary by tax codes."""
    until, page = -1, 0
    for number, row in enumerate(sheet.rows):
        if row.page != page:
            page, until = row.page, -1
        if _opens_summary(row, mark):
            until = number + _SUMMARY
        elif until >= number and number > until - _SUMMARY + 1 and not _amounts_of(row, mark):
            until = -1
        yield number, row, number <= until


def _opens_summary(row: Row, mark: str) -> bool:
    named = role(row.text)
    opens = (named is not None and named[0] == "summary") or _is_summary_head(row.text)
    return opens and not any(amount.money for amount in _amounts_of(row, mark))


@lru_cache(maxsize=8192)
def _is_summary_head(text: str) -> bool:
    """Whether a row has the heads of a summary's columns and nothing else: ``VAT Net Tax``, ``MwSt Netto Steuer``."""
    found = list(labels.pattern("summary_column").finditer(labels.fold(text)))
    known = sum(len(labels.compact(match[0])) for match in found)
    return len(found) > 2 and known == len(labels.compact(text)) and labels.find(text, "tax") is not None


def _amounts_of(row: Row, mark: str) -> list[money.Amount]:
    return [amount for cell in row.cells for amount in money.amounts(cell.text, mark)]


def _told_of_row(row: Row, number: int, mark: str, *, summary: bool, between: bool) -> Iterator[Told]:
    """The last amount behind each label of a row."""
    label: Cell | None = None
    name, words = "", ""
    run: list[tuple[money.Amount, Cell]] = []
    runs = []
    for cell in row.cells:
        named = role(cell.text, between=between)
        start = 0
        if named is not None:
            if label is not None:
                runs.append((name, words, label, run))
            name, start, words = named
            label, run = cell, []
        if label is not None:
            run += [(amount, cell) for amount in money.amounts(cell.text, mark) if amount.start >= start]
            if named is not None and not run:  # 100.00 CASH
                run += [(amount, cell) for amount in money.amounts(cell.text, mark) if amount.money]
    if label is not None:
        runs.append((name, words, label, run))
    for name, words, label, run in runs:
        if run:
            preferred = [pair for pair in run if pair[0].money] or run
            amount, cell = preferred[-1]
            beside = tuple(pair[0].value for pair in preferred)
            yield Told(name, amount.value, cell, label, words, number, summary, beside, amount.money)


def loose(sheet: Sheet, mark: str, wanted: str) -> list[Told]:
    """Amounts whose row is a little above or below that of a label without one: photographs are not straight."""
    found = []
    for number, row in enumerate(sheet.rows):
        named = role(row.text)
        if named is None or named[0] != wanted or any(amount.money for amount in _amounts_of(row, mark)):
            continue
        for other in (number + 1, number - 1):
            near = sheet.rows[other] if 0 <= other < len(sheet.rows) else None
            if near is None or near.page != row.page or role(near.text):
                continue
            for cell in near.cells:
                amounts = [amount for amount in money.amounts(cell.text, mark) if amount.money]
                if amounts and _touch(row, cell):
                    found.append(Told(wanted, amounts[-1].value, cell, row.cells[-1], named[2], number))
    return found


def _touch(row: Row, cell: Cell) -> bool:
    label = row.cells[-1]
    shared = min(label.box[3], cell.box[3]) - max(label.box[1], cell.box[1])
    return cell.box[0] > label.box[0] and shared > _TOUCH * min(label.height, cell.height)
