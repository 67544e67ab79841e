"""Ads of the official API (``ads_archive``, 2019 to 2026).

``ad_snapshot_url`` and ``paging.next`` hold the caller's token, so of the one only the ad's number is read and of the
other nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.items import Ad, AdvertiserRef, AudienceShare
from fetchworker.reading.dates import utc
from fetchworker.reading.money import CODES, money
from fetchworker.spiders.meta import contract
from fetchworker.spiders.reading.values import count, dig, ident, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.spiders.metafamily.relay import Document

_SNAPSHOT_ID = re.compile(r"[?&]id=(\d{1,20})(?:&|\Z)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z")
_OPEN_AGE = re.compile(r"(\d{1,3})\+?\Z")


def ad(raw: Document) -> Ad:
    """An ad of the API; what was not asked for, or is not told of such ads, stays None."""
    number = number_of(raw)
    page, name = ident(raw.get("page_id")), text(raw.get("page_name"))
    start, stop = text(raw.get("ad_delivery_start_time")), text(raw.get("ad_delivery_stop_time"))
    spend, code = mapping(raw.get("spend")), text(raw.get("currency"))
    ages, payment = _ages(raw), next(iter(sequence(raw.get("beneficiary_payers"))), None)
    return Ad.draft(
        id=number,
        advertiser=AdvertiserRef.draft(id=page, name=name) if page or name else None,
        start_date=_day(start),
        end_date=_day(stop),
        first_shown_at=utc(start),
        last_shown_at=utc(stop),
        platforms=[word for word in map(text, sequence(raw.get("publisher_platforms"))) if word],
        title=_first(raw, "ad_creative_link_titles", "ad_creative_link_title"),
        text=_first(raw, "ad_creative_bodies", "ad_creative_body"),
        caption=_first(raw, "ad_creative_link_captions", "ad_creative_link_caption"),
        spend_min=_money(spend.get("lower_bound"), code),
        spend_max=_money(spend.get("upper_bound"), code),
        currency=code if code in CODES else None,
        impressions_min=count(dig(raw, "impressions", "lower_bound")),
        impressions_max=count(dig(raw, "impressions", "upper_bound")),
        reach=count(raw.get("eu_total_reach")),
        payer=text(dig(payment, "payer")) or text(raw.get("bylines")) or text(raw.get("funding_entity")),
        beneficiary=text(dig(payment, "beneficiary")),
        age_min=ages[0],
        age_max=ages[1],
        gender=text(raw.get("target_gender")),
        locations=[found for one in sequence(raw.get("target_locations")) if (found := text(dig(one, "name")))],
        audience=[*_reached(raw), *_shares(raw)],
        url=contract.ad_url(number),
        extra=_extra(raw),
    )


def number_of(raw: Document) -> str | None:
    """The ad's number; before 2020 only the address of its snapshot had it."""
    match = _SNAPSHOT_ID.search(text(raw.get("ad_snapshot_url")) or "")
    return ident(raw.get("id")) or (match[1] if match else None)


def _first(raw: Document, plural: str, single: str) -> str | None:
    return next((found for one in sequence(raw.get(plural)) if (found := text(one))), None) or text(raw.get(single))


def _day(value: str | None) -> str | None:
    """The day in the text as the API writes it, which is its own reckoning."""
    return value[:10] if value and _DAY.match(value[:10]) else None


def _money(value: Any, code: str | None) -> str | None:
    found = money(value, code)
    return found.value if found else None


def _ages(raw: Document) -> tuple[int | None, int | None]:
    ages = [_OPEN_AGE.match(age) for age in map(str, sequence(raw.get("target_ages")))]
    if len(ages) != 2:  # noqa: PLR2004  # from and to
        return None, None
    low, high = (int(age[1]) if age else None for age in ages)
    return low, high


def _reached(raw: Document) -> Iterator[AudienceShare]:
    for place in sequence(raw.get("age_country_gender_reach_breakdown")):
        for group in sequence(dig(place, "age_gender_breakdowns")):
            for gender in ("male", "female", "unknown"):
                if (reach := count(dig(group, gender))) is not None:
                    country, age = text(dig(place, "country")), text(dig(group, "age_range"))
                    yield AudienceShare.draft(country=country, age=age, gender=gender, reach=reach)


def _shares(raw: Document) -> Iterator[AudienceShare]:
    for name in ("demographic_distribution", "delivery_by_region", "region_distribution"):
        for one in sequence(raw.get(name)):
            share = _share(dig(one, "percentage"))
            if share is not None:
                told = {key: text(dig(one, key)) for key in ("region", "age", "gender")}
                yield AudienceShare.draft(**told, share=share)


def _share(value: Any) -> float | None:
    try:
        share = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return share if 0 <= share <= 1 else None


def _extra(raw: Document) -> dict[str, Any]:
    found: dict[str, Any] = {"languages": [word for word in map(text, sequence(raw.get("languages"))) if word]}
    found["ad_creation_time"] = text(raw.get("ad_creation_time"))
    for name in ("ad_creative_bodies", "ad_creative_link_titles", "ad_creative_link_descriptions"):
        words = [word for word in map(text, sequence(raw.get(name))) if word]
        found[name] = words if len(words) > 1 or name.endswith("descriptions") else None
    return {name: value for name, value in found.items() if value}
