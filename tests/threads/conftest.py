from __future__ import annotations

import html
import json
from typing import Any

import pytest

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.items import validate
from fetchworker.spiders.threads import params, parse

PARAMS = {
    "profile": params.ProfileParams,
    "posts": params.PostsParams,
    "post": params.PostParams,
    "replies": params.RepliesParams,
    "likers": params.LikersParams,
}


class Site:
    """Bodies in the site's forms, and what the parsers make of them."""

    def page(self, body: Any, url: str = "https://www.threads.com/") -> Page:
        raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        return Page(url, 200, {}, raw)

    def call(self, operation: str, *, cursor=None, number=1, seen=0, state=None, **values: Any) -> Call[Any]:
        model = PARAMS[operation]
        made = model(**values) if values else model.model_construct()
        return Call(operation, made, cursor=cursor, page=number, seen=seen, state=state or {})

    def parsed(self, operation: str, body: Any, *, url: str = "https://www.threads.com/", **values: Any) -> Parsed:
        """What the parser gives; every item is held against its model."""
        found = getattr(parse, operation)(self.page(body, url), self.call(operation, **values))
        for place, item in enumerate(found.items):
            stamp = {"item_id": f"i-{place}", "site": "threads", "operation": operation}
            validate({**item.__dict__, **stamp, "fetched_at": "2026-01-31T10:00:00Z"})
        return found

    def relay(self, query: str, *results: dict[str, Any]) -> str:
        """A page's block of results of a query that the server ran, one entry per chunk."""
        entries = []
        for number, result in enumerate(results):
            bbox = {"complete": number == len(results) - 1, "result": result, "sequence_number": number}
            next_ = [f"adp_{query}RelayPreloader_6aaf", {"__bbox": bbox}]
            entries.append(["RelayPrefetchedStreamCache", "next", [], next_])
        block = {"require": [["ScheduledServerJS", "handle", None, [{"__bbox": {"require": entries}}]]]}
        return f'<script type="application/json" data-sjs>{json.dumps(block)}</script>'

    def html(self, *blocks: str, **meta: str) -> str:
        tags = (f'<meta property="og:{key}" content="{html.escape(value)}" />' for key, value in meta.items())
        return f"<!DOCTYPE html><html><head>{''.join(tags)}</head><body>{''.join(blocks)}</body></html>"

    def user(self, name: str = "mira.k", pk: str = "77", **more: Any) -> dict[str, Any]:
        return {
            "pk": pk,
            "id": pk,
            "username": name,
            "full_name": "Mira K",
            "is_verified": True,
            "text_post_app_is_private": False,
            "profile_pic_url": "https://cdn.example/s.jpg",
            **more,
        }

    def account(self, name: str = "mira.k", pk: str = "77", **more: Any) -> dict[str, Any]:
        facts = {"biography": "Potter", "follower_count": 1200, "bio_links": [{"url": "https://mira.example/"}]}
        sizes = [{"url": f"https://cdn.example/{size}.jpg", "width": size} for size in (150, 640, 320)]
        return self.user(name, pk, **facts, hd_profile_pic_versions=sizes, **more)

    def post(self, pk: str = "3912345678901234567", name: str = "mira.k", **more: Any) -> dict[str, Any]:
        info = {"direct_reply_count": 3, "repost_count": 0, "reshare_count": None, "share_info": {}, "is_reply": False}
        told = more.pop("info", {})
        return {
            "pk": pk,
            "id": f"{pk}_77",
            "code": None,
            "user": self.user(name),
            "caption": {"text": "Kiln day with @ana.b #clay"},
            "taken_at": 1780609874,
            "like_count": 8,
            "media_type": 19,
            "image_versions2": {"candidates": []},
            "video_versions": None,
            "carousel_media": None,
            "like_and_view_counts_disabled": False,
            "text_post_app_info": {**info, **told},
            **more,
        }

    def answer(self, pk: str, name: str = "ana.b", to: str = "mira.k", **more: Any) -> dict[str, Any]:
        return self.post(pk, name, info={"is_reply": True, "reply_to_author": {"username": to}}, **more)

    def edges(self, *threads: list[dict[str, Any]], cursor: str | None = None) -> dict[str, Any]:
        nodes = [{"node": {"thread_items": [{"post": post} for post in thread]}} for thread in threads]
        return {"edges": nodes, "page_info": {"has_next_page": cursor is not None, "end_cursor": cursor}}


@pytest.fixture(scope="session")
def site() -> Site:
    return Site()
