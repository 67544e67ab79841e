"""Arguments of the Walmart operations."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from fetchworker.contracts import Paged, Params, alone
from fetchworker.spiders.arguments import matching, words
from fetchworker.spiders.walmart import contract

_ITEM = re.compile(rf"{contract.ITEM}\Z")
_PAGE = re.compile(r"[1-9]\d{0,4}\Z")
_PRICE = re.compile(r"\d{1,7}(?:\.\d{1,2})?\Z")
_CATEGORY = re.compile(r"\d{1,12}(?:_\d{1,12}){0,9}\Z")
#: ``brand:Some Name``, several joined with ``||``
_FACET = re.compile(r"[^\s:][^:]{0,60}:\S.{0,500}\Z")


def _domain(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    word = value.strip().lower().removeprefix("www.").removeprefix("walmart.").strip(".")
    if f"walmart.{word}" not in contract.DOMAINS:
        raise ValueError(f"must be one of {', '.join(contract.DOMAINS)}")
    return f"walmart.{word}"


def _search_address(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if contract.domain_of(value) is None or not re.match(r"https?://[^/]+/(?:[a-z]{2}/)?search(?:[/?#]|$)", value):
        raise ValueError("must be the address of a search, such as https://www.walmart.com/search?q=lamp")
    return value


Domain = Annotated[
    str,
    BeforeValidator(_domain),
    Field(default=contract.DOMAIN, description="which shop: walmart.com (default) or walmart.ca"),
]
Item = Annotated[
    str,
    matching(_ITEM, "a listing's id: 3 to 15 digits, or 12 capital letters and digits"),
    Field(description="the listing's id"),
]
Price = Annotated[str | None, matching(_PRICE, "an amount such as 12.50"), Field(default=None)]
PageNumber = Annotated[
    str | None, matching(_PAGE, "a page's number"), Field(description="go on from a `next_cursor` (a page number)")
]


class SearchParams(Paged):
    """What to look for, and where."""

    query: Annotated[str | None, BeforeValidator(words), Field(default=None, description="words to look for")] = None
    domain: Domain = contract.DOMAIN
    sort: Literal[contract.SORTS] | None = Field(default=None, description="order of the results")  # type: ignore[valid-type]  # the words stand in the contract
    price_min: Price = None
    price_max: Price = None
    category: Annotated[
        str | None,
        matching(_CATEGORY, "a category's number"),
        Field(default=None, description="a category's `cat_id`"),
    ] = None
    facet: Annotated[
        str | None,
        matching(_FACET, "the site's facets, such as brand:Some Name"),
        Field(default=None, description="the site's further filters (`facet`), such as brand:Some Name||color:Blue"),
    ] = None
    url: Annotated[
        str | None, BeforeValidator(_search_address), Field(description="a search's address, taken as it is")
    ] = None
    cursor: PageNumber = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if not (self.query or self.url):
            raise ValueError("say what to look for: query=<words> or url=<address of a search>")
        alone(self, "limit", "cursor")
        return self

    def address(self) -> str:
        """The search's address, without a page."""
        if self.url:
            return contract.at_page(self.url, None)
        told = {"sort": self.sort, "min_price": self.price_min, "max_price": self.price_max, "cat_id": self.category,
                "facet": self.facet}  # fmt: skip
        return contract.search_url(self.domain, self.query or "", {key: value for key, value in told.items() if value})


class ItemParams(Params):
    """Which listing."""

    item: Item
    domain: Domain = contract.DOMAIN


class ReviewsParams(Paged):
    """Whose reviews, and which of them."""

    item: Item
    domain: Domain = contract.DOMAIN
    rating: int | None = Field(default=None, ge=1, le=5, description="only those with so many stars")
    sort: Literal["relevant", "newest"] = Field(default="relevant", description="order of the reviews")
    cursor: PageNumber = None
