"""Days and instants as pages write them, in the languages of Western sites (pure).

Numbers alone are read only where their order is beyond doubt: ISO, ``31.12.2026``, year first, or ``31/12/2026``.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

#: beginnings of month names in en, de, fr, it, es, pt, nl, pl, sv/da/no, in lower case and without marks
_MONTHS = (
    ("jan", "janv", "gen", "ene", "sty", "jän"),
    ("feb", "fév", "fev", "lut", "févr"),
    ("mar", "mär", "mrz", "mrt", "maa", "mars"),
    ("apr", "avr", "abr", "kwi"),
    ("may", "mai", "mag", "mei", "maj", "mayo", "maio"),
    ("jun", "juin", "giu", "cze", "juni"),
    ("jul", "juil", "lug", "lip", "juli"),
    ("aug", "aoû", "aou", "ago", "sie"),
    ("sep", "sept", "set", "wrz"),
    ("oct", "okt", "ott", "out", "paź", "paz"),
    ("nov", "lis"),
    ("dec", "dez", "déc", "dic", "gru", "des"),
)
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_LONGEST = max(map(len, _MONTH_OF))

_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])"
_NAME = r"(?P<name>[^\W\d_]{3,12})"
_MONTH = r"(?P<month>0?[1-9]|1[0-2])"
_FORMS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<!\d){_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)",
        rf"(?<!\d){_DAY}(?:\.|st|nd|rd|th|er)?(?:\s|\bde\b|-){{1,6}}{_NAME}\.?,?(?:\s|\bde\b|-){{1,6}}{_YEAR}(?!\d)",
        rf"(?<!\w){_NAME}\.?\s{{1,3}}{_DAY}(?:st|nd|rd|th)?,?\s{{1,3}}{_YEAR}(?!\d)",
        rf"(?<!\d){_YEAR}\s?[年/.]\s?{_MONTH}\s?[月/.]\s?{_DAY}(?!\d)",
        rf"(?<!\d){_DAY}\.\s?{_MONTH}\.\s?{_YEAR}(?!\d)",
        rf"(?<!\d)(?P<day>1[3-9]|2\d|3[01])/{_MONTH}/{_YEAR}(?!\d)",
    )
)
_MONTH_FIRST = re.compile(rf"\s*{_MONTH}/{_DAY}/{_YEAR}\s*\Z")
_COMPACT = re.compile(rf"{_YEAR}(?P<month>\d\d)(?P<day>\d\d)\Z")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?\s?(?:Z|[+-]\d\d:?\d\d)\Z")


def day(text: str | None) -> str | None:
    """The first day in a text as ``YYYY-MM-DD``: ``Sold  Feb 18, 2026``, ``24. Jan. 2026``, ``24 janv. 2026``."""
    for form in _FORMS:
        for match in form.finditer(text or ""):
            found = _date(match)
            if found is not None:
                return found
    return None


def month_first(text: Any) -> str | None:
    """The day that ``10/22/2026`` is on a site that always writes the month first."""
    match = _MONTH_FIRST.match(text) if isinstance(text, str) else None
    return _date(match) if match else None


def compact(value: Any) -> str | None:
    """The day that a number or text such as ``20260122`` is."""
    match = _COMPACT.match(str(value)) if isinstance(value, int | str) else None
    return _date(match) if match else None


def utc(value: Any) -> str | None:
    """An ISO-8601 text with its offset as UTC with ``Z``; without an offset it is no instant."""
    if not isinstance(value, str) or not _INSTANT.match(value.strip()):
        return None
    try:
        moment = datetime.fromisoformat(value.strip().replace(" ", "T", 1).replace(" ", "")).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment.year >= 1000 else None  # noqa: PLR2004  # %Y pads nothing


def month(name: str) -> int | None:
    """The number of a month by its name or abbreviation."""
    name = name.lower()
    return next((_MONTH_OF[name[:size]] for size in range(_LONGEST, 2, -1) if name[:size] in _MONTH_OF), None)


def _date(match: re.Match[str]) -> str | None:
    parts = match.groupdict()
    number = int(parts["month"]) if parts.get("month") else month(parts["name"])
    try:
        return date(int(parts["year"]), number or 0, int(parts["day"])).isoformat()
    except ValueError:
        return None
