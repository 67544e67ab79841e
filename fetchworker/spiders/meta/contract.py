"""What the Ad Library answers to, as data, and the requests made of it.

Ids of stored queries are dated examples: those that the site's own scripts tell (``doc:<QueryName>`` tokens) come
first.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urljoin

import orjson

from fetchworker.contracts import Fetch, Page, Secret, Token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.spiders.meta.params import AdsParams, ArchiveParams

HOME = "https://www.facebook.com"
LIBRARY = f"{HOME}/ads/library/"
ASBD_ID = "359341"
#: ``comet_env`` of the library's pages, 2026
COMET_ENV = "94"
#: what the web client asks for; some ten groups of ads come (MetaAdsCollector, 2026)
PAGE_SIZE = 30
#: the build's mark among the variables, seen 2026-05; the page tells today's
VERSION_MARK = "70ea08"
#: the version of the official API of October 2025; versions live for two years
API = "https://graph.facebook.com/v24.0/ads_archive"
API_PAGE_SIZE = 100
#: for "please reduce the amount of data you're asking for"
API_SMALL_PAGE = 10
#: fields of the official API (its reference, 2026); ``ad_snapshot_url`` is left out, as it holds the caller's token
API_FIELDS = (
    "id", "ad_creation_time", "ad_creative_bodies", "ad_creative_link_captions", "ad_creative_link_descriptions",
    "ad_creative_link_titles", "ad_delivery_start_time", "ad_delivery_stop_time", "age_country_gender_reach_breakdown",
    "beneficiary_payers", "bylines", "currency", "delivery_by_region", "demographic_distribution", "eu_total_reach",
    "impressions", "languages", "page_id", "page_name", "publisher_platforms", "spend", "target_ages", "target_gender",
    "target_locations",
)  # fmt: skip
_GATE = re.compile(rb"""["'](/__rd_verify_[\w-]{1,200}(?:\?challenge=\d{1,9})?)["']""")
_GATE_LENGTH = 4096
_SORTS = {"impressions": "total_impressions", "relevance": "relevancy_monthly_grouped"}
#: words for which there are always ads: whoever finds none is not served
CONTROL_WORDS = "sale"


@dataclass(frozen=True, slots=True)
class Query:
    """A stored query: ``doc_id`` as seen at ``seen``."""

    name: str
    doc_id: str
    seen: str
    source: str


SEARCH = Query(
    "AdLibrarySearchPaginationQuery", "24922295957467452", "2026-09", "script bundles; 25464068859919530 in 2026-02"
)
DETAILS = Query(
    "AdLibraryV3AdDetailsQuery", "25068828942793558", "2026-08",
    "script bundles; AdLibraryAdDetailsV2Query 9050728085032276 before",
)  # fmt: skip

#: a page of the library that needs no search: gives a guest its cookies and tokens
WARMUP = Fetch("warmup", LIBRARY, harvest=True)


def gate(page: Page) -> Fetch | None:
    """The request of the script on "Client challenge" pages, which asks for nothing but to be run (2025-2026)."""
    match = _GATE.search(page.body[:_GATE_LENGTH])
    if match is None or page.url is None:
        return None
    return Fetch("gate", urljoin(page.url, match[1].decode()), "POST", "xhr", (("Origin", HOME),))


def ad_url(number: str | None) -> str | None:
    """Canonical address of an ad."""
    return f"{LIBRARY}?id={number}" if number else None


def search_page(params: AdsParams) -> Fetch:
    """The page of a search, with its first ads where the server puts them in."""
    return Fetch("page", search_url(params), harvest=True)


def search_url(params: AdsParams) -> str:
    """The address of a search, as the site's own form writes it."""
    query = {"active_status": params.status, "ad_type": params.ad_type, "country": params.country}
    query |= {"media_type": params.media_type, "search_type": _search_type(params)}
    query |= {"q": params.query} if params.query else {}
    query |= {"view_all_page_id": params.page_id} if params.page_id else {}
    query |= {"start_date[min]": params.since} if params.since else {}
    query |= {"start_date[max]": params.until} if params.until else {}
    mode = _SORTS[params.sort]
    return f"{LIBRARY}?{urlencode({**query, 'sort_data[direction]': 'desc', 'sort_data[mode]': mode})}"


def _search_type(params: AdsParams) -> str:
    if params.page_id and not params.query:
        return "page"
    return "keyword_exact_phrase" if params.exact else "keyword_unordered"


def ad_page(number: str) -> Fetch:
    """The page of one ad."""
    return Fetch("page", f"{LIBRARY}?id={number}", harvest=True)


def _graphql(query: Query, variables: Mapping[str, Any], *, referer: str) -> Fetch:
    """A stored query as the web client sends it for a guest (2026)."""
    form = [("av", "0"), ("__aaid", "0"), ("__user", "0"), ("__a", "1"), ("__req", "1"), ("dpr", "1")]
    form += [("__ccg", "GOOD"), ("__comet_req", COMET_ENV), ("fb_api_caller_class", "RelayModern")]
    form += [("fb_api_req_friendly_name", query.name), ("server_timestamps", "true")]
    form += [("variables", orjson.dumps(variables).decode())]
    return Fetch(
        "graphql",
        f"{HOME}/api/graphql/",
        "POST",
        "xhr",
        headers=(("X-FB-Friendly-Name", query.name), ("X-ASBD-ID", ASBD_ID), ("Origin", HOME)),
        form=tuple(form),
        referer=referer,
        token_headers={"X-FB-LSD": Token("lsd")},
        token_form={
            "__hs": Token("haste_session", ""),
            "__rev": Token("client_revision", ""),
            "__hsi": Token("hsi", ""),
            "lsd": Token("lsd"),
            "jazoest": Token("jazoest"),
            "__spin_r": Token("spin_r", ""),
            "__spin_b": Token("spin_b", "trunk"),
            "__spin_t": Token("spin_t", ""),
            "doc_id": Token(f"doc:{query.name}", query.doc_id),
        },
    )


def search_query(params: AdsParams, cursor: str | None, state: Mapping[str, Any]) -> Fetch:
    """A page of a search; ``state`` has the page's own ids, which a search keeps."""
    dates = {"min": params.since, "max": params.until} if params.since or params.until else None
    sort = {"mode": f"SORT_BY_{_SORTS[params.sort].upper()}", "direction": "DESCENDING"}
    variables = {
        "activeStatus": params.status.upper(), "adType": params.ad_type.upper(), "audienceTimeframe": "LAST_7_DAYS",
        "bylines": [], "collationToken": _session(params, "collation"), "contentLanguages": [],
        "countries": [params.country], "country": params.country, "cursor": cursor, "excludedIDs": [],
        "first": PAGE_SIZE, "isTargetedCountry": False, "location": None, "mediaType": params.media_type.upper(),
        "multiCountryFilterMode": None, "pageIDs": [], "potentialReachInput": None, "publisherPlatforms": [],
        "queryString": params.query or "", "regions": None, "searchType": _search_type(params).upper(),
        "sessionID": state.get("session_id") or _session(params, "session"), "sortData": sort, "source": None,
        "startDate": dates, "v": state.get("v") or VERSION_MARK, "viewAllPageID": params.page_id or "0",
    }  # fmt: skip
    return _graphql(SEARCH, variables, referer=search_url(params))


def _session(params: AdsParams, purpose: str) -> str:
    """An id of a visit, the same on all pages of a search."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{purpose}:{search_url(params)}"))


def details_query(number: str, page_id: str | None, country: str) -> Fetch:
    """Who pays for an ad and whom it reached."""
    variables = {
        "adArchiveID": number, "pageID": page_id, "country": country,
        "sessionID": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{LIBRARY}{number}")), "source": None,
        "isAdNonPolitical": True, "isAdNotAAAEligible": False,
    }  # fmt: skip
    return _graphql(DETAILS, variables, referer=f"{LIBRARY}?id={number}")


def archive(params: ArchiveParams, after: str | None, *, size: int) -> Fetch:
    """A page of the official API; the token travels in a header, so that no address holds it."""
    query: dict[str, Any] = {"ad_type": params.ad_type.upper(), "ad_active_status": params.status.upper()}
    query |= {"ad_reached_countries": orjson.dumps(params.countries).decode(), "fields": ",".join(API_FIELDS)}
    query |= {"search_terms": params.query} if params.query else {}
    query |= {"search_page_ids": ",".join(params.page_ids)} if params.page_ids else {}
    query |= {"ad_delivery_date_min": params.since} if params.since else {}
    query |= {"ad_delivery_date_max": params.until} if params.until else {}
    query |= {"limit": size} | ({"after": after} if after else {})
    return Fetch(
        "api" if size == API_PAGE_SIZE else "api_small",
        f"{API}?{urlencode(query)}",
        destination="xhr",
        secret_headers={"Authorization": Secret("meta_access_token", "Bearer ")},
    )
