"""Arguments of the eBay operations."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from fetchworker.contracts import Paged, Params, alone
from fetchworker.spiders.arguments import as_text, filters, matching, words
from fetchworker.spiders.ebay import contract

_ITEM = re.compile(r"\d{9,15}\Z")
_CATEGORY = re.compile(r"\d{1,9}\Z")
_SELLER = re.compile(r"[A-Za-z0-9*!$._-]{1,64}\Z")
_PAGE = re.compile(r"[1-9]\d{0,4}\Z")
_PRICE = re.compile(r"\d{1,9}(?:\.\d{1,2})?\Z")
#: a filter's name as the site writes it: ``Brand``, ``Screen%20Size``, ``LH_FS``
_FILTERS = filters(re.compile(r"[^\s&=#]{1,80}\Z"), '{"Brand": "Nintendo"}', "no name of a filter")


def _domain(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    word = value.strip().lower().removeprefix("www.").removeprefix("ebay.").strip(".")
    if f"ebay.{word}" not in contract.DOMAINS:
        raise ValueError(f"must be one of {', '.join(contract.DOMAINS)}")
    return f"ebay.{word}"


def _variation(value: Any) -> Any:
    found = as_text(value)
    if isinstance(found, str) and not found.isdigit():
        raise ValueError("must be the number behind var= of the listing's address")
    return None if found == "0" else found


def _page_size(value: int | None) -> int | None:
    if value is not None and value not in contract.PAGE_SIZES:
        raise ValueError(f"must be one of {', '.join(map(str, contract.PAGE_SIZES))}")
    return value


def _search_address(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if contract.domain_of(value) is None or not re.match(r"https?://[^/]+/sch/", value):
        raise ValueError("must be the address of a search, such as https://www.ebay.de/sch/i.html?_nkw=lego")
    return value


Domain = Annotated[
    str, BeforeValidator(_domain), Field(default=contract.DOMAIN, description="which shop: ebay.com, ebay.de, co.uk, …")
]
Item = Annotated[str, matching(_ITEM, "an item number of 9 to 15 digits"), Field(description="the listing's number")]
Price = Annotated[str | None, matching(_PRICE, "an amount such as 12.50"), Field(default=None)]
SellerName = Annotated[
    str | None, matching(_SELLER, "a seller's name"), Field(default=None, description="a seller's name")
]


class SearchParams(Paged):
    """What to look for, and where."""

    query: Annotated[str | None, BeforeValidator(words), Field(default=None, description="words to look for")] = None
    seller: SellerName = None
    category: Annotated[
        str | None, matching(_CATEGORY, "a category's number"), Field(default=None, description="a category's number")
    ] = None
    domain: Domain = contract.DOMAIN
    sold: bool = Field(default=False, description="true: ended listings that were sold")
    ended: bool = Field(default=False, description="true: ended listings, sold or not")
    format: Literal["auction", "fixed", "best_offer"] | None = Field(default=None, description="how it is sold")
    condition: Literal[tuple(contract.CONDITIONS)] | None = Field(default=None, description="the item's condition")  # type: ignore[valid-type]
    sort: Literal[tuple(contract.SORTS)] | None = Field(default=None, description="order of the results")  # type: ignore[valid-type]
    price_min: Price = None
    price_max: Price = None
    page_size: Annotated[
        int | None, AfterValidator(_page_size), Field(description="results a page: 60 (the site's own), 120 or 240")
    ] = None
    filters: Annotated[dict[str, str], _FILTERS, Field(description="further filters of the site, as a JSON object")] = (
        Field(default_factory=dict)
    )
    url: Annotated[
        str | None, BeforeValidator(_search_address), Field(description="a search's address, taken as it is")
    ] = None
    cursor: Annotated[
        str | None, matching(_PAGE, "a page's number"), Field(description="go on from a `next_cursor` (a page number)")
    ] = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if not (self.query or self.seller or self.category or self.url):
            raise ValueError("say what to look for: query=<words>, seller=<name>, category=<number> or url=<address>")
        alone(self, "limit", "cursor")
        return self

    def address(self) -> str:
        """The search's address, without a page."""
        if self.url:
            return contract.at_page(self.url, None)
        return contract.search_url(
            self.domain, query=self.query, category=self.category, seller=self.seller, filters=self.site_filters()
        )

    def site_filters(self) -> dict[str, str]:
        """The arguments as the site's own parameters."""
        found = {contract.FORMATS[self.format]: "1"} if self.format else {}
        if self.sold or self.ended:
            found |= ({"LH_Sold": "1"} if self.sold else {}) | {"LH_Complete": "1"}
        if self.condition:
            found["LH_ItemCondition"] = contract.CONDITIONS[self.condition]
        told = {"_udlo": self.price_min, "_udhi": self.price_max, "_sop": contract.SORTS.get(self.sort or "")}
        told["_ipg"] = str(self.page_size) if self.page_size else None
        return {**found, **{name: value for name, value in told.items() if value}, **self.filters}


class ItemParams(Params):
    """Which listing."""

    item: Item
    variation: Annotated[
        str | None, BeforeValidator(_variation), Field(default=None, description="one of its variations (`var`)")
    ] = None
    domain: Domain = contract.DOMAIN


class DescriptionParams(Params):
    """Which listing."""

    item: Item


class SellerParams(Params):
    """Which seller."""

    seller: Annotated[str, matching(_SELLER, "a seller's name"), Field(description="the seller's name")]
    domain: Domain = contract.DOMAIN
