"""What buyers say of a listing's product: the page's module of reviews, else its JSON-LD."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.items import Review
from fetchworker.reading.dates import day, utc
from fetchworker.spiders.ebay.listing import spans
from fetchworker.spiders.reading.html import squeezed
from fetchworker.spiders.reading.values import count, dig, ident, link, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fetchworker.spiders.ebay.listing import Listing


def reviews(listing: Listing, product_id: str, url: str | None) -> list[Review]:
    """The reviews on the listing's page."""
    records = sequence(listing.module("REVIEWS").get("reviewRecords"))
    if records:
        return [_record(mapping(record), product_id, url) for record in records]
    told = listing.product_ld.get("review")
    return [
        _told(mapping(review), product_id, url) for review in (told if isinstance(told, list) else [told]) if review
    ]


def _record(record: Mapping[str, Any], product_id: str, url: str | None) -> Review:
    description = mapping(record.get("description"))
    words = " ".join(filter(None, (spans(part) for part in sequence(description.get("textualDisplays")))))
    rating = dig(record, "starRating", "averageRating", "value")
    return Review.draft(
        id=ident(record.get("reviewId")),
        product_id=product_id,
        rating=float(rating) if isinstance(rating, int | float) and not isinstance(rating, bool) else None,
        title=spans(record.get("title")),
        text=words or spans(description),
        created_at=day(spans(record.get("creationDate"))),
        author=_author(sequence(dig(record, "author", "textSpans"))),
        helpful_count=count(dig(record, "helpfulCount")),
        images=list(_pictures(record)),
        url=url,
    )


def _told(review: Mapping[str, Any], product_id: str, url: str | None) -> Review:
    rating = text(str(dig(review, "reviewRating", "ratingValue") or ""))
    published = text(review.get("datePublished"))
    return Review.draft(
        product_id=product_id,
        rating=float(rating) if rating and rating.replace(".", "", 1).isdigit() else None,
        title=text(review.get("name")),
        text=text(review.get("reviewBody")),
        created_at=utc(published) or day(published),
        author=text(review.get("author")) or text(dig(review, "author", "name")),
        url=url,
    )


def _author(spans: Any) -> str | None:
    """The linked name behind ``by``."""
    named = [text(dig(span, "text")) for span in spans if dig(span, "action")] or [text(dig(s, "text")) for s in spans]
    return squeezed(named[-1]) if named else None


def _pictures(record: Mapping[str, Any]) -> Iterator[str]:
    for image in sequence(record.get("images")):
        address = link(dig(image, "URL")) or link(dig(image, "image", "URL"))
        if address:
            yield address
