"""Which currency a document's amounts are in: only what a token on the page says (pure)."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from fetchworker.documents.rules import country
from fetchworker.documents.rules.value import Value
from fetchworker.reading import money

if TYPE_CHECKING:
    from fetchworker.documents.rules.layout import Cell, Sheet

#: signs that OCR and text layers write beside or without an amount
_TOKENS = {
    "MYR": re.compile(r"(?<![A-Za-z])(?:RM|MYR)(?![A-Za-z])|(?i:\bringgit\b)"),
    "EUR": re.compile(r"€|(?<![A-Za-z])EUR(?:O|OS)?(?![A-Za-z])|(?<=\d)\s?Euro?s?\b"),
    "GBP": re.compile(r"£|(?<![A-Za-z])GBP(?![A-Za-z])"),
    "INR": re.compile(r"₹|(?<![A-Za-z])(?:INR|Rs\.?)(?=\s?\d|[\s)]|$)|(?i:\brupees?\b)"),
    "SGD": re.compile(r"(?<![A-Za-z])(?:S\$|SGD(?![A-Za-z]))"),
    "BRL": re.compile(r"(?<![A-Za-z])(?:R\$|BRL(?![A-Za-z]))"),
    "AUD": re.compile(r"(?<![A-Za-z])(?:A\$|AU\s?\$|AUD(?![A-Za-z]))"),
    "CAD": re.compile(r"(?<![A-Za-z])(?:C\$|CA\s?\$|CAD(?![A-Za-z]))"),
    "NZD": re.compile(r"(?<![A-Za-z])(?:NZ\s?\$|NZD(?![A-Za-z]))"),
    "HKD": re.compile(r"(?<![A-Za-z])(?:HK\s?\$|HKD(?![A-Za-z]))"),
    "TWD": re.compile(r"(?<![A-Za-z])(?:NT\s?\$|TWD(?![A-Za-z]))"),
    "MXN": re.compile(r"(?<![A-Za-z])(?:M(?:X|ex)\s?\$|MXN(?![A-Za-z]))"),
    "IDR": re.compile(r"(?<![A-Za-z])(?:Rp\.?(?=\s?\d)|IDR(?![A-Za-z]))"),
    "USD": re.compile(r"US\s?\$|(?<![A-Za-z])USD(?![A-Za-z])|(?i:\bUS dollars?\b)"),
    "ZAR": re.compile(r"(?<![A-Za-z])(?:R\s?(?=\d{1,3}(?:[ ,]\d{3})*[.,]\d\d(?!\d))|ZAR(?![A-Za-z]))"),
    "CHF": re.compile(r"(?<![A-Za-z])(?:CHF|SFr\.?)(?![A-Za-z])"),
}
_DOLLAR = re.compile(r"(?<![A-Za-z])\$\s?[-\d(]|\d\s?\$")
_CODE = "(" + "|".join(sorted(money.CODES)) + ")"
#: a code counts beside an amount, in brackets, or alone: SDN BHD is no dinar
_CODES = re.compile(
    rf"(?<![A-Za-z]){_CODE}\s?-?\d+(?:[.,']\d{{2,3}}| \d{{3}})*[.,]\d\d(?!\d)"
    rf"|\d[.,]\d\d\s?{_CODE}(?![A-Za-z])|^\W*{_CODE}\W*$"
)


def currency(sheet: Sheet) -> Value | None:
    """The currency that most tokens of a document name, citing the first of them."""
    votes: Counter[str] = Counter()
    first: dict[str, Cell] = {}
    for cell in sheet.cells:
        for code in codes(cell.text):
            votes[code] += 1
            first.setdefault(code, cell)
    if not votes:
        return None
    code, count = votes.most_common(1)[0]
    label, sure = country.dollar(sheet) if code == "$" else (code, 1.0)
    share = count / sum(votes.values())
    return Value(label, (first[code],), (0.99 if share > 0.6 else 0.85) * sure, seen=first[code].text)


def codes(text: str) -> list[str]:
    """The currencies that a text names; ``$`` alone is a dollar of any country."""
    found = [code for code, token in _TOKENS.items() if token.search(text)]
    if not found and _DOLLAR.search(text):
        return ["$"]
    return found or [match[1] or match[2] or match[3] for match in _CODES.finditer(text)]
