"""The demo plays TikTok's ad library and Creative Center, with invented advertisers.

The library answers 421 to those who have not asked for ``/location`` and then ``/support-regions`` from the same exit,
and to a handshake that has grown old. Its ``has_more`` never ends; the cursor does. The Creative Center wants its three
headers, and an account for the country ``ZZ``; its list of videos was given up.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from typing import TYPE_CHECKING, Any

from fetchworker.demo.model import Reply, RequestInfo
from fetchworker.demo.pages import block_page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fetchworker.demo.log import Log

HOSTS = ("library.tiktok.com", "ads.tiktok.com")
ADS, PAGE = 30, 12
TOP_ADS = 45
HASHTAGS = 30
FIRST_AD, FIRST_TOP = 1870000000000100, 7100000000000000100
ADVERTISER = "6870000000000000001"
WALLED_COUNTRY = "ZZ"
BLOCK, STALE = "block", "stale"
_SALT = "A7B&9z#1G6$2K@8M!3"
_LATE = 300
_ITEM = re.compile(r"/api/v1/items/(?P<ad>\d+)/details$")
_JSON = ("content-type", "application/json; charset=utf-8")
_DAY = 1_790_000_000


class TiktokAds:
    """The app.

    Args:
        block_exits: the first request of each exit meets a vendor's 403 page.
        stale_after: the library's handshakes grow old after so many searches, once.
        log: gets an event of type ``behaviour`` for each of both.
    """

    def __init__(self, *, block_exits: bool = False, stale_after: int | None = None, log: Log | None = None) -> None:
        self.block_exits, self.stale_after = block_exits, stale_after
        self.generation = self.searches = 0
        self._log, self._exits, self._located = log, set[str](), set[str]()

    def __call__(self, request: RequestInfo) -> Reply:
        """Answer a request."""
        if self.block_exits and request.peer not in self._exits:
            self._exits.add(request.peer)
            self._note(BLOCK, request)
            headers = (("server", "AkamaiGHost"), ("content-type", "text/html"))
            return Reply(403, headers, block_page(f"{request.connection.id:x}.demo"))
        return self._library(request) if request.host == HOSTS[0] else _center(request)

    def _note(self, what: str, request: RequestInfo) -> None:
        if self._log is not None:
            self._log.event(
                "behaviour", what=what, peer=request.peer, connection=request.connection.id, path=request.path
            )

    # the library

    def _library(self, request: RequestInfo) -> Reply:
        if request.route == "/api/v1/location":
            self._located.add(request.peer)
            return _json({"code": 0, "location": "DE"})
        if request.route == "/api/v1/support-regions":
            return _json(
                {"code": 0, "config_str": self._ccl(request.peer), "regions": [{"code": "DE"}, {"code": "FR"}]}
            )
        if request.peer not in self._located or request.header("x-ccl-str") != self._ccl(request.peer):
            return Reply(421, (("content-type", "text/plain"),), b"system busy")
        item = _ITEM.match(request.route)
        return _details(item["ad"]) if item else self._search(request)

    def _ccl(self, peer: str) -> str:
        return hashlib.sha256(f"{peer} {self.generation}".encode()).hexdigest()

    def _search(self, request: RequestInfo) -> Reply:
        self.searches += 1
        if self.searches == self.stale_after:
            self.generation += 1
            self._note(STALE, request)
            return Reply(421, (("content-type", "text/plain"),), b"system busy")
        asked = json.loads(request.body)
        found = [ad for ad in range(ADS) if asked["query"].lower() in _caption(ad).lower()]
        if asked["adv_biz_ids"]:
            found = [ad for ad in found if asked["adv_biz_ids"] == ADVERTISER and ad % 2 == 0]
        start = _cursor(asked["search_id"])
        shown = found[start : start + PAGE]
        end = start + len(shown)
        token = base64.b64encode(json.dumps({"last_sort": [_DAY * 1000], "next_cursor": end}).encode()).decode()
        answer = {"code": 0, "data": [_ad(ad) for ad in shown], "has_more": True, "search_id": token}
        return _json({**answer, "total": len(found)})


def _cursor(search_id: str) -> int:
    return int(json.loads(base64.b64decode(search_id))["next_cursor"]) if search_id else 0


def _caption(ad: int) -> str:
    return f"Bowl no. {ad} from the kiln" if ad % 3 else f"Vase no. {ad} from the kiln"


def _ad(ad: int) -> dict[str, Any]:
    film = {"video_url": f"https://library.tiktok.com/api/v1/cdn/1790115051/video/{ad}",
            "cover_img": f"https://pictures.example/{ad}.webp"}  # fmt: skip
    rejected = {"affected_regions": ["DK"], "reasons": ["Invented for the demo"], "automated_notice": ""}
    return {
        "id": str(FIRST_AD + ad), "name": "Kiln Lane" if ad % 2 == 0 else "", "title": _caption(ad),
        "first_shown_date": (_DAY - ad * 86_400) * 1000, "last_shown_date": (_DAY - ad * 3600) * 1000,
        "estimated_audience": "10K-100K", "videos": [film] if ad % 4 else [],
        "image_urls": [] if ad % 4 else [f"https://pictures.example/{ad}.webp"], "audit_status": "1",
        "sor_audit_status": "1", "show_mode": 1, "type": "2", "impression": 0, "spent": "",
        "rejection_info": rejected if ad == 5 else None,  # noqa: PLR2004  # one of them
    }  # fmt: skip


def _details(number: str) -> Reply:
    ad = int(number) - FIRST_AD
    if not 0 <= ad < ADS:
        return Reply(425, (("content-type", "text/plain"),), b"")
    raw = {**_ad(ad), "external_url": "https://kiln.example/sale", "call_to_action": "Shop now"}
    payer = {"adv_biz_ids": ADVERTISER, "name": "Kiln Lane", "tt_user": {"profile_web_link": "https://kiln.example/"}}
    targeting = {"location": {"data": [{"region": "DE", "impressions": "9K"}, {"region": "FR", "impressions": "1K"}]}}
    return _json({"code": 0, "data": {"ad": raw, "advertiser": payer, "targeting": targeting}})


# ── the Creative Center ──────────────────────────────────────────────────────────────────────────────────────────────


def _center(request: RequestInfo) -> Reply:
    query = request.query()
    if not _signed(request) or WALLED_COUNTRY in (query.get("country_code"), query.get("creator_country")):
        return _json({"code": 40101, "msg": "no permission", "request_id": "demo"})
    handler = _CALLS.get(request.route.removeprefix("/creative_radar_api/v1/"))
    if handler is None:
        return _json({"code": 50001, "msg": "this list is deprecated", "request_id": "demo"})
    return _json({"code": 0, "msg": "OK", "request_id": "demo", "data": handler(query)})


def _signed(request: RequestInfo) -> bool:
    guest, at, sign = (request.header(name) or "" for name in ("anonymous-user-id", "timestamp", "user-sign"))
    digest = hashlib.md5(f"{_SALT}-{guest}-{at}".encode(), usedforsecurity=False).hexdigest()
    folded = "".join(f"{int(one, 16) ^ int(other, 16):x}" for one, other in zip(digest[:16], digest[16:], strict=True))
    return at.isdigit() and abs(time.time() - int(at)) < _LATE and sign == folded


def _page(query: Mapping[str, str], total: int, key: str = "total") -> tuple[range, dict[str, Any]]:
    number, size = int(query.get("page", "1")), int(query.get("limit", "20"))
    shown = range(min((number - 1) * size, total), min(number * size, total))
    return shown, {"page": number, "size": size, key: total, "has_more": number * size < total}


def _material(ad: int) -> dict[str, Any]:
    info = {"vid": f"v{ad}", "duration": 12.5, "cover": f"https://pictures.example/t{ad}.webp", "width": 576,
            "height": 1024, "video_url": {"480p": f"https://films.example/{ad}-480.mp4",
                                          "720p": f"https://films.example/{ad}-720.mp4"}}  # fmt: skip
    return {
        "id": str(FIRST_TOP + ad), "ad_title": f"The {ad}th bowl", "brand_name": "Kiln Lane" if ad % 2 else "",
        "like": 1000 - ad, "ctr": 0.25, "cost": 1 + ad % 3, "industry_key": "label_22000000000",
        "objective_key": "campaign_objective_conversion", "favorite": False, "is_search": False, "video_info": info,
    }  # fmt: skip


def _top_ads(query: Mapping[str, str]) -> dict[str, Any]:
    shown, pages = _page(query, TOP_ADS, "total_count")
    return {"materials": [_material(ad) for ad in shown], "pagination": pages}


def _recommended(query: Mapping[str, str]) -> dict[str, Any]:
    return {"materials": [_material(ad) for ad in range(3) if str(FIRST_TOP + ad) != query.get("material_id")]}


def _known(query: Mapping[str, str]) -> int | None:
    number = query.get("material_id", "")
    place = int(number) - FIRST_TOP if number.isdigit() else -1
    return place if 0 <= place < TOP_ADS else None


def _top_ad(query: Mapping[str, str]) -> dict[str, Any] | None:
    place = _known(query)
    if place is None:
        return None
    more = {"comment": 12, "share": 3, "country_code": ["US", "CA"], "landing_page": "https://kiln.example/bowls",
            "keyword_list": None, "objectives": [{"label": "campaign_objective_conversion", "value": 3}],
            "source": "TikTok Ads Manager", "source_key": 1, "voice_over": True}  # fmt: skip
    return {**_material(place), **more}


def _keyframe(query: Mapping[str, str]) -> dict[str, Any] | None:
    if _known(query) is None:
        return None
    points = [{"second": second, "value": round(1 - second / 10, 2)} for second in range(5)]
    return {"analysis": points, "duration": 5, "highlight": [1, 3]}


def _percentile(query: Mapping[str, str]) -> dict[str, Any] | None:
    return None if _known(query) is None else {query.get("metric", "ctr_percentile"): 0.48}


def _hashtags(query: Mapping[str, str]) -> dict[str, Any]:
    shown, pages = _page(query, HASHTAGS)
    curve = [{"time": _DAY // 86_400 * 86_400 + day * 86_400, "value": day / 2} for day in range(3)]
    return {"list": [{"hashtag_id": str(4000 + n), "hashtag_name": f"kiln{n}", "publish_cnt": 100 - n, "rank": n + 1,
                      "video_views": 10**10 - n, "all_media_count": None, "trend": curve,
                      "country_info": {"id": "US", "label": "US", "value": "United States"}} for n in shown],
            "pagination": pages}  # fmt: skip


def _sounds(query: Mapping[str, str]) -> dict[str, Any]:
    shown, pages = _page(query, 2)
    return {"sound_list": [{"clip_id": f"740000000000000000{n}", "title": f"Song of a wheel {n}", "rank": n + 1,
                            "author": "The Kilns", "country_code": "US", "duration": 22,
                            "link": f"https://www.tiktok.com/music/x-740000000000000000{n}"} for n in shown],
            "pagination": pages}  # fmt: skip


def _creators(query: Mapping[str, str]) -> dict[str, Any]:
    shown, pages = _page(query, 2)
    return {"creators": [{"user_id": f"700000000000000000{n}", "nick_name": f"Potter {n}", "follower_cnt": 5000 + n,
                          "liked_cnt": 90_000, "country_code": "US",
                          "tt_link": f"https://www.tiktok.com/@potter{n}"} for n in shown],
            "pagination": pages}  # fmt: skip


def _keywords(query: Mapping[str, str]) -> dict[str, Any]:
    shown, pages = _page(query, 2)
    return {"keyword_list": [{"keyword": f"glaze {n}", "post": 700, "like": 80, "ctr": 0.5, "cvr": 9.5, "cpa": 20.2,
                              "impression": 90_000, "video_list": ["7500000000000000001"]} for n in shown],
            "pagination": pages}  # fmt: skip


def _products(query: Mapping[str, str]) -> dict[str, Any]:
    shown, pages = _page(query, 2)
    return {"list": [{"url_title": f"Bowls {n}", "ecom_type": "l3", "post": 300, "like": 40, "cover_url": None,
                      "first_ecom_category": {"id": "600001", "value": "Kitchen"},
                      "third_ecom_category": {"id": f"60000{n + 2}", "value": f"Bowls {n}"}} for n in shown],
            "pagination": pages}  # fmt: skip


_CALLS: dict[str, Callable[[Mapping[str, str]], dict[str, Any] | None]] = {
    "top_ads/v2/list": _top_ads,
    "top_ads/v2/recommend": _recommended,
    "top_ads/v2/detail": _top_ad,
    "top_ads/keyframe": _keyframe,
    "top_ads/percentile": _percentile,
    "popular_trend/hashtag/list": _hashtags,
    "popular_trend/sound/rank_list": _sounds,
    "popular_trend/creator/list": _creators,
    "script/keyword/list": _keywords,
    "top_products/list": _products,
}


def _json(value: Any) -> Reply:
    return Reply(200, (_JSON,), json.dumps(value, ensure_ascii=False).encode())
