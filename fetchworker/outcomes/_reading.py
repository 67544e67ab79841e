"""Values of signature files, each checked as it is read: a wrong one is a ConfigError that names file and key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fetchworker.errors import ConfigError
from fetchworker.outcomes._view import Content
from fetchworker.outcomes.taxonomy import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SLUG = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Where:
    """The place in a signature file that is being read, for messages."""

    file: str
    keys: tuple[str, ...] = ()

    def at(self, key: str | int) -> Where:
        step = f"[{key}]" if isinstance(key, int) else f".{key}" if self.keys else key
        return Where(self.file, (*self.keys, step))

    def error(self, message: str) -> ConfigError:
        key = "".join(self.keys)
        return ConfigError(f"{self.file}: {key + ': ' if key else ''}{message}", file=self.file, key=key)


def mapping(data: Any, where: Where, known: frozenset[str] | None, required: Sequence[str] = ()) -> Mapping[str, Any]:
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise where.error("must be a mapping with names as keys")
    for key in data:
        if known is not None and key not in known:
            raise where.at(key).error(f"unknown, write one of {', '.join(sorted(known))}")
    for key in required:
        if key not in data:
            raise where.at(key).error("is missing")
    return data


def non_empty_list(data: Any, where: Where) -> list[Any]:
    if not isinstance(data, list) or not data:
        raise where.error("must be a list with at least one entry")
    return data


def text(data: Any, where: Where) -> str:
    if not isinstance(data, str) or not data:
        raise where.error(f"must be a text, not {data!r} (quote it)")
    return data


def texts(data: Any, where: Where) -> list[str]:
    return [text(item, where.at(i)) for i, item in enumerate(non_empty_list(data, where))]


def optional_text(data: Mapping[str, Any], key: str, where: Where) -> str | None:
    return text(data[key], where.at(key)) if data.get(key) is not None else None


def pattern(data: Any, where: Where) -> re.Pattern[str]:
    try:
        return re.compile(text(data, where), re.IGNORECASE)
    except re.error as error:
        raise where.error(f"no regular expression: {error}") from error


def count(data: Any, where: Where) -> int:
    if not isinstance(data, int) or isinstance(data, bool) or data < 0:
        raise where.error(f"must be a number of bytes, not {data!r}")
    return data


def share(data: Any, where: Where) -> float:
    if not isinstance(data, int | float) or isinstance(data, bool) or not 0 < data <= 1:
        raise where.error(f"must be a number above 0 and up to 1, not {data!r}")
    return float(data)


def slug(data: Any, where: Where) -> str:
    if not _SLUG.fullmatch(text(data, where)):
        raise where.error(f"{data!r} is no slug: lower-case words joined by _")
    return str(data)


def outcome(data: Any, where: Where) -> Outcome:
    try:
        return Outcome(data)
    except ValueError as error:
        raise where.error(f"{data!r} is none of {', '.join(Outcome)}") from error


def kinds(data: Any, where: Where) -> frozenset[Content]:
    try:
        return frozenset(Content(item) for item in (data if isinstance(data, list) else [data]))
    except ValueError as error:
        raise where.error(f"{data!r} is none of {', '.join(Content)}") from error
