"""A value on its way to a field: what it is, the cells it was read from, and how well its label matched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fetchworker.documents.rules.layout import Cell


@dataclass(frozen=True, slots=True)
class Value:
    """``match`` is the chance that the place is the right one (0..1), ``proof`` what arithmetic makes of it."""

    text: str
    cells: tuple[Cell, ...]
    match: float
    proof: float = 1.0
    seen: str = ""
