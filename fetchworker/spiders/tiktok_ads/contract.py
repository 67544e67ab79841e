"""What TikTok's ad library and Creative Center answer to, as data, and the requests made of them.

The library (ads shown in Europe since late 2022) takes calls after a handshake: ``/location``, then
``/support-regions``, whose ``config_str`` goes along with every later call. It holds for the exit that made it.
The Creative Center takes three headers that a guest computes. Since 2026 it keeps more and more of itself for accounts:
top ads are mostly open, most lists of trends answer "deprecated".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

import orjson

from fetchworker.contracts import Fetch, Token

if TYPE_CHECKING:
    from collections.abc import Mapping

LIBRARY = "https://library.tiktok.com"
CENTER = "https://ads.tiktok.com"
RADAR = f"{CENTER}/creative_radar_api/v1"
#: what the library covers (``/support-regions``, 2026-09), and the word for all of it
REGIONS = ("AT", "BE", "BG", "CH", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GB", "GR", "HR", "HU", "IE", "IS",
           "IT", "LI", "LT", "LU", "LV", "MT", "NL", "NO", "PL", "PT", "RO", "SE", "SI", "SK", "TR")  # fmt: skip
ALL_REGIONS = "all"
#: the library gives 12 ads a page whatever is asked
LIBRARY_SIZE = 12
#: the days before today that a search of the library covers when none are named
LIBRARY_DAYS = 90
#: the library's ``query_type``: words, one advertiser's ids, neither (2026-09; 3 was seen for words in 2025)
BY_WORDS, BY_ADVERTISER, BY_NOTHING = "1", "2", ""

#: the page of the top ads
TOP_ADS = f"{CENTER}/business/creativecenter/inspiration/topads/pc/en"
CENTER_SIZE = 20
PERIODS = (7, 30, 180)
ORDERS = ("for_you", "impression", "ctr", "play_2s_rate", "play_6s_rate", "cvr", "like")
#: curves of an ad's film, second by second, and its places among other ads
KEYFRAMES = ("retain_ctr", "retain_cvr", "click_cnt", "convert_cnt", "play_retain_cnt")
PERCENTILES = ("ctr_percentile", "time_attr_conversion_rate_percentile", "click_cnt_percentile",
               "time_attr_convert_cnt_percentile", "show_cnt_percentile")  # fmt: skip
METRICS = (*KEYFRAMES, *PERCENTILES)
TREND_PERIODS = (7, 30, 90, 120, 180)


class Trends(NamedTuple):
    """A list of trends: its path, what is always asked of it, and the name of the parameter for the country."""

    path: str
    asked: tuple[tuple[str, str], ...] = ()
    country: str = "country_code"
    page: str = "inspiration/popular/hashtag"


TRENDS = {
    "hashtag": Trends("popular_trend/hashtag/list", (("sort_by", "popular"),)),
    "sound": Trends("popular_trend/sound/rank_list", (("rank_type", "popular"),), page="inspiration/popular/music"),
    "creator": Trends("popular_trend/creator/list", (("sort_by", "follower"),), "creator_country",
                      "inspiration/popular/creator"),
    "video": Trends("popular_trend/list", (("order_by", "vv"),), page="inspiration/popular"),
    "keyword": Trends("script/keyword/list", (("order_by", "post"), ("order_type", "desc")), page="keyword-insights"),
    "product": Trends("top_products/list", (("ecom_type", "l3"), ("order_by", "post"), ("order_type", "desc"),
                      ("period_type", "last")), page="top-products"),
}  # fmt: skip


class Sighting(NamedTuple):
    """Where a fact is from."""

    fact: str
    seen: str
    source: str


SIGHTINGS = (
    Sighting('/location and /support-regions before a search; 421 "system busy" without them, 425 for what is not'
             " there", "2026-09 to 2026-10", "public clients of the library"),
    Sighting("search_id is the cursor, a base64 JSON text; offset and limit change nothing", "2026-09-22",
             "2scraper/tiktok-ads-scraper, measured"),
    Sighting("details of an ad: ad, advertiser, targeting", "2025 to 2026", "public clients of the library"),
    Sighting("anonymous-user-id, timestamp and user-sign", "2024 to 2026-10", "npm tiktok-user-sign; public clients"),
    Sighting("top_ads/keyframe and top_ads/percentile with material_id and metric", "2025 to 2026", "TikHub's and"
             " other public clients"),
    Sighting("lists of trends", "2024 to 2025", "omarchang1019/tiktok-creative-center-api; public clients"),
    Sighting('most lists of trends answer "deprecated"; 40101 to those without an account', "2026",
             "public clients of 2026; lofe-w/tiktok-creative-center-scraper-public"),
)  # fmt: skip

_JSON = ("Content-Type", "application/json")
_CCL = {"X-CCL-STR": Token("ccl_str")}
_GUEST = {
    "anonymous-user-id": Token("anonymous_user_id"),
    "timestamp": Token("timestamp"),
    "user-sign": Token("user_sign"),
}


# ── the library ──────────────────────────────────────────────────────────────────────────────────────────────────────


def handshake() -> tuple[Fetch, ...]:
    """What the library wants to be asked before anything else, in this order."""
    referer = f"{LIBRARY}/ads"
    return (
        Fetch("location", f"{LIBRARY}/api/v1/location", destination="xhr", referer=referer),
        Fetch("regions", f"{LIBRARY}/api/v1/support-regions?lang=en", destination="xhr", referer=referer, harvest=True),
    )


def library_url(ad: str) -> str:
    """An ad's page in the library."""
    return f"{LIBRARY}/ads/detail/?ad_id={ad}"


class Wanted(NamedTuple):
    """A search of the library; ``window`` are POSIX seconds, its first and its last."""

    region: str
    window: tuple[int, int]
    query: str = ""
    advertiser: str = ""


def library_search(wanted: Wanted, *, search_id: str, seen: int) -> Fetch:
    """Ads by words or advertiser, those shown last first; ``search_id`` is the cursor, empty on the first page."""
    start, end = wanted.window
    asked = {"region": wanted.region, "type": "1", "start_time": str(start), "end_time": str(end)}
    kind = BY_ADVERTISER if wanted.advertiser else BY_WORDS if wanted.query else BY_NOTHING
    body = {
        "query": wanted.query,
        "query_type": kind,
        "adv_biz_ids": wanted.advertiser,
        "order": "last_shown_date,desc",
        "offset": seen,
        "search_id": search_id,
        "limit": LIBRARY_SIZE,
    }
    return Fetch(
        "api",
        f"{LIBRARY}/api/v1/search?{urlencode(asked)}",
        "POST",
        "xhr",
        headers=(_JSON, ("Origin", LIBRARY)),
        body=orjson.dumps(body),
        referer=f"{LIBRARY}/ads",
        token_headers=_CCL,
    )


def library_ad(ad: str) -> Fetch:
    """One ad with its advertiser and whom it was meant for."""
    url = f"{LIBRARY}/api/v1/items/{ad}/details?lang=en-US"
    return Fetch("api", url, "GET", "xhr", referer=library_url(ad), token_headers=_CCL)


# ── the Creative Center ──────────────────────────────────────────────────────────────────────────────────────────────


def center_url(ad: str) -> str:
    """An ad's page in the Creative Center."""
    return f"{CENTER}/business/creativecenter/topads/{ad}/pc/en"


def radar(path: str, asked: Mapping[str, Any], *, referer: str) -> Fetch:
    """A call of the Creative Center's script."""
    told = {name: str(value) for name, value in asked.items() if value not in (None, "")}
    url = f"{RADAR}/{path}?{urlencode(told)}"
    return Fetch("api", url, "GET", "xhr", (("lang", "en"),), referer=referer, token_headers=_GUEST)


def top_ads(asked: Mapping[str, Any], page: int) -> Fetch:
    """A page of the top ads."""
    return radar("top_ads/v2/list", {**asked, "page": page, "limit": CENTER_SIZE}, referer=TOP_ADS)


def like_ad(ad: str) -> Fetch:
    """Ads that the site thinks to be like this one."""
    return radar("top_ads/v2/recommend", {"material_id": ad}, referer=center_url(ad))


def top_ad(ad: str) -> Fetch:
    """One top ad."""
    return radar("top_ads/v2/detail", {"material_id": ad}, referer=center_url(ad))


def analytics(ad: str, metric: str) -> Fetch:
    """One curve of an ad, or its place among others."""
    path = "top_ads/percentile" if metric in PERCENTILES else "top_ads/keyframe"
    return radar(path, {"material_id": ad, "metric": metric}, referer=center_url(ad))


def trends(kind: str, asked: Mapping[str, Any], page: int) -> Fetch:
    """A page of a list of trends."""
    listed = TRENDS[kind]
    wanted = {**dict(listed.asked), **asked, "page": page, "limit": CENTER_SIZE}
    wanted[listed.country] = wanted.pop("country", None)
    if kind == "product":
        wanted["last"] = wanted.pop("period", None)
    return radar(listed.path, wanted, referer=trends_url(kind))


def trends_url(kind: str) -> str:
    """The page of a list of trends."""
    return f"{CENTER}/business/creativecenter/{TRENDS[kind].page}/pc/en"
