"""How sure a field is: the chance that its lines were read rightly × how well its label matched × arithmetic (pure)."""

from __future__ import annotations

from bisect import bisect_right
from math import prod
from typing import TYPE_CHECKING

from fetchworker.documents.model import Field
from fetchworker.documents.rules.layout import around

if TYPE_CHECKING:
    from fetchworker.documents.rules.value import Value

#: score of a line by the recogniser → the chance that all of it is right, measured on 3,200 lines; 1.0 is a text layer
_CHANCES = ((0.0, 0.0), (0.8, 0.48), (0.9, 0.69), (0.95, 0.83), (0.97, 0.91), (0.99, 0.98), (1.0, 0.995))
_BOUNDS = [bound for bound, _ in _CHANCES]
#: of the faults in a line about half are spaces and marks, which do not count, or stand beside the value
_COUNTS = 0.5
NOTHING = Field(None, 0.0)


def chance(score: float) -> float:
    """The chance that a line with this score was read without a fault."""
    return _CHANCES[max(0, bisect_right(_BOUNDS, score) - 1)][1]


def field(value: Value | None) -> Field:
    """A value as a field with its confidence and its place; None as a field without a value."""
    if value is None or not value.text:
        return NOTHING
    lines = {cell.line: cell.score for cell in value.cells}
    read = prod(chance(score) for score in lines.values()) ** _COUNTS
    first = value.cells[0]
    page = [cell for cell in value.cells if cell.page == first.page]
    # what adds up was read rightly, whatever the recogniser thought of it
    sure = max(read, 0.97) if value.proof > 1 else read
    confidence = min(0.99, sure * min(1.0, value.match) * min(1.0, value.proof))
    return Field(value.text, round(confidence, 4), first.page, around(page), tuple(lines))
