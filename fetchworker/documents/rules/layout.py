"""Cells, rows and neighbours: where text stands on a page (pure).

A text layer gives whole rows with their words, OCR gives pieces: both become cells, pieces of a row with a wide gap
around them. Everything else in this package looks at cells only.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fetchworker.documents.model import Box, Document, Line, Word

#: a gap wider than this many text heights parts two cells
_GAP = 1.3
#: two cells share a row if their middles differ by less than this share of the lower one's height
_SAME_ROW = 0.5


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of a row; ``line`` is the id of the line it was cut from, ``score`` that line's."""

    text: str
    box: Box
    page: int
    line: int
    score: float

    @property
    def height(self) -> float:
        return max(1.0, self.box[3] - self.box[1])

    @property
    def middle(self) -> float:
        return (self.box[1] + self.box[3]) / 2


@dataclass(frozen=True, slots=True)
class Row:
    """Cells beside one another, from left to right."""

    cells: tuple[Cell, ...]

    @property
    def text(self) -> str:
        return " ".join(cell.text for cell in self.cells)

    @property
    def page(self) -> int:
        return self.cells[0].page

    @property
    def box(self) -> Box:
        return around(self.cells)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A document's rows from the first page's top to the last page's foot, and what measures them."""

    rows: tuple[Row, ...]
    #: page number → width and height
    sizes: dict[int, tuple[float, float]]
    #: median height of a cell
    height: float
    #: the cells of all rows, in their order
    cells: tuple[Cell, ...]
    #: the cells by page
    on_page: dict[int, list[Cell]]

    def below(self, cell: Cell, *, reach: float = 4.0, above: Box | None = None) -> list[Cell]:
        """The cells under another one (or under ``above``), the nearest first, at most ``reach`` heights away."""
        base = above or cell.box
        limit = reach * max(cell.height, self.height)
        found = [
            other
            for other in self.on_page[cell.page]
            if other is not cell
            and other.middle - base[3] >= 0
            and other.box[1] - base[3] <= limit
            and overlap(base, other.box) > 0
        ]
        return sorted(found, key=lambda other: other.middle)


def sheet(document: Document) -> Sheet:
    """The rows of a document's pages."""
    rows: list[Row] = []
    for page in document.pages:
        rows += _rows([cell for line in page.lines for cell in _cells(line)])
    cells = tuple(cell for row in rows for cell in row.cells)
    by_page: dict[int, list[Cell]] = defaultdict(list)
    for cell in cells:
        by_page[cell.page].append(cell)
    sizes = {page.number: (page.width, page.height) for page in document.pages}
    height = median(cell.height for cell in cells) if cells else 1.0
    return Sheet(tuple(rows), sizes, height, cells, by_page)


def around(cells: Iterable[Cell]) -> Box:
    """The box around cells."""
    boxes = [cell.box for cell in cells]
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )


def overlap(one: Box, other: Box) -> float:
    """The width that two boxes share, 0 or less when they stand apart."""
    return min(one[2], other[2]) - max(one[0], other[0])


def _cells(line: Line) -> list[Cell]:
    """A line as cells: cut where its words leave a wide gap."""
    if not line.text.strip():
        return []
    if len(line.words) < 2:  # nothing to cut
        return [Cell(line.text.strip(), line.box, line.page, line.id, line.score)]
    height = line.box[3] - line.box[1]
    groups: list[list[Word]] = [[line.words[0]]]
    for left, right in pairwise(line.words):
        if right.box[0] - left.box[2] > _GAP * height:
            groups.append([])
        groups[-1].append(right)
    return [_cut(line, words) for words in groups if any(word.text.strip() for word in words)]


def _cut(line: Line, words: Sequence[Word]) -> Cell:
    box = (
        words[0].box[0],
        min(word.box[1] for word in words),
        words[-1].box[2],
        max(word.box[3] for word in words),
    )
    return Cell(" ".join(word.text.strip() for word in words if word.text.strip()), box, line.page, line.id, line.score)


def _rows(cells: list[Cell]) -> list[Row]:
    """Cells as rows from top to bottom."""
    rows: list[list[Cell]] = []
    for cell in sorted(cells, key=lambda cell: (cell.middle, cell.box[0])):
        if rows and _beside(rows[-1], cell):
            rows[-1].append(cell)
        else:
            rows.append([cell])
    return [Row(tuple(sorted(row, key=lambda cell: cell.box[0]))) for row in rows]


def _beside(row: list[Cell], cell: Cell) -> bool:
    """Whether a cell continues a row: its middle is near the nearest cell's and it covers none of them."""
    nearest = min(row, key=lambda other: min(abs(other.box[0] - cell.box[2]), abs(cell.box[0] - other.box[2])))
    near = abs(nearest.middle - cell.middle) < _SAME_ROW * min(nearest.height, cell.height)
    return near and all(overlap(other.box, cell.box) < _SAME_ROW * (cell.box[2] - cell.box[0] + 1) for other in row)
