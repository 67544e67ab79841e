"""From ``sites.yaml`` to :class:`Sites`, or to a list of all that is wrong with it."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from fetchworker.errors import ConfigError
from fetchworker.sites import yamlfile
from fetchworker.sites.budget import Budget
from fetchworker.sites.model import Backoff, SiteConfig, Sites
from fetchworker.sites.pooling import Pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pydantic_core import ErrorDetails

    from fetchworker.sites.yamlfile import Document, KeyPath

_SITE = re.compile(r"[a-z][a-z0-9_]{0,39}")
_TOP = ("defaults", "sites")
#: keys of a site that hold mappings
_SECTIONS: dict[str, type[BaseModel]] = {
    "backoff": Backoff, "budget": Budget, "pool": Pool
}  # fmt: skip
_LONG = 60  # characters of a wrong value that an error shows

Faults = dict["KeyPath", str]
"""Key path → what is wrong there."""


def load_sites(path: Path) -> Sites:
    """Read and check ``sites.yaml``.

    Raises:
        ConfigError: one line per fault, with the file, the line, the key and what to write instead.
    """
    document = yamlfile.read(path)
    faults: Faults = {}
    defaults, entries = _sections(document, faults)
    known_bad = _default_faults(defaults)
    faults |= known_bad
    made = {site: _site(site, defaults, own, faults, known_bad) for site, own in entries.items()}
    if faults:
        raise _error(document, faults)
    sites = {site: config for site, config in made.items() if config is not None}
    return Sites(sites, path=path, warnings=_warnings(document, entries, sites))


def _sections(document: Document, faults: Faults) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    data = document.data
    if not isinstance(data, dict) or not data:
        faults[()] = "is empty" if data in (None, {}) else "must be a mapping with the keys defaults and sites"
        return {}, {}
    for key in data.keys() - set(_TOP):
        hint = nearest(key, _TOP) or (
            "a site stands under sites" if isinstance(data[key], dict) else "known: defaults, sites"
        )
        faults[(key,)] = f"unknown key; {hint}"
    defaults = _mapping(data.get("defaults"), ("defaults",), faults)
    sites = _mapping(data.get("sites"), ("sites",), faults)
    if not sites and not faults:
        faults[("sites",)] = "names no site; write one entry for each spider, such as instagram: {}"
    for site in sites:
        if not _SITE.fullmatch(site):
            faults["sites", site] = "is no site name; write small letters, digits and underscores, a letter first"
    return defaults, {site: _mapping(own, ("sites", site), faults) for site, own in sites.items()}


def _mapping(value: Any, at: KeyPath, faults: Faults) -> dict[str, Any]:
    """The value when it is a mapping; else an empty one, and a fault unless nothing was written."""
    if isinstance(value, dict):
        return value
    if value is not None:
        faults[at] = f"must be a mapping of keys and values{_shown(value)}"
    return {}


def _default_faults(defaults: dict[str, Any]) -> Faults:
    faults: Faults = {}
    _validated(("defaults",), defaults, faults)
    return faults


def _site(
    site: str, defaults: dict[str, Any], own: dict[str, Any], faults: Faults, known_bad: Faults
) -> SiteConfig | None:
    found: Faults = {}
    config = _validated(("sites", site), _merged(defaults, own), found)
    # what comes from the defaults is told once, there
    faults.update(
        {at: text for at, text in found.items() if ("defaults", *at[2:]) not in known_bad or _has(own, at[2:])}
    )
    return config


def _validated(at: KeyPath, values: Mapping[str, Any], faults: Faults) -> SiteConfig | None:
    try:
        return SiteConfig.model_validate(values)
    except ValidationError as exc:
        errors = exc.errors(include_url=False)
    faults.update({(*at, *error["loc"]): _fault(error) for error in errors if not _echo(error)})
    return None


def _merged(defaults: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The site's own values over the defaults, section by section."""
    merged = dict(defaults)
    for key, value in own.items():
        under = merged.get(key)
        merged[key] = _merged(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return merged


def _has(own: Any, key: KeyPath) -> bool:
    for part in key:
        if not isinstance(own, dict) or part not in own:
            return False
        own = own[part]
    return True


# ── faults ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def nearest(word: str, words: Iterable[str]) -> str | None:
    """``did you mean …?`` when one of ``words`` is like ``word``."""
    near = difflib.get_close_matches(word.lower(), list(words), n=1, cutoff=0.7)
    return f"did you mean {near[0]}?" if near else None


def _echo(error: ErrorDetails) -> bool:
    """Pydantic calls a list of which every entry is wrong too short as well."""
    return error["type"] == "too_short" and bool(error["input"])


def _fault(error: ErrorDetails) -> str:
    place = error["loc"]
    model = _SECTIONS.get(str(place[0]), SiteConfig) if len(place) > 1 else SiteConfig
    if error["type"] == "extra_forbidden":
        fields = list(model.model_fields)
        return f"unknown key; {nearest(str(place[-1]), fields) or 'known: ' + ', '.join(fields)}"
    if error["type"] == "value_error":
        return error["msg"].removeprefix("Value error, ")
    return f"{_what(error)}{_shown(error['input'])}{_help(model, place, error)}"


def _what(error: ErrorDetails) -> str:
    """Pydantic's message in the words of a YAML file."""
    if error["type"] == "too_short":
        return "must have an entry"
    if error["type"] == "string_pattern_mismatch":
        return "is no name"
    text = error["msg"].replace("Input should", "must").replace("valid tuple", "list")
    return text.partition(", unable to")[0].partition(", got a")[0]


def _help(model: type[BaseModel], place: KeyPath, error: ErrorDetails) -> str:
    """The nearest right word, or what the key is for."""
    value = error["input"]
    if error["type"] == "literal_error" and isinstance(value, str):
        near = nearest(value, re.findall(r"'(\w+)'", error["ctx"]["expected"]))
        if near:
            return f"; {near}"
    if isinstance(value, bool):
        return "; YAML reads yes, no, on and off as true and false: put a word in quotes"
    name = str(place[0 if model is SiteConfig else 1])
    return f"; write {model.model_fields[name].description}"


def _shown(value: Any) -> str:
    shown = repr(value)
    return f", not {shown if len(shown) <= _LONG else shown[:_LONG] + '...'}"


def _error(document: Document, faults: Faults) -> ConfigError:
    told = sorted((document.line(at), yamlfile.dotted(at), text) for at, text in faults.items())
    lines = [f"{document.path}, line {line}: {f'{key}: ' if key else ''}{text}" for line, key, text in told]
    return ConfigError("\n".join(lines), file=str(document.path), keys=[key for _, key, _ in told])


# ── what is allowed but odd ──────────────────────────────────────────────────────────────────────────────────────────


def _warnings(
    document: Document, entries: Mapping[str, dict[str, Any]], sites: Mapping[str, SiteConfig]
) -> tuple[str, ...]:
    return tuple(
        f"{document.path}, line {document.line(('sites', site))}: sites.{site}: {text}"
        for site, config in sites.items()
        for text in _oddities(config, entries[site])
    )


def _oddities(config: SiteConfig, own: Mapping[str, Any]) -> Iterable[str]:
    if config.proxy == "none" and own.get("on_block") == "rotate":
        yield "on_block rotate with proxy none changes the cookies only, the address stays the same"
    if config.session_ttl is not None and config.session_ttl < config.timeout:
        yield "session_ttl is shorter than timeout: a session can end during its first request"
    pool = config.pool
    if pool is not None and pool.concurrency is not None and pool.concurrency > pool.max_total:
        yield "pool.concurrency is greater than pool.max_total: it counts only where there are several jars or tiers"
