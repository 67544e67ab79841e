"""Which currency a document's amounts are in: only what a token on the page says (pure)."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

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
    "USD": re.compile(r"US\s?\$|(?<![A-Za-z])USD(?![A-Za-z])|(?i:\bUS dollars?\b)"),
    "CHF": re.compile(r"(?<![A-Za-z])(?:CHF|SFr\.?)(?![A-Za-z])"),
}
_DOLLAR = re.compile(r"(?<![A-Za-z])\$\s?[-\d(]|\d\s?\$")
_CODE = "(" + "|".join(sorted(money.CODES)) + ")"
#: a code counts beside an amount, in brackets, or alone: SDN BHD is no dinar
_CODES = re.compile(
    rf"(?<![A-Za-z]){_CODE}\s?-?\d[\d.,' ]*[.,]\d\d(?!\d)|\d[.,]\d\d\s?{_CODE}(?![A-Za-z])|^\W*{_CODE}\W*$"
)
#: countries by which a bare dollar sign is another country's
_ELSEWHERE = {
    "CAD": re.compile(r"(?i)\bcanada\b|\b(?:hst|qst)\b"),
    "AUD": re.compile(r"(?i)\baustralia\b|\babn\b"),
    "SGD": re.compile(r"(?i)\bsingapore\b"),
    "NZD": re.compile(r"(?i)\bnew zealand\b"),
    "HKD": re.compile(r"(?i)\bhong kong\b"),
}


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
    label = "USD" if code == "$" else code
    if code == "$":
        text = " ".join(cell.text for cell in sheet.cells)
        label = next((other for other, country in _ELSEWHERE.items() if country.search(text)), "USD")
    share = count / sum(votes.values())
    return Value(label, (first[code],), 0.99 if share > 0.6 else 0.85, seen=first[code].text)


def codes(text: str) -> list[str]:
    """The currencies that a text names; ``$`` alone is a dollar of any country."""
    found = [code for code, token in _TOKENS.items() if token.search(text)]
    if not found and _DOLLAR.search(text):
        return ["$"]
    return found or [match[1] or match[2] or match[3] for match in _CODES.finditer(text)]
