"""Lists in pages: opaque cursors, and the ``edges`` with ``page_info`` that they stand in."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PAGE_SIZE = 12
Json = dict[str, Any]
T = TypeVar("T")


def cursor(scope: str, position: int) -> str:
    """An opaque cursor into the list ``scope``."""
    return base64.urlsafe_b64encode(f"{scope}:{position}".encode()).decode()


def position(scope: str, value: str | None) -> int:
    """Where a cursor points.

    Raises:
        ValueError: it is none, or belongs to another list.
    """
    if not value:
        return 0
    try:
        name, _, number = base64.urlsafe_b64decode(value).decode().rpartition(":")
    except (binascii.Error, UnicodeDecodeError) as exc:
        raise ValueError(f"not a cursor: {value[:80]}") from exc
    if name != scope:
        raise ValueError(f"a cursor of another list: {value[:80]}")
    return int(number)


@dataclass(frozen=True, slots=True)
class Window(Generic[T]):
    """A page of a list: ``cursor`` leads on, None at the end."""

    items: Sequence[T]
    start: int
    cursor: str | None


def window(items: Sequence[T], scope: str, after: str | None = None, size: int = PAGE_SIZE) -> Window[T]:
    """The page that begins at a cursor.

    Raises:
        ValueError: ``after`` is no cursor of this list.
    """
    start = position(scope, after)
    end = start + size
    return Window(items[start:end], start, cursor(scope, end) if end < len(items) else None)


def connection(
    items: Sequence[T], node: Callable[[T], Json], scope: str, after: str | None = None, size: int = PAGE_SIZE
) -> Json:
    """The same as ``edges`` and ``page_info``."""
    page = window(items, scope, after, size)
    edges = [{"node": node(item), "cursor": cursor(scope, page.start + n + 1)} for n, item in enumerate(page.items)]
    info = {"end_cursor": page.cursor, "has_next_page": page.cursor is not None, "has_previous_page": page.start > 0}
    return {"edges": edges, "page_info": info}
