"""What spiders yield: one Pydantic model per kind, the same kinds for every site.

The names are the public contract (JSON lines, API, database). Missing in the page means ``None`` (or an empty list),
never a guess and never ``0``. Times are UTC ISO-8601 with ``Z``, dates ``YYYY-MM-DD``, money a decimal string beside
an ISO-4217 code, counts integers.

Parsers make items with :meth:`Item.draft`, which checks nothing; :func:`validate` (the validating pipeline and
``scrapy parse-file`` call it) turns a draft into a checked item or names every field that is wrong.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from fetchworker.errors import ItemInvalidError

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\Z")


def _utc(value: str) -> str:
    if not _TIME.match(value):
        raise ValueError("must be UTC ISO-8601 such as 2026-01-31T10:00:00Z")
    return value


Time = Annotated[str, AfterValidator(_utc)]
"""UTC instant, ISO-8601 with ``Z``."""
Date = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\d$")]
Money = Annotated[str, StringConstraints(pattern=r"^-?\d+(\.\d+)?$")]
"""Decimal string."""
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
Count = Annotated[int, Field(ge=0)]
Availability = Literal["in_stock", "out_of_stock", "preorder", "ended", "unknown"]
ListingType = Literal["auction", "fixed", "both"]


@cache
def _default_values(cls: type[BaseModel]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The defaults of a model, and which of them are containers of which each draft needs its own."""
    values = {name: field.default for name, field in cls.model_fields.items() if not field.is_required()}
    return values, tuple(name for name, value in values.items() if isinstance(value, list | dict))


def _defaults(cls: type[BaseModel]) -> dict[str, Any]:
    values, containers = _default_values(cls)
    fresh = values.copy()
    for name in containers:
        fresh[name] = fresh[name].copy()
    return fresh


class Part(BaseModel):
    """A value inside an item (an author, a medium, a link)."""

    model_config = ConfigDict(extra="forbid", revalidate_instances="always", strict=False)

    @classmethod
    def draft(cls, **values: Any) -> Self:
        """Make the object unchecked; unknown names are kept, so that :func:`validate` can name them."""
        made = cls.__new__(cls)
        # what pydantic's model_construct does, without asking each field for its default: pages hold many items
        fields = _defaults(cls)
        fields.update(values)
        set_attribute = object.__setattr__
        set_attribute(made, "__dict__", fields)
        set_attribute(made, "__pydantic_fields_set__", set(values))
        set_attribute(made, "__pydantic_extra__", None)
        set_attribute(made, "__pydantic_private__", None)
        return made


class Item(Part):
    """Fields of every item."""

    kind: str
    item_id: Annotated[str, StringConstraints(min_length=1)]
    site: str
    operation: str
    url: str | None = None
    fetched_at: Time
    partial: str | None = None
    """Why the site gave less than it has, such as ``logged_out_limit``; ``None`` when nothing says so."""
    extra: dict[str, Any] = {}
    """What the site gives beyond the model, under the site's own names."""


class Author(Part):
    """Who wrote a post or a comment."""

    id: str | None = None
    username: str | None = None
    name: str | None = None


class Media(Part):
    """A picture or a film; ``duration`` in seconds, sizes in pixels."""

    type: Literal["image", "video", "audio", "document"] | None = None
    url: str | None = None
    width: Count | None = None
    height: Count | None = None
    duration: float | None = None
    alt: str | None = None


class Link(Part):
    """A link with its title."""

    title: str | None = None
    url: str | None = None


class Seller(Part):
    """Who sells; ``rating`` as the site gives it: a share of good ratings in per cent, or stars."""

    id: str | None = None
    name: str | None = None
    url: str | None = None
    rating: float | None = None
    feedback_count: Count | None = None


class Variant(Part):
    """One form of a product (a size, a colour)."""

    id: str | None = None
    sku: str | None = None
    attributes: dict[str, str] = {}
    price: Money | None = None
    currency: Currency | None = None
    availability: Availability | None = None


class PageLink(Part):
    """A link of a link page, or one of its headings (``type`` says which, ``url`` is missing then).

    ``position`` is the site's own; ``parent`` is the id of the group it stands in.
    """

    id: str | None = None
    title: str | None = None
    url: str | None = None
    type: str | None = None
    position: Count | None = None
    locked: bool | None = None
    image_url: str | None = None
    parent: str | None = None


class SocialLink(Part):
    """An account elsewhere."""

    platform: str | None = None
    url: str | None = None


class Profile(Item):
    """A person, a page or a channel; ``alt_ids`` are further ids that the site uses for the same one.

    A seller has ``rating`` (see :class:`Seller`), ``feedback_count`` and ``sold_count`` besides.
    """

    kind: Literal["profile"] = "profile"
    id: str | None = None
    alt_ids: list[str] = []
    username: str | None = None
    name: str | None = None
    biography: str | None = None
    avatar_url: str | None = None
    followers: Count | None = None
    following: Count | None = None
    posts_count: Count | None = None
    likes_count: Count | None = None
    verified: bool | None = None
    private: bool | None = None
    business: bool | None = None
    category: str | None = None
    external_url: str | None = None
    links: list[Link] = []
    location: str | None = None
    rating: float | None = None
    feedback_count: Count | None = None
    sold_count: Count | None = None


class Post(Item):
    """A publication of any form; ``alt_ids`` are further ids that the site uses for the same one."""

    kind: Literal["post"] = "post"
    id: str | None = None
    alt_ids: list[str] = []
    shortcode: str | None = None
    type: Literal["image", "video", "carousel", "reel", "text", "link", "job", "article"] | None = None
    text: str | None = None
    created_at: Time | None = None
    likes: Count | None = None
    comments_count: Count | None = None
    shares: Count | None = None
    views: Count | None = None
    media: list[Media] = []
    author: Author | None = None
    hashtags: list[str] = []
    mentions: list[str] = []
    location: str | None = None
    reply_to: str | None = None


class Comment(Item):
    """A comment on a post, or a reply to one."""

    kind: Literal["comment"] = "comment"
    id: str | None = None
    post_id: str | None = None
    text: str | None = None
    created_at: Time | None = None
    likes: Count | None = None
    replies_count: Count | None = None
    author: Author | None = None
    reply_to: str | None = None


class Product(Item):
    """Something for sale.

    ``price`` is what the seller asks, in the seller's ``currency``; ``converted_price`` is what the site makes of it in
    the visitor's. ``price_min`` and ``price_max`` span the variants. ``shipping`` is the site's text,
    ``shipping_price`` the amount in it (``0`` when it is free).
    """

    kind: Literal["product"] = "product"
    id: str | None = None
    sku: str | None = None
    gtin: str | None = None
    name: str | None = None
    brand: str | None = None
    price: Money | None = None
    currency: Currency | None = None
    list_price: Money | None = None
    price_min: Money | None = None
    price_max: Money | None = None
    converted_price: Money | None = None
    converted_currency: Currency | None = None
    availability: Availability | None = None
    condition: str | None = None
    description: str | None = None
    images: list[str] = []
    category_path: list[str] = []
    rating: float | None = None
    reviews_count: Count | None = None
    sold_count: Count | None = None
    seller: Seller | None = None
    shipping: str | None = None
    shipping_price: Money | None = None
    shipping_currency: Currency | None = None
    location: str | None = None
    variants: list[Variant] = []
    attributes: dict[str, str] = {}
    listing_type: ListingType | None = None
    bids: Count | None = None
    ends_at: Time | None = None


class Review(Item):
    """What a buyer says of a product; ``created_at`` is the day alone where the site tells no time."""

    kind: Literal["review"] = "review"
    id: str | None = None
    product_id: str | None = None
    rating: float | None = None
    title: str | None = None
    text: str | None = None
    created_at: Time | Date | None = None
    author: str | None = None
    verified_purchase: bool | None = None
    helpful_count: Count | None = None
    images: list[str] = []


class SearchResult(Item):
    """One hit of a search, at its ``position`` (from 1).

    ``exact`` is false for what the site lists beyond the hits for the words asked for. ``sold_at`` is the day alone
    where the site tells no time.
    """

    kind: Literal["search_result"] = "search_result"
    position: Count | None = None
    exact: bool | None = None
    id: str | None = None
    name: str | None = None
    price: Money | None = None
    price_min: Money | None = None
    price_max: Money | None = None
    currency: Currency | None = None
    list_price: Money | None = None
    image_url: str | None = None
    condition: str | None = None
    seller: str | None = None
    rating: float | None = None
    reviews_count: Count | None = None
    sold_count: Count | None = None
    sponsored: bool | None = None
    shipping: str | None = None
    shipping_price: Money | None = None
    shipping_currency: Currency | None = None
    sold_at: Time | Date | None = None
    location: str | None = None
    listing_type: ListingType | None = None
    bids: Count | None = None


class SearchPage(Item):
    """One per page of a search, after its results; ``exact_count`` of its ``results_count`` are exact hits."""

    kind: Literal["search_page"] = "search_page"
    query: str | None = None
    total_results: Count | None = None
    page: Count | None = None
    next_cursor: str | None = None
    results_count: Count | None = None
    exact_count: Count | None = None


class LinkPage(Item):
    """A page of links; ``sensitive``: the site asks the visitor before it shows it."""

    kind: Literal["link_page"] = "link_page"
    id: str | None = None
    username: str | None = None
    title: str | None = None
    description: str | None = None
    avatar_url: str | None = None
    verified: bool | None = None
    sensitive: bool | None = None
    links: list[PageLink] = []
    social_links: list[SocialLink] = []


class Page(Item):
    """One per page of a paged operation, after its items: the cursor is never lost."""

    kind: Literal["page"] = "page"
    next_cursor: str | None = None
    total: Count | None = None
    exhausted: bool | None = None


class FetchResult(Item):
    """A response as it came; ``body`` when it is text, ``body_base64`` when it is not."""

    kind: Literal["fetch_result"] = "fetch_result"
    status: int
    headers: list[tuple[str, str]] = []
    body: str | None = None
    body_base64: str | None = None
    content_type: str | None = None
    elapsed_ms: float | None = None
    bytes_down: Count | None = None
    bytes_up: Count | None = None
    proxy: dict[str, str | None] | None = None
    """Provider and exit country, never an address or a password."""
    session_id: str | None = None
    attempts: Count | None = None


#: kind → model
KINDS: dict[str, type[Item]] = {
    str(cls.model_fields["kind"].default): cls
    for cls in (Profile, Post, Comment, Product, Review, SearchResult, SearchPage, LinkPage, Page, FetchResult)
}


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
