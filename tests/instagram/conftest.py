from __future__ import annotations

import html
import json
from typing import Any

import pytest

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.items import validate
from fetchworker.spiders.instagram import params, parse

PARAMS = {
    "profile": params.ProfileParams,
    "posts": params.PostsParams,
    "post": params.PostParams,
    "comments": params.CommentsParams,
    "reels": params.ReelsParams,
    "search": params.SearchParams,
}


class Site:
    """Bodies in the site's forms, and what the parsers make of them."""

    def page(self, body: Any, *, headers: dict[str, list[str]] | None = None) -> Page:
        raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        return Page("https://www.instagram.com/", 200, headers or {}, raw)

    def call(self, operation: str, *, cursor=None, number=1, seen=0, state=None, **values: Any) -> Call[Any]:
        model = PARAMS[operation]
        made = model(**values) if values else model.model_construct()
        return Call(operation, made, cursor=cursor, page=number, seen=seen, state=state or {})

    def parsed(self, operation: str, body: Any, **values: Any) -> Parsed:
        """What the parser gives; every item is held against its model."""
        found = getattr(parse, operation)(self.page(body), self.call(operation, **values))
        for place, item in enumerate(found.items):
            stamp = {"item_id": f"i-{place}", "site": "instagram", "operation": operation}
            validate({**item.__dict__, **stamp, "fetched_at": "2026-01-31T10:00:00Z"})
        return found

    def kinds(self, found: Parsed) -> list[str]:
        return [item.kind for item in found.items]

    def shared_data(self, entry: str, graphql: dict[str, Any] | None) -> str:
        data = {"config": {"csrf_token": "csrf1"}, "entry_data": {entry: [{"graphql": graphql} if graphql else {}]}}
        return f"<html><script>window._sharedData = {json.dumps(data)};</script></html>"

    def additional(self, path: str, graphql: dict[str, Any]) -> str:
        return f"<script>window.__additionalDataLoaded('{path}',{json.dumps({'graphql': graphql})});</script>"

    def relay(self, query: str, *results: dict[str, Any], name: str = "6aaf") -> str:
        """A page's block of results of a query that the server ran, one entry per chunk."""
        entries = []
        for number, result in enumerate(results):
            last = number == len(results) - 1
            bbox = {"complete": last, "result": result, "sequence_number": number}
            next_ = [f"adp_{query}RelayPreloader_{name}", {"__bbox": bbox}]
            entries.append(["RelayPrefetchedStreamCache", "next", [], next_])
        block = {"require": [["ScheduledServerJS", "handle", None, [{"__bbox": {"require": entries}}]]]}
        return f'<script type="application/json" data-sjs>{json.dumps(block)}</script>'

    def meta(self, **values: str) -> str:
        tags = (f'<meta property="{key}" content="{html.escape(value)}" />' for key, value in values.items())
        return "<!DOCTYPE html><html><head>" + "".join(tags).replace("_colon_", ":") + "</head></html>"

    def graph_node(self, pk: str = "2224312345678901234", code: str = "B7eWEshtO_y", **more: Any) -> dict[str, Any]:
        return {
            "__typename": "GraphImage",
            "id": pk,
            "shortcode": code,
            "taken_at_timestamp": 1579378196,
            "display_url": "https://cdn.example/a.jpg",
            "dimensions": {"height": 1350, "width": 1080},
            "edge_media_to_caption": {"edges": [{"node": {"text": "Tea with @ana.b #morning"}}]},
            "edge_media_to_comment": {"count": 3},
            "edge_media_preview_like": {"count": 21},
            "owner": {"id": "77", "username": "mira.k"},
            **more,
        }

    def graph_user(self, *nodes: dict[str, Any], cursor: str | None = "CUR", **more: Any) -> dict[str, Any]:
        info = {"has_next_page": cursor is not None, "end_cursor": cursor}
        timeline = {"count": 40, "page_info": info, "edges": [{"node": node} for node in nodes]}
        return {
            "id": "77",
            "username": "mira.k",
            "full_name": "Mira K",
            "biography": "Potter",
            "edge_followed_by": {"count": 1200},
            "edge_follow": {"count": 30},
            "is_private": False,
            "is_verified": True,
            "edge_owner_to_timeline_media": timeline,
            **more,
        }

    def app_media(self, pk: Any = "3984285244001148342", code: str = "DdLBlHchN22", **more: Any) -> dict[str, Any]:
        return {
            "pk": pk,
            "id": f"{pk}_77",
            "code": code,
            "taken_at": 1789184435,
            "media_type": 2,
            "product_type": "clips",
            "caption": {"text": "Kiln open"},
            "like_count": 90,
            "comment_count": 4,
            "play_count": 5000,
            "user": {"pk": 77, "username": "mira.k", "full_name": "Mira K"},
            "original_width": 1080,
            "original_height": 1920,
            "image_versions2": {
                "candidates": [
                    {"url": "https://cdn.example/s.jpg", "width": 320, "height": 568},
                    {"url": "https://cdn.example/l.jpg", "width": 1080, "height": 1920},
                ]
            },
            "video_versions": [{"type": 101, "url": "https://cdn.example/v.mp4", "width": 720, "height": 1280}],
            "video_duration": 12.5,
            **more,
        }

    def comment(self, number: str = "18001", **more: Any) -> dict[str, Any]:
        return {
            "id": number,
            "text": "Lovely glaze",
            "created_at": 1579378300,
            "owner": {"id": "88", "username": "ana.b"},
            "edge_liked_by": {"count": 2},
            "edge_threaded_comments": {"count": 0, "edges": []},
            **more,
        }


@pytest.fixture(scope="session")
def site() -> Site:
    return Site()
