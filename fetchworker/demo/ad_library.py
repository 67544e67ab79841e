"""The demo plays Meta's Ad Library: a gate that a script passes, pages with their first ads, stored queries, the API.

Advertisers and ads are invented. A visitor without the cookie of the gate gets its script. Tokens are bound to the
cookie ``datr``, query ids stand on the library's bare page alone. Searches for ``quiet`` words have pages without ads,
``heavy`` ones are too much for the official API in one go.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fetchworker.demo import pages
from fetchworker.demo.instagram import EXECUTION_ERROR, INCORRECT_QUERY, RELOAD, as_json, html
from fetchworker.demo.model import Reply, RequestInfo
from fetchworker.demo.pages import Document, Preloaded, Tokens
from fetchworker.demo.paging import Json, connection, window
from fetchworker.demo.queries import QueryBook
from fetchworker.demo.scripts import FACEBOOK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HOST, API_HOST = "www.facebook.com", "graph.facebook.com"
#: the one token that the demo's official API takes
TOKEN = "EAABdemo0tokenOfNobody4711"  # noqa: S105  # opens nothing
SEARCH, DETAILS, ROOT = "AdLibrarySearchPaginationQuery", "AdLibraryV3AdDetailsQuery", "AdLibraryFoundationRootQuery"
PAGE_SIZE = 10
_YEAR = 31_536_000
_GATE_PATH = "/__rd_verify_demo"
_GATE = f"""<html><head><title>Client challenge</title></head><body><script>
fetch('{_GATE_PATH}?challenge=3', {{method: 'POST'}}).finally(() => location.reload());
</script></body></html>"""
_FORMATS = ("IMAGE", "VIDEO", "CAROUSEL", "DCO")
_DAY = 86_400
_STARTED = 1_790_000_000
_WORDS = ("lamp", "teapot", "kite", "quiet lamp", "heavy lamp")
_EVERY_POLITICAL, _EVERY_ENDED = 6, 9


@dataclass(frozen=True, slots=True)
class Advert:
    """An invented ad; ``variants`` of one collation share its number's beginning."""

    number: str
    page_id: str
    page_name: str
    words: str
    format: str
    started: int
    active: bool
    political: bool
    variants: int


def make_ads(seed: int = 0) -> tuple[Advert, ...]:
    """Invent all ads, the same for the same seed."""
    dice = random.Random(f"ads-{seed}")  # noqa: S311 - invention, not secrecy
    return tuple(_advert(place, dice) for place in range(160))


def _advert(place: int, dice: random.Random) -> Advert:
    shop = dice.randrange(12)
    return Advert(
        number=str(700_000_000_000_000 + place * 1_000),
        page_id=str(100_000_000_000_000 + shop),
        page_name=f"The Invented Workshop No. {shop + 1}",
        words=f"{_WORDS[place % len(_WORDS)]} number {place}",
        format=_FORMATS[place % len(_FORMATS)],
        started=_STARTED + dice.randrange(200) * _DAY,
        active=place % _EVERY_ENDED != 0,
        political=place % _EVERY_POLITICAL == 0,
        variants=1 + (place % 7 == 0),
    )


class AdLibrary:
    """The app; ``queries`` may be rotated while it serves."""

    def __init__(self, *, seed: int = 0) -> None:
        self.ads = make_ads(seed)
        self.by_number = {advert.number: advert for advert in self.ads}
        self.queries = QueryBook(seed, names=(SEARCH, DETAILS))
        self._secret = f"ads-{seed}".encode()
        self._guests = 0

    def __call__(self, request: RequestInfo) -> Reply:
        """Answer a request."""
        if request.host == API_HOST:
            return self.api(request)
        if request.route == _GATE_PATH:
            return Reply(200, (("set-cookie", "rd_challenge=1; Max-Age=86400; Path=/; Secure"),)) if (
                request.method == "POST"
            ) else html(b"", 405)  # fmt: skip
        if "rd_challenge" not in request.cookies():
            return html(_GATE.encode(), 403)
        datr = request.cookies().get("datr")
        if datr is None:
            self._guests += 1
        tokens = self._tokens(datr or f"demo{self._digest('datr', str(self._guests))[:20]}")
        reply = self._graphql(request, tokens) if request.method == "POST" else self._page(request, tokens)
        if datr is None:
            cookie = f"datr={tokens.mid}; Max-Age={_YEAR}; Path=/; Domain=.facebook.com; Secure"
            reply.headers = [*reply.headers, ("set-cookie", cookie)]
        return reply

    def _tokens(self, datr: str) -> Tokens:
        return Tokens(datr, f"Ad{self._digest('lsd', datr)[:25]}", "")

    def _digest(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()

    def search(self, words: str, page_id: str = "0", status: str = "ACTIVE") -> list[Advert]:
        """Ads with all the words, of the advertiser if one is named."""
        wanted = words.casefold().split()
        return [
            advert
            for advert in self.ads
            if all(word in advert.words or word == "sale" for word in wanted)
            and page_id in ("0", "", advert.page_id)
            and (status == "ALL" or advert.active == (status == "ACTIVE"))
        ]

    # pages

    def _page(self, request: RequestInfo, tokens: Tokens) -> Reply:
        query = request.query()
        if not request.route.startswith("/ads/library"):
            return html(pages.render(Document("Page not found", tokens)), 404)
        if "id" in query:
            return self._rendered(tokens, _deeplink(self.by_number.get(query["id"])))
        if not query.get("q") and not query.get("view_all_page_id"):
            return html(
                pages.render(Document("Ad Library", tokens, modules=self.queries.modules(), scripts=self._scripts()))
            )
        words = query.get("q", "")
        if words.startswith("quiet"):
            return html(pages.render(Document("Ad Library", tokens, scripts=self._scripts())))
        found = self.search(words, query.get("view_all_page_id", "0"), query.get("active_status", "active").upper())
        variables = {"sessionID": "189d6073-0000-4997-bde7-d95d1097e0d7", "v": "0a0b0c"}
        return self._rendered(tokens, {"search_results_connection": _found(found, words, None)}, variables)

    def _rendered(self, tokens: Tokens, main: Json, variables: Mapping[str, Any] | None = None) -> Reply:
        data = {"ad_library_main": main, "xfb_ad_library_is_captcha_required": False}
        preloaded = [Preloaded(ROOT, "9000000000000001", variables or {}, data)]
        return html(pages.render(Document("Ad Library", tokens, preloaded=preloaded, scripts=self._scripts())))

    def _scripts(self) -> Sequence[str]:
        return self.queries.scripts(FACEBOOK)

    # calls

    def _graphql(self, request: RequestInfo, tokens: Tokens) -> Reply:
        form = request.form()
        if request.header("x-fb-lsd") != tokens.lsd or form.get("lsd") != tokens.lsd:
            return Reply(200, (("content-type", "text/html"),), b"for (;;);" + json.dumps(RELOAD).encode())
        name, variables = self.queries.name(form.get("doc_id", "")), json.loads(form.get("variables", "{}"))
        if name is None:
            return as_json(INCORRECT_QUERY)
        try:
            main = self._answer(name, variables)
        except (KeyError, ValueError):
            return as_json(EXECUTION_ERROR)
        return as_json({"data": {"ad_library_main": main}, "extensions": {"is_final": True}})

    def _answer(self, name: str, variables: Mapping[str, Any]) -> Json:
        if name == DETAILS:
            advert = self.by_number.get(variables["adArchiveID"])
            return {"ad_details": _details(advert) if advert else None}
        words = variables["queryString"]
        found = self.search(words, variables["viewAllPageID"], variables["activeStatus"])
        return {"search_results_connection": _found(found, words, variables["cursor"])}

    def api(self, request: RequestInfo) -> Reply:
        """GET ``/v<N>/ads_archive``: the official API."""
        query = request.query()
        if request.header("authorization") != f"Bearer {TOKEN}":
            message = "Invalid OAuth access token - Cannot parse access token"
            return as_json({"error": {"message": message, "type": "OAuthException", "code": 190}}, 400)
        limit, words = int(query.get("limit", "25")), query.get("search_terms", "")
        if words.startswith("heavy") and limit > PAGE_SIZE:
            message = "Please reduce the amount of data you're asking for, then retry your request"
            return as_json({"error": {"code": 1, "message": message}}, 500)
        try:
            page = window(self.search(words, status="ALL"), f"api-{words}", query.get("after"), limit)
        except ValueError:
            return as_json({"error": {"code": 100, "message": "Invalid cursor"}}, 400)
        following = f"https://{API_HOST}{request.path}&access_token={TOKEN}"
        paging = {"cursors": {"after": page.cursor}, "next": following} if page.cursor else {}
        return as_json({"data": [_of_api(advert) for advert in page.items], "paging": paging})


def _found(found: Sequence[Advert], words: str, after: str | None) -> Json:
    page = connection(found, _collation, f"ads-{words}", after, PAGE_SIZE)
    return {"count": len(found), **page}


def _collation(advert: Advert) -> Json:
    return {"collated_results": [_ad(advert, variant) for variant in range(advert.variants)]}


def _ad(advert: Advert, variant: int = 0) -> Json:
    number = str(int(advert.number) + variant)
    return {
        "ad_archive_id": number, "page_id": advert.page_id, "page_name": advert.page_name,
        "is_active": advert.active, "start_date": advert.started, "end_date": advert.started + 9 * _DAY,
        "publisher_platform": ["FACEBOOK", "INSTAGRAM"], "collation_id": f"8{advert.number[1:]}",
        "collation_count": advert.variants if advert.variants > 1 else None, "categories": ["UNKNOWN"],
        "currency": "EUR" if advert.political else "", "spend": "€100 - €199" if advert.political else None,
        "impressions_with_index": {"impressions_text": "10K-15K" if advert.political else None},
        "reach_estimate": None, "targeted_or_reached_countries": [], "snapshot": _snapshot(advert),
    }  # fmt: skip


def _snapshot(advert: Advert) -> Json:
    picture = f"https://scontent.cdninstagram.com/v/ads/{advert.number}.png"
    words = f"Buy the {advert.words}, which does not exist"
    card = {"title": f"One {advert.words}", "body": words, "cta_text": "Shop now",
            "link_url": "https://workshop.example/", "original_image_url": picture}  # fmt: skip
    many = advert.format in ("CAROUSEL", "DCO")
    template = advert.format == "DCO"
    film = {"video_hd_url": picture.replace(".png", ".mp4"), "video_preview_image_url": picture}
    return {
        "page_id": advert.page_id, "page_name": advert.page_name, "branded_content": None,
        "page_profile_uri": f"https://www.facebook.com/{advert.page_id}/", "page_like_count": 1_000 + len(advert.words),
        "page_categories": ["Workshop"], "display_format": advert.format, "caption": "workshop.example",
        "title": "{{product.name}}" if template else card["title"],
        "body": {"text": "{{product.brand}}" if template else card["body"]}, "link_url": "https://workshop.example/",
        "cta_text": "Shop now", "cta_type": "SHOP_NOW", "cards": [card, card] if many else [],
        "images": [{"original_image_url": picture}] if advert.format == "IMAGE" else [],
        "videos": [film] if advert.format == "VIDEO" else [], "byline": advert.page_name if advert.political else None,
    }  # fmt: skip


def _deeplink(advert: Advert | None) -> Json:
    if advert is None:
        return {"deeplink_ad_archive_result": {"no_result_reason": "NO_AD_FOUND", "deeplink_ad_archive": None}}
    return {"deeplink_ad_archive_result": {"deeplink_ad_archive": _ad(advert), "no_result_reason": None}}


def _details(advert: Advert) -> Json:
    groups = [{"age_range": age, "male": 10, "female": 20, "unknown": None} for age in ("18-24", "25-34")]
    reach = {
        "eu_total_reach": 90, "location_audience": [{"name": "Malta", "type": "countries", "excluded": False}],
        "gender_audience": "All", "age_audience": {"min": 18, "max": 65},
        "age_country_gender_reach_breakdown": [{"country": "MT", "age_gender_breakdowns": groups}],
    }  # fmt: skip
    info = {"page_id": advert.page_id, "page_name": advert.page_name, "likes": 1_234, "ig_username": "workshop",
            "ig_followers": 77, "page_category": "Workshop", "page_verification": "NOT_VERIFIED",
            "page_profile_uri": f"https://www.facebook.com/{advert.page_id}/"}  # fmt: skip
    payment = [{"payer": advert.page_name, "beneficiary": "Nobody at all"}]
    return {
        "advertiser": {"ad_library_page_info": {"page_info": info}},
        "aaa_info": {"payer_beneficiary_data": payment, "is_ad_taken_down": False},
        "transparency_by_location": {"eu_transparency": reach, "uk_transparency": None, "br_transparency": None},
    }  # fmt: skip


def _of_api(advert: Advert) -> Json:
    return {
        "id": advert.number, "page_id": advert.page_id, "page_name": advert.page_name, "currency": "EUR",
        "ad_delivery_start_time": "2026-09-12", "ad_creative_bodies": [f"Buy the {advert.words}"],
        "ad_snapshot_url": f"https://www.facebook.com/ads/archive/render_ad/?id={advert.number}&access_token={TOKEN}",
        "spend": {"lower_bound": "100", "upper_bound": "199"}, "impressions": {"lower_bound": "1000"},
        "publisher_platforms": ["facebook"], "eu_total_reach": 90,
        "beneficiary_payers": [{"payer": advert.page_name, "beneficiary": "Nobody at all"}],
        "demographic_distribution": [{"percentage": "0.25", "age": "18-24", "gender": "female"}],
    }  # fmt: skip
