"""The goods of a receipt: the rows above its sums whose amounts make one of them (pure).

A till prints a name and an amount in a row, or the name above the numbers or below them. Rows are told only where their
amounts add up: what does not is a misread amount or no item, and a list with a hole is worth less than none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations
from typing import TYPE_CHECKING

from fetchworker.documents.rules import columns, dates, labels, money, totals
from fetchworker.documents.rules.value import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.documents.rules.layout import Cell, Row, Sheet
    from fetchworker.documents.rules.money import Amount

Item = dict[str, Value]

_LETTERS = re.compile(r"[^\W\d_]{2,}")
#: words that name no goods: currencies, codes of taxes, units
_NO_NAMES = frozenset({
    "rm", "usd", "eur", "gbp", "sgd", "sr", "sro", "srl", "zr", "zrl", "zro", "tx", "txn", "ea", "kg", "gm", "ml", "pc",
    "pcs", "pce", "pces", "unit", "units", "no", "nos", "set", "sets", "bag", "bags", "box", "boxs", "boxes", "ctn",
    "ctns", "pkt", "pkts", "pack", "btl", "botol", "bottle", "tin", "peti", "keping", "biji", "qty",
})  # fmt: skip
#: behind an amount: the code of its tax
_CODE = re.compile(r"\s*(?:[A-Z*]{1,3}|\([A-Z]{1,3}\))?\s*\Z")
#: before a name: a number of the row, a code of its tax, a bar code
_BEFORE = re.compile(r"^(?:\d{1,3}[.)]\s+|[A-Z]{2}\s?[:.]\s*|\(?\d{5,14}\)?[\s:\-]+)+")
_BEHIND = re.compile(r"(?:\s+(?:RM|SR|ZRL?|\$|€|£|x|@|\*))+\s*\Z")
#: what stands between name and amount: 2 x 3.50, 2 PCS @ RM 3.50
_COUNTED = re.compile(
    r"\s*(?:[x×X@*]\s*)?\d[\d.,]*\s*(?:(?:pcs?|unit|nos?|ea|kg)\b\.?)?\s*(?:[x×X@*].*)?\Z", re.IGNORECASE
)
_SUMS = frozenset({"total", "rounded", "subtotal"})
#: rows that are neither goods nor their end
_AMONG = frozenset({"discount"})
_CENT, _ROUNDED = Decimal("0.01"), Decimal("0.05")
#: goods of a receipt at most, and text rows that may stand around the numbers of one
_MOST, _AROUND = 200, 2


@dataclass(frozen=True, slots=True)
class _Line:
    """A row with an amount at its end; ``price`` is the row of its own that says how often which price makes it."""

    number: int
    row: Row
    amount: Amount
    cell: Cell
    value: Decimal
    discount: bool
    price: _Line | None = None


def read(sheet: Sheet, mark: str, fields: dict[str, Value | None]) -> list[Item]:
    """The goods of a receipt, none where their amounts do not add up.

    Args:
        sheet: its rows.
        mark: its decimal mark.
        fields: what it says else.
    """
    lines, end = _lines(sheet, mark)
    wanted = _wanted(sheet, mark, fields)
    goods = _adding_up(_without_prices(lines), wanted) or _adding_up(lines, wanted)
    if not goods or any(line.row.page != goods[0].row.page for line in goods):
        return []
    names = _names(sheet, goods, end)
    if names is None:
        return []
    return [_item(line, name, mark) for line, name in zip(goods, names, strict=True) if line.value > 0]


def _lines(sheet: Sheet, mark: str) -> tuple[list[_Line], int]:
    """The rows that end with an amount, up to the first sum, and the number of that sum's row."""
    found: list[_Line] = []
    for number, row in enumerate(sheet.rows):
        named = totals.role(row.text)
        last = _last(row, mark)
        if named is not None and named[0] not in _AMONG and _is_sum(row, named, mark):
            if found:
                return found, number
            continue
        if last is not None and not any(dates.find(cell.text) for cell in row.cells):
            amount, cell = last
            discount = amount.value < 0 or (named is not None and named[0] in _AMONG)
            value = -abs(amount.value) if discount else amount.value
            found.append(_Line(number, row, amount, cell, value, discount))
    return [], len(sheet.rows)


def _is_sum(row: Row, named: tuple[str, int, str], mark: str) -> bool:
    """Whether a row's label is all that it says beside numbers."""
    letters = re.sub(r"[^a-z]", "", labels.compact(row.text))
    return len(letters) - len(named[2]) < 12 and any(money.amounts(cell.text, mark) for cell in row.cells)


def _last(row: Row, mark: str) -> tuple[Amount, Cell] | None:
    """The amount that a row ends with, but for a code of its tax."""
    for cell in reversed(row.cells):
        amounts = [amount for amount in money.amounts(cell.text, mark) if amount.money]
        if amounts:
            return (amounts[-1], cell) if _CODE.match(cell.text[amounts[-1].end :]) else None
        if not _CODE.match(cell.text):
            return None
    return None


def _wanted(sheet: Sheet, mark: str, fields: dict[str, Value | None]) -> set[Decimal]:
    """The sums that goods may make: those that are printed, and the total without tax."""
    found = {entry.value for entry in totals.told(sheet, mark) if entry.role in _SUMS and entry.money}
    total, tax = fields.get("total"), fields.get("tax")
    if total is not None:
        found.add(Decimal(total.text))
        if tax is not None:
            found.add(Decimal(total.text) - Decimal(tax.text))
    return {value for value in found if value > 0}


def _adding_up(lines: list[_Line], wanted: set[Decimal]) -> list[_Line]:
    """The last rows, as many as possible, whose amounts make one of the sums."""
    lines = lines[-_MOST:]
    for near in (_CENT, _ROUNDED):
        for start in range(len(lines)):
            value = sum((line.value for line in lines[start:]), Decimal(0))
            if any(abs(value - one) <= near for one in wanted):
                return lines[start:]
    return []


def _without_prices(lines: list[_Line]) -> list[_Line]:
    """The lines without those that tell quantity and price of the one before or behind them: 2 x 2.80, then 5.60."""
    kept: list[_Line] = []
    place = 0
    while place < len(lines):
        line, following = lines[place], lines[place + 1] if place + 1 < len(lines) else None
        if following is not None and _prices(line, following):
            kept.append(replace(following, price=line))
            place += 1
        elif kept and _prices(line, kept[-1]):
            kept[-1] = replace(kept[-1], price=line)
        else:
            kept.append(line)
        place += 1
    return kept


def _prices(line: _Line, other: _Line) -> bool:
    """Whether a row says how often its amount makes the other's: 3X2.50 beside 7.50."""
    if line.value <= 0 or other.value % line.value or _own(line)[0]:
        return False
    return re.search(rf"(?<![\d.,]){other.value // line.value}(?![\d.,])", line.row.text) is not None


def _names(sheet: Sheet, goods: list[_Line], end: int) -> list[tuple[str, tuple[Cell, ...]]] | None:
    """What each row sells: what it says itself, or else the rows above it, or else those below it."""
    own = [_own(line) for line in goods]
    if all(text or line.value <= 0 for (text, _), line in zip(own, goods, strict=True)):
        return own
    above = [_text_rows(sheet, before, line.number) for before, line in zip(_befores(goods), goods, strict=True)]
    ends = [line.number for line in goods[1:]] + [end]
    below = [_text_rows(sheet, line.number, after) for line, after in zip(goods, ends, strict=True)]
    for around in (below, above):
        named = [one if one[0] else _joined(rows) for one, rows in zip(own, around, strict=True)]
        if all(text or line.value <= 0 for (text, _), line in zip(named, goods, strict=True)):
            return named
    return None


def _befores(goods: list[_Line]) -> list[int]:
    return [goods[0].number - 1 - _AROUND] + [line.number for line in goods[:-1]]


def _text_rows(sheet: Sheet, after: int, before: int) -> list[Row]:
    rows = sheet.rows[max(0, after + 1) : before]
    return [row for row in rows if _names_goods(row.text) and not _is_head(row)]


def _is_head(row: Row) -> bool:
    """Whether a row belongs to what stands above goods: a table's head, a day, somebody's telephone."""
    return (
        totals.role(row.text) is not None
        or columns.opened(row) is not None
        or bool(dates.find(row.text))
        or labels.find(row.text, "contact", "date", "other_number", "invoice_number") is not None
    )


def _names_goods(text: str) -> bool:
    words = [word.lower() for word in _LETTERS.findall(text)]
    return sum(len(word) for word in words if word not in _NO_NAMES) > 2  # EGG


def _joined(rows: Sequence[Row]) -> tuple[str, tuple[Cell, ...]]:
    if not rows or len(rows) > _AROUND:
        return "", ()
    cells = tuple(cell for row in rows for cell in row.cells if _LETTERS.search(cell.text))
    return _clean(" ".join(cell.text for cell in cells)), cells


def _own(line: _Line) -> tuple[str, tuple[Cell, ...]]:
    """The words of a row before its numbers."""
    texts = []
    for cell in line.row.cells:
        text = cell.text[: line.amount.start] if cell is line.cell else cell.text
        if cell.box[0] <= line.cell.box[0] and _names_goods(text):
            texts.append((_COUNTED.sub("", text) if cell is line.cell else text, cell))
    text = _clean(" ".join(text for text, _ in texts))
    return (text, tuple(cell for _, cell in texts)) if _names_goods(text) else ("", ())


def _clean(text: str) -> str:
    return _BEHIND.sub("", _BEFORE.sub("", text.strip())).strip(" .:-")


def _item(line: _Line, name: tuple[str, tuple[Cell, ...]], mark: str) -> Item:
    text, cells = name
    item: Item = {
        "description": Value(text, cells, 0.9),
        "amount": Value(money.printed(line.value), (line.cell,), 0.97, 1.01),
    }
    counted = _counted(line, cells, mark)
    if counted is not None:
        quantity, price, cells = counted
        text = text.removeprefix(f"{money.plain(quantity)} ")
        item["description"] = replace(item["description"], text=text)
        item["quantity"] = Value(money.plain(quantity), cells, 0.95, 1.01)
        item["unit_price"] = Value(money.printed(price), cells, 0.95, 1.01)
    return item


def _counted(line: _Line, named: tuple[Cell, ...], mark: str) -> tuple[Decimal, Decimal, tuple[Cell, ...]] | None:
    """Two numbers of the row, or beside its name, that multiply to its amount."""
    if line.price is not None:
        return line.value // line.price.value, line.price.value, line.price.row.cells
    cells = tuple(dict.fromkeys((*line.row.cells, *named)))
    numbers = [
        (amount, cell)
        for cell in cells
        for amount in money.amounts(cell.text, mark)
        if not (cell is line.cell and amount.start == line.amount.start)
    ]
    for (one, cell), (two, other) in combinations(numbers, 2):
        for quantity, price in ((one, two), (two, one)):
            if price.money and quantity.value > 0 and abs(quantity.value * price.value - line.value) <= _CENT:
                return quantity.value, price.value, tuple(dict.fromkeys((cell, other)))
    return None
