"""How two tellings of one field become one (pure).

Joining must not depend on the order in which observations arrive, nor on how they are cut into batches. So nothing that
may matter later is thrown away: where a field held different things by turns (two authors; a text and then an object),
each of them is kept as a *strand* of its own, and the field shows the strand that was observed last.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

#: what tells two objects apart, the strongest first
IDENTITY = ("id", "username", "slug", "url", "name")
#: strands of a field that are kept, the latest; a row must not grow with every new identity that a page makes up
MOST_STRANDS = 8


class Field(NamedTuple):
    """A field, or a part of one.

    Attributes:
        value: what is shown.
        seen: when it was observed, a time for a value and a mapping for an object; None when it is unknown.
        strands: what it was joined from, as lists of these three, when it held different things; a mapping, when that
            is so for parts of an object; None otherwise.
    """

    value: Any = None
    seen: Any = None
    strands: Any = None


def seen_at(value: Any, at: str) -> Any:
    """When a value was seen: the time for each known part of it, None when it is unknown."""
    if isinstance(value, dict):
        return {name: when for name, part in value.items() if (when := seen_at(part, at)) is not None} or None
    return None if value is None or value == [] else at


def joined(one: Field, other: Field, *, apart: bool) -> Field:
    """What two tell together.

    Args:
        one: a telling.
        other: another one; which is which does not matter.
        apart: whether an identity tells the objects in it apart.
    """
    if one.seen is None or other.seen is None:
        return _known_one(one, other)
    if type(one.seen) is str is type(other.seen) and not one.strands and not other.strands:
        return _later(one, other)  # most fields, so without the machinery
    strands = _strands(one, apart=apart)
    for key, strand in _strands(other, apart=apart).items():
        strands[key] = _within(strands[key], strand, apart=apart) if key in strands else strand
    return _shown(strands, apart=apart)


def objects(one: Field, other: Field, names: Any) -> Field:
    """Two objects that are the same thing, joined name by name.

    Args:
        one: a telling.
        other: another one.
        names: for each name, whether an identity tells the objects in it apart.
    """
    values: dict[str, Any] = {}
    seen: dict[str, Any] = {}
    strands: dict[str, Any] = {}
    for name, apart in names:
        values[name], when, parts = joined(_part(one, name), _part(other, name), apart=apart)
        if when is not None:
            seen[name] = when
        if parts:
            strands[name] = parts
    return Field(values, seen, strands or None)


def order(at: str) -> str:
    """A time as a text that sorts: without the Z, which would come after a fraction."""
    return at[:-1]


def text_of(value: Any) -> str:
    """A value as one text, to settle what no time settles."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _known_one(one: Field, other: Field) -> Field:
    """Of two that are not both known, the one that is."""
    if one.seen is not other.seen:
        return other if one.seen is None else one
    return one if one.value == other.value else max(one, other, key=_unknown_rank)


def _unknown_rank(field: Field) -> tuple[bool, str]:
    return field.value is not None, text_of(field.value)


def _part(field: Field, name: str) -> Field:
    strands = field.strands.get(name) if field.strands else None
    return Field(field.value.get(name), field.seen.get(name), strands)


def _strands(field: Field, *, apart: bool) -> dict[str, Field]:
    parts = [Field(*part) for part in field.strands] if isinstance(field.strands, list) else [field]
    return {_key(part, apart=apart): part for part in parts}


def _key(field: Field, *, apart: bool) -> str:
    """What a strand is about: a value, an object that nothing tells apart, or the object of an identity."""
    if not isinstance(field.seen, dict):
        return ""
    if apart:
        for name in IDENTITY:
            if _identifies(field.value.get(name)):
                return json.dumps([name, field.value[name]])
    return "{}"


def _identifies(value: Any) -> bool:
    return isinstance(value, str | int) and value != ""


def _within(one: Field, other: Field, *, apart: bool) -> Field:
    """Two tellings of one strand."""
    if isinstance(one.seen, dict):
        return objects(one, other, [(name, apart) for name in one.value | other.value])
    return _later(one, other)


def _later(one: Field, other: Field) -> Field:
    if one.seen == other.seen:
        return max(one, other, key=lambda field: text_of(field.value))
    return one if order(one.seen) > order(other.seen) else other


def _shown(strands: dict[str, Field], *, apart: bool) -> Field:
    """The latest strand, with what the others tell that may be of the same thing."""
    if len(strands) == 1:
        return next(iter(strands.values()))
    ages = sorted(((_latest(field.seen), key) for key, field in strands.items()), reverse=True)[:MOST_STRANDS]
    first, *others = (strands[key] for _, key in ages)
    for field in others:
        if _same(first, field):
            first = _within(first, field, apart=apart)
    kept = [strands[key] for key in sorted(key for _, key in ages)]
    return Field(first.value, first.seen, [[field.value, field.seen, field.strands] for field in kept])


def _same(one: Field, other: Field) -> bool:
    """Whether both are objects that may be the same thing: the strongest identity that both have decides."""
    if not (isinstance(one.seen, dict) and isinstance(other.seen, dict)):
        return False
    for name in IDENTITY:
        mine, its = one.value.get(name), other.value.get(name)
        if _identifies(mine) and _identifies(its):
            return bool(mine == its)
    return True


def _latest(seen: Any) -> str:
    return max(_latest(part) for part in seen.values()) if isinstance(seen, dict) else order(seen)
