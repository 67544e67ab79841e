"""Where the generations of the site keep an account, threads of posts, people: found by shape, given back in one form.

Paths differ by query and year (``userData.user``, ``xdt_text_app_user``; ``mediaData.threads``, ``feedData.edges``),
the objects at their ends do not. Pages carry other people's posts and accounts beside the wanted ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fetchworker.spiders.instagram.ids import media_pk, pk_of
from fetchworker.spiders.metafamily.body import Body, walk
from fetchworker.spiders.reading.values import dig, flag, ident, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fetchworker.contracts import Call
    from fetchworker.spiders.metafamily.relay import Document

#: objects that nothing of their own kind stands in
_CLOSED = frozenset({"thread_items", "text_post_app_info"})
_ACCOUNT_KEYS = frozenset({"user", "xdt_text_app_user", "xdt_text_app_user_by_username"})
#: lists of threads may be empty; elsewhere an empty list may be one of anything
_LISTING_KEYS = frozenset({"mediaData", "feedData", "data", "searchResults"})
_PERMALINK = re.compile(r"https?://(?:www\.)?threads\.(?:net|com)/(?:@[^/?#]+/post|t)/(?P<code>[A-Za-z0-9_-]{5,64})")
_ROUTE_USER = re.compile(r'"props"\s*:\s*\{\s*"user_id"\s*:\s*"(\d{1,20})"')

Thread = list["Document"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the call asked for; None where it did not say (every candidate fits then)."""

    user: str | None = None
    number: str | None = None
    post: str | None = None

    @classmethod
    def account(cls, call: Call[Any]) -> Wanted:
        """The account of a call."""
        user = text(getattr(call.params, "user", None))
        return cls(user=user.lower() if user else None, number=text(getattr(call.params, "id", None)))

    @classmethod
    def media(cls, call: Call[Any], *, key: str = "id") -> Wanted:
        """The post of a call; ``key`` names the parameter that holds its number."""
        number = media_pk(text(getattr(call.params, key, None)))
        return cls(post=number or pk_of(text(getattr(call.params, "shortcode", None))))


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of threads, each a list of posts; where the next page begins."""

    threads: Sequence[Thread]
    cursor: str | None = None
    more: bool | None = None
    key: str = ""


def number_of(post: Document) -> str | None:
    """A post's number, from its ids or its code."""
    own = media_pk(ident(post.get("pk"))) or media_pk(ident(post.get("id")))
    return own or pk_of(text(post.get("code")))


def is_post(value: Any) -> bool:
    """Whether an object is a post: it has a number, and what posts alone have."""
    if not isinstance(value, dict) or ("text_post_app_info" not in value and "taken_at" not in value):
        return False
    return number_of(value) is not None


# ── accounts ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def account(body: Body, wanted: Wanted) -> Document | None:
    """The wanted account, facts of all queries of the page put together; None when the page names no such account."""
    merged: Document | None = None
    for key, node in walk(body.documents, _CLOSED):
        if key not in _ACCOUNT_KEYS or not (text(node.get("username")) or ident(node.get("pk"))):
            continue
        if merged is None and _fits(node, wanted):
            merged = dict(node)
        elif merged is not None and _same(merged, node):
            merged.update({name: value for name, value in node.items() if merged.get(name) is None})
    return merged


def _fits(node: Document, wanted: Wanted) -> bool:
    """An account asked for by number may come with another number (that of Instagram), so only names are compared."""
    name = text(node.get("username"))
    return wanted.user is None or name is None or name.lower() == wanted.user


def _same(one: Document, other: Document) -> bool:
    for key in ("pk", "username"):
        if one.get(key) and other.get(key):
            return bool(one[key] == other[key])
    return False


def user_number(body: Body, found: Document | None) -> str | None:
    """The number that later queries take: of the account, or of the route to its page."""
    if found is not None:
        return ident(found.get("pk")) or ident(found.get("id"))
    if body.html is not None:
        match = _ROUTE_USER.search(body.html)
        return match[1] if match else None
    for key, node in walk(body.documents):
        if key == "props" and ident(node.get("user_id")):
            return ident(node["user_id"])
    return None


# ── threads ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def listings(body: Body) -> list[Listing]:
    """All lists of threads of a body, in their order."""
    return [found for key, node in walk(body.documents, _CLOSED) if (found := _listing(key, node)) is not None]


def _listing(key: str, node: Document) -> Listing | None:
    edges = node.get("edges")
    if isinstance(edges, list):
        threads = [thread for edge in edges if (thread := _thread(edge))]
        if not threads and (edges or key not in _LISTING_KEYS or "page_info" not in node):
            return None
        info = mapping(node.get("page_info"))
        more = flag(info.get("has_next_page"))
        return Listing(threads, text(info.get("end_cursor")) if more is not False else None, more, key)
    whole = [node.get("containing_thread"), *sequence(node.get("reply_threads"))]
    parts = whole if isinstance(whole[0], dict) else node.get("threads")
    threads = [thread for part in sequence(parts) if (thread := _posts(part))]
    empty = not threads and isinstance(parts, list) and key in _LISTING_KEYS
    return Listing(threads, key=key) if threads or empty else None


def _thread(edge: Any) -> Thread:
    node = dig(edge, "node")
    holders = (edge, dig(edge, "text_post_app_thread"), node, dig(node, "text_post_app_thread"), dig(node, "thread"))
    return next((posts for holder in holders if (posts := _posts(holder))), [])


def _posts(holder: Any) -> Thread:
    items = [dig(item, "post") for item in sequence(dig(holder, "thread_items"))]
    return [post for post in items if is_post(post)]


def of_account(body: Body, wanted: Wanted) -> Listing | None:
    """The list of an account's threads; threads that it has no part in are somebody's else and left out."""
    for found in listings(body):
        if wanted.user is None or not found.threads:
            return found
        own = [thread for thread in found.threads if any(_by(post, wanted.user) for post in thread)]
        if own:
            return Listing(own, found.cursor, found.more, found.key)
    return None


def _by(post: Document, user: str) -> bool:
    name = text(dig(post, "user", "username"))
    return name is not None and name.lower() == user


# ── one post ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def target(page_url: str | None, meta: dict[str, str], wanted: Wanted) -> str | None:
    """The number of the post that a page is about: as asked, or as the page's address says (share links)."""
    if wanted.post:
        return wanted.post
    for address in (meta.get("og:url"), page_url):
        match = _PERMALINK.match(address or "")
        if match:
            return pk_of(match["code"])
    return None


def post(body: Body, number: str | None) -> Document | None:
    """The post with this number; without one the first that stands by itself or begins a thread."""
    candidates = list(_alone(body))
    for found in listings(body):
        candidates.extend(post for thread in found.threads for post in thread)
    return next((post for post in candidates if number is None or number_of(post) == number), None)


def _alone(body: Body) -> Iterator[Document]:
    for key, node in walk(body.documents, _CLOSED):
        if key in ("", "media") and is_post(node):
            yield node


def replies(body: Body, parent: Document | None, number: str | None) -> Listing | None:
    """Threads that answer a post, without the post's own and without what is only recommended beside it."""
    writer = text(dig(parent, "user", "username")) if parent else None
    for found in listings(body):
        holds = any(number_of(post) == number for thread in found.threads for post in thread)
        answers = [thread for thread in found.threads if _answers(thread, number, writer, beside=holds)]
        if holds or answers or not found.threads:
            return Listing(answers, found.cursor, found.more, found.key)
    return None


def _answers(thread: Thread, number: str | None, writer: str | None, *, beside: bool) -> bool:
    if any(number_of(post) == number for post in thread):
        return False
    info = mapping(thread[0].get("text_post_app_info"))
    to = text(dig(info.get("reply_to_author"), "username"))
    if info.get("is_reply") is False and to is None:
        return False
    # a page of replies alone says whom they answer; one that holds the post holds nothing else in the same list
    return to == writer if to and writer else beside or to is not None or info.get("is_reply") is True


def likers(body: Body) -> list[Document] | None:
    """Accounts that like a post; None when the body has no such list."""
    for key, node in walk(body.documents, _CLOSED):
        if key == "likers":
            people = node.get("users")
            people = people if isinstance(people, list) else [dig(edge, "node") for edge in sequence(node.get("edges"))]
            return [one for one in people if isinstance(one, dict) and text(one.get("username"))]
    return None
