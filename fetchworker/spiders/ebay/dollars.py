"""What a bare ``$`` means on a page of eBay.

The site writes other dollars than the page's own with their country (``AU $``, ``C $``), whatever the visitor's
currency is; which one is the page's own stands in its data (seen in saved pages of 2025-05 to 2026-04).
"""

from __future__ import annotations

import re

from fetchworker.spiders.reading import dollars

_COUNTRIES = (
    re.compile(r'"localeInfo"\s{0,9}:\s{0,9}\{[^{}]{0,80}?"country"\s{0,9}:\s{0,9}"([A-Z]{2})"'),
    re.compile(r'"marketplaceId"\s{0,9}:\s{0,9}"EBAY[-_]([A-Z]{2})"'),
)


def dollar(source: str) -> str | None:
    """The ISO code, None when the page does not say.

    Data beside prices come first (JSON-LD, the buy box, the price filter), then the country of the page's market
    (``localeInfo``, ``marketplaceId``), then its locale (``lng:"en-US"``).
    """
    told = dollars.named(source)
    if told:
        return told
    country = next((match for pattern in _COUNTRIES if (match := pattern.search(source))), None)
    return dollars.OF_COUNTRY.get(country[1]) if country else dollars.written(source)
