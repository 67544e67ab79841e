"""Small pages and answers in the forms of the site, with invented people and things."""

from __future__ import annotations

import html
import json
from typing import Any

import pytest

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.items import validate
from fetchworker.spiders.facebook import parse
from fetchworker.spiders.facebook.ids import node_id
from fetchworker.spiders.facebook.spider import FacebookSpider

OWNER, POST = "100000000000701", "8100000000000701"
HOME = "https://www.facebook.com"


class Site:
    """Builds pages and reads them with the site's parsers."""

    owner, post = OWNER, POST

    def call(self, operation: str, *, cursor=None, state=None, **values: Any) -> Call[Any]:
        model = FacebookSpider.operations[operation].params
        params = model(**values) if values else model.model_construct()
        return Call(operation, params, cursor=cursor, page=2 if cursor else 1, state=state or {})

    def parsed(self, operation: str, body: str | bytes, *, cursor=None, state=None, **values: Any) -> Parsed:
        """What the parser gives; every item is held against its model."""
        raw = body if isinstance(body, bytes) else body.encode()
        page = Page(None, 200, {"content-type": ["text/html; charset=utf-8"]}, raw)
        found = getattr(parse, operation)(page, self.call(operation, cursor=cursor, state=state, **values))
        for place, item in enumerate(found.items):
            stamp = {"item_id": f"i-{place}", "site": "facebook", "operation": operation}
            validate({**item.__dict__, **stamp, "fetched_at": "2026-01-31T10:00:00Z"})
        return found

    def items(self, operation: str, body: str | bytes, **values: Any) -> list[Any]:
        return list(self.parsed(operation, body, **values).items)

    # Comet

    def result(self, query: str, *chunks: Any, inline: bool = False) -> str:
        """A query's result in a page, in chunks; ``inline`` as before 2024."""
        parts = []
        for number, chunk in enumerate(chunks):
            box = {"__bbox": {"complete": True, "sequence_number": number, "result": chunk}}
            entry = ["RelayPrefetchedStreamCache", "next", [], [f"adp_{query}RelayPreloader_64b0c", box]]
            if inline:
                parts.append(
                    f'<script>requireLazy(["x"],function(){{s.handle({json.dumps({"require": [entry]})})}})</script>'
                )
            else:
                parts.append(f'<script type="application/json" data-sjs>{json.dumps({"require": [entry]})}</script>')
        return "".join(parts)

    def page(self, *results: str, head: str = "", lang: str = "en") -> str:
        return f'<!DOCTYPE html><html lang="{lang}"><head>{head}</head><body>{"".join(results)}</body></html>'

    def meta(self, **told: str) -> str:
        tags = [
            f'<meta property="{name.replace("_", ":", 1)}" content="{html.escape(value)}"/>'
            for name, value in told.items()
        ]
        return "".join(tags)

    def actor(
        self, number: str = OWNER, name: str = "Fern and Flint", vanity: str = "fernandflint", **more: Any
    ) -> dict[str, Any]:
        return {"__typename": "User", "id": number, "name": name, "url": f"{HOME}/{vanity}", **more}

    def story(
        self,
        number: str = POST,
        words: str | None = "Two bowls left",
        *,
        time: int | None = 1_780_000_000,
        owner: str = OWNER,
        media: list[Any] | None = None,
        counts: dict[str, Any] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """A post as a feed of 2024 draws it."""
        url = f"{HOME}/fernandflint/posts/pfbid0{number}abcDEF"
        content: dict[str, Any] = {
            "message": {"text": words, "ranges": []} if words else None,
            "actors": [self.actor(owner)],
            "wwwURL": url,
            "attachments": [{"styles": {"attachment": {"media": one}}} for one in media or []],
            **more,
        }
        metadata = [{"story": {"creation_time": time, "url": url, "ghl_label": {"children": [{"text": "3 h"}]}}}]
        feedback = {"id": node_id(f"feedback:{number}"), **(counts or {})}
        target = {"feedback_target_with_context": {"comet_ufi_summary_and_actions_renderer": {"feedback": feedback}}}
        return {
            "__typename": "Story",
            "post_id": number,
            "id": node_id(f"S:_I{owner}:{number}:{number}"),
            "feedback": {"id": node_id(f"feedback:{number}")},
            "comet_sections": {
                "content": {"story": content},
                "context_layout": {"story": {"comet_sections": {"metadata": metadata}}},
                "feedback": {"story": {"story_ufi_container": {"story": {"feedback_context": target}}}},
            },
        }

    def counts(self, reactions: int = 5, comments: int = 2, shares: int = 1) -> dict[str, Any]:
        return {
            "reaction_count": {"count": reactions},
            "share_count": {"count": shares},
            "comment_rendering_instance": {"comments": {"total_count": comments}},
        }

    def photo(self, number: str = "8600000000000701", **more: Any) -> dict[str, Any]:
        return {
            "__typename": "Photo",
            "id": number,
            "accessibility_caption": "May be an image of a bowl",
            "viewer_image": {"uri": f"https://scontent.example/{number}.jpg", "width": 900, "height": 600},
            **more,
        }

    def timeline(
        self, *stories: Any, more: bool | None = True, cursor: str | None = "CUR1", owner: str = OWNER
    ) -> dict[str, Any]:
        edges = [{"node": one, "cursor": "c"} for one in stories]
        feed = {"edges": edges, "page_info": {"has_next_page": more, "end_cursor": cursor}}
        return {"data": {"user": {"id": owner, "timeline_list_feed_units": feed}}}

    def header(self, likes: str = "2.1K likes", followers: str = "2.3K followers", **more: Any) -> dict[str, Any]:
        content = [
            {"text": {"text": likes}, "uri": f"{HOME}/profile.php?id={OWNER}&sk=friends_likes"},
            {"text": {"text": followers}, "uri": f"{HOME}/profile.php?id={OWNER}&sk=followers"},
        ]
        user = {**self.actor(), "is_verified": False, "profile_social_context": {"content": content}, **more}
        return {"data": {"user": {"id": OWNER, "profile_header_renderer": {"user": user}}}}

    def introduction(self, *lines: tuple[str, str], bio: str | None = "Clay and patience") -> dict[str, Any]:
        items: list[Any] = [{"node": {"profile_status_text": {"text": bio}}}] if bio else []
        for kind, words in lines:
            shown = {
                "title": {"text": words, "ranges": []},
                "url": f"https://l.facebook.com/l.php?u=https%3A%2F%2F{words}%2F&h=x",
            }
            items.append(
                {
                    "node": {
                        "timeline_context_item": {
                            "timeline_context_list_item_type": f"INTRO_CARD_{kind}",
                            "renderer": {"context_item": shown},
                        }
                    }
                }
            )
        view = {"view_style_renderer": {"view": {"profile_tile_items": {"nodes": items}}}}
        sections = {"edges": [{"node": {"profile_tile_views": {"nodes": [view]}}}]}
        return {"data": {"user": {"id": OWNER, "profile_tile_sections": sections}}}

    # the older sites

    def article(
        self,
        number: str = POST,
        words: str = "<p>Two bowls left</p>",
        *,
        told: dict[str, Any] | None = None,
        name: str = "Fern and Flint",
        href: str = "/fernandflint/?__tn__=C-R",
        after: str = "",
        tag: str = "article",
        likes: str = "1,234 Likes",
    ) -> str:
        ft = {
            "top_level_post_id": number,
            "content_owner_id_new": OWNER,
            "story_attachment_style": "photo",
            "page_insights": {OWNER: {"post_context": {"publish_time": 1_590_000_000}}},
            **(told or {}),
        }
        attribute = html.escape(json.dumps(ft)).replace("{", "&#123;").replace("}", "&#125;")
        said = "&#123;&quot;tn&quot;:&quot;*s&quot;&#125;"
        return f"""<{tag} class="a" data-ft="{attribute}" id="u_0" data-sigil="story-div story-popup-metadata">
        <div class="story_body_container"><header><h3 class="b"><strong><a href="{href}">{name}</a></strong></h3>
        <div><abbr>May 11</abbr></div></header><div class="c" style="" data-ft="{said}"><span>{words}</span></div></div>
        {after}<footer><span class="like_def _28wy">{likes}</span>
        <span class="cmt_def _28wy">12 Comments</span></footer>
        </{tag}>"""


@pytest.fixture(scope="session")
def site() -> Site:
    return Site()
