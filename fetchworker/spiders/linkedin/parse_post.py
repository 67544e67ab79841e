"""Posts: a post's own page, and the cards of posts on other pages (pure)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError
from fetchworker.items import Author, Post, PostRef
from fetchworker.reading.dates import utc
from fetchworker.spiders.linkedin import contract, parse_comments, post_media
from fetchworker.spiders.linkedin.nodes import (
    Element,
    Nodes,
    attribute,
    canonical,
    json_ld,
    page_meta,
    parsed,
    prose,
    shown,
    source_of,
    unmasked,
)
from fetchworker.spiders.linkedin.told import author_of, interactions, time_of
from fetchworker.spiders.paging import SHELL
from fetchworker.spiders.reading.counts import count, first_count
from fetchworker.spiders.reading.values import count as number
from fetchworker.spiders.reading.values import text

if TYPE_CHECKING:
    from collections.abc import Mapping

_TYPES = ("SocialMediaPosting", "DiscussionForumPosting")
_URNS = ("data-activity-urn", "data-featured-activity-urn", "data-attributed-urn")
_HASHTAG = re.compile(r"(?<![\w&#/])#([^\W_][\w]{0,99})")
_PAGE_KEY = "d_public_post"
#: a post inside a post
RESHARED = "feed-reshare-content"


def post(page: Page, call: Call[Any]) -> Parsed:
    """The post and the comments that guests see; other posts on the page are not it.

    Raises:
        ContractError: the page is no post's, or another one's.
    """
    source = source_of(page)
    nodes = Nodes(parsed(source))
    address = canonical(source, page)
    wanted = contract.activity_of(getattr(call.params, "post", None)) or contract.activity_of(address)
    card = _card(nodes, wanted)
    ld = _node(source, wanted)
    if card is None and not ld:
        shell = _shell(source, address, wanted)
        if shell is not None:
            return Parsed([shell])
        raise ContractError("article[data-activity-urn] | SocialMediaPosting", f"the page has no post {wanted or ''}")
    item = _merged(card, ld, address, wanted)
    parts = nodes.root if card is None else card
    comments = parse_comments.comments(Nodes(parts), ld, item.id)
    return Parsed([item, *comments])


def _card(nodes: Nodes, wanted: str | None) -> Element | None:
    """The card with the id that was asked for; where no card tells its id (2021), the first."""
    cards = nodes.all("main-feed-activity-card", "share-update-card")
    named = [(card, _ids(card)) for card in cards]
    if wanted is None or not any(ids for _, ids in named):
        return next(iter(cards), None)
    return next((card for card, ids in named if wanted in ids), None)


def _ids(card: Element) -> list[str]:
    """The ids of a card's post, its activity's first."""
    found = (contract.activity_of(card.get(name)) for name in _URNS)
    return list(dict.fromkeys(told for told in found if told))


def _node(source: str, wanted: str | None) -> Mapping[str, Any]:
    """The post's own data; a film's are only its own when they name the post."""
    for types, accepted in ((_TYPES, {wanted, None}), (("VideoObject",), {wanted} - {None})):
        for node in json_ld(source, *types):
            told = contract.activity_of(text(node.get("@id"))) or contract.activity_of(text(node.get("url")))
            if told in accepted or (wanted is None and types is _TYPES):
                return node
    return {}


def _shell(source: str, address: str | None, wanted: str | None) -> Post | None:
    """What the meta tags of a post's page tell of it, when nothing else is readable."""
    meta = page_meta(source)
    told = text(meta.get("og:description"))
    if meta.get("pagekey") != _PAGE_KEY or told is None or wanted is None or contract.activity_of(address) != wanted:
        return None
    return Post.draft(
        id=wanted, text=told, created_at=time_of(wanted), hashtags=hashtags(told), url=address, partial=SHELL
    )


def _merged(card: Element | None, ld: Mapping[str, Any], address: str | None, wanted: str | None) -> Post:
    shown_post = from_card(Nodes(card, without=RESHARED)) if card is not None else None
    told_post = from_ld(ld)
    values: dict[str, Any] = dict(told_post.__dict__) if ld else {}
    for name, value in (shown_post.__dict__ if shown_post is not None else {}).items():
        if value not in (None, [], {}) and (values.get(name) in (None, [], {}) or name in ("id", "type", "media")):
            values[name] = value
    values["id"] = values.get("id") or wanted
    values["url"] = address or values.get("url")
    values["created_at"] = values.get("created_at") or time_of(values["id"])
    values["extra"] = {**(shown_post.extra if shown_post else {}), **told_post.extra}
    return Post.draft(**values)


# ── cards ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def from_card(nodes: Nodes, *, owner: str | None = None) -> Post | None:
    """The post that a card shows; None when it tells neither its id nor a text.

    Args:
        nodes: the card, without what it reshares.
        owner: whose page it stands on; a post of somebody else was shared by them.
    """
    card = nodes.root
    ids = _ids(card)
    told = prose(_commentary(nodes))
    author = _author(nodes)
    if not ids and told is None and author is None:
        return None
    media = post_media.media(nodes)
    by_other = owner is not None and author is not None and author.username not in (owner, None)
    extra = {"age": shown(next(nodes.root.iter("time"), None)), "reshared_by": owner if by_other else None}
    inner = _inner(card)
    return Post.draft(
        id=ids[0] if ids else None,
        alt_ids=ids[1:],
        type=post_media.kind(nodes, media),
        text=told,
        created_at=time_of(ids[0] if ids else None),
        likes=likes_of(nodes),
        comments_count=comments_of(nodes),
        media=media,
        author=author,
        hashtags=hashtags(told),
        mentions=_mentions(nodes),
        quoted=inner if told else None,
        reposted=None if told else inner,
        links=post_media.links(nodes),
        url=_address(card, ids),
        extra={name: value for name, value in extra.items() if value},
    )


def hashtags(told: str | None) -> list[str]:
    """The hashtags of a text, each once."""
    return list(dict.fromkeys(_HASHTAG.findall(told or "")))


def _commentary(nodes: Nodes) -> Element | None:
    found = nodes.test("main-feed-activity-card__commentary")
    return found if found is not None else nodes.first("share-update-card__update-text")


def _author(nodes: Nodes) -> Author | None:
    lockup = nodes.test("main-feed-activity-card__entity-lockup")
    anchors = [] if lockup is None else [anchor for anchor in lockup.iter("a") if shown(anchor)]
    anchors += nodes.all("share-update-card__actor-text-link")
    anchor = next(iter(anchors), None)
    name = unmasked(shown(anchor)) or nodes.text("share-update-card__actor-text")
    url = contract.absolute(attribute(anchor, "href"))
    return Author.draft(username=contract.slug_of(url), name=name) if name else None


def _inner(card: Element) -> PostRef | None:
    """The post inside this one."""
    part = next(iter(card.xpath(f".//*[contains(@class, '{RESHARED}') or @data-test-id='{RESHARED}']")), None)
    if part is None:
        return None
    nodes = Nodes(part)
    number = next((ids[0] for element in part.iter("*") if (ids := _ids(element))), None)
    url = contract.post_url(f"urn:li:activity:{number}") if number else None
    found = PostRef.draft(id=number, url=url, text=prose(_commentary(nodes)), author=_author(nodes))
    return found if found.id or found.text else None


def likes_of(nodes: Nodes) -> int | None:
    """The reactions below a post or an article."""
    told = attribute(nodes.test("social-actions__reactions"), "data-num-reactions")
    return count(told) if told else first_count(
        nodes.text("social-counts-reactions__social-counts-numRections", "social-counts-reactions__count")
    )  # fmt: skip


def comments_of(nodes: Nodes) -> int | None:
    """The number of comments below a post or an article."""
    told = attribute(nodes.test("social-actions__comments"), "data-num-comments")
    if told:
        return count(told)
    rows = (shown(row) for row in nodes.all("social-action-counts__social-counts-item"))
    return next((first_count(row) for row in rows if row and not row.replace(",", "").isdigit()), None)


def _mentions(nodes: Nodes) -> list[str]:
    part = _commentary(nodes)
    links = [] if part is None else part.xpath(".//a/@href")
    slugs = (contract.slug_of(contract.absolute(str(href))) for href in links)
    return list(dict.fromkeys(slug for slug in slugs if slug))


def _address(card: Element, ids: list[str]) -> str | None:
    """The post's address: its card's link, which lies over the whole card, else the one by its id."""
    over = card.getparent().xpath("./a/@href") if card.getparent() is not None else []
    links = (contract.plain(str(href)) for href in over)
    found = next((url for url in links if url and contract.activity_of(url) in ids), None)
    return found or (contract.post_url(f"urn:li:activity:{ids[0]}") if ids else None)


# ── JSON-LD ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def from_ld(node: Mapping[str, Any]) -> Post:
    """The post or article that a JSON-LD object describes."""
    told = text(node.get("articleBody")) or text(node.get("text")) or text(node.get("description"))
    author = node.get("author") or node.get("creator")
    url = contract.plain(text(node.get("url")) or text(node.get("@id")) or text(node.get("mainEntityOfPage")))
    activity = contract.activity_of(url)
    extra = {"headline": text(node.get("headline")) or text(node.get("name")),
             "author_followers": interactions(author, "FollowAction")}  # fmt: skip
    return Post.draft(
        id=activity,
        text=told,
        created_at=utc(node.get("datePublished")) or utc(node.get("uploadDate")) or time_of(activity),
        likes=interactions(node, "LikeAction"),
        comments_count=_commented(node),
        author=author_of(author),
        hashtags=hashtags(told),
        url=url,
        extra={name: value for name, value in extra.items() if value is not None},
    )


def _commented(node: Mapping[str, Any]) -> int | None:
    told = number(node.get("commentCount"))
    return interactions(node, "CommentAction") if told is None else told
