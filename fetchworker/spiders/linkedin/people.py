"""Counts of people, which stand in sentences only (pure)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fetchworker.spiders.linkedin.nodes import Element, pieces
from fetchworker.spiders.reading.counts import first_count

if TYPE_CHECKING:
    from collections.abc import Iterable

#: what stands between the facts of a description
_BETWEEN = re.compile(r"[|·•]")
#: a number of people stands at the beginning of its sentence, or right behind its word
_LONGEST = 80


def counted(texts: Iterable[str], word: re.Pattern[str]) -> int | None:
    """The count in the first of these texts that is about ``word``."""
    return next((number for told in texts if (number := _count(told, word)) is not None), None)


def saying(texts: Iterable[str], word: re.Pattern[str]) -> str | None:
    """The first of these texts with a count of ``word``."""
    return next((told for told in texts if _count(told, word) is not None), None)


def lines(element: Element | None) -> list[str]:
    """The single texts of an element."""
    return pieces(element)


def sentences(description: str | None) -> list[str]:
    """The facts of a page's description, each by itself."""
    return [part.strip() for part in _BETWEEN.split(description or "") if part.strip()]


def _count(told: str, word: re.Pattern[str]) -> int | None:
    beginning = told[:_LONGEST]
    return first_count(beginning) if word.search(beginning) else None
