"""Amounts as documents print them: local separators, signs before and after, and what OCR makes of them (pure)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

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
    r"(?P<sign>(?:RM|Rs\.?|US\$|[$€£₹¥₺])\s?)?"
    rf"(?P<minus2>{_SIGN})?"
    r"(?<![\d.,])"
    r"(?P<number>\d{1,3}(?:[.,'\u2019]\s?\d{3}|"
    + _SPACES
    + r"\d{3}(?!\d))+(?:\s?[.,]\s?\d{1,2}(?!\d))?|\d{1,9}(?:\s?[.,]\s?\d{1,4}(?![\d]))?|[.,]\d\d(?!\d))"
    rf"(?![\d%])(?P<after>{_SIGN}(?![\d\w]))?"
)
_DECIMALS = re.compile(r"[.,]\s?(\d{1,4})$")
_WORD = re.compile(r"[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of a text: its value, where it stands, and how surely it is money (it has decimals or a sign)."""

    value: Decimal
    start: int
    end: int
    decimals: int
    signed: bool

    @property
    def money(self) -> bool:
        return self.decimals == 2 or self.signed  # cents


def repaired(text: str) -> str:
    """A text whose letters between digits are digits again, of the same length."""
    return _ONE.sub("1", _ZERO.sub("0", text))


def decimal_mark(texts_: Iterable[str]) -> str:
    """The mark that most numbers of a document have before two last digits."""
    marks: Counter[str] = Counter()
    for text in texts_:
        marks.update(re.findall(r"\d([.,])\d\d(?![\d.,%])", text))
    return "," if marks[","] > marks["."] else "."


def amounts(text: str, mark: str = ".") -> list[Amount]:
    """The numbers of a text, in order; percentages, and numbers grown together with letters, are none."""
    fixed = repaired(text)
    found = []
    for match in _NUMBER.finditer(fixed):
        if _in_word(fixed, match):
            continue
        value = _value(match["number"], mark)
        if value is None:
            continue
        negative = any(match[name] for name in ("minus", "minus2", "after"))
        part = _DECIMALS.search(match["number"])
        decimals = len(part[1]) if part and (len(part[1]) != 3) else 0  # groups have three digits
        found.append(Amount(-value if negative else value, match.start(), match.end(), decimals, bool(match["sign"])))
    return found


def printed(value: Decimal) -> str:
    """An amount as a decimal string with its cents."""
    return f"{value:.2f}"


def plain(value: Decimal) -> str:
    """A quantity as a decimal string without trailing zeros."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _in_word(text: str, match: re.Match[str]) -> bool:
    """Whether a number is part of a code, a date or a time."""
    start, end = match.start("number"), match.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    if match["sign"]:
        before = text[match.start("sign") - 1 : match.start("sign")] if match.start("sign") else ""
    rest = text[end : end + 2]
    glued = after.isalpha() and not re.match(r"(?:[A-Z]{1,3}|\s)(?![A-Za-z\d])", text[end:])
    dated = after in {"/", ":"} and rest[1:].isdigit()
    return (bool(before) and (before.isalnum() or before in "/:#_@*")) or glued or dated


def _value(number: str, mark: str) -> Decimal | None:
    digits = re.sub(r"\s", "", number)
    if digits[0] in ".,":
        digits = "0" + digits
    if re.fullmatch(rf"\d+{re.escape(mark)}\d{{3,4}}", digits) and not re.fullmatch(r"\d{1,3}.\d{3}", digits):
        return Decimal(digits.replace(mark, "."))
    value = texts.decimal(digits)
    if value is None:  # 1.007.50: what OCR makes of 1,007.50
        whole, part = digits[:-3], digits[-2:]
        value = re.sub(r"\D", "", whole) + "." + part
    try:
        return Decimal(value)
    except InvalidOperation:
        return None
