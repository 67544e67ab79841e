"""Arguments of the TikTok Shop operations."""

from __future__ import annotations

import re
from typing import Annotated, Any
from urllib.parse import parse_qsl, unquote

import orjson
from pydantic import BeforeValidator, Field, model_validator

from fetchworker.contracts import Paged, Params, agree
from fetchworker.spiders.arguments import as_text, words
from fetchworker.spiders.tiktok_shop import contract

_PRODUCT = re.compile(contract.PRODUCT_ID + r"\Z")
_SEARCH = re.compile(
    rf"https?://[^/]+/(?:shop/)?(?:(?P<region>{'|'.join(contract.REGIONS)})/)?s(?:/(?P<words>[^/?#]+))?/?"
    r"(?:\?(?P<query>[^#]*))?(?:#.*)?\Z"
)
_PAGE = re.compile(r"[1-9]\d{0,4}\Z")


def _product(value: Any) -> Any:
    found = as_text(value)
    if isinstance(found, str) and not _PRODUCT.match(found):
        raise ValueError("must be a product's number of 15 to 21 digits, the last part of its address")
    return found


def _region(value: Any) -> Any:
    word = value.strip().lower() if isinstance(value, str) else value
    if isinstance(word, str) and word not in contract.REGIONS:
        raise ValueError(f"must be one of {', '.join(contract.REGIONS)}")
    return word


def _from_address(values: Any) -> Any:
    """A search's address as the arguments it stands for."""
    if not isinstance(values, dict) or not isinstance(values.get("url"), str):
        return values
    rest = {name: value for name, value in values.items() if name != "url"}
    found = _SEARCH.match(values["url"])
    if found is None:
        raise ValueError("url: must be the address of a search, such as https://shop.tiktok.com/us/s?q=mug")
    asked = dict(parse_qsl(found["query"] or ""))
    words = unquote(found["words"] or "") or asked.get("q", "")
    given = {"query": words, "region": found["region"] or asked.get("region")}
    named = {name: value for name, value in given.items() if value}
    agree(named, rest)
    return {**named, **rest}


def _review_page(value: Any) -> Any:
    found = as_text(value)
    if isinstance(found, str) and not _PAGE.match(found):
        raise ValueError("must be a `next_cursor` of reviews: the number of a page")
    return found


def more(cursor: str | None) -> dict[str, Any] | None:
    """The ``load_more_params`` that a search's cursor holds, None when it is no such cursor."""
    try:
        found = orjson.loads(cursor or "")
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) and found else None


def _search_cursor(value: Any) -> Any:
    if isinstance(value, str) and more(value) is None:
        raise ValueError("must be a `next_cursor` of a search: a JSON object")
    return value


Product = Annotated[str, BeforeValidator(_product), Field(description="the product's number")]
Region = Annotated[
    str | None,
    BeforeValidator(_region),
    Field(default=None, description="which shop: us, gb, de, … (default: the one of your own address)"),
]


class ProductParams(Params):
    """Which product."""

    product: Product
    region: Region = None


class ReviewsParams(Paged):
    """Whose reviews, and how many."""

    product: Product
    region: Region = None
    cursor: Annotated[
        str | None, BeforeValidator(_review_page), Field(description="go on from a `next_cursor` (a page's number)")
    ] = None


class SearchParams(Paged):
    """What to look for, and where."""

    query: Annotated[str, BeforeValidator(words), Field(description="words to look for")]
    region: Annotated[str, BeforeValidator(_region), Field(description="which shop: us, gb, de, …")] = contract.REGION
    cursor: Annotated[
        str | None, BeforeValidator(_search_cursor), Field(description="go on from a `next_cursor` (JSON)")
    ] = None
    url: str | None = Field(default=None, description="a search's address, in place of query and region")

    _address = model_validator(mode="before")(_from_address)
