"""Days as documents print them: the page's own evidence tells whether the day or the month stands first (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from fetchworker.reading.dates import month

if TYPE_CHECKING:
    from collections.abc import Iterable

_YEAR = r"(?P<y>(?:19|20)\d\d(?=\D|$|\d{1,2}:\d\d)|\d\d(?=\D|$|\d{1,2}:\d\d))"
_NAME = r"(?P<name>[A-Za-zäéûôçãÄÉ]{3,11})"
_MARK = r"\s?[./\-]\s?"
_FORMS = (
    re.compile(
        r"(?<!\d)(?P<y>(?:19|20)\d\d)"
        + _MARK
        + r"(?P<m>0?[1-9]|1[0-2])"
        + _MARK
        + r"(?P<d>0?[1-9]|[12]\d|3[01])(?=\D|$|\d\d:\d\d)"
    ),
    re.compile(r"(?<![\d.,/])(?P<a>\d{1,2})\s?(?P<mark>[./\-])\s?(?P<b>\d{1,2})\s?(?P=mark)\s?" + _YEAR),
    re.compile(
        r"(?<!\d)(?P<d>\d{1,2})(?:\.|st|nd|rd|th|er|º|°)?(?:\s?(?:de|of)\s|[\s\-/.,'’])?\s?"
        + _NAME
        + r"\.?,?(?:\s?de[l]?\s|[\s\-/.,'’])?\s?"
        + _YEAR
    ),
    re.compile(
        r"(?<![^\W\d_])" + _NAME + r"\.?\s?(?P<d>\d{1,2})(?:st|nd|rd|th)?(?:\s?,\s?|\s)(?P<y>(?:19|20)\d\d)(?!\d)"
    ),
    re.compile(r"(?<!\d)(?P<y>20\d\d)\s?年\s?(?P<m>\d{1,2})\s?月\s?(?P<d>\d{1,2})"),
)
#: letters that OCR reads for digits in a day
_ZERO = re.compile(r"(?<=[\d./-])[OoQ](?=[\d./-])|(?<![A-Za-z])[OoQ](?=\d[./-]\d)|(?<=\d)[OoQ](?=\s|$)")
_ONE = re.compile(r"(?<=[\d./-])[lI|](?=[\d./-])|(?<![A-Za-z])[lI|](?=\d[./-]\d)")

#: and the other way round: 0ct
_LETTER = re.compile(r"(?<!\w)0(?=[A-Za-z]{2})")


@dataclass(frozen=True, slots=True)
class Found:
    """A day in a text: its numbers as written; ``name`` is set where a month's name makes the order plain."""

    start: int
    end: int
    first: int
    second: int
    year: int
    plain: bool
    mark: str = ""

    @property
    def ambiguous(self) -> bool:
        """Whether day and month could be each other."""
        return not self.plain and self.first != self.second and max(self.first, self.second) <= 12

    def iso(self, *, day_first: bool) -> str | None:
        """The day as ``YYYY-MM-DD``, None where there is none such."""
        day, number = (self.first, self.second) if self.plain or day_first else (self.second, self.first)
        try:
            return date(self.year, number, day).isoformat()
        except ValueError:
            pass
        try:  # the numbers themselves contradict the page's order
            return date(self.year, day, number).isoformat() if not self.plain else None
        except ValueError:
            return None


def find(text: str) -> list[Found]:
    """The days in a text, in order."""
    fixed = _LETTER.sub("O", _ONE.sub("1", _ZERO.sub("0", text)))
    found: list[Found] = []
    for form in _FORMS:
        for match in form.finditer(fixed):
            day = _found(match)
            if day and not any(day.start < other.end and other.start < day.end for other in found):
                found.append(day)
    return sorted(found, key=lambda day: day.start)


#: what is left of the confidence in a day that could be another one
UNPROVED = 0.8


def day_first(days: Iterable[Found]) -> tuple[bool, bool]:
    """Whether the day stands first in a document's numbers, and whether anything there proves it."""
    ambiguous = [day for day in days if not day.plain]
    first = sum(day.first > 12 >= day.second for day in ambiguous)  # months
    second = sum(day.second > 12 >= day.first for day in ambiguous)
    dotted = sum("." in day.mark for day in ambiguous)
    if first != second:
        return first > second, True
    return True, bool(dotted)


def _found(match: re.Match[str]) -> Found | None:
    parts = match.groupdict()
    year = int(parts["y"])
    year += 0 if year > 99 else 2000 if year < 70 else 1900  # two digits
    if parts.get("a"):
        return _numbers(match, int(parts["a"]), int(parts["b"]), year)
    number = int(parts["m"]) if parts.get("m") else month(_plain_name(parts["name"]))
    if not number or not _is_name(parts.get("name")):
        return None
    try:
        date(year, number, int(parts["d"]))
    except ValueError:
        return None
    return Found(match.start(), match.end(), int(parts["d"]), number, year, plain=True)


def _numbers(match: re.Match[str], first: int, second: int, year: int) -> Found | None:
    if not (0 < first <= 31 and 0 < second <= 31 and min(first, second) <= 12):
        return None
    return Found(match.start(), match.end(), first, second, year, plain=False, mark=match["mark"].strip())


_MONTHS = re.compile(
    r"(?:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|nov|dec|jän|fév|fev|mär|mrz|mrt|maa|avr|abr|mei|juin|juil|aoû|aou|"
    r"okt|dez|déc|ene|ago|dic|gen|mag|giu|lug|set|ott|out|mac|ogos|jun|jula|disember|pebruari)",
    re.IGNORECASE,
)
#: Malay months that other languages' beginnings do not cover
_MALAY = {"mac": "mar", "ogos": "aug", "disember": "dec", "julai": "jul", "ogo": "aug", "dis": "dec"}


def _plain_name(name: str) -> str:
    return _MALAY.get(name.lower(), name)


def _is_name(name: str | None) -> bool:
    return name is None or name.lower() in _MALAY or bool(_MONTHS.match(name))
