"""A job: its own page, or the fragment that a search shows beside its list (pure)."""

from __future__ import annotations

import html as markup
import re
from typing import TYPE_CHECKING, Any

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError
from fetchworker.items import CompanyRef, Job
from fetchworker.reading.dates import day, utc
from fetchworker.spiders.linkedin import contract, pay, words
from fetchworker.spiders.linkedin.nodes import (
    Nodes,
    attribute,
    canonical,
    code,
    is_whole_page,
    json_ld,
    parsed,
    prose,
    shown,
    source_of,
    unmasked,
)
from fetchworker.spiders.reading import html
from fetchworker.spiders.reading.counts import first_count
from fetchworker.spiders.reading.values import dig, link, text

if TYPE_CHECKING:
    from collections.abc import Mapping

_URN = re.compile(r'data-semaphore-content-urn="urn:li:jobPosting:(?P<id>\d{1,20})"')
_EMPLOYER = re.compile(r"facetCurrentCompany(?:=|%3D)(?:%255B|%5B|\[)?(?P<id>\d{1,15})")
_CRITERIA = {
    "seniority": words.SENIORITY, "employment_type": words.EMPLOYMENT, "industries": words.INDUSTRIES,
    "functions": words.FUNCTION,
}  # fmt: skip
#: the site's own order, of a job that has all four
_ORDER = ("seniority", "employment_type", "functions", "industries")


def job(page: Page, call: Call[Any]) -> Parsed:
    """The job.

    Raises:
        ContractError: the page is no job's, or another one's.
    """
    source = source_of(page)
    if not is_whole_page(source) and html.left_open(source, "section"):
        raise ContractError("</section>", "the fragment is cut off")
    nodes = Nodes(parsed(source))
    ld = next(json_ld(source, "JobPosting"), {})
    title = nodes.text("topcard__title", "top-card-layout__title") or text(ld.get("title"))
    if title is None:
        raise ContractError(".topcard__title")
    number, url = _identity(source, nodes, page)
    asked = getattr(call.params, "job", None)
    if number is None or (asked and number != asked):
        raise ContractError("code#decoratedJobPostingId", f"the page is of another job: {number}" if number else "")
    return Parsed([
        Job.draft(
            id=number,
            title=title,
            company=_company(source, nodes, ld),
            location=nodes.text("topcard__flavor--bullet") or _place(ld),
            posted_at=utc(ld.get("datePosted")) or day(text(ld.get("datePosted"))),
            description=_description(nodes, ld),
            apply_url=_apply_url(source),
            closed=_closed(nodes),
            url=url,
            extra=_extra(nodes, ld),
            **_criteria(nodes, ld),
            **_applicants(nodes),
            **_pay(nodes, ld, pay.dollar(page, source)),
        )
    ])  # fmt: skip


def _identity(source: str, nodes: Nodes, page: Page) -> tuple[str | None, str | None]:
    """The job's number and address: the page of another job must not pass for it."""
    address = contract.plain(attribute(nodes.first("topcard__link"), "href")) or canonical(source, page)
    urn = _URN.search(source)
    found = (code(source, "decoratedJobPostingId"), urn["id"] if urn else None, contract.job_of(address))
    number = next((told for told in found if told and told.isascii() and told.isdigit()), None)
    known = contract.job_of(address) == number
    return number, address if known else contract.job_url(number) if number else None


def _company(source: str, nodes: Nodes, ld: Mapping[str, Any]) -> CompanyRef | None:
    anchor = nodes.first("topcard__org-name-link")
    told = dig(ld, "hiringOrganization")
    name = unmasked(shown(anchor)) or nodes.text("topcard__flavor") or text(dig(told, "name")) or text(told)
    employer = _EMPLOYER.search(source)
    url = contract.plain(attribute(anchor, "href")) or link(dig(told, "sameAs"))
    return CompanyRef.draft(id=employer["id"] if employer else None, name=name, url=url) if name else None


def _place(ld: Mapping[str, Any]) -> str | None:
    """The place as the page writes it: the first of JSON-LD's, its parts with commas between them."""
    told = ld.get("jobLocation")
    address = dig(told[0] if isinstance(told, list) and told else told, "address")
    parts = [text(dig(address, name)) for name in ("addressLocality", "addressRegion", "addressCountry")]
    return ", ".join(dict.fromkeys(part for part in parts if part)) or None


def _description(nodes: Nodes, ld: Mapping[str, Any]) -> str | None:
    found = prose(nodes.first("show-more-less-html__markup", "description__text"))
    told = text(ld.get("description"))
    if found is None and told:
        found = prose(parsed(f"<div>{markup.unescape(told)}</div>"))
    return unmasked(found)


def _apply_url(source: str) -> str | None:
    """The employer's own address, where guests are told it."""
    told = code(source, "applyUrl")
    return contract.outside(markup.unescape(told)) if told else None


def _closed(nodes: Nodes) -> bool | None:
    if nodes.first("closed-job", "closed-job__flavor--closed") is not None:
        return True
    return False if nodes.first("top-card-layout__cta--primary", "apply-button") is not None else None


def _criteria(nodes: Nodes, ld: Mapping[str, Any]) -> dict[str, Any]:
    """Seniority, type, industries and functions by their labels; by their order where no label is known."""
    rows = [_row(nodes.part(item)) for item in nodes.all("description__job-criteria-item")]
    told = [(label, value) for label, value in rows if label and value]
    found = {name: value for label, value in told if (name := _meaning(label))}
    if not found and len(told) == len(_ORDER):
        found = dict(zip(_ORDER, (value for _, value in told), strict=True))
    industry = found.get("industries") or text(ld.get("industry"))
    return {
        "seniority": found.get("seniority"),
        "employment_type": found.get("employment_type") or text(ld.get("employmentType")),
        "industries": [industry] if industry else [],
        "functions": [found["functions"]] if "functions" in found else [],
    }


def _row(nodes: Nodes) -> tuple[str | None, str | None]:
    label = nodes.text("description__job-criteria-subheader") or shown(next(nodes.root.iter("h3"), None))
    return label, nodes.text("description__job-criteria-text") or shown(next(nodes.root.iter("span"), None))


def _meaning(label: str) -> str | None:
    return next((name for name, pattern in _CRITERIA.items() if pattern.search(label)), None)


def _applicants(nodes: Nodes) -> dict[str, Any]:
    """The count; "be among the first 25" is none."""
    told = shown(nodes.first("num-applicants__caption"))
    early = nodes.first("num-applicants__icon--clock") is not None or words.AMONG_FIRST.search(told or "")
    return {"applicants": None if early else first_count(told)}


def _pay(nodes: Nodes, ld: Mapping[str, Any], dollar: str | None) -> dict[str, Any]:
    return pay.stated(ld.get("baseSalary")) or pay.offered(nodes.text("compensation__salary"), dollar)


def _extra(nodes: Nodes, ld: Mapping[str, Any]) -> dict[str, Any]:
    applicants, salary = shown(nodes.first("num-applicants__caption")), nodes.text("compensation__salary")
    told = {
        "age": nodes.text("posted-time-ago__text"),
        "applicants": applicants,
        "applicants_is_at_least": bool(applicants and words.MORE_THAN.search(applicants)) or None,
        "salary": salary,
        "salary_period": pay.unit(ld.get("baseSalary")) or pay.period(salary),
        "valid_through": utc(ld.get("validThrough")) or day(text(ld.get("validThrough"))),
        "logo_url": _logo(nodes),
    }
    return {name: value for name, value in told.items() if value is not None}


def _logo(nodes: Nodes) -> str | None:
    card = nodes.first("top-card-layout__card")
    images = () if card is None else card.iter("img")
    pictures = (contract.picture(attribute(image, "data-delayed-url", "src")) for image in images)
    return next((url for url in pictures if url), None)
