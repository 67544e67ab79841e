"""JSON-LD of the mobile site's pages: posts with counts and comments, films (pure; recorded pages of 2021)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.items import Author, Comment, Media, Post
from fetchworker.reading.dates import utc
from fetchworker.spiders.facebook import ids
from fetchworker.spiders.facebook.feedback import hashtags
from fetchworker.spiders.reading.values import count, dig, ident, link, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fetchworker.spiders.facebook.body import Body

_DURATION = re.compile(r"P?T(?:(\d{1,3})H)?(?:(\d{1,4})M)?(?:(\d{1,5})S)?\Z")
_IDENTIFIERS = re.compile(r"\d{5,25}")
_SITE_NAME = re.compile(r"\s*\|\s*Facebook\s*\Z")
_VIDEO = re.compile(r"/videos/(?:[^/?#]+/)?(\d{5,25})|[?&]v=(\d{5,25})")


def _typed(body: Body, kind: str) -> Mapping[str, Any] | None:
    return next((one for one in body.links if one.get("@type") == kind), None)


def posting(body: Body) -> Post | None:
    """The page's ``SocialMediaPosting``."""
    raw = _typed(body, "SocialMediaPosting")
    numbers = _IDENTIFIERS.findall(str(raw.get("identifier") or "")) if raw is not None else []
    if raw is None or not numbers:
        return None
    writer = _author(mapping(raw.get("author")))
    number = numbers[1] if len(numbers) > 1 else numbers[0]
    wording = text(raw.get("articleBody"))
    return Post.draft(
        id=number,
        text=wording,
        created_at=utc(raw.get("dateCreated")),
        **_interactions(raw),
        author=writer,
        hashtags=hashtags(wording),
        url=ids.post_url(numbers[0] if len(numbers) > 1 else None, number),
    )


def _interactions(raw: Mapping[str, Any]) -> dict[str, int | None]:
    names = {"LikeAction": "likes", "CommentAction": "comments_count", "ShareAction": "shares", "WatchAction": "views"}
    found: dict[str, int | None] = dict.fromkeys(names.values())
    for one in sequence(raw.get("interactionStatistic")):
        kind = dig(one, "interactionType", "@type") or dig(one, "interactionType")
        name = names.get(str(kind).rpartition("/")[2])
        if name:
            found[name] = count(dig(one, "userInteractionCount"))
    if found["comments_count"] is None:
        found["comments_count"] = count(raw.get("commentCount"))
    return found


def _author(raw: Mapping[str, Any]) -> Author | None:
    name, url = text(raw.get("name")), text(raw.get("url"))
    number = ident(raw.get("identifier")) or ids.profile_number(url)
    return Author.draft(id=number, username=ids.username(url), name=name) if name or number else None


def comments(body: Body) -> list[Comment]:
    """The comments that the page's posting brings."""
    raw = _typed(body, "SocialMediaPosting")
    return list(_comments(sequence(raw.get("comment")))) if raw is not None else []


def _comments(found: Sequence[Any]) -> Iterator[Comment]:
    for one in found:
        numbers = str(dig(one, "identifier") or "").split("_")
        if isinstance(one, dict) and len(numbers) > 1 and all(number.isdigit() for number in numbers):
            yield Comment.draft(
                id=numbers[-1],
                post_id=numbers[0],
                text=text(one.get("text")),
                created_at=utc(one.get("dateCreated")),
                author=_author(mapping(one.get("author"))),
            )


def film(body: Body) -> Post | None:
    """The page's ``VideoObject``, with what its posting tells beside it."""
    raw = _typed(body, "VideoObject")
    number = _video_number(body)
    if raw is None or number is None:
        return None
    around, said = posting(body), comments(body)
    wording = text(raw.get("description"))
    counts = {name: value for name, value in _interactions(raw).items() if value is not None}
    beside = {} if around is None else {name: getattr(around, name) for name in ("likes", "shares", "comments_count")}
    story = said[0].post_id if said else None
    return Post.draft(
        id=number,
        alt_ids=[story] if story and story != number else [],
        type="video",
        title=text(body.meta.get("og:title")) or _title(raw),
        text=wording,
        created_at=utc(raw.get("uploadDate")) or utc(raw.get("datePublished")),
        media=[_media(raw)],
        author=around.author if around is not None else _author(mapping(raw.get("creator"))),
        hashtags=hashtags(wording),
        url=f"{ids.HOME}/watch/?v={number}",
        **{**beside, **counts},
    )


def _video_number(body: Body) -> str | None:
    match = _VIDEO.search(body.meta.get("canonical", "")) or _VIDEO.search(body.meta.get("og:url", ""))
    return (match[1] or match[2]) if match else None


def _title(raw: Mapping[str, Any]) -> str | None:
    name = text(raw.get("name")) or text(raw.get("headline"))
    return text(_SITE_NAME.sub("", name)) if name else None


def _media(raw: Mapping[str, Any]) -> Media:
    return Media.draft(
        type="video",
        url=link(raw.get("contentUrl")) or link(raw.get("url")),
        width=count(raw.get("width")),
        height=count(raw.get("height")),
        duration=_seconds(text(raw.get("duration"))),
    )


def _seconds(duration: str | None) -> float | None:
    match = _DURATION.match(duration or "")
    if match is None or not any(match.groups()):
        return None
    hours, minutes, rest = (int(part or 0) for part in match.groups())
    return float(hours * 3600 + minutes * 60 + rest)
