"""Reading one Set-Cookie line (RFC 6265bis 5.6) and its dates (RFC 6265 5.1.1). Nothing here raises on bad input."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, NamedTuple

MAX_PAIR = 4096  #: bytes of name and value together; longer cookies are ignored
MAX_ATTRIBUTE = 1024  #: bytes of an attribute's value; longer attributes are ignored
MAX_AGE = 400 * 86_400  #: seconds; no cookie lives longer (RFC 6265bis 5.5)

#: What makes a browser throw the whole line away; what could break a header is among it
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_BLANK = " \t"
_DELIMITERS = re.compile(r"[\x09\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?![0-9])")
_DAY = re.compile(r"([0-9]{1,2})(?![0-9])")
_YEAR = re.compile(r"([0-9]{2,4})(?![0-9])")
_SECONDS = re.compile(r"-?[0-9]+\Z")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FIRST_YEAR = 1601
_CENTURY = 70  # two-digit years from here on are 19xx


class SetCookie(NamedTuple):
    """A line as read. ``domain`` and ``path`` are None when absent, ``max_age`` and ``expires`` are seconds."""

    name: str
    value: str
    domain: str | None = None
    path: str | None = None
    secure: bool = False
    http_only: bool = False
    same_site: str = ""
    max_age: int | None = None
    expires: float | None = None

    def expiry(self, now: float) -> float | None:
        """When the cookie ends (POSIX time), Max-Age before Expires; None: with the session."""
        if self.max_age is not None:
            return now + min(self.max_age, MAX_AGE) if self.max_age > 0 else float("-inf")
        return None if self.expires is None else min(self.expires, now + MAX_AGE)


def latin1(text: str | bytes) -> str:
    """Header bytes as text, one character a byte; text that is not such already is taken as UTF-8."""
    if isinstance(text, bytes):
        return text.decode("latin-1")
    if text.isascii() or max(text) <= "\xff":
        return text
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def parse_set_cookie(line: str | bytes) -> SetCookie | None:
    """What a Set-Cookie line says, or None when a browser would ignore it as a whole."""
    text = latin1(line)
    if CONTROL.search(text):
        return None
    pair, *attributes = text.split(";")
    name, equals, value = pair.partition("=")
    if not equals:
        name, value = "", pair
    name, value = name.strip(_BLANK), value.strip(_BLANK)
    if not (name or value) or len(name) + len(value) > MAX_PAIR:
        return None
    return SetCookie(name, value)._replace(**_attributes(attributes))


def _attributes(parts: list[str]) -> dict[str, Any]:
    """The attributes that are understood; of two of a kind the later one counts."""
    found: dict[str, Any] = {}
    for part in parts:
        name, _, value = part.partition("=")
        value = value.strip(_BLANK)
        if len(value) <= MAX_ATTRIBUTE:
            _attribute(found, name.strip(_BLANK).lower(), value)
    return found


def _attribute(found: dict[str, Any], name: str, value: str) -> None:
    if name == "secure":
        found["secure"] = True
    elif name == "httponly":
        found["http_only"] = True
    elif name == "samesite":
        found["same_site"] = value.lower() if value.lower() in {"strict", "lax", "none"} else ""
    elif name == "domain":
        found["domain"] = value.removeprefix(".").lower() or None
    elif name == "path":
        found["path"] = value if value.startswith("/") else None
    elif name == "max-age" and _SECONDS.match(value):
        found["max_age"] = int(value)
    elif name == "expires" and (moment := parse_date(value)) is not None:
        found["expires"] = moment


def parse_date(text: str) -> float | None:
    """A cookie date in any of the forms that servers send, as POSIX time; None when it is none."""
    clock = day = month = year = None
    for token in _DELIMITERS.split(text):
        if clock is None and (clock := _TIME.match(token)):
            continue
        if day is None and (day := _DAY.match(token)):
            continue
        if month is None and token[:3].lower() in _MONTHS:
            month = _MONTHS.index(token[:3].lower()) + 1
        elif year is None:
            year = _YEAR.match(token)
    if clock is None or day is None or month is None or year is None:
        return None
    return _moment(_full_year(year[1]), month, int(day[1]), clock)


def _full_year(digits: str) -> int:
    year = int(digits)
    if year >= 100:  # noqa: PLR2004 - years of two digits stand for this century or the last
        return year
    return year + (1900 if year >= _CENTURY else 2000)


def _moment(year: int, month: int, day: int, clock: re.Match[str]) -> float | None:
    if year < _FIRST_YEAR:
        return None
    try:
        return datetime(year, month, day, int(clock[1]), int(clock[2]), int(clock[3]), tzinfo=UTC).timestamp()
    except ValueError:
        return None
