"""Reviews, as a product's page and as the interface behind it write them (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fetchworker.items import Review
from fetchworker.spiders.reading.values import count, dig, flag, ident, instant, mapping, sequence, text
from fetchworker.spiders.tiktok_shop.parse_values import pictures, rating, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fetchworker.spiders.tiktok_shop.parse_page import Body


@dataclass(frozen=True)
class Reviews:
    """Reviews of one page or answer; ``total`` is the site's count of all, ``more`` what it says of further ones."""

    items: Sequence[Review]
    total: int | None = None
    more: bool | None = None


def reviews(body: Body, product: str | None, url: str | None) -> Reviews | None:
    """The reviews, None where nothing holds any list of them."""
    for holder in body.holding("product_reviews"):
        return _listed(holder, product, url)
    for holder in body.holding("product_info"):
        judged = mapping(dig(holder, "product_info", "product_detail_review"))
        if judged:
            return _shown(judged, product, url)
    judged = mapping(body.record.get("product_detail_review"))
    return _shown(judged, product, url) if judged else None


def _listed(holder: Mapping[str, Any], product: str | None, url: str | None) -> Reviews:
    total = count(holder.get("total_reviews"))
    if total is None:
        total = count(dig(holder, "review_ratings", "review_count"))
    entries = map(mapping, sequence(holder.get("product_reviews")))
    items = [_of_answer(entry, product, url) for entry in entries if ident(entry.get("review_id"))]
    return Reviews(items, total, flag(holder.get("has_more")))


def _of_answer(entry: Mapping[str, Any], product: str | None, url: str | None) -> Review:
    told = {name: ident(entry.get(name)) for name in ("sku_id", "review_country")}
    return Review.draft(
        id=ident(entry.get("review_id")),
        product_id=ident(entry.get("product_id")) or product,
        rating=rating(entry.get("review_rating"), None),
        title=shown(entry.get("review_title")),
        text=shown(entry.get("review_text")),
        created_at=instant(_number(entry.get("review_time"))),
        author=shown(entry.get("reviewer_name")),
        verified_purchase=flag(entry.get("is_verified_purchase")),
        helpful_count=count(entry.get("helpful_count")),
        images=pictures(entry.get("review_images")) or pictures(entry.get("images")),
        url=url,
        extra=_extra(told, entry.get("sku_specification")),
    )


def _shown(judged: Mapping[str, Any], product: str | None, url: str | None) -> Reviews:
    entries = map(mapping, sequence(judged.get("review_items")))
    items = [_of_page(entry, product, url) for entry in entries if ident(dig(entry, "review", "review_id"))]
    total = count(judged.get("review_count"))
    return Reviews(items, total, None if total is None else total > len(items))


def _of_page(entry: Mapping[str, Any], product: str | None, url: str | None) -> Review:
    review = mapping(entry.get("review"))
    return Review.draft(
        id=ident(review.get("review_id")),
        product_id=product,
        rating=rating(review.get("rating"), None),
        title=shown(review.get("main_review_title")),
        text=shown(review.get("display_text")),
        created_at=instant(_number(review.get("review_timestamp"))),
        author=shown(dig(entry, "review_user", "name")),
        images=pictures(review.get("images")),
        url=url,
        extra=_extra({"sku_id": ident(entry.get("sku_id"))}, entry.get("sku_specification")),
    )


def _extra(told: Mapping[str, Any], form: Any) -> dict[str, Any]:
    named = {**told, "sku_specification": text(form)}
    return {name: value for name, value in named.items() if value is not None}


def _number(value: Any) -> Any:
    """Times are texts of digits here."""
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16 else value  # noqa: PLR2004  # more digits are no time
