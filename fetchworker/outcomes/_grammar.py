"""The conditions of signature files: one function for each key (``docs/outcomes.md`` explains them)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from pydantic_core import SchemaError

from fetchworker.outcomes import conditions as c
from fetchworker.outcomes._reading import Where, count, kinds, mapping, non_empty_list, pattern, text, texts
from fetchworker.outcomes._scan import Scanner

_STATUS_RANGE = re.compile(r"([1-9])xx")
_BEGINS_WITH_SPACE = re.compile(r"(\(\?[a-z]+\))?\\s")


def condition(data: Any, where: Where) -> c.Condition:
    """A mapping of conditions; several keys mean that all of them hold."""
    rows = mapping(data, where, frozenset(_PARSERS))
    if not rows:
        raise where.error("empty")
    parts = tuple(_PARSERS[key](value, where.at(key)) for key, value in rows.items())
    return parts[0] if len(parts) == 1 else c.All(parts)


def _parts(data: Any, where: Where) -> tuple[c.Condition, ...]:
    return tuple(condition(item, where.at(i)) for i, item in enumerate(non_empty_list(data, where)))


def _status(data: Any, where: Where) -> c.Condition:
    codes: set[int] = set()
    for item in data if isinstance(data, list) else [data]:
        span = _STATUS_RANGE.fullmatch(str(item))
        if span:
            codes.update(range(int(span[1]) * 100, int(span[1]) * 100 + 100))
        elif isinstance(item, int) and not isinstance(item, bool):
            codes.add(item)
        else:
            raise where.error(f"{item!r} is no status: write a number or 4xx")
    return c.StatusIn(frozenset(codes))


def _header(data: Any, where: Where) -> c.Condition:
    rows = mapping(data, where, None)
    parts = tuple(
        c.HeaderMatches(name.lower(), None if value is None else pattern(value, where.at(name)))
        for name, value in rows.items()
    )
    return parts[0] if len(parts) == 1 else c.All(parts)


def _body(data: Any, where: Where) -> c.Condition:
    """A marker, a list of which one is enough, or a marker within the first bytes."""
    if isinstance(data, str):
        return c.BodyHas(text(data, where).encode())
    if isinstance(data, list):
        return c.AnyOf(tuple(c.BodyHas(marker.encode()) for marker in texts(data, where)))
    rows = mapping(data, where, frozenset({"text", "within"}), required=("text", "within"))
    return c.BodyHas(text(rows["text"], where.at("text")).encode(), count(rows["within"], where.at("within")))


def _regex(data: Any, where: Where) -> c.Condition:
    expected = text(data, where)
    if r"\b" in expected.replace(r"(?-u:\b)", ""):
        raise where.error(r"\b is slow on text beyond ASCII, write (?-u:\b)")
    if _BEGINS_WITH_SPACE.match(expected):
        raise where.error(r"a pattern that begins with \s is slow, write (?-u:\s) there")
    try:
        return c.BodyMatches(expected, Scanner(expected))
    except SchemaError as error:
        raise where.error(f"no pattern of Rust's regex crate: {error}") from error


def _size(data: Any, where: Where) -> c.Condition:
    rows = mapping(data, where, frozenset({"min", "max"}))
    most = count(rows["max"], where.at("max")) if "max" in rows else None
    return c.SizeBetween(count(rows.get("min", 0), where.at("min")), most)


def _data(data: Any, where: Where) -> c.Condition:
    if data not in ("present", "missing"):
        raise where.error(f"{data!r} is neither present nor missing")
    return c.DataIs(data == "present")


def _json(data: Any, where: Where) -> c.Condition:
    rows = mapping(data, where, frozenset({"path", *_JSON_TESTS}), required=("path",))
    names = [name for name in rows if name != "path"]
    if len(names) != 1:
        raise where.error(f"needs exactly one of {', '.join(sorted(_JSON_TESTS))}")
    path = tuple(text(rows["path"], where.at("path")).replace("[]", ".[]").lstrip(".").split("."))
    test, start = _JSON_TESTS[names[0]](rows[names[0]], where.at(names[0]))
    key = next((key for key in reversed(path) if key != "[]"), None)
    if key is None:
        raise where.at("path").error("names no key")
    return c.JsonAt(path, test, (f'"{key}":{start}', f'"{key}": {start}'))


#: a test of a value, and how the text of a value that passes begins
_Test = tuple[Callable[[Any], bool], str]


def _json_exists(data: Any, where: Where) -> _Test:
    if data is not True:
        raise where.error("write true (or turn it round with none)")
    return (lambda _value: True), ""


def _json_null(data: Any, where: Where) -> _Test:
    if data is not True:
        raise where.error("write true (or turn it round with none)")
    return (lambda value: value is None), "null"


def _json_equals(data: Any, _where: Where) -> _Test:
    plain = isinstance(data, int) or (isinstance(data, str) and re.fullmatch(r"[\w ]+", data, re.ASCII))
    start = orjson.dumps(data).decode() if plain else ""
    return (lambda value: type(value) is type(data) and value == data), start


def _json_matches(data: Any, where: Where) -> _Test:
    expected = pattern(data, where)
    return (lambda value: isinstance(value, str) and expected.search(value) is not None), '"'


_JSON_TESTS: Mapping[str, Callable[[Any, Where], _Test]] = {
    "exists": _json_exists,
    "is_null": _json_null,
    "equals": _json_equals,
    "matches": _json_matches,
}

_PARSERS: Mapping[str, Callable[[Any, Where], c.Condition]] = {
    "all": lambda data, where: c.All(_parts(data, where)),
    "any": lambda data, where: c.AnyOf(_parts(data, where)),
    "none": lambda data, where: c.NoneOf(_parts(data, where)),
    "status": _status,
    "url": lambda data, where: c.UrlMatches(pattern(data, where)),
    "requested": lambda data, where: c.RequestedMatches(pattern(data, where)),
    "header": _header,
    "cookie": lambda data, where: c.CookieSet(pattern(data, where)),
    "content": lambda data, where: c.ContentIs(kinds(data, where)),
    "size": _size,
    "title": lambda data, where: c.TitleMatches(pattern(data, where)),
    "body": _body,
    "regex": _regex,
    "json": _json,
    "data": _data,
}
