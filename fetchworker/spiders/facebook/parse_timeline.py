"""Lists of posts: timelines of accounts and groups in Comet data, and those that the older sites draw (pure).

An answer brings the first post in ``edges``, each further one as a document of its own (``label`` …``$stream$``…), and
where the list goes on in the last. Suggestions and advertisements are in the same page: posts count when they stand in
the list of the account or group that the page is of, or are streamed into it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fetchworker.spiders.facebook import parse_markup, parse_story
from fetchworker.spiders.reading.values import dig, flag, ident, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fetchworker.items import Post
    from fetchworker.spiders.facebook.body import Body, Document

_HOLDERS = ("user", "node", "page", "group", "profile")
_ACCOUNT = ("timeline_list_feed_units", "timeline_feed_units", "posts")
_GROUP = ("group_feed",)


@dataclass(frozen=True, slots=True)
class Timeline:
    """One page of a list: its posts, where the next one begins, whether it is the last (None: unknown)."""

    posts: Sequence[Post]
    cursor: str | None
    exhausted: bool | None


def of_account(body: Body, number: str | None) -> Timeline | None:
    """The posts of the account with this number (of any, when it is None)."""
    return _timeline(body, _ACCOUNT, number)


def of_group(body: Body) -> Timeline | None:
    """The posts of the page's group."""
    return _timeline(body, _GROUP, None)


def _timeline(body: Body, names: Iterable[str], number: str | None) -> Timeline | None:
    lists = list(_connections(body, names, number))
    streamed = list(_streamed(body))
    if not lists and not streamed:
        return None
    nodes = [dig(edge, "node") for connection in lists for edge in sequence(connection.get("edges"))]
    found = [story for node in (*nodes, *streamed) for story in parse_story.stories(node)]
    info = next((info for info in _infos(body, lists) if info), {})
    more = flag(info.get("has_next_page"))
    cursor = text(info.get("end_cursor")) if more is not False else None
    return Timeline(_posts(found), cursor, None if more is None else not more)


def _connections(body: Body, names: Iterable[str], number: str | None) -> Iterator[Document]:
    for document in body.documents:
        for holder_name in _HOLDERS:
            holder = mapping(dig(document, "data", holder_name))
            if number is not None and ident(holder.get("id")) not in (None, number):
                continue
            for name in names:
                found = holder.get(name)
                if isinstance(found, dict) and isinstance(found.get("edges"), list):
                    yield found


def _streamed(body: Body) -> Iterator[Document]:
    """Posts that an answer brings as documents of their own."""
    for document in body.documents:
        label = text(document.get("label")) or ""
        node = dig(document, "data", "node") if label else None
        if isinstance(node, dict) and parse_story.is_story(node):
            yield node


def _infos(body: Body, lists: Iterable[Document]) -> Iterator[Document]:
    """Where lists go on: beside their posts, or in a document of its own."""
    for connection in lists:
        if isinstance(connection.get("page_info"), dict):
            yield connection["page_info"]
    for document in body.documents:
        found = dig(document, "data", "page_info")
        if isinstance(found, dict) and document.get("label"):
            yield found


def _posts(found: Iterable[Document]) -> list[Post]:
    posts: dict[str | None, Post] = {}
    for story in found:
        posts.setdefault(parse_story.number(story), parse_story.post(story))
    return list(posts.values())


def drawn(body: Body, *, group: str | None = None) -> Timeline | None:
    """The posts of a page, or of an answer, of the older sites."""
    live = parse_markup.live_counts(body.markup)
    posts = [parse_markup.post(one, live, group=group) for one in parse_markup.articles(body.markup)]
    posts = posts or parse_markup.wrapped(body.markup)
    cursor = parse_markup.next_page(body.markup)
    if not posts and cursor is None:
        return None
    return Timeline(posts, cursor, exhausted=cursor is None)
