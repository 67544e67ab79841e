"""Readers of single values in a site's JSON: its types change with the year, ours do not (pure).

Each returns None for what is missing or of an unexpected kind; none raises.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fetchworker.items import LARGEST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: seconds; outside of it a number is no time of a web site of today (2010-01-01 … 2100-01-01)
_TIMES = (1_262_304_000, 4_102_444_800)
_MOST_DIGITS = 19
_MILLISECONDS_FROM = 100_000_000_000


def mapping(value: Any) -> Mapping[str, Any]:
    """The value when it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> Sequence[Any]:
    """The value when it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else ()


def dig(value: Any, *path: str | int) -> Any:
    """What stands at ``path`` inside nested objects and arrays, or None."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and -len(value) <= step < len(value) else None
        if value is None:
            return None
    return value


def text(value: Any) -> str | None:
    """Text that says something; lone surrogates, which no file could hold, become ``?``."""
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode(errors="replace").decode()
    return value


def link(value: Any) -> str | None:
    """An absolute web address."""
    found = text(value)
    return found if found is not None and found.startswith(("https://", "http://")) else None


def ident(value: Any) -> str | None:
    """An id, which the site writes as text or as a number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value) if value > 0 else None
    return text(value)


def count(value: Any) -> int | None:
    """A count; -1 (hidden) and other negatives are unknown, and so is what no counter of 64 bits holds."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS:
        value = int(value)
    return value if isinstance(value, int) and 0 <= value <= LARGEST else None


def flag(value: Any) -> bool | None:
    """True or False, where the site says so."""
    return value if isinstance(value, bool) else None


def measure(value: Any) -> float | None:
    """A number that is no count: a duration, a rate."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST
    return float(value) if good else None


def instant(value: Any) -> str | None:
    """Epoch seconds or milliseconds as UTC ISO-8601."""
    number = count(value // 1 if isinstance(value, float) else value)
    if number is None:
        return None
    if number >= _MILLISECONDS_FROM:
        number //= 1000
    if not _TIMES[0] <= number < _TIMES[1]:
        return None
    return datetime.fromtimestamp(number, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
