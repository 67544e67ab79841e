"""Articles (``/pulse/``) of all generations (pure)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError
from fetchworker.items import Author, Media, Post
from fetchworker.reading.dates import day, utc
from fetchworker.spiders.linkedin import contract, parse_comments, parse_post
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
from fetchworker.spiders.linkedin.told import author_of, interactions
from fetchworker.spiders.reading.counts import first_count
from fetchworker.spiders.reading.values import dig, text

if TYPE_CHECKING:
    from collections.abc import Mapping

_TYPES = ("Article", "NewsArticle", "BlogPosting")
_TITLE = ("pulse-title", "article-content__title", "article-title", "article-main__title",
          "core-section-container__main-title")  # fmt: skip
_BODY = ("article-content__body", "article-body", "prose")
#: the body of 2023 on is made of blocks
_BLOCKS = re.compile(r"publishing-(?:text|quote|code|list)-block\Z")
_AUTHOR = ("main-author-card", "author-info", "article-author", "entity-name")
_DATED = ("base-main-card__metadata", "article-head__timestamp", "article-content__date")


def article(page: Page, call: Call[Any]) -> Parsed:  # noqa: ARG001  # names change with titles: the site leads on
    """The article, and the comments that guests see.

    Raises:
        ContractError: the page is no article.
    """
    source = source_of(page)
    nodes = Nodes(parsed(source))
    url = canonical(source, page)
    ld = _node(source, contract.article_of(url))
    title = nodes.text(*_TITLE) or text(ld.get("headline")) or shown(next(nodes.root.iter("h1"), None))
    body = _body(nodes)
    if (
        title is None
        or body is None
        or not ("/pulse/" in (url or "") or "pulse" in page_meta(source).get("pagekey", ""))
    ):
        raise ContractError(".article-content__body | [data-test-id=publishing-text-block]")
    slug = contract.article_of(url)
    item = Post.draft(
        id=slug,
        shortcode=slug,
        type="article",
        title=title,
        text=body,
        created_at=utc(ld.get("datePublished")) or _instant(nodes),
        media=_cover(nodes, ld, source),
        author=author_of(ld.get("author")) or _author(nodes),
        hashtags=parse_post.hashtags(body),
        url=url,
        extra=_extra(nodes, ld),
        **_numbers(nodes, ld),
    )
    return Parsed([item, *parse_comments.comments(nodes, ld, slug)])


def _node(source: str, slug: str | None) -> Mapping[str, Any]:
    """The article's own data, not those of others that the page recommends."""
    for node in json_ld(source, *_TYPES):
        if contract.article_of(text(node.get("url")) or text(node.get("@id"))) in (slug, None):
            return node
    return {}


def _body(nodes: Nodes) -> str | None:
    blocks = [part for part in nodes.root.xpath("//*[@data-test-id]") if _BLOCKS.match(part.get("data-test-id"))]
    told = "\n\n".join(found for part in blocks if (found := prose(part)))
    parts = [*nodes.all(*_BODY), *nodes.root.xpath("//*[@itemprop='articleBody']")]
    return told or next((found for part in parts if (found := prose(part))), None)


def _author(nodes: Nodes) -> Author | None:
    card = nodes.first(*_AUTHOR)
    if card is None:
        return None
    inner = Nodes(card)
    anchors = [anchor for anchor in card.iter("a") if contract.slug_of(contract.absolute(anchor.get("href")))]
    anchor = next((found for found in anchors if shown(found)), None)
    name = inner.text("base-main-card__title") or unmasked(shown(anchor))
    address = contract.absolute(attribute(anchor, "href"))
    return Author.draft(username=contract.slug_of(address), name=name) if name else None


def _times(nodes: Nodes) -> list[Element]:
    return list(nodes.root.iter("time"))


def _instant(nodes: Nodes) -> str | None:
    return next((found for time in _times(nodes) if (found := utc(time.get("datetime")))), None)


def _day(nodes: Nodes) -> str | None:
    """The day alone, where the page tells no time."""
    told = [time.get("datetime") for time in _times(nodes)] + [shown(part) for part in nodes.all(*_DATED)]
    return next((found for row in told if (found := day(row))), None)


def _cover(nodes: Nodes, ld: Mapping[str, Any], source: str) -> list[Media]:
    image = nodes.first("cover-img__image", "article-cover-image__image")
    told = (text(dig(ld, "image", "url")), attribute(image, "data-delayed-url", "src"),
            page_meta(source).get("og:image"))  # fmt: skip
    url = next((found for address in told if (found := contract.picture(address))), None)
    return [Media.draft(type="image", url=url)] if url else []


def _numbers(nodes: Nodes, ld: Mapping[str, Any]) -> dict[str, int | None]:
    """Likes and comments: the page's own numbers, else those of its data."""
    likes, comments = parse_post.likes_of(nodes), parse_post.comments_of(nodes)
    old = [first_count(shown(part)) for part in nodes.all("social-ctas__number")]
    if likes is None and old:
        likes, comments = old[0], old[1] if len(old) > 1 else None
    return {
        "likes": interactions(ld, "LikeAction") if likes is None else likes,
        "comments_count": interactions(ld, "CommentAction") if comments is None else comments,
    }


def _extra(nodes: Nodes, ld: Mapping[str, Any]) -> dict[str, Any]:
    told = {
        "published_on": None if utc(ld.get("datePublished")) else _day(nodes),
        "modified_at": utc(ld.get("dateModified")),
        "description": text(ld.get("description")),
    }
    return {name: value for name, value in told.items() if value is not None}
