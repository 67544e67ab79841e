"""Ads of the library, in a search's list or one with its details (pure)."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.items import Ad, Advertiser, AdvertiserRef, Media
from fetchworker.spiders.reading.counts import count as abbreviated
from fetchworker.spiders.reading.values import count, dig, flag, ident, link, mapping, sequence, text
from fetchworker.spiders.tiktok_ads import contract
from fetchworker.spiders.tiktok_ads.parse_body import day, told

if TYPE_CHECKING:
    from collections.abc import Mapping


def ad(raw: Mapping[str, Any], region: str | None, detail: Mapping[str, Any] | None = None) -> Ad:
    """One ad; ``region`` is where it was looked for, ``detail`` what stands beside the ad in its details."""
    beside = mapping(detail)
    number = ident(raw.get("id")) or ""
    low, high = bucket(raw.get("estimated_audience"))
    media = _media(raw)
    shown = _targeted(beside) or (region.split(",") if region and region != contract.ALL_REGIONS else [])
    return Ad.draft(
        id=number,
        advertiser=_payer(raw, mapping(beside.get("advertiser"))),
        start_date=day(raw.get("first_shown_date")),
        last_seen=day(raw.get("last_shown_date")),
        format=media[0].type if media else None,
        countries=shown if beside or len(shown) == 1 else [],
        title=text(raw.get("title")),
        link_url=link(raw.get("external_url")),
        landing_page=link(raw.get("external_url")),
        cta=text(raw.get("call_to_action")),
        rejected_in=_rejected(raw),
        objective=text(raw.get("objective")),
        media=media,
        # impression is always 0 and spent always empty (2026-09): they say nothing
        impressions_min=count(raw.get("impression")) or None,
        impressions_max=count(raw.get("impression")) or None,
        reach_min=low,
        reach_max=high,
        url=contract.library_url(number),
        extra=_extra(raw, region, beside),
    )


def advertiser(detail: Mapping[str, Any]) -> Advertiser | None:
    """Who paid, as an ad's details say it."""
    raw = mapping(detail.get("advertiser"))
    number, name = ident(raw.get("adv_biz_ids")), text(raw.get("name"))
    if number is None and name is None:
        return None
    user = mapping(raw.get("tt_user"))
    return Advertiser.draft(
        id=number,
        name=name,
        country=text(raw.get("registry_location")) or text(raw.get("location")),
        url=link(user.get("profile_web_link")),
        extra=told(
            {
                "sponsor": text(raw.get("sponsor")),
                "username": text(user.get("username")),
                "followers": text(user.get("follower_count")),
            }
        ),
    )


def bucket(value: Any) -> tuple[int | None, int | None]:
    """The ends of ``10K-100K``."""
    parts = [abbreviated(part) for part in (text(value) or "").split("-")]
    low, high = parts if len(parts) == 2 else (None, None)  # noqa: PLR2004  # two ends
    return (low, high) if low is not None and high is not None and low <= high else (None, None)


def advances(before: str | None, after: str) -> bool:
    """Whether a cursor is further on than the one before, by the place that it holds in itself (if it does)."""
    old, new = _place(before), _place(after)
    return old is None or new is None or new > old


def _place(cursor: str | None) -> int | None:
    try:
        found = orjson.loads(base64.b64decode(cursor or "", validate=True))
    except (binascii.Error, ValueError):
        return None
    return count(dig(found, "next_cursor"))


def _media(raw: Mapping[str, Any]) -> list[Media]:
    films = [link(dig(entry, "video_url")) for entry in sequence(raw.get("videos"))]
    pictures = [link(entry) for entry in sequence(raw.get("image_urls"))]
    return [Media.draft(type="video", url=url) for url in films if url] + [
        Media.draft(type="image", url=url) for url in pictures if url
    ]


def _payer(raw: Mapping[str, Any], paid: Mapping[str, Any]) -> AdvertiserRef | None:
    name, number = text(paid.get("name")) or text(raw.get("name")), ident(paid.get("adv_biz_ids"))
    if name is None and number is None:
        return None
    return AdvertiserRef.draft(id=number, name=name, url=link(dig(paid, "tt_user", "profile_web_link")))


def _targeted(detail: Mapping[str, Any]) -> list[str]:
    listed = sequence(dig(detail, "targeting", "location", "data"))
    return list(dict.fromkeys(code.upper() for entry in listed if (code := text(dig(entry, "region")))))


def _rejected(raw: Mapping[str, Any]) -> list[str]:
    return [code for entry in sequence(dig(raw, "rejection_info", "affected_regions")) if (code := text(entry))]


def _extra(raw: Mapping[str, Any], region: str | None, detail: Mapping[str, Any]) -> dict[str, Any]:
    rejected = mapping(raw.get("rejection_info"))
    return told({
        "region": region,
        "estimated_audience": text(raw.get("estimated_audience")),
        "covers": [cover for entry in sequence(raw.get("videos")) if (cover := link(dig(entry, "cover_img")))],
        "audit_status": text(raw.get("audit_status")),
        "sor_audit_status": text(raw.get("sor_audit_status")),
        "show_mode": count(raw.get("show_mode")),
        "type": text(raw.get("type")),
        "spent": text(raw.get("spent")),
        "rejection_reasons": [why for entry in sequence(rejected.get("reasons")) if (why := text(entry))],
        "automated_notice": text(rejected.get("automated_notice")),
        "reporting_source": text(rejected.get("reporting_source")),
        "is_rejected": True if rejected else flag(raw.get("is_rejected")),
        "targeting": {name: value for name, value in mapping(detail.get("targeting")).items() if value},
    })  # fmt: skip
