"""Arguments of the Ad Library operations."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self
from urllib.parse import unquote_plus

from pydantic import BeforeValidator, Field, model_validator

from fetchworker.contracts import Paged, Params
from fetchworker.spiders.arguments import day, lower

_NUMBER = re.compile(r"[0-9]{1,20}\Z")
_COUNTRY = re.compile(r"[A-Z]{2}\Z")
#: the site's word for every country
ALL = "ALL"


def _query(value: Any) -> Any:
    query = value
    # words out of an address are encoded; decoded to the end, so that reading a stored call changes nothing
    while isinstance(query, str) and unquote_plus(query).strip() != query:
        query = unquote_plus(query).strip()
    if query == "":
        raise ValueError("must not be empty")
    return query


def _number(value: Any) -> Any:
    found = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else value
    if isinstance(found, str) and not _NUMBER.match(found):
        raise ValueError("must be a number, such as 1501234567890123")
    return found


def _country(value: Any) -> Any:
    code = value.strip().upper() if isinstance(value, str) else value
    if isinstance(code, str) and code != ALL and not _COUNTRY.match(code):
        raise ValueError("must be a country's two letters, such as BD, or ALL")
    return code


def _listed(value: Any) -> Any:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _exact(value: Any) -> Any:
    return {"keyword_exact_phrase": True, "keyword_unordered": False, "page": False}.get(value, value)


def _sort(value: Any) -> Any:
    return {"total_impressions": "impressions", "relevancy_monthly_grouped": "relevance"}.get(value, value)


Day = Annotated[str | None, BeforeValidator(day)]
Status = Annotated[Literal["active", "inactive", "all"], BeforeValidator(lower)]
AdType = Annotated[
    Literal[
        "all", "political_and_issue_ads", "housing_ads", "employment_ads", "financial_products_and_services_ads",
        "credit_ads",
    ],
    BeforeValidator(lower),
]  # fmt: skip
MediaType = Annotated[Literal["all", "image", "video", "meme", "image_and_meme", "none"], BeforeValidator(lower)]


class AdsParams(Paged):
    """Which ads."""

    query: Annotated[str | None, BeforeValidator(_query)] = Field(default=None, description="words to look for")
    page_id: Annotated[str | None, BeforeValidator(_number)] = Field(default=None, description="the advertiser's page")
    country: Annotated[str, BeforeValidator(_country)] = Field(
        default=ALL, description="two letters of the country that the ads are shown in, or ALL"
    )
    status: Status = Field(default="active", description="active, inactive or all")
    ad_type: AdType = Field(default="all", description="all, political_and_issue_ads, housing_ads, …")
    media_type: MediaType = Field(default="all", description="all, image, video, meme or none")
    exact: Annotated[bool, BeforeValidator(_exact)] = Field(default=False, description="the words as one phrase")
    sort: Annotated[Literal["impressions", "relevance"], BeforeValidator(_sort)] = Field(
        default="impressions", description="impressions or relevance"
    )
    since: Day = Field(default=None, description="shown on or after this day")
    until: Day = Field(default=None, description="shown on or before this day")

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.query is None and self.page_id is None:
            raise ValueError("say which ads: query=<words> or page_id=<number of the advertiser's page>")
        return self


class AdParams(Params):
    """Which ad."""

    id: Annotated[str, BeforeValidator(_number)] = Field(description="the ad's number in the library")
    country: Annotated[str, BeforeValidator(_country)] = Field(default=ALL, description="two letters, or ALL")


class ArchiveParams(Paged):
    """Which ads, for the official API."""

    query: Annotated[str | None, BeforeValidator(_query)] = Field(default=None, description="words to look for")
    page_ids: Annotated[list[Annotated[str, BeforeValidator(_number)]], BeforeValidator(_listed)] = Field(
        default=[], max_length=10, description="up to ten advertisers' pages, with commas"
    )
    countries: Annotated[list[Annotated[str, BeforeValidator(_country)]], BeforeValidator(_listed)] = Field(
        default=[ALL], min_length=1, description="two letters each, with commas, or ALL"
    )
    status: Status = Field(default="active", description="active, inactive or all")
    ad_type: AdType = Field(default="all", description="all, political_and_issue_ads, housing_ads, …")
    since: Day = Field(default=None, description="delivered on or after this day")
    until: Day = Field(default=None, description="delivered on or before this day")

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.query is None and not self.page_ids:
            raise ValueError("say which ads: query=<words> or page_ids=<numbers of pages>")
        return self
