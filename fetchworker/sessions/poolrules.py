"""The rules of a pool: in which order sessions are given out, and how their score moves (pure).

``lua/pool_lib.lua`` has the same rules for Redis. Times are microseconds, scores whole numbers from 0 to 1000.
"""

from __future__ import annotations

import math
from typing import Literal

Prefer = Literal["oldest", "best", "lru"]

#: the score of a session of which nothing is known
START = 1000
#: below it a session is not healthy
HEALTHY = 500
_BEHIND = 4_000_000_000_000_000  # above every microsecond of this century
_STEP = 10_000_000_000_000
_BETTER, _WORSE = 0.2, 0.6


def order(prefer: Prefer, *, born: int, used: int, score: int) -> int:
    """A number by which idle sessions stand in line, the smallest first."""
    if prefer == "oldest":
        return (_BEHIND if score < HEALTHY else 0) + born
    if prefer == "best":
        return (START - score) // 10 * _STEP + used // 1000
    return used


def judged(score: int, *, good: int, bad: int) -> int:
    """The score after a use with so many good and bad answers."""
    if bad:
        return math.floor(score * _WORSE)
    if good:
        return min(START, score + math.ceil((START - score) * _BETTER))
    return score


def worn(*, uses: int, age: float, max_uses: int | None, max_age: float | None) -> bool:
    """Whether a session has been used often or long enough (ages in one unit)."""
    return (max_uses is not None and uses >= max_uses) or (max_age is not None and age >= max_age)
