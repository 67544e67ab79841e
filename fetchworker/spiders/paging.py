"""Pages of a call: whether they go round in a circle, and pages that are only a shell (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fetchworker.items import KINDS, Item, plain

#: what ``Item.partial`` says of facts from a page's meta tags alone (rounded counts, no posts)
SHELL = "page_shell"

Cycle = Sequence[Any]
"""``[cursor, power, steps]``: a cursor that we wait to see again, for ``power`` steps."""


def turn(cycle: Cycle | None, before: str | None, cursor: str) -> Cycle | None:
    """Follow the cursors of a paged call; None when they repeat (Brent's algorithm: no list of all cursors is kept)."""
    if cursor == before:
        return None
    seen, power, steps = cycle or (before, 1, 0)
    if cursor == seen:
        return None
    return [cursor, power * 2, 0] if steps + 1 == power else [seen, power, steps + 1]


def is_shell(items: Iterable[Item]) -> bool:
    """Whether all that a page gave is marked as the facts of a shell."""
    marks = {item.__dict__.get("partial") for item in items}
    return marks == {SHELL}


def dump_items(items: Iterable[Item]) -> list[dict[str, Any]]:
    """Drafts as JSON values."""
    return [plain(vars(item)) for item in items]


def load_items(dumped: Iterable[Mapping[str, Any]]) -> list[Item]:
    """Drafts that :func:`dump_items` wrote."""
    return [KINDS[values["kind"]].draft(**values) for values in dumped]
