"""Counts as people read them: ``1,234``, ``1.300``, ``59.8K``, ``3,4 mil``, ``12万`` (pure)."""

from __future__ import annotations

import re
from decimal import Decimal

from fetchworker.items import LARGEST

#: what follows the digits and multiplies them; words of the languages that sites abbreviate in
_SCALES = {
    "k": 10**3, "tsd.": 10**3, "tsd": 10**3, "mila": 10**3, "mil": 10**3, "tys.": 10**3, "tys": 10**3,
    "тыс.": 10**3, "тыс": 10**3, "тис.": 10**3, "тис": 10**3, "tis.": 10**3, "bin": 10**3, "rb": 10**3, "mii": 10**3,
    "mi": 10**6, "млн": 10**6, "jt": 10**6, "tr": 10**6, "mn": 10**6,
    "m": 10**6, "mio.": 10**6, "mio": 10**6, "mln": 10**6, "mill.": 10**6, "millions": 10**6, "million": 10**6,
    "b": 10**9, "bn": 10**9, "mrd.": 10**9, "mrd": 10**9, "md": 10**9,
}  # fmt: skip
#: scales of scripts that put no space behind them: ``1.2万人``
_SIGNS = {"千": 10**3, "천": 10**3, "万": 10**4, "萬": 10**4, "만": 10**4, "億": 10**8, "亿": 10**8, "억": 10**8}
_WORDS = "|".join(re.escape(word) for word in sorted(_SCALES, key=len, reverse=True))
_SPACE = "[ \u00a0\u202f]"
#: digits with marks between them; a space is one only before three digits
_DIGITS = rf"\d(?:[.,'\u2019]?\d|{_SPACE}(?=\d{{3}}(?!\d))\d){{0,24}}"
_COUNT = re.compile(
    rf"(?P<digits>{_DIGITS})(?:{_SPACE}?(?:(?P<scale>{_WORDS})(?!\w)|(?P<sign>[{''.join(_SIGNS)}])))?", re.IGNORECASE
)
_PLAIN = re.compile(r"\d+\Z")
_GROUPED = re.compile(r"\d{1,3}(?P<mark>[.,'\u2019 \u00a0\u202f])\d{3}(?:(?P=mark)\d{3})*\Z")
_DECIMAL = re.compile(r"(?P<whole>\d+)[.,](?P<part>\d{1,2})\Z")


def count(text: str | None) -> int | None:
    """The count that a text is, None when it is anything else (``1.5``, ``12 bids``)."""
    match = _COUNT.fullmatch((text or "").strip())
    return _number(match) if match else None


def first_count(text: str | None) -> int | None:
    """The first count in a text, such as ``12 bids`` or ``(2,834)``."""
    match = _COUNT.search(text or "")
    return _number(match) if match else None


def _number(match: re.Match[str]) -> int | None:
    number = _scaled(match)
    return number if number is not None and number <= LARGEST else None


def _scaled(match: re.Match[str]) -> int | None:
    digits, scale = match["digits"], _SIGNS.get(match["sign"] or "", 1)
    if match["scale"]:
        scale = _SCALES[match["scale"].lower()]
    if _PLAIN.match(digits) or _GROUPED.match(digits):
        return int(re.sub(r"\D", "", digits)) * scale
    decimal = _DECIMAL.match(digits) if scale > 1 else None
    return int(Decimal(f"{decimal['whole']}.{decimal['part']}") * scale) if decimal else None
