"""Pages without data of their own: meta tags alone (logged-out shells since 2021), and embeds drawn as HTML.

Meta tags round (``11K``), cut the text and may be days old, so they are read only when nothing better is in the page.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from fetchworker.items import Author, Media, Post, Profile
from fetchworker.spiders.instagram import contract
from fetchworker.spiders.instagram.ids import created_at, media_pk, pk_of, shortcode_of
from fetchworker.spiders.instagram.parse_media import hashtags, mentions
from fetchworker.spiders.reading.counts import count as abbreviated
from fetchworker.spiders.reading.values import link, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.spiders.instagram.parse_shapes import Wanted

#: ``partial`` of items made from meta tags
SHELL = "page_shell"
#: ``partial`` of posts made from an embed without data
EMBED = "embed"

_NUMBER = r"([\d.,]{1,16}\s?[KMB]?)"
_NAMED = re.compile(r"(?P<name>.{0,200}?)\s{0,3}\(@(?P<user>[A-Za-z0-9._]{1,30})\)", re.DOTALL)
_COUNTS = re.compile(rf"{_NUMBER} Followers?, {_NUMBER} Following, {_NUMBER} Posts?\b", re.IGNORECASE)
_QUOTED = re.compile(r"""on Instagram:\s*["“](?P<text>.*?)["”]\.?\s*\Z""", re.DOTALL)
_TITLE_NAME = re.compile(r"(?P<name>.{1,200}?) (?:shared a \w+ )?on Instagram\b", re.DOTALL)
_REACTIONS = re.compile(rf"{_NUMBER} likes?, {_NUMBER} comments?\b", re.IGNORECASE)
_WRITER = re.compile(r" - (?P<user>[A-Za-z0-9._]{1,30}) on [A-Z]")
_PATH = re.compile(
    r"https?://(?:www\.)?instagram\.com/(?:[A-Za-z0-9._]+/)?(?P<kind>p|reel|tv)/(?P<code>[A-Za-z0-9_-]+)"
)
_HOME = re.compile(r"https?://(?:www\.)?instagram\.com/(?P<user>[A-Za-z0-9._]{1,30})/?\Z")
_APP_USER = re.compile(r"instagram://user\?username=(?P<user>[A-Za-z0-9._]+)")
_APP_MEDIA = re.compile(r"instagram://media\?id=(?P<pk>\d+)")
_PROFILE_ID = re.compile(r'"profile_id"\s*:\s*"(\d+)"')

_EMBED_ATTRIBUTE = re.compile(r'\bdata-(permalink|media-type|media-id|owner-id)="([^"]*)"')
_EMBED_USER = re.compile(r'class="UsernameText"[^>]*>([^<]+)<')
_EMBED_IMAGE = 'class="EmbeddedMediaImage"'
_EMBED_SRC = re.compile(r'\bsrc="([^"]+)"')
_EMBED_ALT = re.compile(r'\balt="([^"]+)"')
_EMBED_CAPTION = '<div class="Caption">'
_EMBED_CAPTION_END = re.compile(r'<div class="CaptionComments"|</div>')
_EMBED_WRITER = re.compile(r'<a class="CaptionUsername".*?</a>', re.DOTALL)
_LONGEST_CAPTION = 20_000
_EMBED_FORMS = {"GraphImage": "image", "GraphVideo": "video", "GraphSidecar": "carousel"}
_ESCAPED_COUNT = r'\\*"\s*:\s*(?:\{\s*\\*"count\\*"\s*:\s*)?(\d+)'
_EMBED_LIKES = re.compile(r'"(?:edge_liked_by|edge_media_preview_like)' + _ESCAPED_COUNT)
_EMBED_COMMENTS = re.compile(r'"(?:edge_media_to_parent_comment|edge_media_to_comment)' + _ESCAPED_COUNT)
_EMBED_VIEWS = re.compile(r'"video_view_count' + _ESCAPED_COUNT)
_SHOWN_LIKES = re.compile(rf">\s*{_NUMBER} likes?\s*<", re.IGNORECASE)
_SHOWN_COMMENTS = re.compile(rf">\s*View all {_NUMBER} comments\s*<", re.IGNORECASE)


def profile(meta: Mapping[str, str], page: str, wanted: Wanted) -> Profile | None:
    """An account out of meta tags; None when they speak of none, or of another."""
    title, counts = _NAMED.match(meta.get("og:title", "")), _COUNTS.search(meta.get("og:description", ""))
    username = title.group("user") if title else _from_addresses(meta)
    if username is None or (title is None and counts is None) or (wanted.user or username.lower()) != username.lower():
        return None
    number = _PROFILE_ID.search(page)
    bio = _QUOTED.search(meta.get("description", ""))
    followers, following, posts = counts.groups() if counts else (None, None, None)
    return Profile.draft(
        id=number.group(1) if number else None,
        username=username,
        name=text(title.group("name")) if title else None,
        biography=text(bio.group("text")) if bio else None,
        avatar_url=link(meta.get("og:image")),
        followers=abbreviated(followers),
        following=abbreviated(following),
        posts_count=abbreviated(posts),
        url=contract.profile_url(username),
        partial=SHELL,
    )


def _from_addresses(meta: Mapping[str, str]) -> str | None:
    app, home = _APP_USER.match(meta.get("al:ios:url", "")), _HOME.match(meta.get("og:url", ""))
    return app.group("user") if app else home.group("user") if home else None


def post(meta: Mapping[str, str], wanted: Wanted) -> Post | None:
    """A post out of meta tags; None when they speak of none, or of another."""
    path = _PATH.match(meta.get("og:url") or meta.get("canonical", ""))
    app = _APP_MEDIA.match(meta.get("al:ios:url", ""))
    code = path.group("code") if path else None
    number = app.group("pk") if app else pk_of(code)
    if number is None or wanted.media not in (None, number):
        return None
    code = code or shortcode_of(number)
    title, description = meta.get("og:title", ""), meta.get("og:description", "")
    reactions = _REACTIONS.match(description)
    caption = _quoted(title, description)
    form = _form(meta, path.group("kind") if path else None)
    return Post.draft(
        id=number,
        shortcode=code,
        type=form,
        text=caption,
        created_at=created_at(number),
        likes=abbreviated(reactions.group(1)) if reactions else None,
        comments_count=abbreviated(reactions.group(2)) if reactions else None,
        media=_pictures(meta),
        author=_writer(meta, title, description),
        hashtags=hashtags(caption),
        mentions=mentions(caption),
        url=contract.post_url(code, reel=form == "reel"),
        partial=SHELL,
    )


def _quoted(title: str, description: str) -> str | None:
    found = _QUOTED.search(title) or _QUOTED.search(description)
    return text(found.group("text")) if found else None


def _form(meta: Mapping[str, str], path: str | None) -> str | None:
    card, kind = meta.get("twitter:title", "").lower(), meta.get("og:type", "")
    if path == "reel" or card.endswith("instagram reel"):
        return "reel"
    if card.endswith(("instagram video", "instagram tv")) or kind in ("instapp:video", "video", "video.other"):
        return "video"
    return "image" if card.endswith("instagram photo") or kind == "instapp:photo" else None


def _pictures(meta: Mapping[str, str]) -> list[Media]:
    film, picture = link(meta.get("og:video")), link(meta.get("og:image"))
    if film:
        return [Media.draft(type="video", url=film)]
    return [Media.draft(type="image", url=picture)] if picture else []


def _writer(meta: Mapping[str, str], title: str, description: str) -> Author | None:
    card = _NAMED.match(meta.get("twitter:title", "")) or _NAMED.match(
        description.partition(" on Instagram")[0].rpartition(" - ")[2]
    )
    writer, named = _WRITER.search(description), _TITLE_NAME.match(title)
    username = card.group("user") if card else writer.group("user") if writer else None
    name = text(named.group("name")) if named else None
    return Author.draft(username=username, name=name) if username or name else None


def embed(page: str, wanted: Wanted) -> Post | None:
    """A post out of an embed that the server drew, with such counts as its scripts hold."""
    told = dict(_EMBED_ATTRIBUTE.findall(page))
    path = _PATH.match(told.get("permalink", ""))
    number = media_pk(told.get("media-id")) or pk_of(path.group("code") if path else None)
    if number is None or wanted.media not in (None, number):
        return None
    code = path.group("code") if path else shortcode_of(number)
    caption = _drawn_caption(page)
    user = _EMBED_USER.search(page)
    return Post.draft(
        id=number,
        shortcode=code,
        type=_EMBED_FORMS.get(told.get("media-type", "")),
        text=caption,
        created_at=created_at(number),
        likes=_number(page, _EMBED_LIKES, _SHOWN_LIKES),
        comments_count=_number(page, _EMBED_COMMENTS, _SHOWN_COMMENTS),
        views=_number(page, _EMBED_VIEWS),
        media=_drawn_picture(page),
        author=Author.draft(
            id=told.get("owner-id") or None, username=text(html.unescape(user.group(1))) if user else None
        ),
        hashtags=hashtags(caption),
        mentions=mentions(caption),
        url=contract.post_url(code),
        partial=EMBED,
    )


def _drawn_caption(page: str) -> str | None:
    start = page.find(_EMBED_CAPTION) + len(_EMBED_CAPTION)
    end = _EMBED_CAPTION_END.search(page, start) if start >= len(_EMBED_CAPTION) else None
    if end is None:
        return None
    drawn = page[start : min(end.start(), start + _LONGEST_CAPTION)]
    lines = re.sub(r"<br\s*/?>", "\n", _EMBED_WRITER.sub("", drawn, count=1))
    return text(html.unescape(re.sub(r"<[^>]*>", "", lines)).strip())


def _drawn_picture(page: str) -> list[Media]:
    mark = page.find(_EMBED_IMAGE)
    start, end = page.rfind("<img", 0, mark), page.find(">", mark)
    tag = page[start:end] if 0 <= start < mark < end else ""
    source, alt = _EMBED_SRC.search(tag), _EMBED_ALT.search(tag)
    url = link(html.unescape(source.group(1))) if source else None
    return [Media.draft(type="image", url=url, alt=html.unescape(alt.group(1)) if alt else None)] if url else []


def _number(page: str, *patterns: re.Pattern[str]) -> int | None:
    for pattern in patterns:
        found = pattern.search(page)
        if found:
            return abbreviated(found.group(1))
    return None
