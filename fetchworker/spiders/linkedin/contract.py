"""What LinkedIn answers to for guests, as data, and the requests made of it. No cookie, token or id is needed.

Two addresses of the jobs pages give HTML fragments (what the page loads as the visitor scrolls), everything else is a
plain page load. Seen in saved pages of 2023 to 2026 and in public scrapers, unless a line says otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote, urlencode

from fetchworker.contracts import Fetch
from fetchworker.spiders.reading import addresses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HOME = "https://www.linkedin.com"
FRAGMENTS = f"{HOME}/jobs-guest/jobs/api"
#: a search goes no further than this (public scrapers of 2023 to 2026)
LAST_START = 1000
#: parameters of a search that are its own; ``start``, ``position`` and the tracking ones are not
SEARCH_NAMES = re.compile(r"(?:keywords|location|geoId|distance|sortBy|f_[A-Za-z0-9]{1,12})\Z")

#: values of ``f_TPR`` (age), ``f_WT``, ``f_JT``, ``f_E`` and ``sortBy`` (filter form of the search page, 2025)
AGES = {"day": "r86400", "week": "r604800", "month": "r2592000"}
WORKPLACES = {"on_site": "1", "remote": "2", "hybrid": "3"}
JOB_TYPES = {
    "full_time": "F", "part_time": "P", "contract": "C", "temporary": "T", "internship": "I", "volunteer": "V",
    "other": "O",
}  # fmt: skip
EXPERIENCE = {"internship": "1", "entry": "2", "associate": "3", "mid_senior": "4", "director": "5", "executive": "6"}
SORTS = {"recent": "DD", "relevant": "R"}

#: pages of organizations that are built alike
ORGANIZATIONS = ("company", "school", "showcase")
#: names of an organization's page that belong to nobody: where unknown ones are sent to (public scrapers, 2023)
NOBODY = ("unavailable",)

#: pictures that stand for a missing one
_PLACEHOLDERS = "static"
_HOST = re.compile(r"(?:[a-z-]{1,20}\.)?linkedin\.com\Z")
_MEMBER = re.compile(r"/(?:in|company|school|showcase)/(?P<slug>[^/?#]{1,300})")
_ARTICLE = re.compile(r"/pulse/(?P<slug>[^/?#]{1,900})")
_ACTIVITY = re.compile(r"(?:activity|share|ugcPost)(?:-|:|%3A)(?P<id>\d{10,20})", re.IGNORECASE)
_JOB = re.compile(r"/jobs/view/(?:[^/?#]{0,400}-)?(?P<id>\d{6,12})/?\Z")
#: an activity's id holds its time: milliseconds above 22 further bits. It agreed with ``datePublished`` to 0.03 seconds
#: in every saved page (2025 to 2026)
_TIME_BITS = 22


@dataclass(frozen=True, slots=True)
class Sighting:
    """A fact about the site: what, when it was seen, and in what."""

    fact: str
    seen: str
    source: str


#: what the parsers rely on
SIGHTINGS: Sequence[Sighting] = (
    Sighting("search cards are .base-search-card, <div> or <a>", "2023 to 2026", "saved fragments and pages"),
    Sighting("fragments of a search hold 10 cards", "2024 to 2026", "saved fragments"),
    Sighting("search pages hold 25 to 60 cards and code#totalResults", "2024 to 2026", "saved pages"),
    Sighting("a search without a match is .no-results with 200", "2025", "saved page"),
    Sighting("job pages and fragments share .topcard__ and .description__job-criteria classes", "2025 to 2026",
             "saved fragment and pages"),
    Sighting("job pages carry JSON-LD JobPosting", "2023, no more in 2025", "saved pages"),
    Sighting("code#applyUrl holds the employer's own address", "2023 to 2025", "public scrapers"),
    Sighting("an expired job leads to a search with trk=expired_jd_redirect", "2023 to 2026", "public scrapers"),
    Sighting("organization pages: JSON-LD Organization, data-test-id=about-us__…", "2024", "saved page"),
    Sighting("profiles: JSON-LD Person in a @graph; titles masked with asterisks", "2025", "saved page"),
    Sighting("profiles: #topcard, li.position, li.school", "2016", "saved page"),
    Sighting("profiles: .experience-item, .education__list-item", "2019 to 2023", "public scrapers"),
    Sighting("posts: JSON-LD SocialMediaPosting, article[data-activity-urn]", "2026", "saved page"),
    Sighting("posts: .share-update-card", "2021", "public scrapers"),
    Sighting("articles: .article-body (2021), .article-content__body (2022)", "2021 to 2022", "saved pages"),
    Sighting("articles: data-test-id=publishing-text-block", "2023 to 2026", "public scrapers"),
    Sighting("articles: .prose, time[itemprop=datePublished]", "2017", "public scrapers"),
    Sighting("robots.txt closes everything to robots without LinkedIn's permission", "2025", "copies of it"),
)  # fmt: skip


# ── addresses ────────────────────────────────────────────────────────────────────────────────────────────────────────


def ours(url: str | None) -> bool:
    """Whether an address is one of LinkedIn's."""
    return bool(_HOST.match(addresses.host(url)))


def plain(href: str | None) -> str | None:
    """A link of a page as an absolute address without its query, which tells only where it stood."""
    found = absolute(href)
    return found.partition("#")[0].partition("?")[0] if found else None


def absolute(href: str | None) -> str | None:
    """A link of a page as an absolute web address."""
    found = addresses.joined(f"{HOME}/", href.strip()) if href else None
    return found if found and found.startswith(("https://", "http://")) and addresses.host(found) else None


def outside(href: str | None) -> str | None:
    """Where a link leads in the end, when LinkedIn sends visitors on by itself; None where that is a mail address."""
    found = absolute(href)
    if not found or not ours(found):
        return found
    onward = addresses.query(found).get("url")
    return absolute(onward) if onward else found


def picture(href: str | None) -> str | None:
    """The address of a picture, None where it is the site's own stand-in."""
    found = absolute(href)
    return None if found is None or addresses.host(found).startswith(_PLACEHOLDERS) else found


def slug_of(url: str | None) -> str | None:
    """The name of a member or organization in its address."""
    match = _MEMBER.search(url or "") if ours(url) else None
    return unquote(match["slug"]) if match else None


def activity_of(text: str | None) -> str | None:
    """The id of a post in its address, its name or its URN."""
    match = _ACTIVITY.search(text or "")
    return match["id"] if match else None


def job_of(url: str | None) -> str | None:
    """The id of a job in its address."""
    match = _JOB.search((url or "").partition("?")[0])
    return match["id"] if match else None


def article_of(url: str | None) -> str | None:
    """The name of an article in its address."""
    match = _ARTICLE.search(url or "")
    return unquote(match["slug"]) if match else None


def milliseconds(activity: str | None) -> int | None:
    """The time at which an activity's id was made, in milliseconds."""
    return int(activity) >> _TIME_BITS if activity and activity.isascii() and activity.isdigit() else None


def search_query(url: str | None) -> dict[str, str]:
    """What a search's address asks for."""
    pairs = parse_qsl(addresses.split(url).query)
    return {name: value for name, value in pairs if SEARCH_NAMES.match(name)}


def job_url(number: str) -> str:
    """Address of a job."""
    return f"{HOME}/jobs/view/{number}/"


def article_url(slug: str) -> str:
    """Address of an article."""
    return f"{HOME}/pulse/{_quoted(slug)}"


def post_url(name: str) -> str:
    """Address of a post, by its name or its URN."""
    return f"{HOME}/feed/update/{name}/" if name.startswith("urn:li:") else f"{HOME}/posts/{_quoted(name)}"


def _quoted(slug: str) -> str:
    return quote(slug, safe="")


# ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def search_url(query: Mapping[str, str]) -> str:
    """Address of a search's page."""
    return f"{HOME}/jobs/search?{urlencode(query)}" if query else f"{HOME}/jobs/search"


def search_fragment(query: Mapping[str, str], start: int) -> Fetch:
    """Cards of a search from one on, as its page asks for them when the visitor scrolls."""
    url = f"{FRAGMENTS}/seeMoreJobPostings/search?{urlencode({**query, 'start': str(start)})}"
    return Fetch("fragment", url, destination="xhr", referer=search_url(query))


def search_page(url: str) -> Fetch:
    """A search's page."""
    return Fetch("page", url)


def job_fragment(number: str) -> Fetch:
    """A job as the search's page shows it beside its list."""
    return Fetch("fragment", f"{FRAGMENTS}/jobPosting/{number}", destination="xhr", referer=f"{HOME}/jobs/search/")


def job_page(number: str) -> Fetch:
    """A job's own page."""
    return Fetch("page", job_url(number))


def organization(kind: str, slug: str) -> Fetch:
    """The page of a company, a school, or one of a company's brands."""
    return Fetch("page", f"{HOME}/{kind}/{_quoted(slug)}/")


def person(slug: str) -> Fetch:
    """A member's public profile."""
    return Fetch("page", f"{HOME}/in/{_quoted(slug)}/")


def post(name: str) -> list[Fetch]:
    """The ways to a post: its page, and the address that knows it by its id alone."""
    number, ways = activity_of(name), [Fetch("page", post_url(name))]
    if number and not name.startswith("urn:li:"):
        ways.append(Fetch("update", post_url(f"urn:li:activity:{number}")))
    return ways


def article(slug: str) -> Fetch:
    """An article."""
    return Fetch("page", article_url(slug))
