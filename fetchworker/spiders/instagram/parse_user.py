"""Accounts as ``profile`` items.

Mail addresses and telephone numbers go to ``extra["contact"]``, which is kept only where a setting asks for it; street
addresses are not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.items import Link, Profile, contact
from fetchworker.spiders.instagram import contract
from fetchworker.spiders.reading.values import count, dig, flag, ident, link, mapping, sequence, text

if TYPE_CHECKING:
    from fetchworker.spiders.instagram.parse_body import Document
    from fetchworker.spiders.instagram.parse_shapes import Account

_EXTRA_FLAGS = (
    "is_professional_account", "is_joined_recently", "is_unpublished", "is_memorialized", "is_supervision_enabled",
    "has_clips", "has_any_clips", "has_guides", "has_channel", "hide_like_and_view_counts", "country_block",
)  # fmt: skip
_EXTRA_COUNTS = ("highlight_reel_count", "total_clips_count", "total_igtv_videos", "account_type")
_EXTRA_TEXTS = ("category_enum", "overall_category_name", "state_controlled_media_country", "transparency_label")
_EMAILS = ("business_email", "public_email")
_PHONES = ("business_phone_number", "public_phone_number", "contact_phone_number")
_BUSINESS = 2


def profile(account: Account) -> Profile:
    """The account's item; what the page does not tell stays None."""
    raw = account.raw
    links = _links(raw)
    return Profile.draft(
        id=account.pk,
        username=account.username,
        name=text(raw.get("full_name")),
        biography=text(raw.get("biography")),
        avatar_url=_avatar(raw),
        followers=_first_count(raw, "edge_followed_by", "follower_count", "followers_count"),
        following=_first_count(raw, "edge_follow", "following_count"),
        posts_count=_first_count(raw, "edge_owner_to_timeline_media", "media_count", "all_media_count", "posts_count"),
        verified=_first_flag(raw, "is_verified", "verified"),
        private=flag(raw.get("is_private")),
        business=_business(raw),
        category=text(raw.get("category_name")) or text(raw.get("business_category_name")) or text(raw.get("category")),
        external_url=link(raw.get("external_url")) or next((one.url for one in links if one.url), None),
        links=links,
        url=contract.profile_url(account.username),
        alt_ids=[account.scoped_id] if account.scoped_id else [],
        extra=_extra(account),
    )


def has_facts(raw: Document) -> bool:
    """Whether an account beside a post or a list says more than its name."""
    return _first_count(raw, "edge_followed_by", "follower_count", "followers_count") is not None


def _first_count(raw: Document, *names: str) -> int | None:
    for name in names:
        value = raw.get(name)
        found = count(value.get("count") if isinstance(value, dict) else value)
        if found is not None:
            return found
    return None


def _first_flag(raw: Document, *names: str) -> bool | None:
    return next((raw[name] for name in names if isinstance(raw.get(name), bool)), None)


def _business(raw: Document) -> bool | None:
    # guests are told is_business false for every account; account_type (1 person, 2 business, 3 creator) is true
    kind = count(raw.get("account_type"))
    if kind is not None and kind > 0:
        return kind == _BUSINESS
    return _first_flag(raw, "is_business_account", "is_business")


def _avatar(raw: Document) -> str | None:
    versions = [one for one in sequence(raw.get("hd_profile_pic_versions")) if link(dig(one, "url"))]
    largest = max(versions, key=lambda one: count(one.get("width")) or 0, default=None)
    return (
        link(raw.get("profile_pic_url_hd"))
        or link(dig(raw, "hd_profile_pic_url_info", "url"))
        or link(dig(largest, "url"))
        or link(raw.get("profile_pic_url"))
    )


def _links(raw: Document) -> list[Link]:
    found = [(text(dig(one, "title")), link(dig(one, "url"))) for one in sequence(raw.get("bio_links"))]
    return [Link.draft(title=title, url=url) for title, url in found if url]


def _extra(account: Account) -> dict[str, Any]:
    raw = account.raw
    found: dict[str, Any] = {name: flag(raw.get(name)) for name in _EXTRA_FLAGS}
    found |= {name: count(raw.get(name)) for name in _EXTRA_COUNTS}
    found |= {name: text(raw.get(name)) for name in _EXTRA_TEXTS}
    found["business_category_name"] = text(raw.get("business_category_name"))
    found["pronouns"] = [word for word in map(text, sequence(raw.get("pronouns"))) if word] or None
    found["connected_fb_page"] = ident(mapping(raw.get("connected_fb_page")).get("id"))
    told = {name: value for name, value in found.items() if value is not None}
    return told | contact(email=_first_text(raw, *_EMAILS), phone=_first_text(raw, *_PHONES))


def _first_text(raw: Document, *names: str) -> str | None:
    return next((found for name in names if (found := text(raw.get(name)))), None)
