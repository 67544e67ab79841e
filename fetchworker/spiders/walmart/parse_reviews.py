"""Reviews of a listing (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.items import Review
from fetchworker.reading.dates import month_first, utc
from fetchworker.spiders.reading.html import text_of
from fetchworker.spiders.reading.values import count, dig, ident, link, mapping, sequence, text
from fetchworker.spiders.walmart import contract
from fetchworker.spiders.walmart.facts import kept, rating

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def reviews(block: Mapping[str, Any], product_id: str | None, url: str | None) -> list[Review]:
    """The reviews of a ``reviews`` object."""
    entries = (mapping(entry) for entry in sequence(block.get("customerReviews")))
    return [_review(entry, product_id, url) for entry in entries if entry]


def _review(raw: Mapping[str, Any], product_id: str | None, url: str | None) -> Review:
    submitted = raw.get("reviewSubmissionTime")
    return Review.draft(
        id=ident(raw.get("reviewId")),
        product_id=product_id,
        rating=rating(raw.get("rating"), None),
        title=text_of(text(raw.get("reviewTitle"))),
        text=text_of(text(raw.get("reviewText"))),
        created_at=month_first(submitted) or utc(submitted),
        author=text(raw.get("userNickname")),
        verified_purchase=_verified(raw),
        helpful_count=count(raw.get("positiveFeedback")),
        images=list(_images(raw)),
        url=url,
        extra=_extra(raw),
    )


def _badge_ids(raw: Mapping[str, Any]) -> set[str]:
    return {name for badge in sequence(raw.get("badges")) if (name := text(dig(badge, "id")))}


def _verified(raw: Mapping[str, Any]) -> bool | None:
    """Whether the badge is there; null where the page lists no badges at all."""
    return contract.VERIFIED_BADGE in _badge_ids(raw) if isinstance(raw.get("badges"), list) else None


def _images(raw: Mapping[str, Any]) -> Iterator[str]:
    for medium in [*sequence(raw.get("media")), *sequence(raw.get("photos"))]:
        address = link(dig(medium, "normalUrl"))
        if address and dig(medium, "mediaType") in (None, "IMAGE"):
            yield address


def _extra(raw: Mapping[str, Any]) -> dict[str, Any]:
    replies = (text_of(text(dig(reply, "response"))) for reply in sequence(raw.get("clientResponses")))
    return kept({
        "not_helpful_count": count(raw.get("negativeFeedback")),
        "incentivized": True if _badge_ids(raw) & set(contract.INCENTIVES) else None,
        "syndicated_from": text(dig(raw, "syndicationSource", "name")),
        "seller": text(raw.get("sellerName")),
        "replies": [reply for reply in replies if reply],
    })  # fmt: skip
