"""Sizes in bytes, as people write and read them."""

from __future__ import annotations

import re

_UNITS: dict[str, int] = {
    "b": 1,
    **{f"{letter}b": int(1000**power) for power, letter in enumerate("kmgtp", 1)},
    **{f"{letter}ib": int(1024**power) for power, letter in enumerate("kmgtp", 1)},
}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([A-Za-z]*)")
_SHOWN = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_STEP = 1024


def parse_size(value: object) -> int:
    """Whole bytes of a number, or of a text such as ``2 GiB``, ``500MB`` or ``1048576`` (pure).

    KB, MB … are thousands of each other, KiB, MiB … 1024 of each other.

    Raises:
        ValueError: it is no size.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    unit = _UNITS.get((found[2] or "B").lower()) if found else None
    if found is None or unit is None:
        raise ValueError("is no size; write bytes as a number, or a text such as 500 MB or 2 GiB")
    whole, _, part = found[1].partition(".")
    return int(whole) * unit + (int(part) * unit // 10 ** len(part) if part else 0)


def show_size(size: int) -> str:
    """A size in the greatest unit of which it has one: ``1.5 GiB`` (pure)."""
    shown, unit = float(size), 0
    while abs(shown) >= _STEP - 0.05 and unit < len(_SHOWN) - 1:
        shown, unit = shown / _STEP, unit + 1
    return f"{size} B" if unit == 0 else f"{shown:.1f} {_SHOWN[unit]}"
