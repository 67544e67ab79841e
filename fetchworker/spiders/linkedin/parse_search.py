"""A search's cards, in its page or in the fragments that continue it (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError
from fetchworker.items import CompanyRef, Job, SearchPage
from fetchworker.reading.dates import day
from fetchworker.spiders.linkedin import contract, pay
from fetchworker.spiders.linkedin.nodes import (
    Element,
    Nodes,
    attribute,
    code,
    is_whole_page,
    masked,
    parsed,
    shown,
    source_of,
    unmasked,
)
from fetchworker.spiders.reading import html
from fetchworker.spiders.reading.counts import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

#: ``partial`` of what guests see asterisks in place of
MASKED = "masked"
_URN = re.compile(r"urn:li:jobPosting:(?P<id>\d{1,20})\Z")
#: what a fragment beyond the last card consists of
_NOTHING = re.compile(r"(?:\s|<!DOCTYPE[^<>]{0,100}>|<!--(?:(?!-->).){0,500}-->)*\Z", re.IGNORECASE | re.DOTALL)
_FILTERS = ".//form[@id='jserp-filters']//input[@name and @value and (@type='hidden' or @checked)]"


@dataclass(frozen=True, slots=True)
class _Listed:
    """What a page or a fragment holds of a search's list.

    ``form`` is the search in the site's own parameters, ``dollar`` what a bare ``$`` means, as this answer
    or one before it says.
    """

    jobs: Sequence[Job] = ()
    received: int = 0
    total: int | None = None
    at_least: bool = False
    dollar: str | None = None
    form: Mapping[str, str] = field(default_factory=dict)


def jobs(page: Page, call: Call[Any]) -> Parsed:
    """One page of a search.

    Raises:
        ContractError: it is no list of jobs, or an empty fragment where the first cards are due, which says nothing
            about whether there are any.
    """
    source = source_of(page).strip()
    if not _NOTHING.match(source):
        return _answer(call, _read(source, pay.dollar(page, source) or call.state.get("dollar")))
    if not _start(call):
        raise ContractError(".base-search-card", "the first cards are missing; nothing says that there are none")
    return _answer(call, _Listed())


def _read(source: str, dollar: str | None) -> _Listed:
    nodes = Nodes(parsed(source))
    if nodes.first("no-results") is not None:
        return _Listed(total=0)
    results = nodes.first("jobs-search__results-list")
    if results is None and is_whole_page(source):
        raise ContractError("ul.jobs-search__results-list | .no-results")
    cards = (nodes if results is None else nodes.part(results)).all("base-search-card")
    found = [job for card in cards if (job := _job(nodes.part(card), dollar)) is not None]
    if not found:
        raise ContractError(".base-search-card[data-entity-urn]")
    if results is None and html.left_open(source, "li"):
        raise ContractError("</li>", "the fragment is cut off in its last card")
    if found[-1].title is None and found[-1].partial is None:
        raise ContractError(".base-search-card__title", "the page is cut off in its last card")
    total, at_least = _total(source, nodes)
    return _Listed(found, len(cards), total, at_least, dollar, _form(nodes))


def _job(nodes: Nodes, dollar: str | None) -> Job | None:
    card = nodes.root
    href = attribute(nodes.first("base-card__full-link"), "href") or attribute(card, "href")
    url = contract.plain(href)
    match = _URN.match(card.get("data-entity-urn") or "")
    number = match["id"] if match else contract.job_of(url)
    if number is None:
        return None
    title, company = nodes.written("base-search-card__title"), nodes.written("base-search-card__subtitle")
    salary = nodes.text("job-search-card__salary-info")
    return Job.draft(
        id=number,
        title=unmasked(title),
        company=_company(unmasked(company), nodes.first("base-search-card__subtitle")),
        location=nodes.text("job-search-card__location"),
        posted_at=_day(nodes),
        url=url or contract.job_url(number),
        partial=MASKED if masked(title or "") or masked(company or "") else None,
        extra=_extra(nodes, salary),
        **pay.offered(salary, dollar),
    )


def _company(name: str | None, element: Element | None) -> CompanyRef | None:
    links = [] if element is None else element.xpath(".//a/@href")
    url = next((contract.plain(str(href)) for href in links), None)
    return CompanyRef.draft(name=name, url=url) if name or url else None


def _time(nodes: Nodes) -> Element | None:
    return nodes.first("job-search-card__listdate", "job-search-card__listdate--new")


def _day(nodes: Nodes) -> str | None:
    return day(attribute(_time(nodes), "datetime"))


def _extra(nodes: Nodes, salary: str | None) -> dict[str, Any]:
    pictures = (contract.picture(attribute(image, "data-delayed-url", "src")) for image in nodes.root.iter("img"))
    told = {
        "logo_url": next((url for url in pictures if url), None),
        "age": shown(_time(nodes)),
        "new": nodes.first("job-search-card__listdate--new") is not None or None,
        "benefits": [text for row in nodes.all("job-posting-benefits__text", "result-benefits__text")
                     if (text := shown(row))],
        "salary": salary,
    }  # fmt: skip
    return {name: value for name, value in told.items() if value not in (None, [])}


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _answer(call: Call[Any], listed: _Listed) -> Parsed:
    """The jobs that the page before did not give, the page item, and where to go on."""
    before = {str(number) for number in call.state.get("before", ())}
    fresh = list(_new(listed.jobs, before))
    start = _start(call)
    query: Mapping[str, str] = call.state.get("query") or listed.form
    # behind the cards received, however many these are (10 to 60); a page of old ones alone is the last
    further = start + listed.received if fresh and (query or _asked(call)) else None
    known = call.state.get("total") if listed.total is None else listed.total
    capped = further >= contract.LAST_START if further is not None else start < (known or 0)
    following = None if further is None or capped else str(further)
    summary = SearchPage.draft(
        query=getattr(call.params, "query", None) or query.get("keywords"),
        total_results=listed.total,
        page=call.page,
        next_cursor=following,
        results_count=len(fresh),
        url=_address(call, query),
        extra={"total_is_at_least": True} if listed.at_least else {},
    )
    state = {"before": [job.id for job in fresh], "query": dict(query), "total": known, "dollar": listed.dollar}
    return Parsed([*fresh, summary], following, state, capped=capped)


def _start(call: Call[Any]) -> int:
    return int(call.cursor) if call.cursor and call.cursor.isascii() and call.cursor.isdigit() else 0


def _new(found: Iterable[Job], before: set[str]) -> Iterator[Job]:
    known = set(before)
    for job in found:
        if job.id and job.id not in known:
            known.add(job.id)
            yield job


def _asked(call: Call[Any]) -> bool:
    ask = getattr(call.params, "site_query", None)
    return bool(ask and ask())


def _address(call: Call[Any], query: Mapping[str, str]) -> str | None:
    """The search's page; None where nobody asked for it and it does not say."""
    if _asked(call) or getattr(call.params, "url", None):
        return str(call.params.address())
    return contract.search_url(query) if query else None


def _form(nodes: Nodes) -> dict[str, str]:
    """The search as the page's form of filters holds it."""
    fields = nodes.root.xpath(_FILTERS)
    told = ((str(entry.get("name")), str(entry.get("value"))) for entry in fields)
    return {name: value for name, value in told if value and contract.SEARCH_NAMES.match(name)}


def _total(source: str, nodes: Nodes) -> tuple[int | None, bool]:
    """How many jobs there are: the site's estimate, or the rounded number above the list (``3,000+``)."""
    exact = count(code(source, "totalResults"))
    told = nodes.text("results-context-header__job-count") or ""
    rounded = count(told.rstrip("+ "))
    return (rounded, "+" in told) if exact is None and rounded is not None else (exact, False)
