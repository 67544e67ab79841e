"""The comments below a post or an article (pure)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.items import Author, Comment
from fetchworker.reading.dates import utc
from fetchworker.spiders.linkedin import contract
from fetchworker.spiders.linkedin.nodes import Element, Nodes, attribute, prose, shown, unmasked
from fetchworker.spiders.linkedin.told import author_of, interactions, time_of
from fetchworker.spiders.reading import html
from fetchworker.spiders.reading.counts import first_count
from fetchworker.spiders.reading.values import dig, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ID = re.compile(r"urn:li:comment:\([^,()]{1,60},(?P<id>\d{1,20})\)")
#: so much of a text is enough to know a comment again
_HEAD = 40

Key = tuple[str, str]


def comments(nodes: Nodes, ld: Mapping[str, Any], post_id: str | None) -> list[Comment]:
    """The comments that a guest sees, in the page's order; JSON-LD tells when some of them were written."""
    told = {_key(text(dig(entry, "author", "name")), text(dig(entry, "text"))): entry for entry in _listed(ld)}
    found = [comment for part in nodes.all("comment") if (comment := _comment(part, told, post_id)) is not None]
    return found or [comment for entry in _listed(ld) if (comment := _from_ld(entry, post_id)) is not None]


def _listed(ld: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    entries = ld.get("comment")
    for entry in sequence(entries) if isinstance(entries, list) else [entries]:
        if isinstance(entry, dict):
            yield entry


def _comment(part: Element, told: Mapping[Key, Mapping[str, Any]], post_id: str | None) -> Comment | None:
    nodes = Nodes(part)
    anchor = nodes.first("comment__author", "comment__actor-name")
    name = unmasked(shown(anchor))
    written = unmasked(prose(nodes.first("comment__text", "comment__message")))
    if written is None:
        return None
    number = _number(part)
    entry = told.get(_key(name, written), {})
    likes = first_count(shown(nodes.first("comment__reactions-count", "comment__likes-count")))
    return Comment.draft(
        id=number,
        post_id=post_id,
        text=written,
        created_at=utc(entry.get("datePublished")) or time_of(number),
        likes=interactions(entry, "LikeAction") if likes is None else likes,
        author=Author.draft(username=contract.slug_of(contract.absolute(attribute(anchor, "href"))), name=name)
        if name
        else None,
    )


def _from_ld(entry: Mapping[str, Any], post_id: str | None) -> Comment | None:
    written = unmasked(text(entry.get("text")))
    if written is None:
        return None
    return Comment.draft(
        post_id=post_id,
        text=written,
        created_at=utc(entry.get("datePublished")),
        likes=interactions(entry, "LikeAction"),
        author=author_of(entry.get("author")),
    )


def _number(part: Element) -> str | None:
    urns = part.xpath(".//@data-semaphore-content-urn")
    return next((match["id"] for urn in urns if (match := _ID.search(str(urn)))), None)


def _key(name: str | None, written: str | None) -> Key:
    return (name or "", (html.squeezed(written) or "")[:_HEAD])
