"""Pages of a call: how they end, whether they go round in a circle, which are only a shell, how items are stamped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fetchworker.contracts import CAP, END, LIMIT, REPEATS
from fetchworker.items import KINDS, Item, plain

if TYPE_CHECKING:
    from fetchworker.contracts import Call, Parsed

#: ids of a call's items
REMEMBERED = 100_000
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


def following(call: Call[Any], parsed: Parsed, counted: int) -> tuple[Call[Any] | None, str | None]:
    """The call for the next page, or how the pages end.

    Args:
        call: of the page at hand.
        parsed: what that page gave.
        counted: how many of its items count towards the limit.
    """
    limit = getattr(call.params, "limit", None)
    if limit is not None and call.seen + counted >= limit:
        return None, LIMIT
    if parsed.cursor is None:
        return None, CAP if parsed.capped else END
    cycle = turn(call.state.get("fw_cycle"), call.cursor, parsed.cursor)
    if cycle is None:
        return None, REPEATS
    return call.then(cursor=parsed.cursor, seen=counted, state={**parsed.state, "fw_cycle": cycle}), None


class Duplicates:
    """Finds items that a call gave before, by kind and id; what was asked for anew is new again.

    At most :data:`REMEMBERED` ids of a call are kept: a site repeats itself from one page to the next.
    """

    def __init__(self) -> None:
        self._calls: dict[str, dict[tuple[str, str], None]] = {}

    def among(self, name: str, items: Iterable[Item]) -> set[int]:
        """The places of the items that the call called ``name`` gave before, or gives twice."""
        known = self._calls.setdefault(name, {})
        repeated = set()
        for place, item in enumerate(items):
            values = item.__dict__
            found = values.get("id")
            if found is None:
                continue
            key = (values["kind"], str(found))
            if key in known:
                repeated.add(place)
            known[key] = None
        while len(known) > REMEMBERED:
            del known[next(iter(known))]
        return repeated

    def forget(self, name: str) -> None:
        """The call is over."""
        self._calls.pop(name, None)

    def __len__(self) -> int:
        return len(self._calls)


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


def stamper(site: str, operation: str, request_id: str, url: str) -> Callable[[Item, int], None]:
    """What writes on an item, and its place on the page, where and when it was found."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def stamp(item: Item, place: int) -> None:
        values = item.__dict__
        values["item_id"] = f"{request_id}-{place}"
        values["site"] = site
        values["operation"] = operation
        values["fetched_at"] = now
        if values.get("url") is None:
            values["url"] = url

    return stamp
