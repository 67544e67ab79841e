"""Amounts of money in texts: decimal string and ISO-4217 code (pure).

Which mark is the decimal one follows from the number itself: with both marks the last one is; a single mark before
exactly three digits groups (``1.300`` is 1300), unless the currency has three decimals or a zero stands before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: ISO 4217, the circulating ones
CODES = frozenset(
    re.findall(
        "[A-Z]{3}",
        "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF "
        "CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL "
        "HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD "
        "MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG "
        "QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD "
        "TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG",
    )
)
#: signs that mean one currency wherever they stand
_SIGNS = {
    "US$": "USD", "US $": "USD", "AU$": "AUD", "AU $": "AUD", "A$": "AUD", "C$": "CAD", "C $": "CAD", "CA$": "CAD",
    "NZ$": "NZD", "NZ $": "NZD", "S$": "SGD", "HK$": "HKD", "HK $": "HKD", "NT$": "TWD", "NT $": "TWD", "R$": "BRL",
    "MX$": "MXN", "Mex$": "MXN", "€": "EUR", "£": "GBP", "₹": "INR", "₩": "KRW", "₪": "ILS", "₱": "PHP",
    "฿": "THB", "₫": "VND", "₺": "TRY", "₴": "UAH", "₽": "RUB", "zł": "PLN", "Kč": "CZK", "Fr.": "CHF", "RM": "MYR",
    "Rp": "IDR", "円": "JPY", "RMB": "CNY",
}  # fmt: skip
_YENS, _CROWNS = frozenset({"JPY", "CNY"}), frozenset({"SEK", "NOK", "DKK", "ISK"})
_RUPEES = frozenset({"INR", "PKR", "LKR", "NPR", "MUR", "SCR"})
#: signs that several currencies share; which one is meant is for the page to tell
SHARED = {
    "$": frozenset({"USD", "CAD", "AUD", "NZD", "SGD", "HKD", "TWD", "MXN", "ARS", "CLP", "COP", "UYU"}),
    "¥": _YENS, "￥": _YENS, "元": frozenset({"CNY", "TWD", "HKD"}),
    **dict.fromkeys(("kr", "kr.", "Kr", "Kr.", "KR"), _CROWNS), **dict.fromkeys(("Rs", "Rs.", "₨"), _RUPEES),
    "lei": frozenset({"RON", "MDL"}), "﷼": frozenset({"IRR", "SAR", "QAR", "OMR", "YER"}),
}  # fmt: skip
_THREE_DECIMALS = frozenset({"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"})

_SPACE = "[ \u00a0\u202f]"
_NUMBER = rf"\d(?:[.,'\u2019]?\d|{_SPACE}(?=\d{{3}}(?!\d))\d){{0,30}}"
_WORDS = sorted([*_SIGNS, *SHARED, *CODES], key=len, reverse=True)
#: letters must not run on: `EURO`, `kroner`; the first character alone decides at most places of a text
_CURRENCY = (
    f"(?=[{re.escape(''.join(sorted({word[0] for word in _WORDS})))}])"
    "(?:" + "|".join(re.escape(word) + r"(?![A-Za-z])" * word[-1].isalpha() for word in _WORDS) + ")"
)
_AMOUNT = re.compile(
    rf"(?<![A-Za-z])(?P<before>{_CURRENCY}){_SPACE}{{0,2}}\$?(?P<after_sign>{_NUMBER})"
    rf"|(?P<before_sign>{_NUMBER}){_SPACE}{{0,2}}(?P<after>{_CURRENCY})"
)
_MARKS = re.compile(r"[.,]")
_GROUPING = re.compile(rf"{_SPACE}|['\u2019]")
_PLAIN = re.compile(r"-?\d{1,30}(?:\.\d{1,20})?\Z")


@dataclass(frozen=True, slots=True)
class Money:
    """An amount; ``value`` is a decimal string, ``currency`` an ISO-4217 code, None for a ``$`` of any country."""

    value: str
    currency: str | None


def amounts(text: str | None, *, dollar: str | None = None) -> list[Money]:
    """The amounts in a text, in order; numbers without a currency are none.

    Args:
        text: what a page shows, such as ``EUR 17,72 bis EUR 18,66``.
        dollar: the page's own currency, which a bare ``$``, ``¥`` or ``kr`` means there if it is written so; None
            when nobody says (:mod:`fetchworker.spiders.reading.dollars`).
    """
    return list(_amounts(text or "", dollar))


def amount(text: str | None, *, dollar: str | None = None) -> Money | None:
    """The first amount in a text."""
    return next(_amounts(text or "", dollar), None)


def decimal(number: str, currency: str | None = None) -> str | None:
    """A number with marks as a decimal string, None when its marks make no sense."""
    digits = _GROUPING.sub("", number)
    marks = _MARKS.findall(digits)
    point = _decimal_mark(digits, marks, currency)
    if point is None:
        return _canonical(_MARKS.sub("", digits))
    whole, _, part = digits.rpartition(point)
    return None if point in whole else _canonical(f"{_MARKS.sub('', whole)}.{part}")


def money(value: Any, currency: Any) -> Money | None:
    """The amount of a JSON value (number, or text with a point) beside its currency's code."""
    if not isinstance(currency, str) or currency.upper() not in CODES or isinstance(value, bool):
        return None
    text = value.strip() if isinstance(value, str) else _plain(value)
    return Money(text, currency.upper()) if text is not None and _PLAIN.match(text) else None


def _plain(value: Any) -> str | None:
    if not isinstance(value, int | float):
        return None
    try:
        return format(Decimal(repr(value)), "f")
    except (InvalidOperation, ValueError):
        return None


def _amounts(text: str, dollar: str | None) -> Iterator[Money]:
    for match in _AMOUNT.finditer(text):
        sign = match["before"] or match["after"]
        shared = SHARED.get(sign)
        code = _SIGNS.get(sign, sign) if shared is None else dollar if dollar in shared else None
        value = decimal(match["after_sign"] or match["before_sign"], code)
        if value is not None:
            yield Money(value, code)


def _decimal_mark(digits: str, marks: list[str], currency: str | None) -> str | None:
    """The decimal mark of a number, None when it has none."""
    if not marks or (len(marks) > 1 and len(set(marks)) == 1):
        return None
    if len(set(marks)) > 1:
        return marks[-1]
    whole, _, part = digits.partition(marks[0])
    groups = len(part) == 3 and 0 < len(whole) <= 3 and whole != "0" and currency not in _THREE_DECIMALS  # noqa: PLR2004
    return None if groups else marks[0]


def _canonical(number: str) -> str | None:
    whole, _, part = number.partition(".")
    whole = whole.lstrip("0") or "0"
    return (f"{whole}.{part}" if part else whole) if whole.isascii() and whole.isdigit() else None
