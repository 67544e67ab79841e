"""Where a document is from, as far as its words say so: places, taxes, registers, languages (pure).

It tells what a bare ``$`` is, and whether a day or a month stands first. Sources: the countries' own names, formats of
their postal codes (UPU, 2026), names of their sales taxes and of the numbers that companies are registered under.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from fetchworker.documents.rules import dates, labels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fetchworker.documents.rules.layout import Sheet

_STATES = (
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA "
    "RI SC SD TN TX UT VT VA WA WV WI WY DC PR"
).replace(" ", "|")
_EVIDENCE = {
    "US": rf"(?<![A-Za-z])(?:{_STATES}),? \d{{5}}(?:-\d{{4}})?(?!\d)|(?<![A-Za-z.])U\.?S\.?A(?![A-Za-z])"
    r"|(?i:\bunited states\b)|US ?\$|(?<![A-Za-z])USD(?![A-Za-z])",
    "CA": r"(?i:\bcanada\b|\bqu[eé]bec\b|\bontario\b)|\b(?:HST|QST|TPS|TVQ|TVH|PST)\b"
    r"|\b[A-CEGHJ-NPR-TVXY]\d[A-Z] \d[A-Z]\d\b|\bC\$|\bCA ?\$",
    "AU": r"(?i:\baustralia\b|\bpty\b)|\bABN\b|\b(?:NSW|VIC|QLD|TAS|ACT|SA|WA|NT),? \d{4}\b|\bA\$|\bAU ?\$",
    "NZ": r"(?i:\bnew zealand\b|\baotearoa\b)|\bNZBN\b|NZ ?\$|\bGST\W{0,3}15(?:\.0+)? ?%|\b15(?:\.0+)? ?% GST\b",
    "SG": r"(?i:\bsingapore\b|\bpte\b)|\bS\$",
    "HK": r"(?i:\bhong ?kong\b|\bkowloon\b)|HK ?\$",
    "TW": r"(?i:\btaiwan\b)|NT ?\$",
    "MX": r"(?i:\bm[eé]xico\b|\bde c\.? ?v\b)|\bRFC\b|\bCFDI\b|M(?:X|ex) ?\$",
    "AR": r"(?i:\bargentina\b|\bbuenos aires\b)|\bCUIT\b",
    "CL": r"(?i:\bchile\b)|\bR\.?U\.?T\b",
    "CO": r"(?i:\bcolombia\b|\bbogot[aá]\b)|\bNIT\b",
    "UY": r"(?i:\buruguay\b|\bmontevideo\b)",
    "BR": r"(?i:\bbrasil\b|\bcnpj\b)|\bR\$",
    "GB": r"£|(?i:\bunited kingdom\b)|\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b",
    "IN": r"₹|(?i:\bindia\b|\brupees?\b)|\b(?:GSTIN|CGST|SGST|IGST)\b",
    "MY": r"(?<![A-Za-z])(?:RM|MYR)(?![A-Za-z])"
    r"|(?i:\bsdn\b|\bbhd\b|\bmalaysia\b|\bjalan\b|\bjln\b|\btaman\b|s/b\b|kuala lumpur)",
    "EU": r"€|(?<![A-Za-z])EUR(?:OS?)?(?![A-Za-z])",
    "CH": r"(?<![A-Za-z])(?:CHF|SFr\.?)(?![A-Za-z])",
    "ID": r"(?<![A-Za-z])(?:Rp\.?|IDR)(?=\s?\d)|(?i:\bindonesia\b)",
}
_COUNTRIES = {name: re.compile(pattern) for name, pattern in _EVIDENCE.items()}
#: the dollars (and pesos) of countries that write them ``$``
DOLLARS = {
    "US": "USD", "CA": "CAD", "AU": "AUD", "NZ": "NZD", "SG": "SGD", "HK": "HKD", "TW": "TWD", "MX": "MXN", "AR": "ARS",
    "CL": "CLP", "CO": "COP", "UY": "UYU",
}  # fmt: skip
#: what is said of taxes and companies in the United States, and now and then elsewhere
_AMERICAN = re.compile(r"(?i)\bsales tax\b|\bLLC\b|\bEIN\b")
#: a tax of goods and services at ten in the hundred
_GST_TEN = re.compile(r"\bGST\W{0,3}10(?:\.0+)? ?%|\b10(?:\.0+)? ?% GST\b")
_DAY_FIRST = frozenset(_EVIDENCE) - {"US", "CA", "TW"}
#: labels of so many different words are no chance
_WORDS, _LONG = 2, 4
_FOREIGN = (
    "title_invoice", "credit", "invoice_number", "invoice_date", "date", "due_date", "total", "subtotal", "tax",
    "column_description", "column_quantity", "column_unit_price", "column_amount", "paid_cash", "change", "buyer",
)  # fmt: skip


def countries(sheet: Sheet) -> frozenset[str]:
    """The countries that a document's words speak for (ISO 3166; ``EU`` for the euro)."""
    return _of_text("\n".join(cell.text for cell in sheet.cells))


def day_first(sheet: Sheet) -> bool | None:
    """Whether the day stands before the month where a document is from; None when nothing says so."""
    found = countries(sheet)
    first = bool(found & _DAY_FIRST) or is_foreign(sheet)
    american = "US" in found
    if first == american:  # nothing, or both
        return None
    return first


def order(sheet: Sheet, days: Iterable[dates.Found]) -> tuple[bool, bool]:
    """Whether the day stands first in a document's numbers, and whether its days or its country prove it."""
    first, proved = dates.day_first(days)
    here = day_first(sheet)
    return (first, proved) if proved or here is None else (here, True)


def dollar(sheet: Sheet) -> tuple[str, float]:
    """What a bare ``$`` is in a document, and how sure that is."""
    found = countries(sheet) & DOLLARS.keys()
    if len(found) == 1:
        return DOLLARS[next(iter(found))], 1.0
    text = "\n".join(cell.text for cell in sheet.cells)
    if not found and _GST_TEN.search(text):
        return "AUD", 0.85
    if len(found) > 1:
        elsewhere = sorted(found - {"US"})
        return (DOLLARS[elsewhere[0]] if len(elsewhere) == 1 else "USD"), 0.6
    if _AMERICAN.search(text) and not is_foreign(sheet):
        return "USD", 0.95
    return "USD", 0.4 if is_foreign(sheet) else 0.7


def is_foreign(sheet: Sheet) -> bool:
    """Whether a document's labels are of another language than English."""
    seen = {word for cell in sheet.cells if (word := _foreign(cell.text))}
    return len(seen) >= _WORDS


@lru_cache(maxsize=64)
def _of_text(text: str) -> frozenset[str]:
    return frozenset(name for name, pattern in _COUNTRIES.items() if pattern.search(text))


@lru_cache(maxsize=8192)
def _foreign(text: str) -> str | None:
    match = labels.foreign(*_FOREIGN).match(labels.fold(text.strip(" :.")))
    return match[0] if match and len(match[0]) >= _LONG else None
