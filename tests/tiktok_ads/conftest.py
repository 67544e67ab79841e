"""Small answers in the forms of the library and the Creative Center, with invented advertisers."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.items import validate
from fetchworker.spiders.tiktok_ads import parse
from fetchworker.spiders.tiktok_ads.spider import TiktokAdsSpider

AD, TOP = "1870000000000001", "7100000000000000001"


class Site:
    """Builds answers and reads them with the site's parsers."""

    ad_number, top_number = AD, TOP

    def call(self, operation: str, *, cursor=None, number=1, seen=0, state=None, **values: Any) -> Call[Any]:
        model = TiktokAdsSpider.operations[operation].params
        params = model(**values) if values else model.model_construct()
        return Call(operation, params, cursor, number, seen, state or {})

    def parsed(self, operation: str, body: Any, *, url: str | None = None, **values: Any) -> Parsed:
        """What the parser gives; every item is held against its model."""
        raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        page = Page(url, 200, {"content-type": ["application/json"]}, raw)
        found = getattr(parse, operation)(page, self.call(operation, **values))
        for place, item in enumerate(found.items):
            stamp = {"item_id": f"i-{place}", "site": "tiktok_ads", "operation": operation}
            validate({**item.__dict__, **stamp, "fetched_at": "2026-01-31T10:00:00Z"})
        return found

    def cursor(self, place: int) -> str:
        return base64.b64encode(json.dumps({"last_sort": [1790000000000], "next_cursor": place}).encode()).decode()

    def ad(self, number: str = AD, **changed: Any) -> dict[str, Any]:
        """An ad of the library."""
        raw = {
            "id": number, "name": "Ofengasse GmbH", "title": "Ton & Feuer", "first_shown_date": 1790000000000,
            "last_shown_date": 1790086400000, "estimated_audience": "10K-100K", "impression": 0, "spent": "",
            "videos": [{"video_url": "https://library.tiktok.com/api/v1/cdn/1/video/a", "cover_img": "https://p.example/c"}],
            "image_urls": [], "audit_status": "1", "sor_audit_status": "1", "show_mode": 1, "type": "2",
            "rejection_info": None,
        }  # fmt: skip
        return {**raw, **changed}

    def searched(self, *ads: Any, after: str | None = None, more: bool = True, total: Any = 17) -> dict[str, Any]:
        found = {"code": 0, "data": list(ads), "has_more": more, "total": total}
        return {**found, "search_id": after} if after is not None else found

    def details(self, **changed: Any) -> dict[str, Any]:
        raw = self.ad(external_url="https://ofen.example/", call_to_action="Jetzt kaufen", **changed)
        payer = {"adv_biz_ids": "6870000000000000001", "name": "Ofengasse GmbH",
                 "tt_user": {"username": "ofengasse",
                             "profile_web_link": "https://www.tiktok.com/@ofengasse"}}  # fmt: skip
        targeting = {"location": {"data": [{"region": "de"}, {"region": "AT"}, {"region": "DE"}]}, "age": {}}
        return {"code": 0, "data": {"ad": raw, "advertiser": payer, "targeting": targeting}}

    def material(self, number: str = TOP, **changed: Any) -> dict[str, Any]:
        """An ad of the Creative Center."""
        raw = {
            "id": number, "ad_title": "Ein Becher", "brand_name": "Ofengasse", "like": 61, "ctr": 0.14, "cost": 2,
            "industry_key": "label_22000000000", "objective_key": "campaign_objective_conversion", "is_search": False,
            "video_info": {"vid": "v1", "duration": 17.5, "cover": "https://p.example/c", "width": 576, "height": 1024,
                           "video_url": {"360p": "https://f.example/3", "720p": "https://f.example/7"}},
        }  # fmt: skip
        return {**raw, **changed}

    def answer(self, data: Any, **changed: Any) -> dict[str, Any]:
        return {"code": 0, "msg": "OK", "request_id": "x", "data": data, **changed}

    def listed(self, *materials: Any, more: bool = False, **pages: Any) -> dict[str, Any]:
        pagination = {"page": 1, "size": 20, "total_count": 45, "has_more": more, **pages}
        return self.answer({"materials": list(materials), "pagination": pagination})

    def trends(self, key: str, *entries: Any, more: bool = False, total: Any = 99) -> dict[str, Any]:
        pagination = {"page": 1, "size": 20, "total": total, "has_more": more}
        return self.answer({key: list(entries), "pagination": pagination})


@pytest.fixture(scope="session")
def site() -> Site:
    return Site()
