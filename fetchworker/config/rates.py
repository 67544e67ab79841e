"""Rates as text: ``50`` or ``0.5`` a second, ``50/100`` with so many at once after a rest."""

from __future__ import annotations

import math
import re

_RATE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)(?:/(\d{1,6}))?")


def rate(text: str) -> tuple[float, int]:
    """How many a second, and how many at once: by default those of one second.

    Raises:
        ValueError: it is no rate, or one of nothing.
    """
    found = _RATE.fullmatch(text.strip())
    if found is None or not float(found[1]) or found[2] == "0":
        raise ValueError("must be a rate, such as 50 (a second) or 50/100 (and up to 100 at once)")
    each = float(found[1])
    return each, int(found[2]) if found[2] else max(1, math.ceil(each))
