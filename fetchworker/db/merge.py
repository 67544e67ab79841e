"""What is known of a thing, from all observations of it (pure).

The rule, value by value: of two known values the one observed later stays, and an unknown one (``None``, ``[]``,
``{}`` or missing) never takes the place of a known one. Each value keeps the time at which it was observed.

Objects inside an item (an author, a seller, ``extra``) are joined value by value too, unless they are told apart by
an identity that both have: then the later one stays whole, so that no name of one person meets the id of another.
Lists are values: the later one stays whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

#: fields that belong to the observation and not to the thing: the latest observation's stay, known or not
ENVELOPE = ("kind", "item_id", "site", "operation", "fetched_at", "partial")
#: what tells two objects apart, the strongest first
IDENTITY = ("id", "username", "slug", "url", "name")

#: times in the shape of the values: a text for a value, a mapping for an object, nothing for what is unknown
Seen = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one thing.

    Attributes:
        values: the item, with the best value of each field and the envelope of the latest observation.
        seen: when each known value was observed, in the shape of ``values``.
        first_seen: the time of the earliest observation.
        last_seen: the time of the latest one.
        crawl_id: the crawl of the latest one.
    """

    values: dict[str, Any]
    seen: Seen
    first_seen: str
    last_seen: str
    crawl_id: str


def instant(text: str) -> str:
    """A time in the one form that is compared and stored: UTC, whole seconds or six digits after them.

    Raises:
        ValueError: it is no time.
    """
    moment = datetime.fromisoformat(text).astimezone(UTC)
    return f"{moment.replace(tzinfo=None).isoformat()}Z"


def known(values: dict[str, Any], *, crawl_id: str) -> Known:
    """What one observation tells.

    Raises:
        ValueError: ``fetched_at`` is no time.
    """
    at = instant(values["fetched_at"])
    fields = {name: value for name, value in values.items() if name not in ENVELOPE}
    return Known(values, _seen(fields, at) or {}, at, at, crawl_id)


def join(one: Known, other: Known) -> Known:
    """What two tell together; ``other`` is the later of two that were observed at the same time."""
    latest = other if _after(other.last_seen, one.last_seen) else one
    fields, seen = _objects(one.values, one.seen, other.values, other.seen, top=True)
    fields |= {name: latest.values[name] for name in ENVELOPE if name in latest.values}
    first = min(one.first_seen, other.first_seen, key=_order)
    return Known(fields, seen, first, latest.last_seen, latest.crawl_id)


def _seen(value: Any, at: str) -> Any:
    """When a value was seen: the time for each known part of it, None when it is unknown."""
    if isinstance(value, dict):
        return {name: when for name, part in value.items() if (when := _seen(part, at)) is not None} or None
    return None if value is None or value == [] else at


def _joined(one: Any, one_seen: Any, other: Any, other_seen: Any, *, own: bool = False) -> tuple[Any, Any]:
    if other_seen is None:
        return (other if one is None else one), one_seen
    if one_seen is None:
        return other, other_seen
    if isinstance(one_seen, dict) and isinstance(other_seen, dict) and (own or _same(one, other)):
        return _objects(one, one_seen, other, other_seen)
    return (other, other_seen) if _after(_latest(other_seen), _latest(one_seen)) else (one, one_seen)


def _objects(
    one: dict[str, Any], one_seen: Seen, other: dict[str, Any], other_seen: Seen, *, top: bool = False
) -> tuple[dict[str, Any], Seen]:
    values: dict[str, Any] = {}
    seen: Seen = {}
    for name in one | other:
        # `extra` holds whatever the site gives, an `id` in it is no identity
        own = top and name == "extra"
        values[name], when = _joined(one.get(name), one_seen.get(name), other.get(name), other_seen.get(name), own=own)
        if when is not None:
            seen[name] = when
    return values, seen


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two objects may be the same thing: the strongest identity that both have decides."""
    for name in IDENTITY:
        if one.get(name) is not None and other.get(name) is not None:
            return bool(one[name] == other[name])
    return True


def _latest(seen: Any) -> str:
    return max((_latest(part) for part in seen.values()), key=_order) if isinstance(seen, dict) else seen


def _after(one: str, other: str) -> bool:
    return _order(one) >= _order(other)


def _order(at: str) -> str:
    return at[:-1]  # without the Z, which would sort after a fraction
