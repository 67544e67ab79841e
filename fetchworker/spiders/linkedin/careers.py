"""Positions and schools of a profile, in the page's list or in its JSON-LD (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.items import Position, School
from fetchworker.spiders.linkedin import contract
from fetchworker.spiders.linkedin.nodes import Element, Nodes, attribute, prose, shown, unmasked
from fetchworker.spiders.reading.values import dig, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TITLE = ("experience-item__title", "item-title")
_COMPANY = ("experience-item__subtitle", "item-subtitle")
_PLACE = ("experience-item__location", "location")
_TEXT = ("experience-item__description", "show-more-less-text__text--less", "description")
_SCHOOL = ("education__list-item", "education-item", "school")
_DEGREE = ("education__item--degree-info", "item-subtitle")
_SCHOOLS = frozenset({"EducationalOrganization", "CollegeOrUniversity", "School"})


def positions(nodes: Nodes, ld: Mapping[str, Any]) -> list[Position]:
    """What somebody does and did: the list of pages to 2023, the data of later ones."""
    listed = [_position(nodes.part(part)) for part in nodes.all("experience-item", "position")]
    found = [place for place in listed if place.company or place.title]
    return found or [place for node in _employers(ld) if (place := _employment(node)).company]


def education(nodes: Nodes, ld: Mapping[str, Any]) -> list[School]:
    """Where somebody learnt."""
    listed = [_school(nodes.part(part)) for part in nodes.all(*_SCHOOL)]
    found = [school for school in listed if school.name]
    told = [_studies(node) for node in _listed(ld.get("alumniOf")) if _learns(node)]
    return found or [school for school in told if school.name]


def _position(nodes: Nodes) -> Position:
    start, end = _dates(nodes)
    company = nodes.first(*_COMPANY)
    return Position.draft(
        title=nodes.text(*_TITLE),
        company=unmasked(shown(company)),
        company_url=_link(company) or _link(nodes.root),
        location=nodes.text(*_PLACE),
        start=start,
        end=end,
        description=unmasked(prose(nodes.first(*_TEXT))),
    )


def _school(nodes: Nodes) -> School:
    start, end = _dates(nodes)
    name = nodes.text("item-title") or unmasked(shown(next(nodes.root.iter("h3"), None)))
    return School.draft(name=name, url=_link(nodes.root), degree=nodes.text(*_DEGREE), start=start, end=end)


def _dates(nodes: Nodes) -> tuple[str | None, str | None]:
    """Beginning and end as the page writes them; what lasts has no end, or the page's word for it."""
    part = nodes.first("date-range")
    times = [] if part is None else [shown(time) for time in part.iter("time")]
    return (times[0] if times else None), (times[1] if len(times) > 1 else None)


def _link(part: Element | None) -> str | None:
    """The first link to an organization's page."""
    if part is None:
        return None
    links = (contract.plain(attribute(anchor, "href")) for anchor in part.iter("a"))
    return next((url for url in links if contract.slug_of(url)), None)


# ── JSON-LD ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _listed(told: Any) -> Iterator[Mapping[str, Any]]:
    for entry in sequence(told) if isinstance(told, list) else [told]:
        if isinstance(entry, dict):
            yield entry


def _employers(ld: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Present employers, then former ones, which stand among the schools."""
    yield from _listed(ld.get("worksFor"))
    yield from (node for node in _listed(ld.get("alumniOf")) if not _learns(node))


def _learns(node: Mapping[str, Any]) -> bool:
    return text(node.get("@type")) in _SCHOOLS


def _employment(node: Mapping[str, Any]) -> Position:
    role = node.get("member")
    return Position.draft(
        title=unmasked(text(dig(role, "roleName"))),
        company=unmasked(text(node.get("name"))),
        company_url=contract.plain(text(node.get("url"))),
        location=unmasked(text(node.get("location"))),
        start=_date(dig(role, "startDate")),
        end=_date(dig(role, "endDate")),
        description=unmasked(text(dig(role, "description"))),
    )


def _studies(node: Mapping[str, Any]) -> School:
    role = node.get("member")
    return School.draft(
        name=unmasked(text(node.get("name"))),
        url=contract.plain(text(node.get("url"))),
        degree=unmasked(text(dig(role, "roleName"))),
        start=_date(dig(role, "startDate")),
        end=_date(dig(role, "endDate")),
    )


def _date(told: Any) -> str | None:
    return str(told) if isinstance(told, int) and not isinstance(told, bool) else unmasked(text(told))
