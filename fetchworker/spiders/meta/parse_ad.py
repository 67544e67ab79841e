"""One ad of the library's pages and queries as an item (2018 to 2026).

The advertiser is the page that the ad names, never the creator whose post it shows. Commercial ads tell neither spend
nor impressions: what is null or -1 there stays unknown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.items import Ad, Advertiser, AdvertiserRef, AudienceShare, Media
from fetchworker.reading.money import CODES, decimal
from fetchworker.spiders.meta import contract
from fetchworker.spiders.reading.counts import count as abbreviated
from fetchworker.spiders.reading.values import count, dig, flag, ident, instant, link, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.spiders.metafamily.relay import Document

#: what stands in an ad that is put together from a catalogue
_TEMPLATE = re.compile(r"\{\{[\w.]{1,60}\}\}")
_RANGE = re.compile(r"(?P<below>[<≤])|(?P<above>[>≥])")
_NUMBER = re.compile(r"\d[\d.,\u00a0\u202f]*\s?(?:[KMB](?![A-Za-z]))?", re.IGNORECASE)
_UNKNOWN = "UNKNOWN"
_EXTRA_FLAGS = ("contains_digital_created_media", "contains_sensitive_content", "is_aaa_eligible", "page_is_deleted")


def number_of(raw: Document) -> str | None:
    """An ad's number in the library."""
    return ident(raw.get("ad_archive_id")) or ident(raw.get("adArchiveID")) or ident(raw.get("adid"))


def ad(raw: Document) -> Ad:
    """An ad with its creative."""
    snapshot = mapping(raw.get("snapshot"))
    cards = [card for card in sequence(snapshot.get("cards")) if isinstance(card, dict)]
    number, owner, active = number_of(raw), advertiser(raw), _flag(raw, "is_active", "isActive")
    start, end = (_day(_either(raw, *names)) for names in (("start_date", "startDate"), ("end_date", "endDate")))
    spend, impressions = _range(raw.get("spend")), _range(dig(raw, "impressions_with_index", "impressions_text"))
    code = text(raw.get("currency"))
    return Ad.draft(
        id=number,
        advertiser=AdvertiserRef.draft(id=owner.id, name=owner.name, url=owner.url),
        start_date=start,
        # the site gives running ads today's date for an end
        end_date=None if active else end,
        last_seen=end if active else None,
        active=active,
        format=text(snapshot.get("display_format")),
        platforms=_words(_either(raw, "publisher_platform", "publisherPlatform")),
        countries=_words(_either(raw, "targeted_or_reached_countries", "reachedCountries")),
        title=_told("title", snapshot, cards),
        text=_told("body", snapshot, cards),
        caption=_told("caption", snapshot, cards),
        link_url=link(_told("link_url", snapshot, cards)),
        cta=_told("cta_text", snapshot, cards),
        media=list(_media(snapshot, cards)),
        spend_min=_money(spend[0]),
        spend_max=_money(spend[1]),
        impressions_min=impressions[0],
        impressions_max=impressions[1],
        currency=code if code in CODES else None,
        reach=count(raw.get("reach_estimate")),
        payer=text(snapshot.get("byline")) or text(snapshot.get("disclaimer_label")),
        collation_id=ident(_either(raw, "collation_id", "collationID")),
        collation_count=count(_either(raw, "collation_count", "collationCount")),
        url=contract.ad_url(number),
        extra=_extra(raw, snapshot, cards),
    )


def advertiser(raw: Document) -> Advertiser:
    """Whose ad it is. The snapshot of a partnership ad tells of the creator, whose likes are not the advertiser's."""
    snapshot, branded = mapping(raw.get("snapshot")), mapping(dig(raw, "snapshot", "branded_content"))
    number = ident(_either(raw, "page_id", "pageID")) or ident(branded.get("page_id")) or ident(snapshot.get("page_id"))
    own = next((one for one in (branded, snapshot) if ident(one.get("page_id")) == number), {})
    categories = _words(own.get("page_categories"))
    return Advertiser.draft(
        id=number,
        name=text(_either(raw, "page_name", "pageName")) or text(own.get("page_name")),
        url=link(own.get("page_profile_uri")),
        likes=count(own.get("page_like_count")),
        category=categories[0] if categories else None,
    )


def _either(raw: Document, *names: str) -> Any:
    return next((raw[name] for name in names if raw.get(name) is not None), None)


def _flag(raw: Document, *names: str) -> bool | None:
    return flag(_either(raw, *names))


def _day(value: Any) -> str | None:
    """Days are told as midnight on the Pacific coast, which is the same day in UTC."""
    moment = instant(value)
    return moment[:10] if moment else None


def _words(value: Any) -> list[str]:
    """Texts of a list; of a map (2018) its values."""
    entries = value.values() if isinstance(value, dict) else sequence(value)
    return [word for word in map(text, entries) if word]


def _told(name: str, snapshot: Any, cards: list[Document]) -> str | None:
    """A part of the creative; of the first card where the ad itself holds a template."""
    whole = _plain(snapshot.get(name))
    if whole is not None and not _TEMPLATE.search(whole):
        return whole
    return next((found for card in cards if (found := _plain(card.get(name)))), None)


def _plain(value: Any) -> str | None:
    return text(value) or text(dig(value, "text")) or _unmarked(dig(value, "markup", "__html"))


def _unmarked(value: Any) -> str | None:
    words = text(value)
    return text(re.sub(r"<[^<>]{0,500}>", " ", words)) if words else None


def _media(snapshot: Any, cards: list[Document]) -> Iterator[Media]:
    names = ("images", "videos", "extra_images", "extra_videos")
    parts = [part for name in names for part in sequence(snapshot.get(name)) if isinstance(part, dict)]
    seen = set()
    for part in (*parts, *cards):
        film = link(part.get("video_hd_url")) or link(part.get("video_sd_url"))
        url = film or link(part.get("original_image_url")) or link(part.get("resized_image_url"))
        if url and url not in seen:
            seen.add(url)
            yield Media.draft(type="video" if film else "image", url=url)


def _range(value: Any) -> tuple[int | None, int | None]:
    """``10K-15K``, ``>1M``, ``<1,000``, ``€100 - €199``; or ``{"lower_bound":…}``."""
    if isinstance(value, dict):
        return count(value.get("lower_bound")), count(value.get("upper_bound"))
    words = text(value) or ""
    found = [number for match in _NUMBER.findall(words) if (number := abbreviated(match.strip(".,\u00a0\u202f")))]
    sign = _RANGE.search(words)
    if sign and len(found) == 1:
        return (None, found[0]) if sign["below"] else (found[0], None)
    return (found[0], found[1]) if len(found) == 2 else (None, None)  # noqa: PLR2004  # from and to


def _money(value: int | None) -> str | None:
    return None if value is None else decimal(str(value))


def _extra(raw: Document, snapshot: Any, cards: list[Document]) -> dict[str, Any]:
    found: dict[str, Any] = {name: True for name in _EXTRA_FLAGS if raw.get(name) is True}
    found["categories"] = [word for word in _words(raw.get("categories")) if word != _UNKNOWN] or None
    found["cta_type"] = text(snapshot.get("cta_type"))
    found["link_description"] = _told("link_description", snapshot, cards)
    found["total_active_time"] = count(raw.get("total_active_time"))
    found["gated_type"] = text(raw.get("gated_type"))
    found["creator"] = _creator(raw, snapshot)
    names = ("title", "body", "caption", "link_url", "link_description", "cta_text")
    shown = [{name: _plain(card.get(name)) for name in names if _plain(card.get(name))} for card in cards]
    found["cards"] = [card for card in shown if card] or None
    return {name: value for name, value in found.items() if value is not None}


def _creator(raw: Document, snapshot: Any) -> dict[str, str] | None:
    """Whose post a partnership ad shows."""
    number, owner = ident(snapshot.get("page_id")), advertiser(raw).id
    if number is None or number == owner:
        return None
    told = {"id": number, "name": text(snapshot.get("page_name")), "url": link(snapshot.get("page_profile_uri"))}
    return {name: value for name, value in told.items() if value}


# ── what the details tell ────────────────────────────────────────────────────────────────────────────────────────────


def with_details(found: Ad, details: Document) -> Ad:
    """An ad with who pays for it, whom it is meant for and whom it reached."""
    payment = next((one for one in sequence(dig(details, "aaa_info", "payer_beneficiary_data")) if one), None)
    by_place = mapping(details.get("transparency_by_location"))
    regions = [mapping(by_place.get(f"{name}_transparency")) for name in ("eu", "uk", "br")]
    told = next((region for region in regions if region), {})
    values = found.__dict__
    values["payer"] = text(dig(payment, "payer")) or values.get("payer")
    values["beneficiary"] = text(dig(payment, "beneficiary"))
    values["age_min"], values["age_max"] = (count(dig(told, "age_audience", edge)) for edge in ("min", "max"))
    values["gender"] = text(told.get("gender_audience"))
    values["locations"] = [name for name, _ in _locations(told, excluded=False)]
    values["audience"] = [share for region in regions for share in _audience(region)]
    reached = next((n for region in regions if (n := _total(region)) is not None), None)
    values["reach"] = reached if reached is not None else values.get("reach")
    values["extra"] = {**values.get("extra", {}), **_details_extra(details, regions, told)}
    return found


def _total(region: Any) -> int | None:
    found = count(region.get("eu_total_reach"))
    return count(region.get("total_reach")) if found is None else found


def _locations(told: Any, *, excluded: bool) -> Iterator[tuple[str, str | None]]:
    for one in sequence(told.get("location_audience")):
        name = text(dig(one, "name"))
        if name and (dig(one, "excluded") is True) == excluded:
            yield name, text(dig(one, "type"))


def _audience(region: Any) -> Iterator[AudienceShare]:
    for place in sequence(region.get("age_country_gender_reach_breakdown")):
        for group in sequence(dig(place, "age_gender_breakdowns")):
            for gender in ("male", "female", "unknown"):
                reach = count(dig(group, gender))
                if reach is not None:
                    country, age = text(dig(place, "country")), text(dig(group, "age_range"))
                    yield AudienceShare.draft(country=country, age=age, gender=gender, reach=reach)


def _details_extra(details: Document, regions: list[Any], told: Any) -> dict[str, Any]:
    names = ("eu_total_reach", "uk_total_reach", "br_total_reach")
    found: dict[str, Any] = dict(zip(names, map(_total, regions), strict=True))
    found["excluded_locations"] = [name for name, _ in _locations(told, excluded=True)] or None
    found["violation_types"] = _words(details.get("violation_types")) or None
    found["is_ad_taken_down"] = flag(dig(details, "aaa_info", "is_ad_taken_down")) or None
    return {name: value for name, value in found.items() if value is not None}


def details_advertiser(details: Document) -> Advertiser | None:
    """The advertiser as the details tell of it."""
    info = mapping(dig(details, "advertiser", "ad_library_page_info", "page_info"))
    number = ident(info.get("page_id")) or ident(dig(details, "advertiser", "page", "id"))
    if number is None:
        return None
    state = text(info.get("page_verification"))
    return Advertiser.draft(
        id=number,
        name=text(info.get("page_name")),
        url=link(info.get("page_profile_uri")),
        verified=None if state is None else state != "NOT_VERIFIED",
        likes=count(info.get("likes")),
        category=text(info.get("page_category")),
        instagram_username=text(info.get("ig_username")),
        instagram_followers=count(info.get("ig_followers")),
    )
