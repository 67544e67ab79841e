"""What a value of JSON may be, that all who store and tell it can do so (pure)."""

from __future__ import annotations

from typing import Any

#: objects and lists that may lie in each other; pydantic writes some 250, Python reads and writes some 900
DEPTH = 200


def too_deep(value: Any) -> bool:
    """Whether more than :data:`DEPTH` objects and lists lie in each other."""
    level = [value]
    for _ in range(DEPTH):
        level = [one for each in level for one in _within(each) if isinstance(one, dict | list)]
        if not level:
            return False
    return True


def _within(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def unstorable(value: Any, where: str) -> str | None:
    """Where a text is that databases and processes do not take (NUL, half a surrogate pair), or None.

    Args:
        value: no deeper than :data:`DEPTH`.
        where: its own place, as ``runs[2].input``.
    """
    if isinstance(value, str):
        return None if _is_text(value) else where
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in pairs:
        if isinstance(name, str) and not _is_text(name):
            return where
        place = f"{where}.{name}" if isinstance(name, str) else f"{where}[{name}]"
        if (found := unstorable(one, place)) is not None:
            return found
    return None


def _is_text(text: str) -> bool:
    if "\x00" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
