"""Signatures: what a refusal looks like, read from YAML files (``docs/outcomes.md`` tells the format)."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import yaml

from fetchworker.errors import ConfigError
from fetchworker.outcomes._grammar import condition
from fetchworker.outcomes._reading import (
    Where,
    mapping,
    non_empty_list,
    optional_text,
    outcome,
    pattern,
    share,
    slug,
    texts,
)
from fetchworker.outcomes.expected import Expectation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.resources.abc import Traversable

    from fetchworker.outcomes import conditions as c
    from fetchworker.outcomes.taxonomy import Outcome

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FILE_KEYS = frozenset({"vendor", "sites", "signatures", "expected"})
_SIGNATURE_KEYS = frozenset({"evidence", "outcome", "confidence", "vendor", "note", "when", "soft_if"})
_EXPECTATION_KEYS = frozenset({"sites", "requested", "note", "when"})


@dataclass(frozen=True, slots=True)
class Signature:
    """One rule: when ``when`` holds, the response is an ``outcome``. ``sites``: for these only (None: for all).

    ``soft_if``: when this holds as well, the page was served all the same, and the refusal stands beside its data.
    """

    evidence: str
    outcome: Outcome
    confidence: float
    when: c.Condition
    gates: c.Gates
    vendor: str | None = None
    sites: frozenset[str] | None = None
    soft_if: c.Condition | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """What the files say: signatures, those of single sites first, and the data that sites' pages carry."""

    signatures: tuple[Signature, ...]
    expected: tuple[Expectation, ...]


def load_rules(directory: Traversable | None = None) -> Rules:
    """Read every ``*.yaml`` of a directory (default: the ones that come with the package).

    Raises:
        ConfigError: a file is broken; the message names the file and the key.
    """
    directory = directory or files(__package__) / "signatures"
    sources = sorted((item for item in directory.iterdir() if item.name.endswith(".yaml")), key=lambda item: item.name)
    read = [read_rules(item.read_text("utf-8"), item.name) for item in sources]
    signatures = [signature for rules in read for signature in rules.signatures]
    _refuse_twins(signatures)
    return Rules(
        tuple(sorted(signatures, key=lambda signature: signature.sites is None)),
        tuple(expectation for rules in read for expectation in rules.expected),
    )


def load_signatures(directory: Traversable | None = None) -> tuple[Signature, ...]:
    """The signatures of :func:`load_rules`."""
    return load_rules(directory).signatures


def read_rules(text: str, file: str) -> Rules:
    """What one file's text says."""
    where = Where(file)
    try:
        data = yaml.load(text, _LOADER)  # noqa: S506 - both loaders are the safe ones
    except yaml.YAMLError as error:
        raise where.error(f"no YAML: {error}") from error
    head = mapping(data, where, _FILE_KEYS)
    vendor = optional_text(head, "vendor", where)
    sites = _sites(head, where)
    expected = _rows(head, "expected", where) if "expected" in head else []
    rows = [] if expected and "signatures" not in head else _rows(head, "signatures", where)
    return Rules(
        tuple(_signature(row, place, vendor, sites) for row, place in rows),
        tuple(_expectation(row, place, sites) for row, place in expected),
    )


def read_signatures(text: str, file: str) -> list[Signature]:
    """The signatures of one file's text."""
    return list(read_rules(text, file).signatures)


def _sites(data: Mapping[str, Any], where: Where) -> frozenset[str] | None:
    return frozenset(texts(data["sites"], where.at("sites"))) if "sites" in data else None


def _rows(head: Mapping[str, Any], key: str, where: Where) -> list[tuple[Any, Where]]:
    place = where.at(key)
    return [(row, place.at(i)) for i, row in enumerate(non_empty_list(head.get(key), place))]


def _refuse_twins(signatures: Sequence[Signature]) -> None:
    seen: set[str] = set()
    for signature in signatures:
        if signature.evidence in seen:
            raise ConfigError(f"signatures: evidence {signature.evidence!r} stands twice", key="evidence")
        seen.add(signature.evidence)


def _signature(data: Any, where: Where, vendor: str | None, sites: frozenset[str] | None) -> Signature:
    row = mapping(data, where, _SIGNATURE_KEYS, required=("evidence", "outcome", "confidence", "when"))
    when = condition(row["when"], where.at("when"))
    gates = when.gates()
    if not gates:
        raise where.at("when").error(
            "nothing in it can trigger: needs a status but 200, url, title, header, cookie, body, regex, json or data"
        )
    return Signature(
        evidence=slug(row["evidence"], where.at("evidence")),
        outcome=outcome(row["outcome"], where.at("outcome")),
        confidence=share(row["confidence"], where.at("confidence")),
        when=when,
        gates=gates,
        vendor=optional_text(row, "vendor", where) or vendor,
        sites=sites,
        soft_if=condition(row["soft_if"], where.at("soft_if")) if "soft_if" in row else None,
    )


def _expectation(data: Any, where: Where, sites: frozenset[str] | None) -> Expectation:
    row = mapping(data, where, _EXPECTATION_KEYS, required=("when",))
    named = _sites(row, where) or sites
    if named is None:
        raise where.at("sites").error("is missing: no two sites have the same data")
    return Expectation(
        sites=named,
        requested=pattern(row["requested"], where.at("requested")) if "requested" in row else None,
        when=condition(row["when"], where.at("when")),
    )
