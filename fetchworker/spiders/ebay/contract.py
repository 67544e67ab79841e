"""What eBay answers to, as data, and the requests made of it. All are plain page loads without tokens.

Seen in saved pages of 2025-04 to 2026-04 and in public scrapers, unless a line says otherwise. The language of a page
is not bound to its host (ebay.com has answered in Japanese and Spanish), and neither is the currency: it follows the
visitor's address.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlunsplit

from fetchworker.contracts import Fetch
from fetchworker.spiders.reading import addresses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DOMAIN = "ebay.com"
#: eBay's own shops
DOMAINS = (
    "ebay.com", "ebay.co.uk", "ebay.de", "ebay.fr", "ebay.it", "ebay.es", "ebay.at", "ebay.ch", "ebay.nl", "ebay.be",
    "ebay.ie", "ebay.pl", "ebay.ca", "ebay.com.au", "ebay.com.sg", "ebay.com.hk", "ebay.com.my", "ebay.ph", "ebay.vn",
)  # fmt: skip
#: the placeholder card "Shop on eBay" of transition pages (2025)
PLACEHOLDER_ID = "123456"
#: results a page; 60 is the site's own choice (canonical and next links, 2025-04)
PAGE_SIZES = (60, 120, 240)

#: ``_sop`` (labels of the sort menu, 2025)
SORTS = {
    "best_match": "12", "newly_listed": "10", "ending_soonest": "1", "price_shipping_lowest": "15",
    "price_shipping_highest": "16", "distance_nearest": "7",
}  # fmt: skip
#: ``LH_…`` filters of the buying format
FORMATS = {"auction": "LH_Auction", "fixed": "LH_BIN", "best_offer": "LH_BO"}
#: ``LH_ItemCondition``: the site's condition numbers (developer.ebay.com, item condition ids)
CONDITIONS = {
    "new": "1000", "open_box": "1500", "certified_refurbished": "2000", "excellent_refurbished": "2010",
    "very_good_refurbished": "2020", "good_refurbished": "2030", "seller_refurbished": "2500", "used": "3000",
    "parts": "7000",
}  # fmt: skip
#: characters of a seller's name that the site leaves as they are in ``_ssn`` (``*`` in a page of 2025)
_NAME_SAFE = "*!$._-"


@dataclass(frozen=True, slots=True)
class Sighting:
    """A fact about the site: what, when it was seen, and in what."""

    fact: str
    seen: str
    source: str


#: what the parsers rely on
SIGHTINGS: Sequence[Sighting] = (
    Sighting("search cards are li.s-item below ul.srp-results", "2018 to 2025-06", "saved result pages"),
    Sighting("search cards are li.s-card below ul.srp-results", "2025-07", "saved result pages"),
    Sighting("srp-river-answer--REWRITE_START ends the hits for all words", "2025-09", "saved result pages"),
    Sighting("itmprp ends in tkp:<base64>, which names ORG or PL (promoted)", "2025-07", "links of result pages; it"
             " agrees with the hidden class of the word Sponsored in each"),
    Sighting("JSON-LD holds the converted price, the page the seller's", "2025-06", "saved item page"),
    Sighting("MSKU.variationsMap holds the variations", "2022", "public scrapers"),
    Sighting("itemVariationsMap holds the variations", "to 2022", "public scrapers"),
    Sighting("/usr/<name> shows .str-seller-card", "2022", "public scrapers"),
    Sighting("robots.txt forbids /sch/ and leaves /itm/<id> open", "2026-04", "copies of it in public repositories"),
)  # fmt: skip


def home(domain: str = DOMAIN) -> str:
    """The entry page of a shop."""
    return f"https://www.{domain}/"


def item_url(domain: str, item: str, variation: str | None = None) -> str:
    """Canonical address of a listing."""
    return f"{home(domain)}itm/{item}" + (f"?var={variation}" if variation else "")


def seller_url(domain: str, name: str) -> str:
    """Canonical address of a seller."""
    return f"{home(domain)}usr/{quote(name, safe=_NAME_SAFE)}"


def domain_of(url: str | None) -> str | None:
    """Which of eBay's shops an address belongs to."""
    name = addresses.host(url)
    return next((domain for domain in DOMAINS if name == domain or name.endswith("." + domain)), None)


def search_url(
    domain: str, *, query: str | None, category: str | None, seller: str | None, filters: Mapping[str, str]
) -> str:
    """Address of a search; ``filters`` are the site's own parameters."""
    values = ([("_nkw", query)] if query else []) + list(filters.items())
    encoded = urlencode(values)
    if seller:
        encoded += f"{'&' if encoded else ''}_ssn={quote(seller, safe=_NAME_SAFE)}"
    path = f"sch/{category}/i.html" if category else "sch/i.html"
    return f"{home(domain)}{path}?{encoded}"


def at_page(url: str, page: str | None) -> str:
    """The same search at one of its pages; everything else stays as it is written."""
    parts = addresses.split(url)
    kept = [part for part in parts.query.split("&") if part and not part.startswith("_pgn=")]
    return urlunsplit(parts._replace(query="&".join([*kept, f"_pgn={page}"] if page else kept), fragment=""))


def page_of(url: str | None) -> str | None:
    """The page number in a search's address."""
    number = addresses.query(url).get("_pgn", "")
    return number if number.isascii() and number.isdigit() else None


def search(url: str, page: str | None) -> Fetch:
    """One page of a search, reached from the one before it."""
    number = int(page) if page else 1
    before = at_page(url, str(number - 1) if number > 2 else None) if number > 1 else home(domain_of(url) or DOMAIN)  # noqa: PLR2004  # page 2 comes from the bare search
    return Fetch("page", at_page(url, page), referer=before)


def item(domain: str, number: str, variation: str | None) -> Fetch:
    """A listing."""
    return Fetch("page", item_url(domain, number, variation), referer=home(domain))


def description(number: str) -> Fetch:
    """The seller's own text of a listing: a document of its own, shown in a frame (``iframe#desc_ifr``)."""
    return Fetch("frame", f"https://itm.ebaydesc.com/itmdesc/{number}")


def seller(domain: str, name: str) -> Fetch:
    """A seller's page."""
    return Fetch("page", seller_url(domain, name), referer=home(domain))
