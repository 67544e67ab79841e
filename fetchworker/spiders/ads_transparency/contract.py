"""What the Ads Transparency Center answers to, as data: three calls of its own interface, each with one form field.

``f.req`` holds JSON with numbers for keys, and so does the answer. No cookie and no token is needed (two sources).
Seen 2026-07 to 2026-09 in saved answers and in public clients: netvietsoft/ads-spy, google-ads-transparency-mcp 0.3.0
(PyPI), faniAhmed/GoogleAdsTransparencyScraper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

from fetchworker.contracts import Fetch

if TYPE_CHECKING:
    from collections.abc import Sequence

HOST = "adstransparency.google.com"
HOME = f"https://{HOST}/"
RPC = f"{HOME}anji/_/rpc/"
#: ids of advertisers and of advertisements
ADVERTISER, CREATIVE = r"AR\d{15,25}", r"CR\d{15,25}"
#: key 4 of an advertisement, key 3.4 of a search. ``text`` is mostly shown as a picture: the name is the buyer's choice
FORMATS = {"text": 1, "image": 2, "video": 3}
FORMAT_OF = {number: name for name, number in FORMATS.items()}
#: key 7.1
TOPICS = {"all": 1, "political": 2}
#: where the visitor is said to be (7.3) when no region is asked for: the United States
VIEWER = 2840
#: key 2 of a search: the site's own choice, and the most it has given
PAGE_SIZE, LARGEST_PAGE = 40, 100
#: what the site's own script sends, and what every known client sends
HEADERS = (("X-Same-Domain", "1"),)


@dataclass(frozen=True, slots=True)
class Sighting:
    """A fact about the site: what, when it was seen, and in what."""

    fact: str
    seen: str
    source: str


#: what requests and parsers rely on
SIGHTINGS: Sequence[Sighting] = (
    Sighting("without key 7 a search answers {} with 200, as if there were no ads", "2026-07", "docs of ads-spy"),
    Sighting("{} is the answer for nothing found", "2026", "saved answers"),
    Sighting("key 2 of an answer is the cursor, missing on the last page", "2026", "saved answers"),
    Sighting("keys 4 and 5 bound the total, as text", "2026", "saved answers"),
    Sighting("an error has its status as a number under 5 and a message under 2", "2026-07", "docs of ads-spy"),
    Sighting("a political search has the advertiser under 3.1", "2026", "a public client, one source"),
    Sighting("after some 20 calls in a burst an address is sent to /sorry/, for 15 minutes to an hour", "2026", "two"
             " public clients"),
    Sighting("robots.txt is 404", "2026-08", "notes in two public repositories"),
)  # fmt: skip


def advertiser_url(advertiser: str) -> str:
    """An advertiser's page."""
    return f"{HOME}advertiser/{advertiser}?region=anywhere"


def domain_url(domain: str) -> str:
    """The page of the advertisements that lead to a site."""
    return f"{HOME}?region=anywhere&domain={quote(domain, safe='')}"


def creative_url(advertiser: str, creative: str) -> str:
    """An advertisement's page."""
    return f"{HOME}advertiser/{advertiser}/creative/{creative}?region=anywhere"


def suggestions(query: str, *, region: int | None, size: int) -> Fetch:
    """Advertisers and sites by name; ``size`` bounds each of the two kinds."""
    told: dict[str, Any] = {"1": query, "2": size, "3": size}
    if region is not None:
        told["4"] = [region]
    return _call("SearchService/SearchSuggestions", {**told, "5": {"1": TOPICS["all"]}})


def creatives(
    *, advertiser: str | None, domain: str | None, filters: dict[str, Any], topic: str, region: int | None, size: int,
    cursor: str | None,
) -> Fetch:  # fmt: skip
    """A page of advertisements; ``filters`` are further keys of ``3``."""
    wanted: dict[str, Any] = {**filters, "12": {"1": domain or "", "2": True}}
    if region is not None:
        wanted["8"] = [region]
    if advertiser:
        wanted |= {"1": advertiser} if topic == "political" else {"13": {"1": [advertiser]}}
    told = {"2": size, "3": dict(sorted(wanted.items(), key=lambda pair: int(pair[0])))}
    if cursor:
        told["4"] = cursor
    return _call("SearchService/SearchCreatives", {**told, "7": _viewer(topic, region)})


def creative(advertiser: str, number: str, *, region: int | None) -> Fetch:
    """One advertisement."""
    return _call("LookupService/GetCreativeById", {"1": advertiser, "2": number, "5": _viewer("all", region)})


def _viewer(topic: str, region: int | None) -> dict[str, int]:
    return {"1": TOPICS[topic], "2": 0, "3": region or VIEWER}


def _call(method: str, told: dict[str, Any]) -> Fetch:
    form = (("f.req", orjson.dumps(told).decode()),)
    url = f"{RPC}{method}?authuser="
    return Fetch("rpc", url, method="POST", destination="xhr", headers=HEADERS, form=form, referer=HOME)
