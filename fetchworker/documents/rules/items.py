"""The lines of an invoice: rows under a table's head, with rulings or without, on one page or several (pure)."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import TYPE_CHECKING

from fetchworker.documents.rules import columns, labels, money, totals
from fetchworker.documents.rules.layout import Row
from fetchworker.documents.rules.value import Value

if TYPE_CHECKING:
    from collections.abc import Collection

    from fetchworker.documents.rules.columns import Column
    from fetchworker.documents.rules.layout import Cell, Sheet

_LETTERS = re.compile(r"[^\W\d_]")
_RATE = re.compile(r"(\d{1,2}(?:[.,]\d{1,2})?)\s?%")
#: an article's code before its name: [FURN_7777] Office chair
_CODE = re.compile(r"^(?:\[[^\]]{1,20}\]|\*\w{1,20}\*)\s+(?=\S)")
_NEAR = Decimal("0.02")
#: what lies between a row and the row that goes on with its description, in heights
_TIGHT = 0.75

_PRINTED = {"quantity": money.plain, "unit_price": money.price, "amount": money.printed}

Item = dict[str, Value]


@dataclass(frozen=True, slots=True)
class _Number:
    value: Decimal
    cell: Cell
    left: float
    right: float
    money: bool


def read(sheet: Sheet, mark: str) -> list[Item]:
    """The items of all tables of a document."""
    found: list[Item] = []
    table: list[Column] | None = None
    closed = False
    last: Row | None = None
    for row in sheet.rows:
        opened = columns.opened(row)
        if opened is not None and not any(number.money for number in _numbers(row, mark)):
            table, last, closed = opened, None, False
            continue
        if table is None:
            continue
        row = _within(row, table)  # noqa: PLW2901  # what stands beside the table is none of it
        if _ends(row, table, mark):
            closed = True
            continue
        item = _item(row, table, mark)
        if item and closed and not _full(item, table):  # sums of a section stand between the table's parts
            continue
        if item:
            found.append(item)
            last = row
        elif last is not None and found and _goes_on(row, last, table):
            found[-1] = _longer(found[-1], row)
            last = row
        else:
            last = None
    return found


def _within(row: Row, table: list[Column]) -> Row:
    """A row without what stands left of its table, if there is a text in it besides."""
    left = min(column.left for column in table)
    inside = tuple(cell for cell in row.cells if cell.box[2] > left - cell.height)
    return Row(inside) if any(_LETTERS.search(cell.text) for cell in inside) else row


def of_sum(sheet: Sheet, mark: str, sums: Collection[Decimal]) -> list[Item]:
    """Items without a table's head: rows of a text and an amount at one indent whose amounts make one of the sums."""
    columns_: dict[tuple[int, int], list[tuple[Row, _Number]]] = defaultdict(list)
    for row in sheet.rows:
        numbers = [number for number in _numbers(row, mark) if number.money]
        first = row.cells[0]
        apart = len(numbers) == 1 and numbers[0].cell is row.cells[-1] and len(row.cells) == 2
        if apart and _LETTERS.search(first.text) and totals.role(first.text) is None:
            columns_[row.page, round(first.box[0] / sheet.height)].append((row, numbers[0]))
    for rows in columns_.values():
        total = sum((number.value for _, number in rows), Decimal(0))
        if len(rows) > 1 and total and any(abs(total - wanted) <= _NEAR for wanted in sums):
            return [
                {
                    "description": Value(row.cells[0].text, (row.cells[0],), 0.93),
                    "amount": Value(money.printed(number.value), (number.cell,), 0.97, 1.01),
                }
                for row, number in rows
            ]
    return []


def _full(item: Item, table: list[Column]) -> bool:
    """Whether an item has all that its table has columns for, and more than an amount."""
    wanted = {column.kind for column in table} & {"quantity", "unit_price", "amount"}
    return len(wanted) > 2 and wanted <= item.keys()


def _numbers(row: Row, mark: str) -> list[_Number]:
    found = []
    for cell in row.cells:
        width = (cell.box[2] - cell.box[0]) / max(1, len(cell.text))
        found += [
            _Number(
                amount.value,
                cell,
                cell.box[0] + amount.start * width,
                cell.box[0] + amount.end * width,
                amount.money,
            )
            for amount in money.amounts(cell.text, mark)
        ]
    return found


def _ends(row: Row, table: list[Column], mark: str) -> bool:
    """Whether a row is the first of the sums under a table."""
    first = row.cells[0]
    named = totals.role(first.text)
    if named is None or named[0] in {"count", "discount"} or not _numbers(row, mark):
        return False
    texts = [column for column in table if column.kind in {"description", "code"}]
    if len(labels.compact(first.text)) == len(named[2]):  # a label alone
        return True
    before = len(labels.compact(_RATE.sub("", first.text[: named[1]]))) - len(named[2])
    own = len(labels.compact(re.sub(r"[\d.,%€$£₹]", "", first.text))) - len(named[2]) < 14
    away = all(abs(first.box[0] - column.left) > 2 * first.height for column in texts)
    few = len(_numbers(row, mark)) <= 1
    return before < 8 and own and (away or few)


def _item(row: Row, table: list[Column], mark: str) -> Item | None:
    """A row as an item: each number in its column, or where multiplication puts it."""
    numbers = _in_columns(row, table, mark)
    if "amount" not in numbers and not ("unit_price" in numbers and _has(table, "amount") is None):
        return None
    text = [cell for cell in _texts(row, table, numbers) if _LETTERS.search(cell.text)]
    if not text:
        return None
    proof = _proof(numbers)
    item: Item = {"description": Value(_described(" ".join(_words(cell, numbers) for cell in text)), tuple(text), 0.93)}
    for name in ("quantity", "unit_price", "amount"):
        number = numbers.get(name)
        if number is not None:
            printed = _PRINTED[name](number.value)
            item[name] = Value(printed, (number.cell,), 0.97 if proof else 0.85, 1.01 if proof else 1.0)
    rate = next((match for cell in row.cells if (match := _RATE.search(cell.text)) and _has(table, "tax")), None)
    if rate:
        cell = next(cell for cell in row.cells if rate[0] in cell.text)
        item["tax_rate"] = Value(rate[1].replace(",", "."), (cell,), 0.9)
    return item


def _described(text: str) -> str:
    """A description without an article's code before it; OCR reads the x of 2 x 1 m as a sign."""
    return _CODE.sub("", text).replace("×", "x")


def _has(table: list[Column], kind: str) -> Column | None:
    return next((column for column in table if column.kind == kind), None)


def _in_columns(row: Row, table: list[Column], mark: str) -> dict[str, _Number]:
    """The numbers of a row by column; each column takes the nearest one, each number the nearest column."""
    texts = [column for column in table if column.kind in {"description", "code", "unit"}]
    numeric = [column for column in table if column.numeric]
    pairs = []
    for number in _numbers(row, mark):
        near = min((column.distance(number.left, number.right) for column in numeric), default=0.0)
        wordy = len(_LETTERS.findall(number.cell.text)) > 4  # 24 in "bottle 24 oz"
        if wordy and any(column.distance(number.cell.box[0], number.cell.box[2]) < near for column in texts):
            continue
        if (
            any(column.distance(number.left, number.right) < near and column.kind == "code" for column in texts)
            and not number.money
        ):
            continue
        pairs += [(column.distance(number.left, number.right), column.kind, number) for column in numeric]
    found: dict[str, _Number] = {}
    used: set[int] = set()
    for _, kind, number in sorted(pairs, key=lambda pair: pair[0]):
        if (
            kind not in found
            and id(number) not in used
            and not (kind == "amount" and not number.money and _later(pairs))
        ):
            found[kind] = number
            used.add(id(number))
    return _ordered(_multiplied(found, [pair[2] for pair in pairs], table), table)


def _ordered(found: dict[str, _Number], table: list[Column]) -> dict[str, _Number]:
    """Quantity and price in the order of their columns, where each alone stood nearer to the other's."""
    columns_ = {kind: _has(table, kind) for kind in ("quantity", "unit_price")}
    quantity, price = columns_["quantity"], columns_["unit_price"]
    if not _proof(found) or quantity is None or price is None:
        return found
    one, other = found["quantity"], found["unit_price"]
    if (one.left < other.left) == (quantity.left < price.left):
        return found
    return {**found, "quantity": other, "unit_price": one}


def _later(pairs: list[tuple[float, str, _Number]]) -> bool:
    return any(number.money for _, _, number in pairs)


def _multiplied(found: dict[str, _Number], numbers: list[_Number], table: list[Column]) -> dict[str, _Number]:
    """What columns say, unless only another reading of the row's numbers multiplies."""
    if _proof(found) or not all(_has(table, kind) for kind in ("quantity", "unit_price", "amount")):
        return found
    distinct = list({id(number): number for number in numbers}.values())
    ordered = sorted(distinct, key=lambda number: number.left)
    for one, two, three in combinations(ordered, 3):
        for quantity, price in ((one, two), (two, one)):
            if (
                three.money
                and abs(quantity.value * price.value - three.value) <= _NEAR
                and (price.money or not two.money)
            ):
                return {**found, "quantity": quantity, "unit_price": price, "amount": three}
    return found


def _proof(numbers: dict[str, _Number]) -> bool:
    if not {"quantity", "unit_price", "amount"} <= numbers.keys():
        return False
    product = numbers["quantity"].value * numbers["unit_price"].value
    return abs(product - numbers["amount"].value) <= _NEAR


def _texts(row: Row, table: list[Column], numbers: dict[str, _Number]) -> list[Cell]:
    """The cells of a row that describe the item."""
    used = {number.cell for number in numbers.values() if len(_LETTERS.findall(number.cell.text)) < 4}
    texts = [column for column in table if column.kind == "description"] or [
        column for column in table if column.kind == "code"
    ]
    others = [column for column in table if column not in texts]
    found = []
    for cell in row.cells:
        if cell in used or _RATE.fullmatch(cell.text.strip()):
            continue
        own = min((abs(cell.box[0] - column.left) for column in texts), default=0.0)
        left_of = all(cell.box[0] < column.left - cell.height for column in others if column.kind != "code")
        near = min((column.distance(cell.box[0], cell.box[2]) for column in others), default=1e9)
        if own <= near or (left_of and near > cell.height):
            found.append(cell)
    return found


def _words(cell: Cell, numbers: dict[str, _Number]) -> str:
    """A description without the numbers that stand in the same cell behind it."""
    inside = [number for number in numbers.values() if number.cell is cell]
    if not inside:
        return cell.text
    width = (cell.box[2] - cell.box[0]) / max(1, len(cell.text))
    cut = round((min(number.left for number in inside) - cell.box[0]) / width)
    return cell.text[:cut].rstrip(" €$£₹") or cell.text


def _goes_on(row: Row, last: Row, table: list[Column]) -> bool:
    """Whether a row goes on with the description of the row above it."""
    if len(row.cells) != 1 or row.page != last.page or re.search(r"[:\d]", row.text):
        return False
    text = _has(table, "description")
    height = row.cells[0].height
    tight = row.box[1] - last.box[3] < _TIGHT * height
    return text is not None and tight and abs(row.cells[0].box[0] - text.left) < 1.5 * height


def _longer(item: Item, row: Row) -> Item:
    told = item["description"]
    return {**item, "description": Value(f"{told.text} {row.text}", (*told.cells, *row.cells), told.match * 0.9)}
