"""The conditions that a signature is made of.

Each one answers ``holds`` for a response, and names its ``gates``: cheap triggers of which at least one must have
fired before it can hold, so that most signatures are never looked at for most pages. None means: cannot tell.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Protocol

from fetchworker.outcomes._view import TEXT_LIMIT, Content, View

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Sequence

    from fetchworker.outcomes._scan import Scanner


class GateKind(IntEnum):
    """What fires a gate, the most selective (and cheapest) first."""

    STATUS = 0
    CONTENT = 1
    URL = 2
    REQUESTED = 3
    TITLE = 4
    HEADER = 5
    BODY = 6
    JSON = 7
    DATA = 8


@dataclass(frozen=True, slots=True)
class Gate:
    """One trigger: a status, a kind of content, a header's name, a pattern of the URL or title, a literal of the body.

    Literals of kind BODY are looked for in markup and plain text, those of kind JSON in JSON. DATA is fired by every
    page of a site that says what its pages carry.
    """

    kind: GateKind
    value: str | int

    def within_json(self) -> Gate:
        """The same literal, looked for in JSON."""
        return Gate(GateKind.JSON, self.value) if self.kind is GateKind.BODY else self


Gates = frozenset[Gate]


class Condition(Protocol):
    """A question about a response."""

    def holds(self, view: View) -> bool: ...

    def gates(self) -> Gates | None: ...


def _one(kind: GateKind, value: str | int) -> Gates:
    return frozenset({Gate(kind, value)})


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds. The parts are asked in order: write the cheap and rare ones first."""

    parts: tuple[Condition, ...]

    def holds(self, view: View) -> bool:
        return all(part.holds(view) for part in self.parts)

    def gates(self) -> Gates | None:
        choices = [gates for part in self.parts if (gates := part.gates())]
        best = min(choices, key=lambda gates: max(gate.kind for gate in gates), default=None)
        if best and any(all(gate.kind is GateKind.JSON for gate in gates) for gates in choices):
            return frozenset(gate.within_json() for gate in best)
        return best


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple[Condition, ...]

    def holds(self, view: View) -> bool:
        return any(part.holds(view) for part in self.parts)

    def gates(self) -> Gates | None:
        union: set[Gate] = set()
        for part in self.parts:
            gates = part.gates()
            if not gates:
                return None
            union |= gates
        return frozenset(union)


@dataclass(frozen=True, slots=True)
class NoneOf:
    """No part holds."""

    parts: tuple[Condition, ...]

    def holds(self, view: View) -> bool:
        return not any(part.holds(view) for part in self.parts)

    def gates(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class StatusIn:
    """The status is one of these; a response without a status has none of them."""

    codes: frozenset[int]

    def holds(self, view: View) -> bool:
        return view.page.status in self.codes

    def gates(self) -> Gates | None:
        if 200 in self.codes:  # noqa: PLR2004 - would look at every good page
            return None
        return frozenset(Gate(GateKind.STATUS, code) for code in self.codes)


@dataclass(frozen=True, slots=True)
class UrlMatches:
    """The final URL (after redirects) contains the pattern."""

    pattern: re.Pattern[str]

    def holds(self, view: View) -> bool:
        return self.pattern.search(view.url) is not None

    def gates(self) -> Gates:
        return _one(GateKind.URL, self.pattern.pattern)


@dataclass(frozen=True, slots=True)
class RequestedMatches:
    """The URL that was asked for (before redirects) contains the pattern."""

    pattern: re.Pattern[str]

    def holds(self, view: View) -> bool:
        return self.pattern.search(view.requested) is not None

    def gates(self) -> Gates:
        return _one(GateKind.REQUESTED, self.pattern.pattern)


@dataclass(frozen=True, slots=True)
class HeaderMatches:
    """The header is there, and one of its values contains the pattern (any value without one)."""

    name: str
    pattern: re.Pattern[str] | None

    def holds(self, view: View) -> bool:
        values = view.header(self.name)
        if self.pattern is None:
            return bool(values)
        return any(self.pattern.search(value[:TEXT_LIMIT]) for value in values)

    def gates(self) -> Gates:
        return _one(GateKind.HEADER, self.name)


@dataclass(frozen=True, slots=True)
class CookieSet:
    """The response sets a cookie whose whole name matches."""

    pattern: re.Pattern[str]

    def holds(self, view: View) -> bool:
        return any(self.pattern.fullmatch(name) for name in view.cookie_names())

    def gates(self) -> Gates:
        return _one(GateKind.HEADER, "set-cookie")


@dataclass(frozen=True, slots=True)
class ContentIs:
    """The body's first bytes say that it is one of these kinds."""

    kinds: frozenset[Content]

    def holds(self, view: View) -> bool:
        return view.content in self.kinds

    def gates(self) -> Gates | None:
        if not self.kinds <= {Content.EMPTY, Content.BINARY}:
            return None
        return frozenset(Gate(GateKind.CONTENT, kind) for kind in self.kinds)


@dataclass(frozen=True, slots=True)
class SizeBetween:
    """The whole body's length in bytes lies within (both ends included)."""

    least: int
    most: int | None

    def holds(self, view: View) -> bool:
        size = len(view.page.body)
        return size >= self.least and (self.most is None or size <= self.most)

    def gates(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class TitleMatches:
    """The page's title contains the pattern."""

    pattern: re.Pattern[str]

    def holds(self, view: View) -> bool:
        return self.pattern.search(view.title) is not None

    def gates(self) -> Gates:
        return _one(GateKind.TITLE, self.pattern.pattern)


@dataclass(frozen=True, slots=True)
class BodyHas:
    """The body contains the marker, anywhere or within its first bytes."""

    marker: bytes
    within: int | None = None

    def holds(self, view: View) -> bool:
        return view.has(self.marker) if self.within is None else view.body.find(self.marker, 0, self.within) >= 0

    def gates(self) -> Gates:
        return _one(GateKind.BODY, self.marker.decode())


@dataclass(frozen=True, slots=True)
class BodyMatches:
    """The body contains the pattern (syntax of Rust's regex crate; case counts). No gate: a literal must come first."""

    pattern: str
    scanner: Scanner = field(compare=False)

    def holds(self, view: View) -> bool:
        return view.matches(self.scanner)

    def gates(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class DataIs:
    """The page has, or lacks, the data that the site says its pages carry; neither holds where it says nothing."""

    present: bool

    def holds(self, view: View) -> bool:
        return view.has_data if self.present else view.lacks_data

    def gates(self) -> Gates:
        return _one(GateKind.DATA, "")


@dataclass(frozen=True, slots=True)
class JsonAt:
    """A value at the path of short JSON passes the test; one of ``looks`` stands in the text of such a body."""

    path: tuple[str, ...]
    test: Callable[[Any], bool] = field(compare=False)
    looks: tuple[str, ...]

    def holds(self, view: View) -> bool:
        return any(self.test(value) for document in view.documents for value in values_at(document, self.path))

    def gates(self) -> Gates:
        return frozenset(Gate(GateKind.JSON, look) for look in self.looks)


def values_at(document: Any, path: Sequence[str]) -> Iterator[Any]:
    """The values at a path of keys; the key ``[]`` stands for every element of a list."""
    if not path:
        yield document
        return
    key, rest = path[0], path[1:]
    if key == "[]":
        for element in document if isinstance(document, list) else ():
            yield from values_at(element, rest)
    elif isinstance(document, dict) and key in document:
        yield from values_at(document[key], rest)
