"""Posts as ``post`` items, accounts as ``profile`` items.

Threads keeps posts as Instagram's app does, so pictures and films are read by the same reader. 0 is a value; null and
absent are unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.items import Author, Link, Media, Post, PostRef, Profile
from fetchworker.spiders.instagram.ids import created_at, shortcode_of
from fetchworker.spiders.instagram.parse_media import hashtags, media, mentions
from fetchworker.spiders.reading.values import count, dig, flag, ident, instant, link, mapping, sequence, text
from fetchworker.spiders.threads import contract
from fetchworker.spiders.threads.parse_shapes import number_of

if TYPE_CHECKING:
    from fetchworker.spiders.metafamily.relay import Document

_FORMS = {1: "image", 2: "video", 8: "carousel", 19: "text"}
_EXTRA_COUNTS = ("repost_count", "quote_count", "self_thread_count")
_EXTRA_FLAGS = ("is_reply", "is_ghost_post", "is_spoiler_media")


def post(raw: Document, *, reply_to: str | None = None, views: int | None = None) -> Post:
    """A post; ``reply_to`` is the number of the post it answers, ``views`` what the page tells beside it."""
    number, info = number_of(raw), mapping(raw.get("text_post_app_info"))
    writer, code = _author(raw), text(raw.get("code")) or shortcode_of(number)
    words, files, links = text(dig(raw, "caption", "text")), list(media(raw)), _links(info)
    hidden = raw.get("like_and_view_counts_disabled") is True
    seen = count(info.get("impression_count")) if views is None else views
    return Post.draft(
        id=number,
        alt_ids=_alt_ids(raw, number),
        shortcode=code,
        type=_form(raw, files, links),
        text=words,
        created_at=instant(raw.get("taken_at")) or created_at(number),
        likes=None if hidden else count(raw.get("like_count")),
        comments_count=count(info.get("direct_reply_count")),
        shares=count(info.get("reshare_count")),
        views=None if hidden else seen,
        media=files,
        author=writer,
        hashtags=hashtags(words),
        mentions=mentions(words),
        location=text(dig(raw, "meta_place", "name")) or text(dig(raw, "location", "name")),
        reply_to=reply_to,
        quoted=_reference(dig(info, "share_info", "quoted_post")),
        reposted=_reference(dig(info, "share_info", "reposted_post")),
        links=links,
        url=contract.post_url(writer.username if writer else None, code),
        extra=_extra(raw, info),
    )


def _author(raw: Document) -> Author | None:
    user = mapping(raw.get("user"))
    number, name = ident(user.get("pk")) or ident(user.get("id")), text(user.get("username"))
    return Author.draft(id=number, username=name, name=text(user.get("full_name"))) if number or name else None


def _alt_ids(raw: Document, number: str | None) -> list[str]:
    found = (ident(raw.get("id")), ident(raw.get("fbid")))  # ``<pk>_<user>``, and the number of the Facebook kind
    return [one for one in dict.fromkeys(found) if one and one != number]


def _form(raw: Document, files: list[Media], links: list[Link]) -> str | None:
    """By the site's own word (2024 on), else by what is in it."""
    form = _FORMS.get(count(raw.get("media_type")) or 0)
    if form is None:
        form = "carousel" if sequence(raw.get("carousel_media")) else files[0].type if files else "text"
    return "link" if form == "text" and links else form


def _links(info: Any) -> list[Link]:
    shown = info.get("link_preview_attachment")
    address = link(dig(shown, "url"))
    return [Link.draft(title=text(dig(shown, "title")), url=address)] if address else []


def _reference(raw: Any) -> PostRef | None:
    number = number_of(raw) if isinstance(raw, dict) else None
    if number is None:
        return None
    writer, code = _author(raw), text(raw.get("code")) or shortcode_of(number)
    url = contract.post_url(writer.username if writer else None, code)
    return PostRef.draft(id=number, shortcode=code, url=url, text=text(dig(raw, "caption", "text")), author=writer)


def _extra(raw: Document, info: Any) -> dict[str, Any]:
    found: dict[str, Any] = {name: count(info.get(name)) for name in _EXTRA_COUNTS}
    found |= {name: flag(info.get(name)) for name in _EXTRA_FLAGS}
    found |= {name: flag(raw.get(name)) for name in ("caption_is_edited", "is_paid_partnership")}
    found["like_and_view_counts_disabled"] = raw.get("like_and_view_counts_disabled") is True or None
    found["topic"] = text(dig(info, "tag_header", "display_name"))
    found["reply_to_author"] = text(dig(info, "reply_to_author", "username"))
    found["reply_control"] = text(info.get("reply_control"))
    return {name: value for name, value in found.items() if value is not None}


def profile(raw: Document) -> Profile:
    """The account's item; what the page does not tell stays None."""
    links = [
        Link.draft(title=text(dig(one, "title")), url=address)
        for one in sequence(raw.get("bio_links"))
        if (address := link(dig(one, "url")))
    ]
    number, other, name = ident(raw.get("pk")), ident(raw.get("id")), text(raw.get("username"))
    hidden = flag(raw.get("text_post_app_is_private"))
    return Profile.draft(
        id=number or other,
        alt_ids=[other] if number and other and other != number else [],
        username=name,
        name=text(raw.get("full_name")),
        biography=text(raw.get("biography")) or _biography(raw),
        avatar_url=_avatar(raw),
        followers=count(raw.get("follower_count")),
        following=count(raw.get("following_count")),
        verified=flag(raw.get("is_verified")),
        private=flag(raw.get("is_private")) if hidden is None else hidden,
        external_url=links[0].url if links else None,
        links=links,
        url=contract.profile_url(name),
    )


def _biography(raw: Document) -> str | None:
    parts = sequence(dig(raw, "text_app_biography", "text_fragments", "fragments"))
    return text("".join(text(dig(part, "plaintext")) or "" for part in parts))


def _avatar(raw: Document) -> str | None:
    versions = [one for one in sequence(raw.get("hd_profile_pic_versions")) if link(dig(one, "url"))]
    largest = max(versions, key=lambda one: count(one.get("width")) or 0, default=None)
    return link(dig(largest, "url")) or link(raw.get("profile_pic_url"))


def has_facts(raw: Document) -> bool:
    """Whether an account says more than its name."""
    return count(raw.get("follower_count")) is not None or text(raw.get("biography")) is not None
