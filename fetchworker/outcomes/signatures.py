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
    share,
    slug,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.resources.abc import Traversable

    from fetchworker.outcomes import conditions as c
    from fetchworker.outcomes.taxonomy import Outcome

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FILE_KEYS = frozenset({"vendor", "sites", "signatures"})
_SIGNATURE_KEYS = frozenset({"evidence", "outcome", "confidence", "vendor", "note", "when"})


@dataclass(frozen=True, slots=True)
class Signature:
    """One rule: when ``when`` holds, the response is an ``outcome``. ``sites``: for these only (None: for all)."""

    evidence: str
    outcome: Outcome
    confidence: float
    when: c.Condition
    gates: c.Gates
    vendor: str | None = None
    sites: frozenset[str] | None = None


def load_signatures(directory: Traversable | None = None) -> tuple[Signature, ...]:
    """Read every ``*.yaml`` of a directory (default: the ones that come with the package), site files first.

    Raises:
        ConfigError: a file is broken; the message names the file and the key.
    """
    directory = directory or files(__package__) / "signatures"
    sources = sorted((item for item in directory.iterdir() if item.name.endswith(".yaml")), key=lambda item: item.name)
    signatures = [signature for item in sources for signature in read_signatures(item.read_text("utf-8"), item.name)]
    _refuse_twins(signatures)
    return tuple(sorted(signatures, key=lambda signature: signature.sites is None))


def read_signatures(text: str, file: str) -> list[Signature]:
    """The signatures of one file's text."""
    where = Where(file)
    try:
        data = yaml.load(text, _LOADER)  # noqa: S506 - both loaders are the safe ones
    except yaml.YAMLError as error:
        raise where.error(f"no YAML: {error}") from error
    head = mapping(data, where, _FILE_KEYS)
    vendor = optional_text(head, "vendor", where)
    sites = frozenset(texts(head["sites"], where.at("sites"))) if "sites" in head else None
    rows = non_empty_list(head.get("signatures"), where.at("signatures"))
    return [_signature(row, where.at("signatures").at(i), vendor, sites) for i, row in enumerate(rows)]


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
            "nothing in it can trigger: needs a status but 200, url, title, header, cookie, body, regex or json"
        )
    return Signature(
        evidence=slug(row["evidence"], where.at("evidence")),
        outcome=outcome(row["outcome"], where.at("outcome")),
        confidence=share(row["confidence"], where.at("confidence")),
        when=when,
        gates=gates,
        vendor=optional_text(row, "vendor", where) or vendor,
        sites=sites,
    )
