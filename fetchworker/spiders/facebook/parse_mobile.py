"""The mobile site's pages of one picture and of one group (pure; recorded pages of 2020 and 2021)."""

from __future__ import annotations

import html
import re
from itertools import islice
from typing import TYPE_CHECKING

from fetchworker.items import Author, Group, Media, Post
from fetchworker.spiders.facebook import ids, markup
from fetchworker.spiders.facebook.feedback import hashtags
from fetchworker.spiders.facebook.parse_group import privacy
from fetchworker.spiders.facebook.parse_markup import live_counts
from fetchworker.spiders.reading.counts import first_count
from fetchworker.spiders.reading.values import instant, link, text

if TYPE_CHECKING:
    from fetchworker.spiders.facebook.body import Body

_OBJECT = re.compile(r'data-store="&#123;&quot;object_id&quot;:(\d{5,25})&#125;"[^<>]{0,200}data-sigil="photo-stage')
_FULL = re.compile(r'data-full-size-href="([^"<>]{10,3000})"')
_LABEL = re.compile(r'<(?:i|img)\b[^<>]{0,6000}?\b(?:aria-label|alt)="([^"<>]{1,1000})"')
_VOICE = re.compile(r'<div id="voice_replace_id"[^<>]{0,200}>')
_ACTOR = re.compile(
    r'<a class="actor-link" href="([^"<>]{1,2000})"[^<>]{0,500}>\s{0,10}(?:<strong\b[^<>]{0,100}>)?([^<>]{1,300})<'
)
_OWNER = re.compile(r"/photo\.php\?fbid=\d+&amp;id=(\d+)")
_ENTITY = re.compile(r'"/wap/photo\.php","\w+",\{[^{}]{0,200}\bentity_id:(\d+)')
_STORY = re.compile(r"/story\.php\?story_fbid=(\d+)&amp;id=\d+")
_ALBUM = re.compile(r"[?;]set=pcb\.(\d+)")
_TIME = re.compile(r"<abbr\b[^<>]{0,100}&quot;time&quot;:(\d{9,11})\b")
_GROUP = re.compile(r"/groups/(\d{5,25})(?:[/?]|$)")
_NAME = re.compile(r"<h1\b[^<>]{0,300}>")
_MOST_HEADINGS = 10
_KIND = re.compile(r"</h1>\s{0,20}<div\b[^<>]{0,300}>([^<>]{2,80})<")
_MEMBERS = re.compile(
    r"(\d[\d.,'\u2019\u00a0\u202f ]{0,20})\s?(?:members?|mitglied\w*|membres?|miembros?|membros?|membri|leden|"
    r"członk\w+|medlem\w*|jäsen\w*|üye\w*|člen\w*|thành viên|anggota|участник\w*|учасник\w*|人のメンバー|人|명)",
    re.IGNORECASE,
)  # fmt: skip


def photo(body: Body) -> Post | None:
    """The picture of the page; the post it came with is in ``alt_ids``. None when the page shows none."""
    page = body.markup
    stage = _OBJECT.search(page)
    if stage is None:
        return None
    number, start = stage[1], stage.start()
    story = _STORY.search(page, start) or _ALBUM.search(page, start)
    time, wording = _TIME.search(page, start), _caption(page)
    counts = live_counts(page).get(number, {})
    return Post.draft(
        id=number,
        alt_ids=[story[1]] if story and story[1] != number else [],
        type="image",
        text=wording,
        created_at=instant(int(time[1])) if time else None,
        likes=counts.get("likes"),
        comments_count=counts.get("comments"),
        shares=counts.get("shares"),
        media=_media(page, start),
        author=_author(page),
        hashtags=hashtags(wording),
        url=f"{ids.HOME}/photo/?fbid={number}",
    )


def _caption(page: str) -> str | None:
    voice = _VOICE.search(page)
    return markup.words(markup.inner(page, voice.end(), "div")) if voice else None


def _media(page: str, start: int) -> list[Media]:
    full, label = _FULL.search(page, start), _LABEL.search(page, start)
    url = link(html.unescape(full[1])) if full else None
    alt = text(html.unescape(label[1])) if label else None
    return [Media.draft(type="image", url=url, alt=alt)] if url else []


def _author(page: str) -> Author | None:
    owner, actor = _OWNER.search(page) or _ENTITY.search(page), _ACTOR.search(page)
    if owner is None and actor is None:
        return None
    return Author.draft(
        id=owner[1] if owner else None,
        username=ids.username(html.unescape(actor[1])) if actor else None,
        name=text(html.unescape(actor[2])) if actor else None,
    )


def group(body: Body) -> Group | None:
    """The group of the page; None when it is of none."""
    where = _GROUP.search(body.meta.get("canonical", "")) or _GROUP.search(body.meta.get("og:url", ""))
    found = _heading(body)
    if where is None or found is None:
        return None
    name, start = found
    kind = _KIND.search(body.markup, start)
    members, description = _about(body.meta.get("description", ""), name)
    return Group.draft(
        id=where[1],
        name=name,
        privacy=privacy(text(html.unescape(kind[1]))) if kind else None,
        members=members,
        description=description,
        url=f"{ids.HOME}/groups/{where[1]}/",
    )


def _heading(body: Body) -> tuple[str, int] | None:
    """The group's name and where it stands; the site's own name is a heading too."""
    for match in islice(_NAME.finditer(body.markup), _MOST_HEADINGS):
        name = markup.words(markup.inner(body.markup, match.end(), "h1"))
        if name and name != "Facebook":
            return name, match.end()
    title = text(body.meta.get("og:title"))
    return (title, 0) if title else None


def _about(told: str, name: str) -> tuple[int | None, str | None]:
    """Members and description in a line such as ``<name> has 1,631 members. <description>``."""
    behind = told.partition(name)[2] if name in told else told
    match = _MEMBERS.search(behind[:200])
    if match is None:
        return None, text(behind.strip(" ."))
    return first_count(match[1].strip()), text(behind[match.end() :].partition(". ")[2].strip())
