"""A member's public profile, as guests see it (pure).

Titles and descriptions of positions come as asterisks, surnames may be cut: what is masked is left out.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError
from fetchworker.items import Person
from fetchworker.spiders.linkedin import careers, contract, parse_post, people, words
from fetchworker.spiders.linkedin.nodes import (
    Element,
    Nodes,
    attribute,
    canonical,
    json_ld,
    masked,
    parsed,
    prose,
    shown,
    source_of,
    unmasked,
)
from fetchworker.spiders.linkedin.told import interactions
from fetchworker.spiders.reading import html
from fetchworker.spiders.reading.values import dig, link, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fetchworker.items import Post

#: ``partial`` of a profile of which guests see a part
LIMITED = "logged_out_limit"
_POSTS = ("DiscussionForumPosting", "SocialMediaPosting", "Article")
_MOST_CONNECTIONS = 500


def person(page: Page, call: Call[Any]) -> Parsed:  # noqa: ARG001  # the site itself may answer with a new name
    """The member, and the posts and articles of theirs that the page's data tell of.

    Raises:
        ContractError: the page is nobody's profile.
    """
    source = source_of(page)
    nodes = Nodes(parsed(source))
    url = canonical(source, page)
    slug = contract.slug_of(url)
    ld = _node(source, slug)
    name = unmasked(text(ld.get("name"))) or _name(nodes)
    if name is None or slug is None or "/in/" not in (url or ""):
        raise ContractError("Person.name | h1.top-card-layout__title")
    positions, education = careers.positions(nodes, ld), careers.education(nodes, ld)
    item = Person.draft(
        slug=slug,
        name=name,
        headline=nodes.text("top-card-layout__headline", "headline", "topcard__headline"),
        location=text(dig(ld, "address", "addressLocality")) or _place(nodes),
        about=_about(nodes),
        company=_company(nodes, positions),
        education=education,
        positions=positions,
        avatar_url=link(dig(ld, "image", "contentUrl")) or _avatar(nodes),
        url=url,
        partial=LIMITED if _limited(nodes, ld) else None,
        extra=_extra(nodes, ld),
        **_network(nodes, source, ld),
    )
    return Parsed([item, *_posts(source, slug)])


def _node(source: str, slug: str | None) -> Mapping[str, Any]:
    """The person of the page; others are authors of posts on it."""
    for node in json_ld(source, "Person"):
        if contract.slug_of(text(node.get("url")) or text(node.get("sameAs"))) in (slug, None):
            return node
    return {}


def _name(nodes: Nodes) -> str | None:
    heading = nodes.first("top-card-layout__title", "topcard__name", "fn")
    return unmasked(shown(heading))


def _place(nodes: Nodes) -> str | None:
    row = nodes.first("profile-info-subheader")
    first = next(row.iter("span"), None) if row is not None else None
    return shown(first) or nodes.text("top-card__subline-item", "topcard__location", "locality")


def _about(nodes: Nodes) -> str | None:
    """The section "About"; a button to sign in stands at its cut end."""
    section = next((part for part in nodes.all("summary") if part.tag == "section"), None)
    if section is None:
        section = next(iter(nodes.root.xpath("//section[@id='summary']")), None)
    if section is None:
        return None
    inner = Nodes(section, without="sign-in-modal")
    content = inner.first("core-section-container__content", "show-more-less-text", "description")
    return unmasked(_cut(content)) if content is not None else None


def _cut(content: Element) -> str | None:
    content = deepcopy(content)
    for modal in content.xpath(".//*[contains(@class, 'sign-in-modal') or contains(@class, 'modal__overlay')]"):
        modal.clear(keep_tail=True)
    return prose(content)


def _company(nodes: Nodes, positions: list[Any]) -> str | None:
    """Where somebody works now: what the head of the page says, else the first position without an end."""
    current = nodes.section("currentPositionsDetails")
    told = nodes.part(current).text("top-card-link__description") if current is not None else None
    head = nodes.text("top-card__position-info", "org")
    return told or head or next((place.company for place in positions if place.company and not place.end), None)


def _avatar(nodes: Nodes) -> str | None:
    image = nodes.first("top-card__profile-image", "top-card-layout__entity-image", "photo")
    return contract.picture(attribute(image, "data-delayed-url", "src"))


def _network(nodes: Nodes, source: str, ld: Mapping[str, Any]) -> dict[str, int | None]:
    told = _counts(nodes, source)
    followers = interactions(ld, "FollowAction")
    return {
        "followers": people.counted(told, words.FOLLOWERS) if followers is None else followers,
        "connections": people.counted(told, words.CONNECTIONS),
    }


def _counts(nodes: Nodes, source: str) -> list[str]:
    rows = [*nodes.all("not-first-middot"), *nodes.all("profile-info-subheader"), *nodes.all("top-card__subline-item")]
    rows += nodes.all("top-card-layout__first-subline")
    meta = html.meta(source)
    return [line for row in rows for line in people.lines(row)] + people.sentences(meta.get("description"))


def _limited(nodes: Nodes, ld: Mapping[str, Any]) -> bool:
    titles = sequence(ld.get("jobTitle"))
    return nodes.first("blurred-content", "blurred-list", "blur") is not None or any(
        isinstance(title, str) and masked(title) for title in titles
    )


def _extra(nodes: Nodes, ld: Mapping[str, Any]) -> dict[str, Any]:
    languages = [text(dig(entry, "name")) or text(entry) for entry in sequence(ld.get("knowsLanguage"))]
    section = nodes.section("websites")
    links = [] if section is None else section.xpath(".//a/@href")
    told = {
        "languages": [name for name in languages if name],
        "websites": [url for href in links if (url := contract.outside(str(href)))],
        "country": text(dig(ld, "address", "addressCountry")),
    }
    return {name: value for name, value in told.items() if value} | _lower_bounds(nodes)


def _lower_bounds(nodes: Nodes) -> dict[str, Any]:
    """LinkedIn counts no more than 500 connections in public."""
    said = people.saying(_counts(nodes, ""), words.CONNECTIONS)
    number = people.counted([said or ""], words.CONNECTIONS)
    bound = (number is not None and number >= _MOST_CONNECTIONS) or bool(said and words.MORE_THAN.search(said))
    return {"connections_is_at_least": True} if bound else {}


def _posts(source: str, slug: str) -> Iterator[Post]:
    for node in json_ld(source, *_POSTS):
        item = parse_post.from_ld(node)
        if item.author is None or item.author.username != slug:
            continue  # what somebody liked is not theirs
        if item.url and "/pulse/" in item.url:
            item.__dict__.update(type="article", id=contract.article_of(item.url), title=text(node.get("headline")))
            item.extra.pop("headline", None)
        yield item
