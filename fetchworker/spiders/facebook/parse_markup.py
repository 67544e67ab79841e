"""Posts, photos and groups in the HTML of the mobile site, and posts of the desktop site before Comet (pure).

Both sites are walled for most guests today. What they tell stands in attributes: ``data-ft`` of a post (its number, its
owner, its time), ``data-store``, and counts in the calls of scripts (recorded pages of 2020 and 2021).
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fetchworker.items import Author, Media, Post, PostRef
from fetchworker.spiders.facebook import ids, markup
from fetchworker.spiders.facebook.feedback import hashtags
from fetchworker.spiders.reading.counts import first_count
from fetchworker.spiders.reading.values import count, dig, ident, instant, link, mapping, text

if TYPE_CHECKING:
    from collections.abc import Iterator

_POST_SIGN = re.compile(r'data-sigil="[^"<>]{0,200}\bstory-div\b')
_LONGEST_TAG = 30_000
_FT = re.compile(r'data-ft="([^"<>]{2,20000})"')
_STORE = re.compile(r'data-store="([^"<>]{2,20000})"')
_BODY = re.compile(r'<(?P<tag>\w+)\b[^<>]{0,2000}\bdata-ft="&#123;&quot;tn&quot;:&quot;\*s&quot;&#125;"[^<>]{0,500}>')
_HEAD = re.compile(r"<h3\b[^<>]{0,2000}>")
_ACTOR = re.compile(
    r'<strong\b[^<>]{0,200}>\s{0,10}(?:<a\b[^<>]{0,20}\bhref="(?P<href>[^"<>]{0,4000})"[^<>]{0,500}>)?(?P<name>[^<>]{1,300})<'
)
_LIKES = re.compile(r'class="like_def[^"]{0,80}"[^<>]{0,200}>([^<>]{1,60})<')
_COMMENTS = re.compile(r'class="cmt_def[^"]{0,80}"[^<>]{0,200}>([^<>]{1,60})<')
_LIVE = re.compile(
    r"ft_ent_identifier:(?P<id>\d+),comment_count:(?P<comments>\d+),share_count:(?P<shares>\d+)"
    r"(?:[^{}]{0,300}?\blike_count:(?P<likes>\d+))?"
)
_PICTURE_LINK = re.compile(r'<a\b[^<>]{0,300}\bhref="[^"<>]{0,300}/?photos?(?:\.php|/)[^"<>]{0,2000}"[^<>]{0,1000}>')
_STYLE = re.compile(r"url\((?:&#039;|'|&quot;)?(https[^()<>\"]{5,3000}?)(?:&#039;|'|&quot;)?\)")
_IMG = re.compile(r"<img\b(?P<attributes>[^<>]{0,6000})>")
_ATTRIBUTE = re.compile(r'\b(src|width|height|alt|aria-label)="([^"<>]{0,4000})"')
_TIME = re.compile(r"&quot;time&quot;:(\d{9,11})\b")
_UTIME = re.compile(r'data-utime="(\d{9,11})')
_MORE = re.compile(r"""["'](\\?/page_content_list_view\\?/more\\?/\?[^"'<>\s]{10,3000})""")
_BACK = re.compile(r'href="(/groups/[^"<>?]{1,200}\?bac=[^"<>]{1,2000})"')
_UNICODE = re.compile(r"\\+u00([0-9a-fA-F]{2})")
_WRAPPER = re.compile(r"userContentWrapper\b")
_SUBTITLE = re.compile(r'id="feed_subtitle_(?P<owner>\d+)[:;](?P<post>\d+)')
_MESSAGE = re.compile(
    r'<div\b[^<>]{0,200}?\b(?:data-testid="post_message"|class="[^"<>]{0,100}\buserContent\b[^"<>]{0,100}")[^<>]{0,300}>'
)
_WRAPPER_REACH = 8_000
_LARGE = re.compile(r'data-ploi="(https://[^"<>]{5,3000})"')
_MOST_ARTICLES = 200
_PICTURE_REACH = 4_000


@dataclass(frozen=True, slots=True)
class Drawn:
    """A post of the mobile site: its attributes' data and its markup."""

    told: dict[str, Any]
    body: str


def articles(page: str) -> list[Drawn]:
    """The posts of a page in their order; a post that another shares is part of that one."""
    found: list[tuple[int, dict[str, Any]]] = []
    for sign in _POST_SIGN.finditer(page):
        start = page.rfind("<", max(0, sign.start() - _LONGEST_TAG), sign.start())
        end = page.find(">", sign.end(), sign.end() + _LONGEST_TAG) + 1
        ft = _FT.search(page, start, end) if 0 <= start < end else None
        told = markup.data(ft[1]) if ft else {}
        if ident(told.get("top_level_post_id")) and len(found) < _MOST_ARTICLES:
            found.append((end, told))
    pieces = markup.between(page, [start for start, _ in found])
    return [Drawn(told, piece) for (_, told), piece in zip(found, pieces, strict=True)]


def live_counts(page: str) -> dict[str, dict[str, int]]:
    """Counts by the number of what they are of, as the page's scripts have them."""
    found: dict[str, dict[str, int]] = {}
    for match in _LIVE.finditer(page):
        told = {name: int(match[name]) for name in ("comments", "shares", "likes") if match[name] is not None}
        found.setdefault(match["id"], told)
    return found


def post(drawn: Drawn, live: dict[str, dict[str, int]], *, group: str | None = None) -> Post:
    """The item of a post; what the page does not tell stays None."""
    told, number = drawn.told, ident(drawn.told.get("top_level_post_id"))
    owner = ident(told.get("content_owner_id_new"))
    own, _, shared = drawn.body.partition("story_body_container")[2].partition("story_body_container")
    wording, counts = _wording(own), live.get(number or "", {})
    group = ident(told.get("group_id")) or group
    return Post.draft(
        id=number,
        type=_form(told),
        text=wording,
        created_at=_time(told, drawn.body),
        likes=_count(_LIKES, drawn.body, counts.get("likes")),
        comments_count=_count(_COMMENTS, drawn.body, counts.get("comments")),
        shares=counts.get("shares"),
        media=[*_pictures(drawn.body), *_films(drawn.body)],
        author=_actor(drawn.body, owner),
        hashtags=hashtags(wording),
        reposted=_shared(shared, told),
        url=ids.post_url(owner, number, group=group),
        extra={"group_id": group} if group else {},
    )


def _wording(body: str) -> str | None:
    match = _BODY.search(body)
    return markup.words(markup.inner(body, match.end(), match["tag"])) if match else None


def _shared(body: str, told: dict[str, Any]) -> PostRef | None:
    """The post that a post passes on: drawn inside of it."""
    if not body:
        return None
    number, owner = ident(told.get("original_content_id")), ident(told.get("original_content_owner_id"))
    wording = _wording(body)
    return PostRef.draft(id=number, url=ids.post_url(owner, number), text=wording, author=_actor(body, owner))


def _form(told: dict[str, Any]) -> str | None:
    style = text(told.get("story_attachment_style")) or text(told.get("attached_story_attachment_style")) or ""
    if isinstance(told.get("photo_attachments_list"), list) and len(told["photo_attachments_list"]) > 1:
        return "carousel"
    if "video" in style:
        return "video"
    if ident(told.get("photo_id")) or style in ("photo", "cover_photo", "profile_media"):
        return "image"
    return {"": "text", "album": "carousel", "share": "link", "fallback": "link"}.get(style)


def _time(told: dict[str, Any], body: str) -> str | None:
    owner = ident(told.get("content_owner_id_new")) or ""
    insights = mapping(told.get("page_insights"))
    for one in (insights.get(owner), *insights.values()):
        found = instant(dig(one, "post_context", "publish_time"))
        if found:
            return found
    drawn = _UTIME.search(body) or _TIME.search(body)
    return instant(int(drawn[1])) if drawn else None


def _count(pattern: re.Pattern[str], body: str, live: int | None) -> int | None:
    match = pattern.search(body)
    shown = first_count(match[1]) if match else None
    return live if shown is None else shown


def _actor(body: str, owner: str | None) -> Author | None:
    head = _HEAD.search(body)
    match = _ACTOR.search(body, head.end() if head else 0)
    if match is None:
        return Author.draft(id=owner) if owner else None
    href = html.unescape(match["href"] or "")
    return Author.draft(id=owner, username=ids.username(href), name=text(html.unescape(match["name"])))


def _pictures(body: str) -> Iterator[Media]:
    for match in _PICTURE_LINK.finditer(body):
        found = _picture(body[match.end() : match.end() + _PICTURE_REACH].partition("</a>")[0])
        if found is not None:
            yield found


def _films(body: str) -> Iterator[Media]:
    for match in _STORE.finditer(body) if "videoID" in body else ():
        told = markup.data(match[1]) if "videoID" in match[1] else {}
        url = link(told.get("src"))
        if url:
            yield Media.draft(type="video", url=url, width=count(told.get("width")), height=count(told.get("height")))


def _picture(drawn: str) -> Media | None:
    image, style = _IMG.search(drawn), _STYLE.search(drawn)
    told = dict(_ATTRIBUTE.findall(image["attributes"] if image else drawn))
    alt = text(html.unescape(told.get("alt") or told.get("aria-label") or ""))
    url = html.unescape(told["src"]) if image and told.get("src") else markup.address(style[1]) if style else None
    return Media.draft(type="image", url=link(url), alt=alt) if link(url) else None


def next_page(page: str) -> str | None:
    """The path of the next page: in a script of the page, or in an answer; of a group in its last link."""
    back = _BACK.search(page)
    if back:
        return html.unescape(back[1])
    more = _MORE.search(page)
    if more is None:
        return None
    found = more[1]
    for _ in range(3):  # an answer has its scripts as text inside of text
        found = _UNICODE.sub(lambda match: chr(int(match[1], 16)), found).replace("\\/", "/").replace("\\", "")
    return found


def wrapped(page: str) -> list[Post]:
    """The posts of a desktop page before Comet."""
    starts = [match.start() for match in _WRAPPER.finditer(page)][:_MOST_ARTICLES]
    pieces = markup.between(page, starts)
    found = (
        _wrapped(piece, page, page[max(0, start - _WRAPPER_REACH) : start])
        for start, piece in zip(starts, pieces, strict=True)
    )
    return [one for one in found if one is not None]


def _wrapped(body: str, page: str, before: str) -> Post | None:
    told, wording = _wrapped_ids(body, before), _MESSAGE.search(body)
    if told is None:
        return None
    owner, number = told
    time, counts = _UTIME.search(body), _relay_counts(page, number)
    shown = markup.words(markup.inner(body, wording.end(), "div")) if wording else None
    return Post.draft(
        id=number,
        text=shown,
        created_at=instant(int(time[1])) if time else None,
        likes=counts.get("reaction_count"),
        comments_count=counts.get("comment_count"),
        shares=counts.get("share_count"),
        media=[Media.draft(type="image", url=html.unescape(url)) for url in _LARGE.findall(body)],
        author=_named(body, owner),
        hashtags=hashtags(shown),
        url=ids.post_url(owner, number),
    )


def _wrapped_ids(body: str, before: str) -> tuple[str | None, str] | None:
    """Numbers of owner and post: in the wrapper's own attributes, in those around it, or in its subtitle."""
    subtitle = _SUBTITLE.search(body)
    if subtitle:
        return subtitle["owner"], subtitle["post"]
    for ft in (*_FT.findall(body)[:3], *reversed(_FT.findall(before))):
        told = markup.data(ft)
        number = ident(told.get("top_level_post_id"))
        if number:
            return ident(told.get("content_owner_id_new")), number
    return None


def _named(body: str, owner: str | None) -> Author:
    match = re.search(
        r'<h[56]\b[^<>]{0,500}>.{0,1500}?<a\b[^<>]{0,50}\bhref="([^"<>]{0,4000})"[^<>]{0,500}>([^<>]{1,300})<',
        body,
        re.DOTALL,
    )
    if match is None:
        return Author.draft(id=owner)
    return Author.draft(id=owner, username=ids.username(html.unescape(match[1])), name=text(html.unescape(match[2])))


def _relay_counts(page: str, post: str) -> dict[str, int]:
    """Counts of a post in the desktop site's scripts, which write objects without quotes."""
    start = page.find(f'id:"{ids.node_id(f"feedback:{post}")}",is_eligible_for')
    near = page[start : start + 3_000] if start >= 0 else ""
    found = re.findall(r"\b(comment_count|reaction_count|share_count):\{(?:total_)?count:(\d{1,12})\b", near)
    return {name: int(number) for name, number in reversed(found)}
