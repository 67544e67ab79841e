"""Below a post: its reactions and counts, its comments; and what else posts of every form have (pure).

The object with the counts stands where the year puts it, so it is searched for below ``feedback`` and told from those
of comments by its number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.items import Author, Comment
from fetchworker.spiders.facebook import ids
from fetchworker.spiders.facebook.body import walk
from fetchworker.spiders.reading.counts import count as abbreviated
from fetchworker.spiders.reading.values import count, dig, ident, instant, link, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fetchworker.spiders.facebook.body import Document

#: what belongs to somebody else's post or to comments
FOREIGN = frozenset({
    "attached_story", "interesting_top_level_comments", "comment_list_renderer", "display_comments", "comment",
    "top_level_comment_list_renderer", "feed_comments", "suggested_attachment",
})  # fmt: skip
_HASHTAG = re.compile(r"(?<![\w&/])#(\w*[^\W\d_]\w*)")


def own_feedback(raw: Mapping[str, Any]) -> list[Document]:
    """The objects that may hold the post's counts: those of its own feedback."""
    own = text(dig(raw, "feedback", "id"))
    holder = dig(raw, "comet_sections", "feedback") or raw.get("feedback") or {}
    return [one for one in walk(holder, without=FOREIGN) if own is None or one.get("id") in (None, own)]


def reactions(feedback: Iterable[Mapping[str, Any]]) -> int | None:
    """Reactions of all kinds."""
    for one in feedback:
        for name in ("reaction_count", "reactors", "likers"):
            found = count(dig(one, name, "count"))
            if found is not None:
                return found
    return next((found for one in feedback if (found := _shown(one, "i18n_reaction_count")) is not None), None)


def comments_count(feedback: Iterable[Mapping[str, Any]]) -> int | None:
    """Comments, replies included."""
    paths = (("comment_rendering_instance", "comments", "total_count"), ("comment_count", "total_count"))
    for one in feedback:
        found = [count(dig(one, *path)) for path in paths]
        found += [count(one.get("total_comment_count")), count(dig(one, "comments", "total_count"))]
        known = next((value for value in found if value is not None), None)
        if known is not None:
            return known
    return None


def shares(feedback: Iterable[Mapping[str, Any]]) -> int | None:
    """How often a post was shared."""
    for one in feedback:
        found = count(dig(one, "share_count", "count"))
        if found is not None:
            return found
    return next((found for one in feedback if (found := _shown(one, "i18n_share_count")) is not None), None)


def _shown(one: Mapping[str, Any], name: str) -> int | None:
    return abbreviated(text(one.get(name)))


def views(feedback: Iterable[Mapping[str, Any]], found: Iterable[Mapping[str, Any]]) -> int | None:
    """How often the films of a post were looked at."""
    for one in (*feedback, *found):
        for name in ("video_view_count", "play_count", "video_post_view_count"):
            views = count(one.get(name))
            if views is not None:
                return views
    return None


def hashtags(wording: str | None) -> list[str]:
    """Hashtags in a text, each once, without the sign."""
    return list(dict.fromkeys(_HASHTAG.findall(wording or "")))


def reactions_by_kind(feedback: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Reactions by the site's name for them."""
    for one in feedback:
        edges = sequence(dig(one, "top_reactions", "edges"))
        told = {text(dig(edge, "node", "localized_name")): count(dig(edge, "reaction_count")) for edge in edges}
        known = {name: number for name, number in told.items() if name and number is not None}
        if known:
            return known
    return {}


def person(raw: Mapping[str, Any]) -> Author:
    """A person or page as an author."""
    url = text(raw.get("url")) or text(raw.get("profile_url"))
    return Author.draft(id=ident(raw.get("id")), username=ids.username(url), name=text(raw.get("name")))


def comments(raw: Document, number: str | None) -> Iterator[Comment]:
    """The comments that come with a post, each once."""
    seen = set[str]()
    for one in walk(dig(raw, "comet_sections", "feedback") or {}):
        made = _comment(one, number)
        if made is not None and made.id not in seen:
            seen.add(str(made.id))
            yield made


def _comment(raw: Document, post_id: str | None) -> Comment | None:
    known = ids.comment_of(text(raw.get("id")))
    if known is None or (post_id is not None and known[0] != post_id) or "author" not in raw:
        return None
    feedback = mapping(raw.get("feedback"))
    likes = reactions([feedback])
    replies = [count(dig(feedback, name, "total_count")) for name in ("replies_fields", "replies_connection")]
    replies.append(count(feedback.get("total_reply_count")))
    above = ids.comment_of(text(dig(raw, "comment_direct_parent", "id")) or text(dig(raw, "comment_parent", "id")))
    return Comment.draft(
        id=known[1],
        post_id=known[0],
        text=text(dig(raw, "body", "text")) or text(dig(raw, "preferred_body", "text")),
        created_at=instant(raw.get("created_time")),
        likes=likes if likes is not None else abbreviated(text(dig(feedback, "reactors", "count_reduced"))),
        replies_count=next((value for value in replies if value is not None), None),
        author=person(mapping(raw.get("author"))),
        reply_to=above[1] if above else None,
        url=link(feedback.get("url")) or link(raw.get("url")),
    )
