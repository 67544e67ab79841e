"""A company's, school's or brand's page (pure)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError
from fetchworker.items import Company
from fetchworker.spiders.linkedin import contract, parse_post, people, words
from fetchworker.spiders.linkedin.nodes import (
    Element,
    Nodes,
    attribute,
    canonical,
    json_ld,
    parsed,
    prose,
    shown,
    source_of,
)
from fetchworker.spiders.reading import html
from fetchworker.spiders.reading.values import count, dig, link, mapping, text

if TYPE_CHECKING:
    from collections.abc import Mapping

_TYPES = ("Organization", "Corporation", "EducationalOrganization", "CollegeOrUniversity", "LocalBusiness")
#: the link "see all employees"; URNs of organizations are those of any post's author
_ID = re.compile(r"facetCurrentCompany(?:=|%3D)(?:%255B|%5B|\[)?(?:%2522|%22)?(?P<id>\d{1,15})")
_LABELLED = {"industry": "industry", "size": "size", "headquarters": "headquarters", "founded": "foundedOn",
             "company_type": "organizationType"}  # fmt: skip
#: the address's parts by our names
_ADDRESS = {
    "street": "streetAddress", "city": "addressLocality", "region": "addressRegion", "postal_code": "postalCode",
    "country": "addressCountry",
}  # fmt: skip


def company(page: Page, call: Call[Any]) -> Parsed:  # noqa: ARG001  # the site itself may answer with a new name
    """The organization, and its posts that the page shows.

    Raises:
        ContractError: the page is no organization's.
    """
    source = source_of(page)
    nodes = Nodes(parsed(source))
    url = canonical(source, page)
    slug = contract.slug_of(url)
    ld = next(json_ld(source, *_TYPES), {})
    name = text(ld.get("name")) or nodes.text("top-card-layout__title")
    if name is None or slug is None or "/in/" in (url or "") or not (ld or nodes.test("about-us") is not None):
        raise ContractError("Organization.name | [data-test-id=about-us]")
    item = Company.draft(
        id=_id(source),
        slug=slug,
        name=name,
        tagline=text(ld.get("slogan")) or _tagline(nodes),
        description=text(ld.get("description")) or prose(nodes.test("about-us__description")),
        specialties=_specialties(_value(nodes, "specialties"), html_language(nodes.root)),
        website=_website(nodes, ld),
        followers=people.counted(_counts(nodes, source), words.FOLLOWERS),
        employees_count=count(dig(ld, "numberOfEmployees", "value")),
        logo_url=link(dig(ld, "logo", "contentUrl")) or _logo(nodes),
        locations=_locations(nodes),
        url=url,
        extra=_extra(ld),
        **_facts(nodes),
    )
    return Parsed([item, *_posts(nodes, slug)])


def html_language(root: Element) -> str:
    """The two letters of the page's language."""
    html_tag = root if root.tag == "html" else next(root.iter("html"), None)
    return (attribute(html_tag, "lang") or "")[:2].lower()


def _id(source: str) -> str | None:
    match = _ID.search(source)
    return match["id"] if match else None


def _facts(nodes: Nodes) -> dict[str, Any]:
    found = {name: _value(nodes, label) for name, label in _LABELLED.items()}
    return {**found, "industry": found["industry"] or nodes.text("top-card-layout__headline")}


def _value(nodes: Nodes, label: str) -> str | None:
    row = nodes.test(f"about-us__{label}")
    return shown(next(row.iter("dd"), None)) if row is not None else None


def _tagline(nodes: Nodes) -> str | None:
    return shown(next((line for line in nodes.all("top-card-layout__second-subline")), None))


def _website(nodes: Nodes, ld: Mapping[str, Any]) -> str | None:
    told = ld.get("sameAs")
    row = nodes.test("about-us__website")
    anchor = next(row.iter("a"), None) if row is not None else None
    found = link(told[0] if isinstance(told, list) and told else told)
    return found or link(shown(anchor)) or contract.outside(attribute(anchor, "href"))


def _counts(nodes: Nodes, source: str) -> list[str]:
    """Texts that may tell the followers, the surest first."""
    meta = html.meta(source)
    return [*people.lines(nodes.first("top-card-layout__first-subline")), *people.sentences(meta.get("description"))]


def _specialties(told: str | None, language: str) -> list[str]:
    """The single ones of a list such as ``Kilns, Glazes, and Clay``."""
    parts = [part.strip() for part in (told or "").split(",") if part.strip()]
    if len(parts) < 2:  # noqa: PLR2004  # a single one, or two that cannot be told from one with an "and" in it
        return parts
    word = words.CONJUNCTIONS.get(language)
    last = re.sub(r"^(?:and|&)\s+", "", parts[-1])
    ends = last.rsplit(f" {word} ", 1) if word else [last]
    return [*parts[:-1], *(end.strip() for end in ends if end.strip())]


def _logo(nodes: Nodes) -> str | None:
    return contract.picture(attribute(nodes.first("top-card-layout__entity-image"), "data-delayed-url", "src"))


def _locations(nodes: Nodes) -> list[str]:
    """The addresses of the section "Locations"; it is left out for visitors who saw another company's page before."""
    section = nodes.first("locations")
    found = [] if section is None else section.xpath(".//*[starts-with(@id, 'address-')]")
    told = (", ".join(line for row in place.iter("p") if (line := shown(row))) for place in found)
    return [place for place in told if place]


def _extra(ld: Mapping[str, Any]) -> dict[str, Any]:
    address = mapping(ld.get("address"))
    told = {name: text(address.get(key)) for name, key in _ADDRESS.items()}
    found = {name: value for name, value in told.items() if value}
    return {"address": found} if found else {}


def _posts(nodes: Nodes, slug: str) -> list[Any]:
    section = nodes.test("updates")
    if section is None:
        return []
    updates = Nodes(section, without=parse_post.RESHARED)
    cards = updates.all("main-feed-activity-card")
    return [item for card in cards if (item := parse_post.from_card(updates.part(card), owner=slug)) is not None]
