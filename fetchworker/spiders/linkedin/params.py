"""Arguments of the LinkedIn operations."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self
from urllib.parse import unquote

from pydantic import BeforeValidator, Field, model_validator

from fetchworker.contracts import Paged, Params
from fetchworker.spiders.arguments import as_text, filters, matching, words
from fetchworker.spiders.linkedin import contract
from fetchworker.spiders.reading import addresses

_NUMBERS = re.compile(r"\d{1,15}(?:,\d{1,15}){0,49}\Z")
_SECONDS = re.compile(r"\d{1,9}\Z")
_START = re.compile(r"\d{1,4}\Z")
_JOB = re.compile(r"\d{6,12}\Z")
_URN = re.compile(r"urn:li:(?:activity|share|ugcPost):\d{10,20}\Z")
_SLUG = re.compile(r"[^\s/?#]{1,300}\Z")
#: a search by its words: /jobs/potter-jobs-lisbon
_WORDS = re.compile(r"/jobs/[^/?#]{1,300}-jobs(?:-[^/?#]{1,200})?/?\Z")
_FILTERS = filters(contract.SEARCH_NAMES, '{"f_SB2": "3"}', "no parameter of a search (they are called f_…)")


def _chosen(known: dict[str, str]) -> Any:
    """One or several of the known words, with commas between them."""

    def check(value: Any) -> Any:
        found = value.split(",") if isinstance(value, str) else value
        names = [str(name).strip().lower() for name in found] if isinstance(found, list | tuple) else []
        if not names or any(name not in known for name in names):
            raise ValueError(f"must be one or several (with commas between them) of {', '.join(known)}")
        return tuple(names)

    return BeforeValidator(check)


def _age(value: Any) -> Any:
    found = as_text(value)
    if isinstance(found, str) and found not in contract.AGES and not _SECONDS.match(found):
        raise ValueError(f"must be one of {', '.join(contract.AGES)}, or seconds")
    return found


def _search_address(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    path = addresses.split(value).path
    if not contract.ours(value) or not (path.rstrip("/") == "/jobs/search" or _WORDS.match(path)):
        raise ValueError(
            "must be the address of a search, such as https://www.linkedin.com/jobs/search?keywords=potter"
        )
    return value


def _slug(kind: str) -> Any:
    def check(value: Any) -> Any:
        found = unquote(value.strip().removeprefix("@")) if isinstance(value, str) else as_text(value)
        if isinstance(found, str) and not _SLUG.match(found):
            raise ValueError(f"must be the name behind {kind} of its address")
        if found in contract.NOBODY:
            raise ValueError(f"{found!r} is no name")
        return found

    return BeforeValidator(check)


def _post(value: Any) -> Any:
    found = unquote(value.strip()) if isinstance(value, str) else as_text(value)
    if isinstance(found, str) and found.isascii() and found.isdigit():
        found = f"urn:li:activity:{found}"
    if isinstance(found, str) and not (_URN.match(found) if found.startswith("urn:") else _SLUG.match(found)):
        raise ValueError("must be the name behind /posts/ of its address, its number, or urn:li:activity:<number>")
    return found


Words = Annotated[str | None, BeforeValidator(words)]
Numbers = Annotated[str | None, matching(_NUMBERS, "a number, or several with commas between them")]


class SearchParams(Paged):
    """What to look for, and where."""

    query: Words = Field(default=None, description="words to look for")
    location: Words = Field(default=None, description="a place in words, such as Lisbon, Portugal")
    geo_id: Annotated[
        str | None, matching(_NUMBERS, "a place's number"), Field(description="a place's number (`geoId`)")
    ] = None
    distance: Annotated[
        str | None, matching(_START, "a number of miles"), Field(description="miles around the place")
    ] = None
    posted_within: Annotated[
        str | None, BeforeValidator(_age), Field(description="day, week, month, or seconds: no older jobs")
    ] = None
    workplace: Annotated[
        tuple[str, ...], _chosen(contract.WORKPLACES), Field(description="on_site, remote, hybrid")
    ] = ()
    job_type: Annotated[
        tuple[str, ...], _chosen(contract.JOB_TYPES), Field(description="full_time, part_time, contract, …")
    ] = ()
    experience: Annotated[
        tuple[str, ...], _chosen(contract.EXPERIENCE), Field(description="internship, entry, associate, mid_senior, …")
    ] = ()
    company_ids: Numbers = Field(default=None, description="only jobs of these companies (their numbers)")
    easy_apply: bool = Field(default=False, description="true: only jobs that take applications on the site")
    sort: Literal[tuple(contract.SORTS)] | None = Field(default=None, description="recent or relevant (the site's own)")  # type: ignore[valid-type]
    filters: Annotated[
        dict[str, str], _FILTERS, Field(description="further parameters of the site, as a JSON object")
    ] = Field(default_factory=dict)
    url: Annotated[
        str | None, BeforeValidator(_search_address), Field(description="a search's address, taken as it is")
    ] = None
    cursor: Annotated[
        str | None, matching(_START, "how many jobs to leave out"), Field(description="go on from a `next_cursor`")
    ] = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if not (self.url or self.site_query()):
            raise ValueError("say what to look for: query=<words>, location=<place>, geo_id=<number> or url=<address>")
        if self.cursor and self.cursor != "0" and not self.site_query():
            raise ValueError(
                "an address of words alone has no further pages: give query and location in its place to go on"
            )
        return self

    def site_query(self) -> dict[str, str]:
        """The search in the site's own parameters; empty for an address that is made of words alone."""
        told = {
            "keywords": self.query, "location": self.location, "geoId": self.geo_id, "distance": self.distance,
            "f_TPR": self._oldest(), "f_WT": _joined(self.workplace, contract.WORKPLACES),
            "f_JT": _joined(self.job_type, contract.JOB_TYPES), "f_E": _joined(self.experience, contract.EXPERIENCE),
            "f_C": self.company_ids, "f_AL": "true" if self.easy_apply else None,
            "sortBy": contract.SORTS.get(self.sort or ""),
        }  # fmt: skip
        narrowed = {name: value for name, value in told.items() if value}
        return {**contract.search_query(self.url), **narrowed, **self.filters}

    def _oldest(self) -> str | None:
        return contract.AGES.get(self.posted_within, f"r{self.posted_within}") if self.posted_within else None

    def address(self) -> str:
        """The search's page."""
        query = self.site_query()
        return self.url if self.url and not query else contract.search_url(query)


def _joined(names: tuple[str, ...], known: dict[str, str]) -> str:
    return ",".join(known[name] for name in names)


class JobParams(Params):
    """Which job."""

    job: Annotated[str, matching(_JOB, "a job's number of 6 to 12 digits"), Field(description="the job's number")]


class CompanyParams(Params):
    """Which organization."""

    company: Annotated[str, _slug("/company/"), Field(description="the name, or number, behind /company/")]
    type: Literal[contract.ORGANIZATIONS] = Field(default="company", description="company, school or showcase")  # type: ignore[valid-type]


class PersonParams(Params):
    """Whose profile."""

    person: Annotated[str, _slug("/in/"), Field(description="the name behind /in/")]


class PostParams(Params):
    """Which post."""

    post: Annotated[str, BeforeValidator(_post), Field(description="the name behind /posts/, a number, or a URN")]


class ArticleParams(Params):
    """Which article."""

    article: Annotated[str, _slug("/pulse/"), Field(description="the name behind /pulse/")]
