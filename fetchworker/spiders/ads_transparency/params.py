"""Arguments of the operations on the Ads Transparency Center."""

from __future__ import annotations

import re
from datetime import date  # noqa: TC003  # pydantic reads it
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from fetchworker.contracts import Paged, Params
from fetchworker.spiders.ads_transparency import contract, geo
from fetchworker.spiders.arguments import lower, words

_DOMAIN = re.compile(r"(?=.{4,253}\Z)(?:[\w-]{1,63}\.){1,10}[^\W\d_]{2,63}\Z")
_ANYWHERE = "anywhere"


def _id(pattern: str, told: str) -> Any:
    expected = re.compile(rf"{pattern}\Z")

    def check(value: Any) -> Any:
        found = value.strip() if isinstance(value, str) else value
        if isinstance(found, str) and not expected.match(found):
            raise ValueError(f"must be {told}")
        return found

    return BeforeValidator(check)


def _domain(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    name = re.sub(r"^https?://", "", value.strip().lower()).partition("/")[0].removeprefix("www.")
    if not _DOMAIN.match(name):
        raise ValueError("must be a site's name, such as example.com")
    return name


def _region(value: Any) -> Any:
    if not isinstance(value, str) or value.strip().lower() == _ANYWHERE:
        return None
    code = value.strip().upper()
    if geo.criterion(code) is None:
        raise ValueError("must be a country's two letters, such as US, or anywhere")
    return code


Advertiser = Annotated[str, _id(contract.ADVERTISER, "AR and a number, such as AR10000000000000000001")]
Region = Annotated[
    str | None,
    BeforeValidator(_region),
    Field(default=None, description="a country's two letters (default: anywhere)"),
]


class SuggestionsParams(Params):
    """Whom to look for."""

    query: Annotated[str, BeforeValidator(words), Field(description="a name, or a part of one")]
    region: Region = None
    size: int = Field(default=10, ge=1, le=30, description="how many advertisers, and how many sites, at most")


class CreativesParams(Paged):
    """Whose advertisements, and which of them."""

    advertiser: Annotated[Advertiser | None, Field(default=None, description="the advertiser's id (AR…)")] = None
    domain: Annotated[
        str | None, BeforeValidator(_domain), Field(default=None, description="the site that they lead to")
    ] = None
    region: Region = None
    format: Annotated[Literal["text", "image", "video"] | None, BeforeValidator(lower)] = Field(
        default=None, description="the kind of advertisement"
    )
    topic: Annotated[Literal["all", "political"], BeforeValidator(lower)] = Field(
        default="all", description="political: those that the site calls so"
    )
    start: date | None = Field(default=None, description="shown on or after this day (YYYY-MM-DD)")
    end: date | None = Field(default=None, description="shown on or before this day")
    platform: int | None = Field(default=None, ge=1, le=9, description="the site's number of a surface, see the docs")
    page_size: int = Field(default=contract.PAGE_SIZE, ge=1, le=contract.LARGEST_PAGE, description="ads a page")

    @model_validator(mode="after")
    def _named(self) -> Self:
        if not (self.advertiser or self.domain):
            raise ValueError("say whose: advertiser=<AR…> or domain=<site>")
        return self

    def filters(self) -> dict[str, Any]:
        """The arguments as keys of the request's filter."""
        told = {
            "4": contract.FORMATS.get(self.format or ""),
            "6": int(f"{self.start:%Y%m%d}") if self.start else None,
            "7": int(f"{self.end:%Y%m%d}") if self.end else None,
            "14": [self.platform] if self.platform else None,
        }
        return {key: value for key, value in told.items() if value is not None}


class CreativeParams(Params):
    """Which advertisement."""

    advertiser: Annotated[Advertiser, Field(description="the advertiser's id (AR…)")]
    creative: Annotated[
        str,
        _id(contract.CREATIVE, "CR and a number, such as CR20000000000000000001"),
        Field(description="the advertisement's id (CR…)"),
    ]
    region: Region = None
