"""Ads of the Creative Center (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.items import Ad, AdvertiserRef
from fetchworker.spiders.reading.values import count, dig, flag, ident, link, mapping, sequence, text
from fetchworker.spiders.tiktok_ads import contract
from fetchworker.spiders.tiktok_ads.parse_body import film, share, told

if TYPE_CHECKING:
    from collections.abc import Mapping


def materials(found: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """The ads of a list, None when the answer holds no list."""
    listed = next((found[key] for key in ("materials", "list") if isinstance(found.get(key), list)), None)
    if listed is None:
        return None
    return [entry for entry in map(mapping, listed) if ident(entry.get("id"))]


def ad(raw: Mapping[str, Any]) -> Ad:
    """One ad; details are there when the site gave them."""
    number = ident(raw.get("id")) or ""
    info = mapping(raw.get("video_info"))
    video, brand = film(info), text(raw.get("brand_name"))
    return Ad.draft(
        id=number,
        advertiser=AdvertiserRef.draft(name=brand) if brand else None,
        format="video" if video else None,
        countries=_texts(raw.get("country_code")),
        title=text(raw.get("ad_title")),
        media=[video] if video else [],
        likes=count(raw.get("like")),
        comments_count=count(raw.get("comment")),
        shares=count(raw.get("share")),
        ctr=share(raw.get("ctr")),
        cost_level=count(raw.get("cost")),
        industry=text(raw.get("industry_key")),
        objective=text(raw.get("objective_key")),
        landing_page=link(raw.get("landing_page")),
        url=contract.center_url(number),
        extra=_extra(raw, info),
    )


def _extra(raw: Mapping[str, Any], info: Mapping[str, Any]) -> dict[str, Any]:
    return told({
        "cover": link(info.get("cover")),
        "vid": text(info.get("vid")),
        "highlight": text(raw.get("highlight")) or text(raw.get("highlight_text")),
        "keywords": _texts(raw.get("keyword_list")),
        "objectives": [label for entry in sequence(raw.get("objectives")) if (label := text(dig(entry, "label")))],
        "patterns": _texts(raw.get("pattern_label")),
        "source": text(raw.get("source")),
        "voice_over": flag(raw.get("voice_over")),
        "is_search": flag(raw.get("is_search")),
        "tag": count(raw.get("tag")),
    })  # fmt: skip


def _texts(value: Any) -> list[str]:
    return [found for entry in sequence(value) if (found := text(entry))]
