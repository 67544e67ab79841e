"""Which currency a page means by a bare ``$``, ``¥`` or ``kr``, by what it says of itself: never by its host (pure)."""

from __future__ import annotations

import re

from fetchworker.reading.money import SHARED

#: what ``$`` (or another sign that countries share) without more means in texts written for a country (Unicode CLDR
#: 46, symbols of its own locales)
OF_COUNTRY = {
    "US": "USD", "PR": "USD", "EC": "USD", "SV": "USD", "CA": "CAD", "AU": "AUD", "NZ": "NZD", "SG": "SGD",
    "HK": "HKD", "TW": "TWD", "MX": "MXN", "AR": "ARS", "CL": "CLP", "CO": "COP", "UY": "UYU",
    "JP": "JPY", "CN": "CNY", "SE": "SEK", "NO": "NOK", "DK": "DKK", "IS": "ISK", "IN": "INR", "PK": "PKR",
    "LK": "LKR", "NP": "NPR", "RO": "RON", "MD": "MDL",
}  # fmt: skip
#: a page of dollars may name what they were converted to beside them
_DOLLARS = SHARED["$"]
_OTHERS = frozenset().union(*SHARED.values()) - _DOLLARS
#: ``"priceCurrency": "USD"``, ``"currency":"USD"``, escaped or not; what a price was converted from does not count
_QUOTE = r'(?:\\?"|&quot;)'
_NAMED = re.compile(rf"urrency(?<!FromCurrency)(?:Code)?{_QUOTE}\s{{0,9}}:\s{{0,9}}{_QUOTE}([A-Z]{{3}})(?![A-Za-z])")
_LOCALE = re.compile(r"[A-Za-z]{2,3}[-_](?:[A-Za-z]{4}[-_])?([A-Z]{2})\Z")
#: where meta tags, the page's own tag and scripts keep its locale, the most deliberate first
_LOCALES = (
    re.compile(r"""<meta\b(?=[^<>]{0,200}?\bname=["']?locale\b)[^<>]{0,200}?\b(?:content|value)=["']?([\w-]{2,12})"""),
    re.compile(r"""<html\b[^<>]{0,400}?\blang=["']?([a-z]{2,3}[-_][A-Z]{2})\b"""),
    *(
        re.compile(rf"""{name}(?:\\?["']|&quot;)?\s{{0,3}}:\s{{0,3}}(?:\\?["']|&quot;)([a-z]{{2,3}}[-_][A-Z]{{2}})\b""")
        for name in ("locale", "lng")
    ),
)


def named(source: str) -> str | None:
    """The currency that the page's own data name beside its prices; None when they name none, or several."""
    told = {match[1] for match in _NAMED.finditer(source)}
    found = told & _DOLLARS or told & _OTHERS
    return found.pop() if len(found) == 1 else None


def of_locale(locale: str | None) -> str | None:
    """The currency of a locale (``en-US``, ``es_CO``, ``sv-SE``); a language alone has none."""
    match = _LOCALE.match(locale or "")
    return OF_COUNTRY.get(match[1]) if match else None


def written(source: str) -> str | None:
    """The currency of the locale that the page says it is written in."""
    found = next((match for pattern in _LOCALES if (match := pattern.search(source))), None)
    return of_locale(found[1]) if found else None
