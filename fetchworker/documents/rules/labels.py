"""The words that stand beside values, in eight languages (``labels.yaml``), and how they are found in text (pure).

A text is folded character by character (lower case, no accents, O for a 0 between letters), so that places in the
folded text are places in the text. Between the words of a label anything but letters and digits may stand, or nothing:
OCR loses spaces.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from importlib.resources import files

import yaml

_ZERO = re.compile(r"(?<=[a-z])0(?=[a-z])")
#: labels of so few letters stand apart from digits too
_SHORT = 2
_ONE = re.compile(r"(?<=[a-z])1(?=[a-z])")


@lru_cache(maxsize=8192)
def fold(text: str) -> str:
    """A text in lower case and without marks, of the same length."""
    folded = "".join(map(_base, text))
    return _ONE.sub("l", _ZERO.sub("o", folded))


@lru_cache(maxsize=8192)
def compact(text: str) -> str:
    """The letters and digits of a text, folded: what is compared when case, punctuation and spaces do not count."""
    return "".join(char for char in "".join(map(_base, text)) if char.isalnum())


@cache
def _base(char: str) -> str:
    first = unicodedata.normalize("NFKD", char)[0].lower()
    return first if len(first) == 1 else char


@cache
def _data() -> dict[str, dict[str, list[str]]]:
    data = yaml.safe_load((files(__package__) / "labels.yaml").read_text(encoding="utf-8"))
    return {
        name: {language: [str(word) for word in found] for language, found in languages.items()}
        for name, languages in data.items()
    }


@cache
def _words() -> dict[str, list[str]]:
    return {name: [word for found in languages.values() for word in found] for name, languages in _data().items()}


def _by_language(name: str) -> dict[str, list[str]]:
    return _data()[name]


def names() -> list[str]:
    """What there are labels for."""
    return list(_words())


def words(name: str) -> list[str]:
    """The words of a label in all languages."""
    return _words()[name]


@cache
def pattern(*names: str) -> re.Pattern[str]:
    """What finds the labels of these names in a folded text, longer ones first."""
    folded = {fold(word) for name in names for word in _words()[name]}
    ordered = sorted(folded, key=lambda word: (-len(word), word))
    letters = [word for word in ordered if word[0].isalpha()]
    groups = (
        (r"(?<![^\W\d_])", [word for word in letters if len(word) > _SHORT]),
        (r"(?<![^\W_])", [word for word in letters if len(word) <= _SHORT]),  # no AG in the postcode 8AG
        ("", [word for word in ordered if not word[0].isalpha()]),
    )
    # what may stand before a label is asked once for all of a group: it is half of the time otherwise
    parts = [f"{before}(?:{'|'.join(map(_expression, group))})" for before, group in groups if group]
    return re.compile("|".join(parts))


def _expression(word: str) -> str:
    end = r"(?![^\W\d_])" if word[-1].isalpha() else ""
    return r"[\W_]*".join(re.escape(part) for part in word.split()) + end


@cache
def foreign(*names: str) -> re.Pattern[str]:
    """What finds the labels of these names that are not English as well."""
    english = {fold(word) for name in names for word in _by_language(name).get("en", ())}
    found = {
        fold(word)
        for name in names
        for language, words_ in _by_language(name).items()
        if language not in {"en", "any"}
        for word in words_
    }
    ordered = sorted(found - english, key=lambda word: (-len(word), word))
    return re.compile(rf"(?<![^\W\d_])(?:{'|'.join(map(_expression, ordered))})")


@lru_cache(maxsize=16384)
def find(text: str, *names: str) -> re.Match[str] | None:
    """The first label of these names in a text."""
    return pattern(*names).search(fold(text))


def longest(text: str, *names: str) -> re.Match[str] | None:
    """The longest label of these names in a text, of several as long the first."""
    return max(pattern(*names).finditer(fold(text)), key=lambda match: len(match[0]), default=None)


@lru_cache(maxsize=16384)
def alone(text: str, *names: str) -> re.Match[str] | None:
    """The label of these names that is all of a text but marks around it."""
    folded = fold(text)
    start = re.match(r"[\W_]*", folded)
    match = pattern(*names).match(folded, start.end() if start else 0)
    return match if match and not compact(text[match.end() :]) else None


@lru_cache(maxsize=16384)
def caption(text: str, *names: str) -> re.Match[str] | None:
    """The label of these names in a text where it stands as a caption does: before a colon, or behind a mark."""
    folded = fold(text)
    for match in pattern(*names).finditer(folded):
        before, after = folded[: match.start()].rstrip(), folded[match.end() :].lstrip()
        if after.startswith(":") or (before and before[-1] in "/|·•;(" and not compact(after[:1])):
            return match
    return None


def ends(text: str, *names: str) -> bool:
    """Whether a text ends with a label of these names."""
    return any(not compact(text[match.end() :]) for match in pattern(*names).finditer(fold(text)))


@lru_cache(maxsize=16384)
def begins(text: str, *names: str) -> re.Match[str] | None:
    """The label of these names that a text begins with, marks and short numbers before it aside."""
    folded = fold(text)
    skip = re.match(r"[^a-z]{0,6}", folded)
    return pattern(*names).match(folded, skip.end() if skip else 0)
