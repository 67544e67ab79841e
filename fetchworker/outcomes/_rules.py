"""The signatures that count for one site, arranged by what triggers them."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from fetchworker.outcomes import conditions as c
from fetchworker.outcomes._scan import Scanner, marker_scanner
from fetchworker.outcomes._view import JSON_LIMIT, MARKUP, Content
from fetchworker.outcomes.conditions import GateKind
from fetchworker.outcomes.signatures import Rules, Signature, load_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fetchworker.outcomes._view import View
    from fetchworker.outcomes.expected import Expectation
    from fetchworker.outcomes.taxonomy import Verdict

Indices = tuple[int, ...]
#: literals in one scan, which a page mostly has none of (its fast algorithm takes up to some 64), and in the scans that
#: narrow it down where it has
_GROUP, _SUBGROUP = 48, 8
#: conditions that cost next to nothing, and rule a signature out before its literals are looked for
_NARROWING = (
    c.StatusIn,
    c.SizeBetween,
    c.ContentIs,
    c.HeaderMatches,
    c.CookieSet,
    c.UrlMatches,
    c.RequestedMatches,
    c.DataIs,
)


@dataclass(frozen=True, slots=True)
class _Literals:
    """Literals that are looked for together: where one is found, the parts are asked, down to the single ones."""

    scanner: Scanner
    parts: tuple[_Literals, ...]
    indices: Indices = ()

    def candidates(self, view: View) -> Iterator[int]:
        if view.matches(self.scanner):
            yield from self.indices
            for part in self.parts:
                yield from part.candidates(view)


@dataclass(frozen=True, slots=True)
class _BodyGates:
    """Signatures by the literals they need; those of ``narrow`` are only looked for where one of ``when`` holds."""

    groups: tuple[_Literals, ...]
    narrow: tuple[_Literals, ...]
    when: tuple[tuple[c.Condition, ...], ...]

    def candidates(self, view: View) -> Iterator[int]:
        for group in self.groups:
            yield from group.candidates(view)
        if self.narrow and any(all(part.holds(view) for part in parts) for parts in self.when):
            for group in self.narrow:
                yield from group.candidates(view)


@dataclass(frozen=True, slots=True)
class _TextGates:
    """The patterns of a short text (URL, title) in one."""

    pattern: re.Pattern[str]
    indices: Indices

    def candidates(self, text: str) -> Indices:
        return self.indices if text and self.indices and self.pattern.search(text) else ()


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Finds the signatures worth asking about a response. ``expected`` is the data of the site's pages."""

    signatures: Sequence[Signature]
    expected: Sequence[Expectation]
    by_status: Mapping[int, Indices]
    by_header: Mapping[str, Indices]
    by_content: Mapping[str, Indices]
    url: _TextGates
    requested: _TextGates
    title: _TextGates
    body: _BodyGates
    json: _BodyGates
    by_data: Indices

    def matching(self, view: View) -> list[Signature]:
        """The signatures that hold, in the order of their files (a site's own first)."""
        found = [self.signatures[index] for index in sorted(self._triggered(view))]
        return [signature for signature in found if signature.when.holds(view)]

    def _triggered(self, view: View) -> set[int]:
        indices: set[int] = set()
        if view.page.status is not None:
            indices.update(self.by_status.get(view.page.status, ()))
        indices.update(self.by_content.get(view.content, ()))
        for name in view.page.headers:
            indices.update(self.by_header.get(name, ()))
        indices.update(self.url.candidates(view.url))
        indices.update(self.requested.candidates(view.requested))
        indices.update(self.title.candidates(view.title))
        if view.expected:
            indices.update(self.by_data)
        if view.content in MARKUP:
            indices.update(self.body.candidates(view))
        elif view.content is Content.JSON and len(view.body) <= JSON_LIMIT:
            indices.update(self.json.candidates(view))
        return indices


@lru_cache(maxsize=64)
def rules_for(site: str | None) -> RuleSet:
    """The rules for a site (None: those that count everywhere), read at the first call."""
    rules = _all_rules()
    return arrange(
        [signature for signature in rules.signatures if signature.sites is None or site in signature.sites],
        [expectation for expectation in rules.expected if site in expectation.sites],
    )


@lru_cache(maxsize=1)
def _all_rules() -> Rules:
    return load_rules()


@lru_cache(maxsize=1)
def _by_evidence() -> Mapping[str, Signature]:
    return {signature.evidence: signature for signature in _all_rules().signatures}


def signature_of(verdict: Verdict) -> Signature | None:
    """The signature that decided, None where none did."""
    return _by_evidence().get(verdict.evidence[0]) if verdict.evidence else None


def arrange(signatures: Sequence[Signature], expected: Sequence[Expectation] = ()) -> RuleSet:
    """Sort signatures by their triggers."""
    gates: dict[GateKind, dict[str | int, list[int]]] = {kind: defaultdict(list) for kind in GateKind}
    for index, signature in enumerate(signatures):
        for gate in signature.gates:
            gates[gate.kind][gate.value].append(index)
    return RuleSet(
        signatures=tuple(signatures),
        expected=tuple(expected),
        by_status={int(code): tuple(indices) for code, indices in gates[GateKind.STATUS].items()},
        by_header={str(name): tuple(indices) for name, indices in gates[GateKind.HEADER].items()},
        by_content={str(kind): tuple(indices) for kind, indices in gates[GateKind.CONTENT].items()},
        url=_text_gates(gates[GateKind.URL]),
        requested=_text_gates(gates[GateKind.REQUESTED]),
        title=_text_gates(gates[GateKind.TITLE]),
        body=_body_gates(gates[GateKind.BODY], signatures),
        json=_body_gates(gates[GateKind.JSON], signatures),
        by_data=tuple(gates[GateKind.DATA].get("", ())),
    )


def _text_gates(gates: Mapping[str | int, list[int]]) -> _TextGates:
    pattern = re.compile("|".join(f"(?:{pattern})" for pattern in gates), re.IGNORECASE)
    return _TextGates(pattern, tuple({index for indices in gates.values() for index in indices}))


def _body_gates(gates: Mapping[str | int, list[int]], signatures: Sequence[Signature]) -> _BodyGates:
    """Widgets and sensors stand on many good pages; most rules about them are for short pages or those without data."""
    narrowing = {index: _narrowing(signatures[index].when) for indices in gates.values() for index in indices}
    narrow = {literal for literal, indices in gates.items() if all(narrowing[index] for index in indices)}
    literals = [sorted(str(each) for each in gates if (each in narrow) is wanted) for wanted in (False, True)]
    groups, narrowed = (_together(each, gates, (_GROUP, _SUBGROUP, 1)) for each in literals)
    used = {index for literal in narrow for index in gates[literal]}
    return _BodyGates(groups, narrowed, tuple({narrowing[index]: None for index in sorted(used)}))


def _narrowing(condition: c.Condition) -> tuple[c.Condition, ...]:
    """The parts of a condition that rule it out before anything is looked for in the body."""
    parts = condition.parts if isinstance(condition, c.All) else ()
    return tuple(part for part in parts if isinstance(part, _NARROWING))


def _together(
    literals: Sequence[str], gates: Mapping[str | int, list[int]], sizes: Sequence[int]
) -> tuple[_Literals, ...]:
    size, *smaller = sizes
    if not smaller:
        return tuple(_Literals(marker_scanner(each), (), tuple(gates[each])) for each in literals)
    chunks = [literals[start : start + size] for start in range(0, len(literals), size)]
    return tuple(_Literals(Scanner.for_any(chunk), _together(chunk, gates, smaller)) for chunk in chunks)
