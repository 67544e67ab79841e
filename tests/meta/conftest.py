from __future__ import annotations

import json
from typing import Any

import pytest

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.items import validate
from fetchworker.spiders.meta import params, parse

PARAMS = {"ads": params.AdsParams, "ad": params.AdParams, "ads_archive": params.ArchiveParams}
DAY = 1_782_892_800  # 1 July 2026, 08:00 UTC


class Site:
    """Bodies in the site's forms, and what the parsers make of them."""

    def page(self, body: Any, status: int = 200) -> Page:
        raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        return Page("https://www.facebook.com/ads/library/", status, {}, raw)

    def call(self, operation: str, *, cursor=None, number=1, seen=0, state=None, **values: Any) -> Call[Any]:
        model = PARAMS[operation]
        made = model(**values) if values else model.model_construct()
        return Call(operation, made, cursor=cursor, page=number, seen=seen, state=state or {})

    def parsed(self, operation: str, body: Any, **values: Any) -> Parsed:
        """What the parser gives; every item is held against its model."""
        found = getattr(parse, operation)(self.page(body), self.call(operation, **values))
        for place, item in enumerate(found.items):
            stamp = {"item_id": f"i-{place}", "site": "meta", "operation": operation}
            validate({**item.__dict__, **stamp, "fetched_at": "2026-01-31T10:00:00Z"})
        return found

    def relay(self, *results: dict[str, Any]) -> str:
        """A library page whose query came in chunks."""
        entries = []
        for number, result in enumerate(results):
            bbox = {"complete": number == len(results) - 1, "result": result, "sequence_number": number}
            next_ = ["adp_AdLibraryFoundationRootQueryRelayPreloader_6a09", {"__bbox": bbox}]
            entries.append(["RelayPrefetchedStreamCache", "next", [], next_])
        block = {"require": [["ScheduledServerJS", "handle", None, [{"__bbox": {"require": entries}}]]]}
        ids = '"variables":{"sessionID":"189d6073-834b-4997-bde7-d95d1097e0d7","v":"70ea08"}'
        return (
            f"<html><body><script>{ids}</script>"
            f'<script type="application/json" data-sjs>{json.dumps(block)}</script></body></html>'
        )

    def ad(self, number: str = "150001", **more: Any) -> dict[str, Any]:
        shown = {
            "page_id": "112",
            "page_name": "Clay & Kiln",
            "page_profile_uri": "https://www.facebook.com/clay/",
            "page_like_count": 3440,
            "page_categories": ["Potter"],
            "display_format": "IMAGE",
            "title": "A bowl",
            "body": {"text": "Hand made"},
            "caption": "clay.example",
            "link_url": "https://clay.example/",
            "cta_text": "Shop now",
            "images": [{"original_image_url": "https://cdn.example/a.jpg"}],
            "videos": [],
            "cards": [],
            "branded_content": None,
        }
        shown |= more.pop("snapshot", {})
        return {
            "ad_archive_id": number,
            "page_id": "112",
            "page_name": "Clay & Kiln",
            "is_active": True,
            "start_date": DAY,
            "end_date": DAY + 3 * 86_400,
            "publisher_platform": ["FACEBOOK", "THREADS"],
            "collation_id": "733",
            "collation_count": 2,
            "currency": "",
            "spend": None,
            "impressions_with_index": {"impressions_text": None, "impressions_index": -1},
            "reach_estimate": None,
            "categories": ["UNKNOWN"],
            "snapshot": shown,
            **more,
        }

    def search(self, *groups: list[dict[str, Any]], total: int | None = None, cursor: str | None = None) -> Any:
        edges = [{"node": {"collated_results": group}, "cursor": None} for group in groups]
        info = {"has_next_page": cursor is not None, "end_cursor": cursor}
        total = len(groups) if total is None else total
        return {"ad_library_main": {"search_results_connection": {"count": total, "edges": edges, "page_info": info}}}

    def details(self, **more: Any) -> dict[str, Any]:
        groups = [{"age_range": "18-24", "male": 4, "female": 6, "unknown": None}]
        region = {
            "eu_total_reach": 29517,
            "gender_audience": "All",
            "age_audience": {"min": 18, "max": 65},
            "location_audience": [{"name": "Malta", "excluded": False}, {"name": "Gozo", "excluded": True}],
            "age_country_gender_reach_breakdown": [{"country": "MT", "age_gender_breakdowns": groups}],
        }
        info = {"page_id": "112", "page_name": "Clay & Kiln", "likes": 13974, "ig_username": "clay.kiln"}
        info |= {"ig_followers": 12519, "page_category": "Potter", "page_verification": "BLUE_VERIFIED"}
        found = {
            "advertiser": {"ad_library_page_info": {"page_info": info}},
            "aaa_info": {"payer_beneficiary_data": [{"payer": "Clay Ltd", "beneficiary": "Kiln Ltd"}]},
            "transparency_by_location": {"eu_transparency": region, "uk_transparency": {"total_reach": 1505}},
            **more,
        }
        return {"data": {"ad_library_main": {"ad_details": found}}}


@pytest.fixture(scope="session")
def site() -> Site:
    return Site()
