"""Posts in Comet data: a ``Story`` to an item (pure).

A story repeats itself in the sections that draw it (``comet_sections``); which of them holds a fact changes with the
year. Stories that it shares (``attached_story``) and the comments below it have facts of the same names: branches under
those keys are not looked into.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.items import Author, Link, Post, PostRef
from fetchworker.spiders.facebook import feedback as below
from fetchworker.spiders.facebook import ids, parse_media
from fetchworker.spiders.reading.values import dig, ident, instant, link, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fetchworker.spiders.facebook.body import Document

_CONTENT = ("comet_sections", "content", "story")
_LAYOUTS = (
    ("comet_sections", "context_layout", "story", "comet_sections"),
    (*_CONTENT, "comet_sections", "context_layout", "story", "comet_sections"),
)
_MESSAGES = (
    (*_CONTENT, "message"), (*_CONTENT, "comet_sections", "message", "story", "message"),
    (*_CONTENT, "comet_sections", "message_container", "story", "message"),
    ("comet_sections", "message", "story", "message"), ("message",),
)  # fmt: skip
_ACTORS = ((*_CONTENT, "actors"), ("actors",), (*_LAYOUTS[0], "title", "story", "actors"))
_PFBID = re.compile(r"pfbid[A-Za-z0-9]+")


def stories(value: Any) -> Iterator[Document]:
    """The posts in a document, in its order; those that others share are left out."""
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, dict) and is_story(found):
            yield found
            continue
        inner = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
        parts = [part for part in inner if isinstance(part, dict | list)]
        stack.extend(reversed(parts))


def is_story(raw: Document) -> bool:
    """Whether an object is a post that can be drawn."""
    kind = raw.get("__typename")
    return (kind == "Story" or (kind is None and "comet_sections" in raw)) and number(raw) is not None


def number(raw: Document) -> str | None:
    """The post's number."""
    own = ident(raw.get("post_id")) or ids.post_of(text(raw.get("id")))
    return own or ids.post_of(text(dig(raw, "feedback", "id")))


def is_wanted(raw: Document, wanted: str) -> bool:
    """Whether a post is the one with this number or ``pfbid``."""
    if wanted in {number(raw), ident(raw.get("post_id")), ids.post_of(text(dig(raw, "feedback", "id")))}:
        return True
    addresses = " ".join(
        filter(None, (address(raw), text(dig(raw, *_CONTENT, "wwwURL")), text(raw.get("permalink_url"))))
    )
    return wanted in _PFBID.findall(addresses) or wanted in re.findall(r"\d{6,25}", addresses)


def post(raw: Document) -> Post:
    """The item of a post; what the page does not tell stays None."""
    message, feedback = message_of(raw), below.own_feedback(raw)
    attachments = dig(raw, *_CONTENT, "attachments") or raw.get("attachments")
    found = list(parse_media.attached(attachments))
    linked = parse_media.shared_link(attachments)
    writer, identity = author(raw), number(raw)
    wording = text(message.get("text"))
    group = ident(dig(raw, *_CONTENT, "target_group", "id")) or _group(raw)
    return Post.draft(
        id=identity,
        alt_ids=_PFBID.findall(address(raw) or "")[:1],
        type=parse_media.form(found, links=linked is not None),
        text=wording,
        created_at=created_at(raw),
        likes=below.reactions(feedback),
        comments_count=below.comments_count(feedback),
        shares=below.shares(feedback),
        views=below.views(feedback, found),
        media=[one for one in map(parse_media.media, found) if one is not None],
        author=writer,
        hashtags=below.hashtags(wording),
        mentions=list(mentions(message)),
        reposted=_shared(raw),
        links=[Link.draft(title=linked[1], url=ids.target(linked[0]))] if linked else [],
        location=text(dig(raw, *_CONTENT, "place", "name")) or text(dig(raw, "place", "name")),
        url=address(raw) or ids.post_url(writer.id if writer else None, identity, group=group),
        extra=_extra(feedback, group),
    )


def message_of(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """A post's text with what is linked in it."""
    for path in _MESSAGES:
        found = dig(raw, *path)
        if isinstance(found, dict) and text(found.get("text")):
            return found
    return {}


def created_at(raw: Document) -> str | None:
    """When a post was made; what is drawn as text may be shuffled against readers, the number is not (2024)."""
    return next((found for found in map(instant, _times(raw)) if found), None)


def _times(raw: Document) -> Iterator[Any]:
    for layout in _LAYOUTS:
        for entry in sequence(dig(raw, *layout, "metadata")):
            yield dig(entry, "story", "creation_time")
    yield dig(raw, "comet_sections", "timestamp", "story", "creation_time")
    yield raw.get("creation_time")
    yield dig(raw, *_CONTENT, "creation_time")


def address(raw: Document) -> str | None:
    """The post's address as the page links it."""
    for layout in _LAYOUTS:
        for entry in sequence(dig(raw, *layout, "metadata")):
            if link(dig(entry, "story", "url")):
                return link(dig(entry, "story", "url"))
    return link(dig(raw, *_CONTENT, "wwwURL")) or link(raw.get("wwwURL")) or link(raw.get("permalink_url")) or link(
        raw.get("url")
    )  # fmt: skip


def author(raw: Document) -> Author | None:
    """Who wrote a post."""
    for path in _ACTORS:
        found = dig(raw, *path, 0)
        if isinstance(found, dict) and (ident(found.get("id")) or text(found.get("name"))):
            return below.person(found)
    return None


def _group(raw: Document) -> str | None:
    found = raw.get("to")
    return ident(dig(found, "id")) if dig(found, "__typename") == "Group" else None


def mentions(message: Mapping[str, Any]) -> Iterator[str]:
    """Names of those whom a text mentions, each once."""
    seen = set[str]()
    for entry in sequence(message.get("ranges")):
        entity = mapping(dig(entry, "entity"))
        if entity.get("__typename") in ("User", "Page", "Group"):
            url = text(entity.get("profile_url")) or text(entity.get("url"))
            name = ids.username(url) or text(entity.get("short_name")) or ident(entity.get("id"))
            if name and name not in seen:
                seen.add(name)
                yield name


def _extra(feedback: Sequence[Mapping[str, Any]], group: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {"group_id": group, "reactions": below.reactions_by_kind(feedback)}
    return {name: value for name, value in found.items() if value}


def _shared(raw: Document) -> PostRef | None:
    """The post that a post passes on."""
    inner = dig(raw, *_CONTENT, "attached_story") or raw.get("attached_story")
    if not isinstance(inner, dict):
        return None
    number_, url, words, writer = number(inner), address(inner), text(message_of(inner).get("text")), author(inner)
    if not (number_ or url or words):
        return None
    return PostRef.draft(id=number_, url=url, text=words, author=writer)
