"""Amounts as documents print them: local separators, signs before and after, and what OCR makes of them (pure)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import TYPE_CHECKING

from fetchworker.documents.rules import dates
from fetchworker.reading import money as texts

if TYPE_CHECKING:
    from collections.abc import Iterable

_SPACES = "[ \u00a0\u202f]"
#: letters that OCR reads for digits, where digits or marks stand beside them
_ZERO = re.compile(
    r"(?<![A-Za-z])[OoQD](?=\s?[.,]\s?\d\d(?!\d))|(?<=[\d.,])[OoQD](?=[\d.,OoQ])|(?<=\d[.,])[OoQ]|(?<=\d[.,]\d)[OoQ]"
)
_ONE = re.compile(r"(?<=[\d.,])[lI|](?=[\d.,])|(?<![A-Za-z])[lI](?=[.,]\d\d(?!\d))")
_SIGN = r"[-\u2212\u2013]"
_NUMBER = re.compile(
    rf"(?P<minus>{_SIGN}{_SPACES}?|\((?=[^()]{{1,24}}\)))?"
    r"(?P<sign>(?:RM|Rs\.?|Rp\.?|(?:Mex|MX|US|AU|CA|NZ|HK|NT)\s?\$|[ACRS]\$|[$€£₹¥₺₩₫₱])\s?)?"
    rf"(?P<minus2>{_SIGN})?"
    r"(?<![\d.,])"
    r"(?P<number>\d{1,2}(?:,\d\d)+,\d{3}(?!\d)(?:\.\d{1,2}(?!\d))?|"  # lakhs and crores: 1,20,000.00
    r"\d{1,3}(?:[.,'\u2019]\s?\d{3}|"
    + _SPACES
    + r"\d{3}(?!\d))+(?:\s?[.,]\s?\d{1,2}(?!\d))?|\d{1,9}(?:\s?[.,]\s?\d{1,4}(?![\d]))?|[.,]\d\d(?!\d))"
    rf"(?![\d%])(?P<after>{_SIGN}(?![\d\w]))?"
)
_DECIMALS = re.compile(r"[.,]\s?(\d{1,4})$")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:[.,'\u2019]\d{3})+")
_RATE = re.compile(r"[.,]\d{1,3}\s?%")
#: a word before a sign whose space OCR lost; the one letter of R$ is none
_GLUED = re.compile(r"[^\W\d_]{3}$")
#: signs behind an amount
_BEHIND = re.compile(r"\s?(?:[€£₩₫円元]|kr\b)")
#: a day has two marks; one that was cut or misread still has them: 19-4-2026, 19-4-
_DAY = re.compile(r"\d\s?[./\-]\s?\d{1,2}\s?[./\-]\s?\d{2}")
_CUT = re.compile(r"(?<![\d.,])\d{1,2}\s?([-/])\s?\d{1,2}\s?\1\s?(?:\d{2,4})?(?!\d)|(?<!\d)\d{4}-\d{1,2}-\d{1,2}(?!\d)")
_NAMED = re.compile(r"[^\W\d_]{3}")
#: the decimal mark of a document whose amounts have no decimals
WHOLE = ""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of a text: its value, where it stands, and how surely it is money (it has decimals or a sign)."""

    value: Decimal
    start: int
    end: int
    decimals: int
    signed: bool
    #: whether it is written in groups where no amount of the document has decimals
    whole: bool = False

    @property
    def money(self) -> bool:
        return self.decimals == 2 or self.signed or self.whole  # cents


def repaired(text: str) -> str:
    """A text whose letters between digits are digits again, of the same length."""
    return _ONE.sub("1", _ZERO.sub("0", text))


def decimal_mark(texts_: Iterable[str]) -> str:
    """The mark that most numbers of a document have before two last digits, ``WHOLE`` where none has."""
    marks: Counter[str] = Counter()
    for text in texts_:
        days = _days(text)
        found = re.finditer(r"\d([.,])\d\d(?![\d.,%])", text)
        marks.update(mark[1] for mark in found if not any(start <= mark.start() < end for start, end in days))
    return WHOLE if not marks else "," if marks[","] > marks["."] else "."


def amounts(text: str, mark: str = ".") -> list[Amount]:
    """The numbers of a text, in order; percentages, days, and numbers grown together with letters, are none."""
    return list(_amounts(text, mark))


@lru_cache(maxsize=8192)
def _amounts(text: str, mark: str) -> tuple[Amount, ...]:
    fixed = repaired(text)
    found = []
    days = _days(text)
    for match in _NUMBER.finditer(fixed):
        if _in_word(fixed, match) or any(start <= match.start("number") < end for start, end in days):
            continue
        value = _value(match["number"], mark)
        if value is None:
            continue
        negative = any(match[name] for name in ("minus", "minus2", "after"))
        part = _DECIMALS.search(match["number"])
        decimals = len(part[1]) if part and (len(part[1]) != 3) else 0  # groups have three digits
        signed = bool(match["sign"] or _BEHIND.match(fixed, match.end()))
        whole = mark == WHOLE and _GROUPED.fullmatch(match["number"]) is not None
        found.append(Amount(-value if negative else value, match.start(), match.end(), decimals, signed, whole))
    return tuple(found)


def printed(value: Decimal) -> str:
    """An amount as a decimal string with its cents."""
    return f"{value:.2f}"


def price(value: Decimal) -> str:
    """The price of one as a decimal string: with its cents, and further decimals where it has them."""
    return printed(value) if value == round(value, 2) else plain(value)


def plain(value: Decimal) -> str:
    """A quantity as a decimal string without trailing zeros."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


@lru_cache(maxsize=8192)
def _days(text: str) -> tuple[tuple[int, int], ...]:
    """Where days stand in a text; 1 Marmalade 12.00 is none, so those with a month's name do not count."""
    cut = tuple(match.span() for match in _CUT.finditer(text))
    if not _DAY.search(text):
        return cut
    days = [day for day in dates.find(text) if not _NAMED.search(text[day.start : day.end])]
    return cut + tuple((day.start, day.end) for day in days)


def _in_word(text: str, match: re.Match[str]) -> bool:
    """Whether a number is part of a code, a date or a time."""
    start, end = match.start("number"), match.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    if match["sign"]:
        place = match.start("sign")
        before = text[place - 1 : place] if place else ""
        if _GLUED.search(text[:place]) and not match["sign"][0].isalpha():  # Te betalen€ 5,00
            before = ""
    if _RATE.match(text, end):  # the 6 of 6.5 %
        return True
    rest = text[end : end + 2]
    glued = after.isalpha() and not re.match(r"(?:[A-Z]{1,3}|\s)(?![A-Za-z\d])", text[end:])
    dated = after in {"/", ":"} and rest[1:].isdigit()
    return (bool(before) and (before.isalnum() or before in "/:#_@*")) or glued or dated


def _value(number: str, mark: str) -> Decimal | None:
    digits = re.sub(r"\s", "", number)
    if digits[0] in ".,":
        digits = "0" + digits
    if mark and re.fullmatch(rf"\d+{re.escape(mark)}\d{{3,4}}", digits) and not re.fullmatch(r"\d{1,3}.\d{3}", digits):
        return Decimal(digits.replace(mark, "."))
    value = texts.decimal(digits)
    if value is None:  # 1.007.50: what OCR makes of 1,007.50
        whole, part = digits[:-3], digits[-2:]
        value = re.sub(r"\D", "", whole) + "." + part
    try:
        return Decimal(value)
    except InvalidOperation:
        return None
