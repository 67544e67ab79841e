"""Posts and comments as items.

The graph form (``shortcode_media``, timeline nodes) and the app's form (``items``, ``xig_polaris_media``) differ in
their keys, so one reader asks for both.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.items import Author, Comment, Media, Post
from fetchworker.spiders.instagram import contract
from fetchworker.spiders.instagram.ids import created_at, shortcode_of
from fetchworker.spiders.instagram.parse_shapes import media_number
from fetchworker.spiders.reading.values import (
    count,
    dig,
    flag,
    ident,
    instant,
    link,
    mapping,
    measure,
    sequence,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.spiders.instagram.parse_body import Document

_HASHTAG = re.compile(r"(?<![\w&/])#(\w{1,150})")
_MENTION = re.compile(r"(?<![\w.@/])@([A-Za-z0-9_](?:[A-Za-z0-9._]{0,28}[A-Za-z0-9_])?)")
_FORMS = {1: "image", 2: "video", 8: "carousel"}
_EXTRA_FLAGS = (
    "is_paid_partnership", "is_affiliate", "is_ad", "comments_disabled", "commenting_disabled_for_viewer",
    "like_and_view_counts_disabled", "caption_is_edited", "has_audio",
)  # fmt: skip


def post(raw: Document, *, owner: Author | None = None, reel: bool = False) -> Post:
    """A post; ``owner`` stands in where the node names none, ``reel``: the list holds reels alone."""
    number, caption = media_number(raw), _caption(raw)
    code = text(raw.get("shortcode")) or text(raw.get("code")) or shortcode_of(number)
    form = kind(raw, reel=reel)
    return Post.draft(
        id=number,
        shortcode=code,
        type=form,
        text=caption,
        created_at=instant(raw.get("taken_at_timestamp")) or instant(raw.get("taken_at")) or created_at(number),
        likes=_likes(raw),
        comments_count=comments_count(raw),
        shares=count(raw.get("reshare_count")),
        views=_views(raw),
        media=list(media(raw)),
        author=author(raw.get("owner") or raw.get("user"), owner),
        hashtags=hashtags(caption),
        mentions=mentions(caption),
        location=text(dig(raw, "location", "name")),
        url=contract.post_url(code, reel=form == "reel"),
        alt_ids=_alt_ids(raw),
        extra=_extra(raw),
    )


def kind(raw: Document, *, reel: bool = False) -> str | None:
    """image, video, carousel or reel, by the generation's own word for it; None when it says nothing."""
    name, product = text(raw.get("__typename")) or "", text(raw.get("product_type"))
    form = _FORMS.get(count(raw.get("media_type")) or 0)
    if form is None:
        form = _by_name(name) or ("video" if raw.get("is_video") is True else None)
    if product == "clips" or (reel and product is None):
        return "reel"
    return form


def _by_name(name: str) -> str | None:
    if name.endswith(("Sidecar", "CarouselMedia", "AlbumMedia")):
        return "carousel"
    if name.endswith(("Video", "VideoMedia")):
        return "video"
    return "image" if name.endswith(("Image", "ImageMedia")) else None


def author(raw: Any, fallback: Author | None = None) -> Author | None:
    """Who wrote it; the fallback fills what is missing of the same account."""
    number = ident(dig(raw, "pk")) or ident(dig(raw, "id"))
    name, full = text(dig(raw, "username")), text(dig(raw, "full_name"))
    if fallback is not None and (number is None or number == fallback.id) and name in (None, fallback.username):
        number, name, full = number or fallback.id, name or fallback.username, full or fallback.name
    return Author.draft(id=number, username=name, name=full) if number or name else None


def hashtags(caption: str | None) -> list[str]:
    """``#tags`` of a text in order, each once, without the sign."""
    return list(dict.fromkeys(_HASHTAG.findall(caption or "")))


def mentions(caption: str | None) -> list[str]:
    """``@names`` of a text in order, each once, without the sign; addresses of mail are none."""
    return list(dict.fromkeys(_MENTION.findall(caption or "")))


def comments_count(raw: Document) -> int | None:
    """How many comments a post has."""
    for key in ("edge_media_to_parent_comment", "edge_media_to_comment", "edge_media_preview_comment"):
        found = count(dig(raw, key, "count"))
        if found is not None:
            return found
    return count(raw.get("comment_count"))


def _caption(raw: Document) -> str | None:
    edges = dig(raw, "edge_media_to_caption", "edges", 0, "node", "text")
    return text(edges) or text(dig(raw, "caption", "text")) or text(raw.get("caption"))


def _likes(raw: Document) -> int | None:
    # the number of a post whose owner hides likes is a remainder (-1, or the few that the viewer may see)
    if raw.get("like_and_view_counts_disabled") is True:
        return None
    for key in ("edge_media_preview_like", "edge_liked_by"):
        found = dig(raw, key, "count")
        if found is not None:
            return count(found)
    return count(raw.get("like_count"))


def _views(raw: Document) -> int | None:
    names = ("video_view_count", "play_count", "video_play_count", "view_count", "ig_play_count")
    return next((found for name in names if (found := count(raw.get(name))) is not None), None)


def media(raw: Document) -> Iterator[Media]:
    """Pictures and films of a post, those of a carousel in its order."""
    edges = sequence(dig(raw, "edge_sidecar_to_children", "edges"))
    children = [dig(edge, "node") for edge in edges] or sequence(raw.get("carousel_media"))
    parts = [child for child in children if isinstance(child, dict)] or [raw]
    yield from (medium for part in parts if (medium := _medium(part)) is not None)


def _medium(raw: Document) -> Media | None:
    film = _film(raw)
    if film is not None:
        return film
    picture = _largest(sequence(dig(raw, "image_versions2", "candidates")))
    sizes = picture or mapping(raw.get("dimensions")) or _original(raw)
    url = _cover(raw)
    if url is None:
        return None
    return Media.draft(
        type="image",
        url=url,
        width=count(sizes.get("width")),
        height=count(sizes.get("height")),
        alt=text(raw.get("accessibility_caption")),
    )


def _film(raw: Document) -> Media | None:
    version = next((one for one in sequence(raw.get("video_versions")) if link(dig(one, "url"))), None)
    url = link(raw.get("video_url")) or link(dig(version, "url"))
    if url is None:
        return None
    sizes = mapping(raw.get("dimensions")) or (version if dig(version, "width") else None) or _original(raw)
    return Media.draft(
        type="video",
        url=url,
        width=count(sizes.get("width")),
        height=count(sizes.get("height")),
        duration=measure(raw.get("video_duration")),
        alt=text(raw.get("accessibility_caption")),
    )


def _largest(candidates: Any) -> Document | None:
    good = [one for one in candidates if link(dig(one, "url"))]
    return max(good, key=lambda one: (count(one.get("width")) or 0) * (count(one.get("height")) or 0), default=None)


def _original(raw: Document) -> Document:
    return {"width": raw.get("original_width"), "height": raw.get("original_height")}


def _cover(raw: Document) -> str | None:
    largest = _largest(sequence(dig(raw, "image_versions2", "candidates")))
    return (
        link(dig(largest, "url"))
        or link(raw.get("display_url"))
        or link(raw.get("display_uri"))
        or link(raw.get("thumbnail_src"))
    )


def _alt_ids(raw: Document) -> list[str]:
    number = ident(raw.get("id"))  # ``<pk>_<user>`` in the app's form
    return [number] if number and number != media_number(raw) else []


def _extra(raw: Document) -> dict[str, Any]:
    found: dict[str, Any] = {name: flag(raw.get(name)) for name in _EXTRA_FLAGS}
    found |= {name: text(raw.get(name)) for name in ("product_type", "title")}
    found |= {name: count(raw.get(name)) for name in ("video_play_count", "view_count", "media_repost_count")}
    if _film(raw) is not None:
        found["display_url"] = _cover(raw)
    place = mapping(raw.get("location"))
    found["location"] = {
        name: ident(place.get(name)) for name in ("id", "pk", "slug") if ident(place.get(name))
    } or None
    found["tagged_users"] = list(_tagged(raw)) or None
    coauthors = (text(dig(one, "username")) for one in sequence(raw.get("coauthor_producers")))
    found["coauthor_producers"] = [name for name in coauthors if name] or None
    music = mapping(raw.get("clips_music_attribution_info"))
    found["music"] = {
        name: text(music.get(name)) for name in ("artist_name", "song_name") if text(music.get(name))
    } or None
    return {name: value for name, value in found.items() if value is not None}


def _tagged(raw: Document) -> Iterator[str]:
    edges = [dig(edge, "node", "user") for edge in sequence(dig(raw, "edge_media_to_tagged_user", "edges"))]
    app = [dig(one, "user") for one in sequence(dig(raw, "usertags", "in"))]
    yield from (name for user in (*edges, *app) if (name := text(dig(user, "username"))))


def comment(raw: Document, post_id: str | None) -> Comment:
    """A comment; the first replies to it stand in ``extra.replies``."""
    replies = [dig(edge, "node") for edge in sequence(dig(raw, "edge_threaded_comments", "edges"))]
    replies = replies or list(sequence(raw.get("preview_child_comments")))
    parent = ident(raw.get("parent_comment_id")) or ident(dig(raw, "replied_to_comment_id"))
    extra = {"replies": [_reply(one) for one in replies if isinstance(one, dict)]}
    return Comment.draft(
        id=_comment_id(raw),
        post_id=post_id or ident(raw.get("media_id")),
        text=text(raw.get("text")),
        created_at=_comment_time(raw),
        likes=_comment_likes(raw),
        replies_count=_replies_count(raw),
        author=author(raw.get("owner") or raw.get("user")),
        reply_to=parent,
        extra=extra if extra["replies"] else {},
    )


def _comment_id(raw: Document) -> str | None:
    return ident(raw.get("pk")) or ident(raw.get("id"))


def _comment_time(raw: Document) -> str | None:
    return instant(raw.get("created_at")) or instant(raw.get("created_at_utc"))


def _comment_likes(raw: Document) -> int | None:
    liked = dig(raw, "edge_liked_by", "count")
    return count(liked) if liked is not None else count(raw.get("comment_like_count"))


def _replies_count(raw: Document) -> int | None:
    threaded = count(dig(raw, "edge_threaded_comments", "count"))
    return threaded if threaded is not None else count(raw.get("child_comment_count"))


def _reply(raw: Document) -> dict[str, Any]:
    writer = author(raw.get("owner") or raw.get("user"))
    return {
        "id": _comment_id(raw),
        "text": text(raw.get("text")),
        "created_at": _comment_time(raw),
        "likes": _comment_likes(raw),
        "author": {"id": writer.id, "username": writer.username} if writer else None,
    }
