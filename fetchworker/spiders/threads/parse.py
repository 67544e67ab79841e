"""From a page to items, one pure function per operation.

Each reads a body by its shape, whichever way it was asked for and whichever year it comes from. A page that lacks what
the operation promises is a :class:`~fetchworker.errors.ContractError`, one that leaves everything to scripts an
:class:`~fetchworker.errors.OutcomeError` (``challenge``); so is the list of a private account (``private``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker import items
from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError, OutcomeError
from fetchworker.spiders.metafamily.body import Body, read
from fetchworker.spiders.reading.values import count
from fetchworker.spiders.threads import parse_post, parse_shapes, parse_shell
from fetchworker.spiders.threads.parse_shapes import Listing, Thread, Wanted, number_of

if TYPE_CHECKING:
    from fetchworker.items import Item
    from fetchworker.spiders.metafamily.relay import Document

#: ``partial`` of an account whose facts could not be had
NAME_ONLY = "name_only"
#: the cursor of a page that told an account's number and nothing else, before the cursor that was asked for
RESOLVED = "resolved:"
_PAGE = re.compile(r"<(?:html|head|script|body)\b", re.IGNORECASE)
_VIEWS = re.compile(r'"BarcelonaLoggedOutExpansionGating"\s*,\s*\[\]\s*,\s*\{\s*"view_counts"\s*:\s*(\d{1,15})')


def profile(page: Page, call: Call[Any]) -> Parsed:
    """The account and such posts as come with it; or its number, by which to ask for it."""
    body, wanted = read(page), Wanted.account(call)
    owner = parse_shapes.account(body, wanted)
    if owner is not None and parse_post.has_facts(owner):
        found = parse_shapes.of_account(body, wanted)
        return Parsed([parse_post.profile(owner), *(_listed(found) if found else ())])
    if call.cursor is None and (number := parse_shapes.user_number(body, owner)):
        return _resolved(number, owner, call)
    if owner is not None:
        return Parsed([parse_post.profile(owner)])
    shell = parse_shell.profile(body.meta(), wanted)
    if shell is None:
        raise _nothing(body, "userData.user | xdt_text_app_user | user", "the account")
    return Parsed([shell])


def _resolved(number: str, owner: Document | None, call: Call[Any]) -> Parsed:
    """On to the queries that take the account's number; what is known of it waits."""
    known = [parse_post.profile(owner)] if owner is not None else []
    for one in known:
        one.__dict__["partial"] = NAME_ONLY
    return Parsed(known, f"{RESOLVED}{call.cursor or ''}", {"user_id": number}, held=bool(known))


def posts(page: Page, call: Call[Any]) -> Parsed:
    """One page of an account's posts, and the account where the page tells of it."""
    return _of_account(page, call, "mediaData | feedData | thread_items", "posts")


def replies(page: Page, call: Call[Any]) -> Parsed:
    """One page of an account's replies, each behind the post it answers; or of the replies to a post."""
    wanted = Wanted.media(call, key="post")
    if wanted.post is None:
        return _of_account(page, call, "mediaData | reply_threads | thread_items", "replies")
    body = read(page)
    parent = parse_shapes.post(body, wanted.post)
    found = parse_shapes.replies(body, parent, wanted.post)
    if found is None:
        raise _nothing(body, "data.edges | reply_threads", "replies")
    return Parsed(_answers(found, wanted.post, parent), found.cursor)


def _of_account(page: Page, call: Call[Any], path: str, what: str) -> Parsed:
    body, wanted = read(page), Wanted.account(call)
    owner = parse_shapes.account(body, wanted)
    number = parse_shapes.user_number(body, owner)
    told = [] if owner is None or not parse_post.has_facts(owner) else [parse_post.profile(owner)]
    state = {"user_id": number} if number and not call.state.get("user_id") else {}
    found = parse_shapes.of_account(body, wanted)
    if found is not None:
        first = [] if call.state.get("told") else told
        return Parsed([*first, *_listed(found)], found.cursor, state | {"told": True})
    if told and told[0].private:
        evidence = ["threads_private_account"]
        raise OutcomeError("private", f"the account is private: guests are shown none of its {what}", evidence=evidence)
    if state:
        return Parsed(told, f"{RESOLVED}{call.cursor or ''}", state | {"told": bool(told)})
    raise _nothing(body, path, what)


def _listed(found: Listing) -> list[Item]:
    return [*(item for thread in found.threads for item in _thread(thread)), _page(found)]


def _thread(thread: Thread, answers: str | None = None) -> list[Item]:
    """The posts of a thread; each but the first answers the one before it."""
    before = [answers, *(number_of(post) for post in thread)]
    return [parse_post.post(post, reply_to=to) for post, to in zip(thread, before, strict=False)]


def _page(found: Listing, total: int | None = None) -> items.Page:
    exhausted = None if found.more is None else not found.more
    return items.Page.draft(next_cursor=found.cursor, total=total, exhausted=exhausted)


def _answers(found: Listing, number: str | None, parent: Document | None) -> list[Item]:
    total = parse_post.post(parent).comments_count if parent is not None else None
    return [*(item for thread in found.threads for item in _thread(thread, number)), _page(found, total)]


def post(page: Page, call: Call[Any]) -> Parsed:
    """A post, the first replies to it, and where they go on."""
    body, meta = read(page), {}
    if body.html is not None:
        meta = body.meta()
    number = parse_shapes.target(page.url, meta, Wanted.media(call))
    raw = parse_shapes.post(body, number)
    if raw is None:
        shell = parse_shell.post(meta, body.html, number) if body.html is not None else None
        if shell is None:
            raise _nothing(body, "data.edges | containing_thread | media", "the post")
        return Parsed([shell])
    number = number_of(raw)
    found: list[Item] = [parse_post.post(raw, views=_views(body))]
    below = parse_shapes.replies(body, raw, number)
    return Parsed([*found, *(_answers(below, number, raw) if below else ())])


def _views(body: Body) -> int | None:
    match = _VIEWS.search(body.html) if body.html is not None else None
    return count(int(match[1])) if match else None


def likers(page: Page, call: Call[Any]) -> Parsed:  # noqa: ARG001  # the signature of every parser
    """Accounts that like a post, as many as the site gives in one go."""
    body = read(page)
    people = parse_shapes.likers(body)
    if people is None:
        raise _nothing(body, "likers.users", "who likes the post")
    return Parsed([*map(parse_post.profile, people), items.Page.draft(exhausted=True)])


def _nothing(body: Body, path: str, what: str) -> Exception:
    """A page is expected to hold data only where the server puts it in; an answer always is."""
    return parse_shell.challenge(what) if _PAGE.search(body.html or "") else ContractError(path)
