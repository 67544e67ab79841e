"""What spiders yield: one Pydantic model per kind, the same kinds for every site.

The names are the public contract (JSON lines, API, database). Missing in the page means ``None`` (or an empty list),
never a guess and never ``0``. Times are UTC ISO-8601 with ``Z``, dates ``YYYY-MM-DD``, money a decimal string beside
an ISO-4217 code, counts integers.

Parsers make items with :meth:`Item.draft`, which checks nothing; :func:`validate` (the validating pipeline and
``scrapy parse-file`` call it) turns a draft into a checked item or names every field that is wrong.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from fetchworker.errors import ItemInvalidError
from fetchworker.items.ads import (
    Ad,
    AdAnalytics,
    Advertiser,
    AdvertiserRef,
    AudienceShare,
    MetricSeries,
    Trend,
    TrendPoint,
)
from fetchworker.items.base import (
    LARGEST,
    Availability,
    Item,
    Link,
    ListingType,
    Media,
    Part,
    contact,
    plain,
    without_contact,
)
from fetchworker.items.fetched import Document, FetchResult, Page
from fetchworker.items.shop import Product, Review, SearchPage, SearchResult, Seller, Variant
from fetchworker.items.social import (
    Author,
    Comment,
    Event,
    Group,
    Host,
    LinkPage,
    PageLink,
    Place,
    Post,
    PostRef,
    Profile,
    SocialLink,
)  # fmt: skip
from fetchworker.items.work import Company, CompanyRef, Job, Person, Position, School

__all__ = [
    "KINDS",
    "LARGEST",
    "Ad",
    "AdAnalytics",
    "Advertiser",
    "AdvertiserRef",
    "AudienceShare",
    "Author",
    "Availability",
    "Comment",
    "Company",
    "CompanyRef",
    "Document",
    "Event",
    "FetchResult",
    "Group",
    "Host",
    "Item",
    "Job",
    "Link",
    "LinkPage",
    "ListingType",
    "Media",
    "MetricSeries",
    "Page",
    "PageLink",
    "Part",
    "Person",
    "Place",
    "Position",
    "Post",
    "PostRef",
    "Product",
    "Profile",
    "Review",
    "School",
    "SearchPage",
    "SearchResult",
    "Seller",
    "SocialLink",
    "Trend",
    "TrendPoint",
    "Variant",
    "contact",
    "plain",
    "validate",
    "without_contact",
]

#: kind → model
KINDS: dict[str, type[Item]] = {
    str(cls.model_fields["kind"].default): cls
    for cls in (
        Ad, AdAnalytics, Advertiser, Comment, Company, Document, Event, FetchResult, Group, Job, LinkPage, Page, Person,
        Post, Product, Profile, Review, SearchPage, SearchResult, Trend,
    )
}  # fmt: skip


def validate(draft: Item | dict[str, Any]) -> Item:
    """Check a draft (or a plain mapping with ``kind``) against its model.

    Raises:
        ItemInvalidError: naming every field that is wrong, or an unknown kind.
    """
    values = draft if isinstance(draft, dict) else draft.__dict__
    model = KINDS.get(str(values.get("kind")))
    if model is None:
        raise ItemInvalidError(f"unknown kind {values.get('kind')!r}; known: {', '.join(sorted(KINDS))}")
    try:
        return model.model_validate(values)
    except ValidationError as exc:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in exc.errors(include_url=False))
        raise ItemInvalidError(f"{model.__name__}: {wrong}") from None
