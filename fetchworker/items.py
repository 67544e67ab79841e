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


class Profile(Item):
    """A person, a page or a channel; ``alt_ids`` are further ids that the site uses for the same one."""

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


class SearchResult(Item):
    """One hit of a search, at its ``position`` (from 1)."""

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
    sold_at: Time | None = None


class SearchPage(Item):
    """One per page of a search, after its results."""

    kind: Literal["search_page"] = "search_page"
    query: str | None = None
    total_results: Count | None = None
    page: Count | None = None
    next_cursor: str | None = None
    results_count: Count | None = None


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
    for cls in (Profile, Post, Comment, SearchResult, SearchPage, Page, FetchResult)
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
