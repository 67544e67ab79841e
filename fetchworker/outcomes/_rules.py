"""The signatures that count for one site, arranged by what triggers them."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from fetchworker.outcomes._scan import Scanner
from fetchworker.outcomes._view import JSON_LIMIT, MARKUP, Content
from fetchworker.outcomes.conditions import GateKind
from fetchworker.outcomes.signatures import Rules, Signature, load_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fetchworker.outcomes._view import View
    from fetchworker.outcomes.expected import Expectation
    from fetchworker.outcomes.taxonomy import Verdict

Indices = tuple[int, ...]
#: literals in one scan: its fast algorithm takes up to some 64
_GROUP = 32


@dataclass(frozen=True, slots=True)
class _BodyGates:
    """Signatures by the literals they need: one scan rules out a group, in a group that hits each is asked alone."""

    groups: tuple[tuple[Scanner, tuple[tuple[Scanner, Indices], ...]], ...]

    def candidates(self, haystack: bytes | str) -> Iterator[int]:
        for group, members in self.groups:
            if group.hits(haystack):
                for literal, indices in members:
                    if literal.hits(haystack):
                        yield from indices


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
            indices.update(self.body.candidates(view.haystack))
        elif view.content is Content.JSON and len(view.body) <= JSON_LIMIT:
            indices.update(self.json.candidates(view.haystack))
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
        body=_body_gates(gates[GateKind.BODY]),
        json=_body_gates(gates[GateKind.JSON]),
        by_data=tuple(gates[GateKind.DATA].get("", ())),
    )


def _text_gates(gates: Mapping[str | int, list[int]]) -> _TextGates:
    pattern = re.compile("|".join(f"(?:{pattern})" for pattern in gates), re.IGNORECASE)
    return _TextGates(pattern, tuple({index for indices in gates.values() for index in indices}))


def _body_gates(gates: Mapping[str | int, list[int]]) -> _BodyGates:
    literals = sorted(map(str, gates))
    chunks = [literals[start : start + _GROUP] for start in range(0, len(literals), _GROUP)]
    return _BodyGates(tuple((Scanner.for_any(chunk), _members(chunk, gates)) for chunk in chunks))


def _members(literals: Iterable[str], gates: Mapping[str | int, list[int]]) -> tuple[tuple[Scanner, Indices], ...]:
    return tuple((Scanner.for_any([literal]), tuple(gates[literal])) for literal in literals)
