"""What Walmart answers to, as data, and the requests made of it. All are plain page loads without tokens.

Seen in saved pages of 2022 to 2025 and in public scrapers, unless a line says otherwise. Each page is a Next.js one
whose data stand in ``script#__NEXT_DATA__``; the answers of the site's own interface (``/orchestra/…``) hold the same
objects under ``data``. Its operation hashes are not known, so it is read and never asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlunsplit

from fetchworker.contracts import Fetch
from fetchworker.spiders.reading import addresses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DOMAIN = "walmart.com"
#: each of the shops, and what stands before its paths
PREFIXES = {"walmart.com": "", "walmart.ca": "en/"}
DOMAINS = tuple(PREFIXES)
DATA_SCRIPT = "__NEXT_DATA__"
#: ids of listings: digits, and on walmart.ca also twelve letters and digits (search page of 2025)
ITEM = r"(?:\d{3,15}|[0-9A-Z]{12})"
#: ``buildId`` ends in the page's locale and ``tenantV2.bu`` in its country; prices of a country are in its currency
CURRENCIES = {"US": "USD", "CA": "CAD"}
#: the site shows no page beyond this one, however many results there are (``paginationV2.maxPage``, 2024)
LAST_PAGE = 25
#: ``sort`` of a search (links of result pages, 2024; scrapfly/scrapfly-scrapers)
SORTS = ("best_match", "best_seller", "price_low", "price_high")
#: ``sort`` of reviews: the site's own order, or this one (public scrapers, 2018 to 2024)
NEWEST_FIRST = "submission-desc"
#: ``availabilityStatus`` (2024)
AVAILABILITY = {
    "IN_STOCK": "in_stock", "OUT_OF_STOCK": "out_of_stock", "NOT_AVAILABLE": "out_of_stock", "RETIRED": "ended",
    "PRE_ORDER": "preorder",
}  # fmt: skip
#: id of the badge of a review by somebody who bought the thing here
VERIFIED_BADGE = "VerifiedPurchaser"
#: ids of badges of reviews that were paid for, in goods or a prize
INCENTIVES = ("IncentivizedReviewYes", "PrizeIncentive")


@dataclass(frozen=True, slots=True)
class Sighting:
    """A fact about the site: what, when it was seen, and in what."""

    fact: str
    seen: str
    source: str


#: what the parsers rely on
SIGHTINGS: Sequence[Sighting] = (
    Sighting("initialData.searchResult holds itemStacks[].items[], one stack or several", "2024-12", "saved pages"),
    Sighting("items of other types than Product are places for advertisements", "2024-12", "saved pages"),
    Sighting("a card's price is 0 when no seller offers it; its texts are empty then", "2024-12", "saved page"),
    Sighting("the interface's cards (itemsV2) have their price under priceInfo.currentPrice", "2022", "saved answer"),
    Sighting("initialData.data holds product, idml and reviews", "2024-12", "saved pages"),
    Sighting("product counts a variant's reviews, reviews those of all variants", "2024-12", "saved page"),
    Sighting("/reviews/product/<id>?page=N holds initialData.data.reviews", "2026", "public scraper (filter ratings=)"),
    Sighting("every page sets window._pxAppId; a block is one without data", "2024 to 2026", "saved pages"),
    Sighting("robots.txt forbids /search, leaves /ip/ and /reviews/product/ open", "undated", "copy in a repository"),
)


def home(domain: str = DOMAIN) -> str:
    """The entry page of a shop."""
    return f"https://www.{domain}/{PREFIXES[domain].rstrip('/')}"


def item_url(domain: str, item: str) -> str:
    """Address of a listing; the site adds the title by itself."""
    return f"https://www.{domain}/{PREFIXES[domain]}ip/{item}"


def reviews_url(
    domain: str, item: str, *, page: str | None = None, rating: int | None = None, newest: bool = False
) -> str:
    """Address of a page of a listing's reviews."""
    told = {"page": page, "ratings": str(rating) if rating else None, "sort": NEWEST_FIRST if newest else None}
    query = urlencode({name: value for name, value in told.items() if value})
    return f"https://www.{domain}/{PREFIXES[domain]}reviews/product/{item}" + (f"?{query}" if query else "")


def search_url(domain: str, query: str, filters: Mapping[str, str]) -> str:
    """Address of a search; ``filters`` are the site's own parameters."""
    return f"https://www.{domain}/{PREFIXES[domain]}search?{urlencode({'q': query, **filters})}"


def absolute(domain: str, path: str | None) -> str | None:
    """A canonical address, which the site writes without its host and with tracking behind it."""
    told = path or ""
    parts = addresses.split(f"https://www.{domain}{told}" if told.startswith("/") else told)
    return urlunsplit(parts._replace(query="", fragment="")) if parts.netloc else None


def domain_of(url: str | None) -> str | None:
    """Which of the shops an address belongs to."""
    name = addresses.host(url)
    return next((domain for domain in DOMAINS if name == domain or name.endswith("." + domain)), None)


def at_page(url: str, page: str | None) -> str:
    """The same search at one of its pages."""
    parts = addresses.split(url)
    kept = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name != "page"]
    return urlunsplit(parts._replace(query=urlencode([*kept, *([("page", page)] if page else [])]), fragment=""))


def search(url: str, page: str | None) -> Fetch:
    """One page of a search, reached from the one before it."""
    number = int(page) if page else 1
    before = at_page(url, str(number - 1) if number > 2 else None) if number > 1 else home(domain_of(url) or DOMAIN)  # noqa: PLR2004  # page 2 comes from the bare search
    return Fetch("page", at_page(url, page), referer=before)


def product(domain: str, item: str) -> Fetch:
    """A listing."""
    return Fetch("product", item_url(domain, item), referer=home(domain))


def reviews(domain: str, item: str, *, page: str | None, rating: int | None, newest: bool) -> Fetch:
    """A page of a listing's reviews."""
    address = reviews_url(domain, item, page=page, rating=rating, newest=newest)
    return Fetch("reviews", address, referer=item_url(domain, item))
