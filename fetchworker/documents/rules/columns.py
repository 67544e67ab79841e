"""The heads of tables: which columns a row of labels opens, and which of them a piece of a row stands in (pure)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from fetchworker.documents.rules import labels
from fetchworker.documents.rules.layout import Row

if TYPE_CHECKING:
    import re

    from fetchworker.documents.rules.layout import Cell

KINDS = ("description", "quantity", "unit_price", "amount", "tax", "discount", "code", "unit")
_NUMERIC = frozenset({"quantity", "unit_price", "amount", "tax", "discount"})


@dataclass(frozen=True, slots=True)
class Column:
    """A column: what it holds, and where its head stands."""

    kind: str
    left: float
    right: float

    @property
    def numeric(self) -> bool:
        return self.kind in _NUMERIC

    def distance(self, left: float, right: float) -> float:
        """How far something is from standing in this column: edges or middles aligned count as near."""
        middle = abs((left + right) - (self.left + self.right)) / 2
        return min(abs(left - self.left), abs(right - self.right), middle)


def opened(row: Row) -> list[Column] | None:
    """The columns whose heads a row is, None when it is no table's head."""
    found: list[Column] = []
    for cell in row.cells:
        found += _of_cell(cell)
    kinds = {column.kind for column in found}
    covered = sum(len(column.kind) > 0 for column in found)
    prices = kinds & {"amount", "unit_price"}
    if not prices or len(kinds) < 2 or covered < 2 or not kinds & {"description", "quantity", "code", "unit_price"}:
        return None
    if "description" not in kinds and len(kinds) < 3:
        return None
    letters = sum(len(labels.compact(cell.text)) for cell in row.cells)
    known = sum(_known(cell) for cell in row.cells)
    return _single(found) if known >= 0.6 * letters else None  # a head has little else


def spread(row: Row, *names: str) -> Row:
    """A row whose cells are cut where several labels of these names, and little else, stand in one."""
    cells: list[Cell] = []
    for cell in row.cells:
        starts = _starts(cell.text, names)
        if len(starts) < 2:
            cells.append(cell)
            continue
        ends = [*starts[1:], len(cell.text)]
        width = (cell.box[2] - cell.box[0]) / len(cell.text)
        for start, end in zip([0, *ends], ends, strict=False):
            left, right = cell.box[0] + start * width, cell.box[0] + end * width
            box = (left, cell.box[1], right - width, cell.box[3])
            cells.append(replace(cell, text=cell.text[start:end].strip(), box=box))
    return Row(tuple(cells))


@lru_cache(maxsize=8192)
def _starts(text: str, names: tuple[str, ...]) -> tuple[int, ...]:
    """Where the labels of a text begin that has little else."""
    found = list(labels.pattern(*names).finditer(labels.fold(text)))
    known = sum(len(labels.compact(match[0])) for match in found)
    return tuple(match.start() for match in found) if known >= 0.8 * len(labels.compact(text)) else ()


def _known(cell: Cell) -> int:
    return sum(len(labels.compact(match[0])) for match in _matches(cell.text))


def _of_cell(cell: Cell) -> list[Column]:
    """The columns that a cell's labels open; several labels in one cell share its width."""
    width = (cell.box[2] - cell.box[0]) / max(1, len(cell.text))
    return [
        Column(
            _kind(labels.compact(match[0])),
            cell.box[0] + match.start() * width,
            cell.box[0] + match.end() * width,
        )
        for match in _matches(cell.text)
    ]


def _matches(text: str) -> list[re.Match[str]]:
    return list(labels.pattern(*(f"column_{kind}" for kind in KINDS)).finditer(labels.fold(text)))


@cache
def _kind(words: str) -> str:
    for kind in KINDS:
        if any(labels.compact(word) == words for word in labels.words(f"column_{kind}")):
            return kind
    return "code"


def _single(columns: list[Column]) -> list[Column]:
    """Columns with one amount: of several the last; of two descriptions the wider one's neighbour is a code."""
    kept: list[Column] = []
    columns = _second_quantity(columns)
    amounts = [column for column in columns if column.kind == "amount"]
    texts = [column for column in columns if column.kind == "description"]
    for column in columns:
        if column.kind == "amount" and column is not amounts[-1]:
            kept.append(Column("discount", column.left, column.right))  # another sum: net before gross
        elif column.kind == "description" and column is not texts[-1]:
            kept.append(Column("code", column.left, column.right))
        else:
            kept.append(column)
    if not amounts:
        prices = [column for column in kept if column.kind == "unit_price"]
        last = prices[-1]
        kept = [Column("amount", c.left, c.right) if c is last and len(prices) > 1 else c for c in kept]
    return kept


def _second_quantity(columns: list[Column]) -> list[Column]:
    """Of two quantities (``Qty``, ``Unit``) the second is the price of one, or the unit where another is the price."""
    quantities = [column for column in columns if column.kind == "quantity"]
    kind = "unit" if any(column.kind == "unit_price" for column in columns) else "unit_price"
    return [replace(column, kind=kind) if column in quantities[1:] else column for column in columns]
