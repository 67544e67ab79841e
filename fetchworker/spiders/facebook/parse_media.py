"""Pictures and films in Comet data: attachments of posts, the photo viewer, players (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.items import Media
from fetchworker.spiders.facebook.body import walk
from fetchworker.spiders.reading.values import count, dig, ident, link, mapping, measure, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fetchworker.spiders.facebook.body import Document

#: sizes of a picture, the largest first (seen 2022-2026)
_IMAGES = (
    "viewer_image", "image", "photo_image", "full_image", "large_share_image", "placeholder_image", "photo",
    "preferred_thumbnail", "thumbnailImage", "first_frame_thumbnail",
)  # fmt: skip
_FILMS = (
    "playable_url_quality_hd", "browser_native_hd_url", "playable_url", "browser_native_sd_url", "playable_url_dash",
)  # fmt: skip
#: parts of a film's object that hold its files (2024 on)
_DELIVERY = ("videoDeliveryLegacyFields", "video_delivery_legacy_fields")
_FORMS = {"Video": "video", "Photo": "image", "GenericAttachmentMedia": "image", "MontageImage": "image"}
_MILLISECONDS = 1000


def number(raw: Document) -> str | None:
    """The number of a picture or film."""
    return ident(raw.get("id")) or ident(raw.get("videoId")) or ident(raw.get("video_id"))


def is_film(raw: Document) -> bool:
    """Whether a media object is a film."""
    return raw.get("__typename") == "Video" or film(raw) is not None


def media(raw: Document) -> Media | None:
    """A picture or film; None for an object that has no file."""
    picture = _picture(raw)
    alt = text(raw.get("accessibility_caption"))
    if is_film(raw):
        url = film(raw)
        name = text(raw.get("name")) or text(dig(raw, "title", "text"))
        return Media.draft(type="video", url=url, duration=duration(raw), alt=name or alt, **_film_size(raw))
    if picture is None:
        return None
    return Media.draft(type="image", url=link(picture.get("uri")), alt=alt, **_size(picture))


def film(raw: Document) -> str | None:
    """The address of a film's best file."""
    for holder in (raw, *(mapping(raw.get(name)) for name in _DELIVERY)):
        for name in _FILMS:
            if link(holder.get(name)):
                return link(holder[name])
    urls = [one for one in walk(raw.get("videoDeliveryResponseFragment") or {}) if link(one.get("progressive_url"))]
    best = [one for one in urls if dig(one, "metadata", "quality") == "HD"] or urls
    return link(best[0]["progressive_url"]) if best else None


def duration(raw: Document) -> float | None:
    """Seconds that a film lasts."""
    precise = measure(raw.get("playable_duration_in_ms"))
    return precise / _MILLISECONDS if precise is not None else measure(raw.get("length_in_second"))


def thumbnail(raw: Document) -> str | None:
    """The picture that stands for a film."""
    for name in ("preferred_thumbnail", "thumbnailImage", "first_frame_thumbnail"):
        found = link(dig(raw, name, "image", "uri")) or link(dig(raw, name, "uri"))
        if found:
            return found
    return None


def _picture(raw: Document) -> Document | None:
    for name in _IMAGES:
        found = raw.get(name)
        inner = dig(found, "image")
        for candidate in (found, inner):
            if isinstance(candidate, dict) and link(candidate.get("uri")):
                return candidate
    return None


def _size(raw: Document) -> dict[str, Any]:
    return {"width": count(raw.get("width")), "height": count(raw.get("height"))}


def _film_size(raw: Document) -> dict[str, Any]:
    wide, high = count(raw.get("width")), count(raw.get("height"))
    return {
        "width": wide if wide is not None else count(raw.get("original_width")),
        "height": high if high is not None else count(raw.get("original_height")),
    }


def attached(attachments: Any) -> Iterator[Document]:
    """The media objects of a post's attachments, those of an album one by one."""
    for attachment in _styles(attachments):
        nodes = sequence(dig(attachment, "all_subattachments", "nodes"))
        album = [inner for node in nodes if isinstance(inner := dig(node, "media"), dict)]
        own = attachment.get("media")
        yield from album or ([own] if isinstance(own, dict) else [])


def _styles(attachments: Any) -> Iterator[Document]:
    for one in sequence(attachments):
        inner = dig(one, "styles", "attachment") or dig(one, "style_type_renderer", "attachment")
        if isinstance(inner, dict):
            yield inner
        elif isinstance(one, dict) and ("media" in one or "all_subattachments" in one):
            yield one


def shared_link(attachments: Any) -> tuple[str | None, str | None] | None:
    """Address and title of the page that a post links to."""
    for attachment in _styles(attachments):
        renderer = mapping(dig(attachment, "story_attachment_link_renderer", "attachment"))
        url = link(dig(renderer, "web_link", "url")) or link(dig(attachment, "web_link", "url"))
        if url:
            return url, text(dig(attachment, "title_with_entities", "text")) or text(dig(renderer, "title", "text"))
    return None


def form(found: Sequence[Document], *, links: bool) -> str:
    """What form a post has by its media."""
    if len(found) > 1:
        return "carousel"
    if not found:
        return "link" if links else "text"
    return kind(found[0])


def kind(raw: Document) -> str:
    """``image``, ``video`` or ``reel``."""
    if is_film(raw):
        address = str(raw.get("permalink_url") or raw.get("url") or "")
        return "reel" if "/reel/" in address else "video"
    return _FORMS.get(str(raw.get("__typename")), "image")
