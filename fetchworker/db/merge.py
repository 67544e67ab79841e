"""What is known of a thing, from all observations of it (pure).

The rule, value by value: of two known values the one observed later stays, and an unknown one (``None``, ``[]``,
``{}`` or missing) never takes the place of a known one. Each value keeps the time at which it was observed.

Objects inside an item (an author, a seller, ``extra``) are joined value by value too, unless they are told apart by
an identity that both have: then the later one stays whole, so that no name of one person meets the id of another.
Lists are values: the later one stays whole.

What comes out depends on the observations alone, not on their order or grouping: see :mod:`fetchworker.db.fields`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from fetchworker.db.fields import Field, objects, order, seen_at, text_of

#: fields that belong to the observation and not to the thing: the latest observation's stay, known or not
ENVELOPE = ("kind", "item_id", "site", "operation", "fetched_at", "partial")
#: values that say in a word that nothing is known
UNKNOWN_WORDS = {"availability": "unknown"}

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
        strands: of fields that held different things by turns, each of these; see :mod:`fetchworker.db.fields`.
    """

    values: dict[str, Any]
    seen: Seen
    first_seen: str
    last_seen: str
    crawl_id: str
    strands: dict[str, Any] = field(default_factory=dict)


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
    fields = {name: part for name, part in values.items() if name not in ENVELOPE and part != UNKNOWN_WORDS.get(name)}
    return Known(values, seen_at(fields, at) or {}, at, at, crawl_id)


def join(one: Known, other: Known) -> Known:
    """What two tell together; which is which does not matter."""
    latest = max(one, other, key=lambda each: order(each.last_seen))
    if one.last_seen == other.last_seen:
        latest = max(one, other, key=_rank)
    names = [name for name in one.values | other.values if name not in ENVELOPE]
    # `extra` holds whatever the site gives; an `id` in it is no identity
    result = objects(_field(one), _field(other), [(name, name != "extra") for name in names])
    values = result.value | {name: latest.values[name] for name in ENVELOPE if name in latest.values}
    first = min(one.first_seen, other.first_seen, key=order)
    return Known(values, result.seen, first, latest.last_seen, latest.crawl_id, result.strands or {})


def _field(each: Known) -> Field:
    return Field(each.values, each.seen, each.strands)


def _rank(each: Known) -> str:
    """What settles whose envelope stays, of two observed at the same time."""
    return text_of([*(each.values.get(name) for name in ENVELOPE), each.crawl_id])
