"""Arguments of the operations on TikTok's ads and trends."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal, Self
from urllib.parse import parse_qsl, urlsplit

from pydantic import BeforeValidator, Field, model_validator

from fetchworker.contracts import Paged, Params, agree
from fetchworker.spiders.arguments import as_text, day, matching, words
from fetchworker.spiders.tiktok_ads import contract

_AD = re.compile(r"\d{10,25}\Z")
_ADVERTISER = re.compile(r"\d{5,25}\Z")
_COUNTRY = re.compile(r"[A-Z]{2}\Z")
_LABEL = re.compile(r"(?:label_)?\d{4,15}\Z")
_WORD = re.compile(r"[A-Za-z0-9_,.-]{1,100}\Z")
_PAGE = re.compile(r"[1-9]\d{0,4}\Z")
_SEARCH_ID = re.compile(r"[A-Za-z0-9+/=_-]{1,2000}\Z")
#: the parameters of a library search's address, and our names for them
_ADDRESS = {"region": "region", "adv_name": "query", "query": "query", "adv_biz_ids": "advertiser"}


def _regions(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    words = [word.strip() for word in value.split(",") if word.strip()]
    if [word.lower() for word in words] == [contract.ALL_REGIONS]:
        return contract.ALL_REGIONS
    wrong = [word for word in words if word.upper() not in contract.REGIONS]
    if wrong or not words:
        raise ValueError(f"must be {contract.ALL_REGIONS} or some of {', '.join(contract.REGIONS)}")
    return ",".join(sorted({word.upper() for word in words}))


def _country(value: Any) -> Any:
    found = value.strip().upper() if isinstance(value, str) else value
    if isinstance(found, str) and not _COUNTRY.match(found):
        raise ValueError("must be a country's code of two letters, such as US")
    return found


def _label(value: Any) -> Any:
    found = as_text(value)
    if isinstance(found, str) and not _LABEL.match(found):
        raise ValueError("must be the number of an industry, such as 22000000000")
    return found.removeprefix("label_") if isinstance(found, str) else found


def _period(days: tuple[int, ...]) -> BeforeValidator:
    def check(value: Any) -> Any:
        found = int(value) if isinstance(value, str) and value.strip().isdecimal() else value
        if isinstance(found, int) and found not in days:
            raise ValueError(f"must be one of {', '.join(map(str, days))}")
        return found

    return BeforeValidator(check)


Ad = Annotated[str, matching(_AD, "an ad's number"), Field(description="the ad's number")]
OtherAd = Annotated[str | None, matching(_AD, "an ad's number"), Field(default=None)]
Country = Annotated[
    str | None, BeforeValidator(_country), Field(default=None, description="a country's code (default: all)")
]
Industry = Annotated[
    str | None, BeforeValidator(_label), Field(default=None, description="the number of an industry (`label_…`)")
]
Day = Annotated[str | None, BeforeValidator(day), Field(default=None)]
Query = Annotated[str | None, BeforeValidator(words), Field(default=None, description="words to look for")]
PageNumber = Annotated[str | None, matching(_PAGE, "a `next_cursor` (a page's number)"), Field(default=None)]
Word = Annotated[str | None, matching(_WORD, "a value as the site writes it"), Field(default=None)]


def _from_address(values: Any) -> Any:
    """An address of the library as the arguments it stands for."""
    if not isinstance(values, dict) or not isinstance(values.get("url"), str):
        return values
    rest = {name: value for name, value in values.items() if name != "url"}
    asked = dict(parse_qsl(urlsplit(values["url"]).query))
    found = {ours: asked[name] for name, ours in _ADDRESS.items() if asked.get(name)}
    found |= {ours: day for name, ours in (("start_time", "start"), ("end_time", "end")) if (day := _of(asked, name))}
    if asked.get("ad_id"):
        found = {"ad": asked["ad_id"]}
    if "advertiser" in found:
        found.pop("query", None)  # the name beside the id only labels the page
    agree(found, rest)
    return {**found, **rest}


def _of(asked: dict[str, str], name: str) -> str | None:
    """The day of a time in an address: POSIX seconds, or milliseconds."""
    told = asked.get(name, "")
    if not (told.isascii() and told.isdigit() and len(told) < 14):  # noqa: PLR2004  # more digits are no time
        return None
    number = int(told)
    return datetime.fromtimestamp(number / 1000 if number > 10**11 else number, UTC).date().isoformat()


class LibraryParams(Paged):
    """Which ads of the library: one, an advertiser's, those for words, or all."""

    query: Query = None
    advertiser: Annotated[
        str | None, matching(_ADVERTISER, "an advertiser's number"), Field(description="an advertiser's number")
    ] = None
    ad: OtherAd = None
    region: Annotated[
        str, BeforeValidator(_regions), Field(description="where they were shown: all, or codes such as DE,FR")
    ] = contract.ALL_REGIONS
    start: Day = None
    end: Day = None
    cursor: Annotated[
        str | None, matching(_SEARCH_ID, "a `next_cursor` of a search"), Field(description="go on from a next_cursor")
    ] = None
    url: str | None = Field(default=None, description="an address of the library, in place of the others")

    _address = model_validator(mode="before")(_from_address)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.query and self.advertiser:
            raise ValueError("either words (query) or an advertiser")
        return self

    def window(self, now: datetime) -> tuple[int, int]:
        """The first and the last second of the search; without days, the last weeks up to the end of today."""
        last = date.fromisoformat(self.end) if self.end else now.date()
        first = date.fromisoformat(self.start) if self.start else last - timedelta(days=contract.LIBRARY_DAYS)
        end = min(_midnight(last + timedelta(days=1)) - 1, int(now.timestamp()) // 3600 * 3600)
        return min(_midnight(first), end), end


def _midnight(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


class TopAdsParams(Paged):
    """Which of the top ads, and in which order."""

    query: Query = None
    country: Country = None
    period: Annotated[int, _period(contract.PERIODS), Field(description="days: 7, 30 or 180")] = 30
    sort: Literal[contract.ORDERS] = Field(default="for_you", description="order of the ads")  # type: ignore[valid-type]
    industry: Industry = None
    language: Word = Field(default=None, description="language of the ads, such as en")
    objective: Word = Field(default=None, description="number of a campaign's objective")
    format: Word = Field(default=None, description="number of a format: 1 (spark ads), 2 (others)")
    likes: Word = Field(default=None, description="step of likes: 1 (top fifth) to 5")
    related_to: OtherAd = Field(default=None, description="ads like this one, in place of a search")
    cursor: PageNumber = None

    def asked(self) -> dict[str, Any]:
        """The arguments as the site's own parameters."""
        return {
            "period": self.period, "order_by": self.sort, "country_code": self.country, "industry": self.industry,
            "ad_language": self.language, "objective": self.objective, "ad_format": self.format, "like": self.likes,
            "keyword": self.query,
        }  # fmt: skip


class TopAdParams(Params):
    """Which ad."""

    ad: Ad


class AnalyticsParams(Paged):
    """Which ad, and which of its curves."""

    ad: Ad
    metric: Literal[contract.METRICS] | None = Field(default=None, description="one curve (default: all)")  # type: ignore[valid-type]
    cursor: Annotated[Literal[contract.METRICS] | None, Field(description="go on from a `next_cursor`")] = None  # type: ignore[valid-type]


class TrendsParams(Paged):
    """What is popular, where and over which time."""

    type: Literal[tuple(contract.TRENDS)] = Field(default="hashtag", description="what to list")  # type: ignore[valid-type]
    country: Country = None
    period: Annotated[int, _period(contract.TREND_PERIODS), Field(description="days: 7, 30, 90, 120 or 180")] = 7
    industry: Industry = None
    query: Query = None
    sort: Word = Field(default=None, description="the site's word for another order")
    cursor: PageNumber = None

    def asked(self) -> dict[str, Any]:
        """The arguments as the site's own parameters."""
        found: dict[str, Any] = {"period": self.period, "country": self.country, "industry_id": self.industry}
        found["keyword"] = self.query
        if self.sort:
            order = next((name for name, _ in contract.TRENDS[self.type].asked if name != "ecom_type"), "sort_by")
            found[order] = self.sort
        return found
