"""The viewer of one picture, film or reel in Comet data (pure).

``data.currMedia`` is the picture; ``container_story`` the post that it came with, ``creation_story`` the picture's own
(2024). Films stand under ``data.video`` or ``data.node``, reels keep theirs in ``short_form_video_context``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.items import Post
from fetchworker.spiders.facebook import feedback as below
from fetchworker.spiders.facebook import ids, parse_media, parse_story
from fetchworker.spiders.facebook.body import walk
from fetchworker.spiders.reading.values import dig, instant, link, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fetchworker.spiders.facebook.body import Body, Document

_WHERE = {"video": "watch/?v=", "reel": "reel/"}


def pictures(body: Body) -> Iterator[Document]:
    """The picture that the page is of."""
    for document in body.documents:
        found = dig(document, "data", "currMedia")
        for one in (found, *(dig(edge, "node") for edge in sequence(mapping(found).get("edges")))):
            if isinstance(one, dict) and parse_media.number(one):
                yield one


def films(body: Body) -> Iterator[Document]:
    """The films of the page, those that its queries are about first."""
    roots = [dig(document, "data", name) for document in body.documents for name in ("video", "node", "currMedia")]
    found = [root for root in roots if isinstance(root, dict) and root.get("__typename") in (None, "Video")]
    found = [root for root in found if parse_media.number(root) and (_plays(root) or root.get("__typename"))]
    inner = [one for document in body.documents for one in walk(document) if one.get("__typename") == "Video"]
    yield from (one for one in (*found, *inner) if parse_media.number(one))


def _plays(raw: Document) -> bool:
    return parse_media.film(raw) is not None or isinstance(raw.get("creation_story"), dict)


def photo(raw: Document) -> Post:
    """The item of a picture in the photo viewer; the post it came with is in ``alt_ids``."""
    holder = mapping(raw.get("container_story")) or mapping(raw.get("creation_story"))
    return _viewed(raw, dict(holder), _owner(raw, holder))


def film(raw: Document) -> Post:
    """The item of a video or reel."""
    reel = mapping(dig(raw, "creation_story", "short_form_video_context"))
    playing = mapping(reel.get("playback_video"))
    told = {**raw, **{name: value for name, value in playing.items() if value is not None}}
    holder = mapping(raw.get("creation_story")) or mapping(raw.get("story")) or mapping(raw.get("container_story"))
    owner = mapping(reel.get("video_owner")) or _owner(told, holder)
    return _viewed(told, dict(holder), owner, reel=bool(reel))


def _owner(raw: Mapping[str, Any], holder: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(raw.get("owner")) or mapping(dig(holder, "actors", 0))


def _viewed(raw: Document, holder: Document, owner: Mapping[str, Any], *, reel: bool = False) -> Post:
    """What a picture or film tells of itself, completed by the story it came with."""
    feedback = _counts(raw, holder)
    own, story = parse_media.number(raw), parse_story.number(holder) if holder else None
    wording = text(dig(raw, "savable_description", "text")) or text(dig(raw, "message", "text"))
    wording = wording or text(parse_story.message_of(holder).get("text")) or text(dig(raw, "description", "text"))
    shown = [one for one in [parse_media.media(raw)] if one is not None]
    still = parse_media.thumbnail(raw) if parse_media.is_film(raw) else None
    form = "reel" if reel else parse_media.kind(raw)
    times = (raw.get("created_time"), raw.get("publish_time"), raw.get("creation_time"), raw.get("created_timestamp"))
    return Post.draft(
        id=own,
        alt_ids=[story] if story and story != own else [],
        type=form,
        title=text(raw.get("name")) or text(dig(raw, "title", "text")),
        text=wording,
        created_at=next((found for found in map(instant, times) if found), None) or parse_story.created_at(holder),
        likes=below.reactions(feedback),
        comments_count=below.comments_count(feedback),
        shares=below.shares(feedback),
        views=below.views(feedback, [raw]),
        media=shown,
        author=below.person(owner) if owner else None,
        hashtags=below.hashtags(wording),
        mentions=list(parse_story.mentions(parse_story.message_of(holder))),
        url=_viewed_url(raw, own, form),
        extra={"thumbnail_url": still} if still else {},
    )


def _counts(raw: Document, holder: Document) -> list[Document]:
    """Where the counts are: with the picture itself; with its post when both have one feedback, or it has none."""
    own, around = text(dig(raw, "feedback", "id")), text(dig(holder, "feedback", "id"))
    found = list(walk(raw.get("feedback") or {}, without=below.FOREIGN))
    return found if own and around and own != around else [*found, *below.own_feedback(holder)]


def _viewed_url(raw: Document, own: str | None, form: str) -> str | None:
    told = link(raw.get("permalink_url")) or link(raw.get("url"))
    if told and ids.split(told):
        return told
    if own is None:
        return None
    return f"{ids.HOME}/photo/?fbid={own}" if form == "image" else f"{ids.HOME}/{_WHERE[form]}{own}"
