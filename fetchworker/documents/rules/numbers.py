"""The number of an invoice: beside its label, in its title, or near the title with no more than ``No.`` (pure)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fetchworker.documents.rules import columns, dates, labels, money, near
from fetchworker.documents.rules.value import Value

if TYPE_CHECKING:
    from fetchworker.documents.rules.layout import Sheet

_NUMBER = re.compile(r"[A-Za-z0-9][\w/\-.]*")
_AFTER = re.compile(
    r"^(?:number|n[uú]mero|nummer|nombor|num|nr|no|n[°º.]|№|#)[\s.:#°º]*",
    re.IGNORECASE,
)
#: a number that only ``No.`` names stands so many rows from the title at most
_BESIDE_TITLE = 4


def number(sheet: Sheet) -> Value | None:
    """The number of an invoice or a credit note."""
    found = list(near.beside(sheet, ("invoice_number",), number_of))
    if found:
        chance, number, cells, _ = max(found, key=lambda entry: entry[0])
        return Value(number, cells, chance, seen=cells[-1].text)
    return _titled(sheet) or _plainly(sheet) or _near_title(sheet)


def _near_title(sheet: Sheet) -> Value | None:
    """A number behind ``No.`` in a cell of its own: beside or under the title, or with a colon over the goods."""
    rows = sheet.rows[:40]
    titles = [row for row in rows if any(labels.begins(cell.text, "title_invoice", "credit") for cell in row.cells)]
    for place, row in enumerate(rows):
        if columns.opened(row):
            return None
        titled = any(other in titles for other in rows[max(0, place - _BESIDE_TITLE) : place + 1])
        for cell in row.cells:
            found = _numbered(cell.text)
            if found and (titled or ":" in cell.text):
                return Value(found, (cell,), 0.9 if titled else 0.8, seen=cell.text)
    return None


def _numbered(text: str) -> str | None:
    """The number of a text that is ``No. X`` and nothing else."""
    label = labels.begins(text, "number_alone") or re.match(r"№", text)
    token = number_of(text[label.end() :].strip(" .:")) if label else None
    return token if label and token and labels.compact(token) == labels.compact(text[label.end() :]) else None


def _is_titles(rest: str, number: str) -> bool:
    """Whether what stands behind a title is a number and little else, or ``No.``, a number, and a day or nothing."""
    after = _AFTER.match(rest)
    behind = rest[rest.find(number, after.end() if after else 0) + len(number) :]
    days = dates.find(behind)
    if after and (not labels.compact(behind) or (days and len(labels.compact(behind[: days[0].start])) <= 5)):
        return True
    return len(rest.split()) <= 2 and sum(char.isdigit() for char in number) > 1


def _plainly(sheet: Sheet) -> Value | None:
    """The number beside ``No.`` or beside the title's word (``Rechnung | 17``) at the head of a page."""
    for row in sheet.rows[:30]:
        if columns.opened(row):
            return None
        for place, cell in enumerate(row.cells):
            if not labels.alone(cell.text, "number_alone", "title_invoice", "credit"):
                continue
            for value in (*row.cells[place + 1 : place + 2], *sheet.below(cell, reach=2.0)[:1]):
                number = number_of(value.text)
                money_ = any(amount.money for amount in money.amounts(value.text))
                if number and number == value.text.strip() and not money_:
                    return Value(number, (cell, value), 0.8, seen=value.text)
    return None


def number_of(text: str) -> str | None:
    """The first token of a text that can be an invoice's number."""
    text = _AFTER.sub("", text.strip())
    match = _NUMBER.match(text)
    if match is None:
        return None
    days = dates.find(text)
    if days and days[0].start == 0:
        return None
    token = match[0].rstrip(".-/")
    if any(char.isdigit() for char in token):
        return token
    following = re.match(r"[A-Z]{1,5}[ \-/]{1,3}(?=\d)[\w/\-.]+", text)  # RE 2024-17
    return following[0].rstrip(".-/") if following else None


def _titled(sheet: Sheet) -> Value | None:
    """A number behind, under or beside the title: ``Invoice INV/2023/8``, ``# 17``, a column ``Invoice``."""
    for row in sheet.rows[:40]:
        for cell in row.cells:
            title = labels.begins(cell.text, "title_invoice", "credit")
            if title is None:
                continue
            rest = cell.text[title.end() :].strip(" :")
            number = number_of(rest) if rest else None
            if number and _is_titles(rest, number):
                return Value(number, (cell,), 0.85, seen=cell.text)
            columns = any(labels.begins(other.text, "invoice_date", "due_date", "date") for other in row.cells)
            below = sheet.below(cell, reach=3.0)
            if columns and not rest and below and number_of(below[0].text):
                return Value(number_of(below[0].text) or "", (cell, below[0]), 0.85, seen=below[0].text)
    for cell in sheet.cells[:40]:
        hash_ = re.match(r"#\s*(\S*\d\S*)$", cell.text)
        if hash_:
            return Value(hash_[1], (cell,), 0.8, seen=cell.text)
    return None
