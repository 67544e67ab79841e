"""From a page to items, one pure function per operation.

Each reads a body by its shape, whichever way it was asked for and whichever year it comes from, and raises
:class:`~fetchworker.errors.ContractError` when the page lacks what the operation promises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker import items
from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError, OutcomeError
from fetchworker.items import Author, Item
from fetchworker.spiders.instagram import parse_media, parse_search, parse_shapes, parse_shell, parse_user
from fetchworker.spiders.instagram.parse_body import Body, Document, read
from fetchworker.spiders.instagram.parse_shapes import Account, Listing, Wanted, media_number
from fetchworker.spiders.reading.values import text

if TYPE_CHECKING:
    from collections.abc import Sequence

#: ``partial`` of a list that ended before its own total
LIMITED = "logged_out_limit"
#: ``partial`` of the list that a private account's profile comes with
PRIVATE = "private"


def profile(page: Page, call: Call[Any]) -> Parsed:
    """The account, its first posts and where they go on."""
    body, wanted = read(page), Wanted.account(call)
    owner = parse_shapes.account(body, wanted)
    if owner is None or not owner.named:
        shell = parse_shell.profile(body.meta(), body.html or "", wanted) if _is_shell(body) else None
        if shell is None:
            raise ContractError("data.user | graphql.user | xig_user_by_username | og:title")
        return Parsed([shell])
    found = parse_shapes.timeline(body, owner)
    listed = _posts(found[0], owner, call, total=parse_user.profile(owner).posts_count) if found else []
    return Parsed([parse_user.profile(owner), *listed])


def posts(page: Page, call: Call[Any]) -> Parsed:
    """One page of an account's posts, and the account where the page tells of it."""
    body = read(page)
    owner = parse_shapes.account(body, Wanted.account(call))
    found = parse_shapes.timeline(body, owner)
    return _listed(
        found, owner, call, path="edge_owner_to_timeline_media | polaris_ordered_timeline_connection | items"
    )


def reels(page: Page, call: Call[Any]) -> Parsed:
    """One page of an account's reels, and the account where the page tells of it."""
    body = read(page)
    owner = parse_shapes.account(body, Wanted.account(call))
    found = parse_shapes.clips(body, owner)
    return _listed(found, owner, call, path="polaris_clips_connection | clips connection | items", reel=True)


def post(page: Page, call: Call[Any]) -> Parsed:
    """A post, its owner's facts, its first comments and where they go on."""
    body, wanted = read(page), Wanted.post(call)
    raw = parse_shapes.media(body, wanted)
    if raw is None or media_number(raw) is None:
        return Parsed([_shell_post(body, wanted)])
    found: list[Item] = [parse_media.post(raw)]
    owner = raw.get("owner") or raw.get("user")
    if isinstance(owner, dict) and parse_user.has_facts(owner):
        found.append(parse_user.profile(Account(owner, _owner_flavour(raw))))
    listing = parse_shapes.comments(body, raw)
    if listing is not None:
        found += _comments(listing, media_number(raw), call, total=parse_media.comments_count(raw))
    return Parsed(found)


def comments(page: Page, call: Call[Any]) -> Parsed:
    """One page of a post's comments."""
    body, wanted = read(page), Wanted.post(call)
    raw = parse_shapes.media(body, wanted)
    listing = parse_shapes.comments(body, raw)
    if listing is None and raw is not None and parse_media.comments_count(raw) == 0:
        listing = Listing([], 0, None, more=False)
    if listing is None:
        raise ContractError("edge_media_to_parent_comment | comments_connection | comments")
    number = (media_number(raw) if raw is not None else None) or wanted.media or text(call.state.get("media"))
    total = parse_media.comments_count(raw) if raw is not None else None
    state = {"media": number} if number else {}
    return Parsed(_comments(listing, number, call, total=total), listing.cursor, state)


def search(page: Page, call: Call[Any]) -> Parsed:
    """One page of a search's hits."""
    body = read(page)
    found, query = parse_search.results(body), text(getattr(call.params, "query", None))
    popular = parse_search.popular(body) if found is None else None
    if popular is not None:
        found = list(parse_search.popular_results(popular, call.seen))
    if found is None:
        raise ContractError("topsearch users | xig_logged_out_popular_search_media_info")
    cursor, words = popular.cursor if popular else None, parse_search.keywords(body)
    hits = sum(isinstance(item, items.SearchResult) for item in found)
    found.append(
        items.SearchPage.draft(
            query=query,
            page=call.page,
            next_cursor=cursor,
            results_count=hits,
            extra={"related_keywords": words} if words else {},
        )
    )
    return Parsed(found, cursor)


def _listed(
    found: tuple[Listing, str] | None, owner: Account | None, call: Call[Any], *, path: str, reel: bool = False
) -> Parsed:
    """The list that was asked for.

    Raises:
        OutcomeError: ``private``: the account shows it to its followers alone.
        ContractError: there is none in the page.
    """
    shown = found is not None and bool(found[0].nodes)
    if owner is not None and owner.raw.get("is_private") is True and not shown and not call.seen:
        message = "the account is private: guests are shown none of its posts"
        raise OutcomeError("private", message, evidence=["instagram_private_account"])
    if found is None:
        raise ContractError(path)
    listing, flavour = found
    account = [parse_user.profile(owner)] if owner is not None and parse_user.has_facts(owner.raw) else []
    total = account[0].posts_count if account and not reel else None
    told = {
        "user_id": owner.pk if owner else None,
        "username": owner.username if owner else None,
        "scoped_id": owner.scoped_id if owner else None,
        "flavour": flavour,
    }
    state = {name: value for name, value in told.items() if value}
    return Parsed([*account, *_posts(listing, owner, call, total=total, reel=reel)], listing.cursor, state)


def _posts(
    listing: Listing, owner: Account | None, call: Call[Any], *, total: int | None, reel: bool = False
) -> list[Item]:
    writer = _owner(owner, call)
    found = [parse_media.post(node, owner=writer, reel=reel) for node in listing.nodes]
    private = owner is not None and owner.raw.get("is_private") is True
    return [*found, _page(listing, call, len(found), total=total, private=private)]


def _owner(owner: Account | None, call: Call[Any]) -> Author | None:
    """Whose list this is: as the page says, as an earlier page said, as the call says."""
    number = (owner.pk if owner else None) or call.state.get("user_id") or getattr(call.params, "id", None)
    name = (owner.username if owner else None) or call.state.get("username") or getattr(call.params, "user", None)
    full = text(owner.raw.get("full_name")) if owner else None
    return Author.draft(id=text(number), username=text(name), name=full) if text(number) or text(name) else None


def _owner_flavour(raw: Document) -> str:
    return "app" if "code" in raw else "graph"


def _comments(listing: Listing, number: str | None, call: Call[Any], *, total: int | None) -> Sequence[Item]:
    found = [parse_media.comment(node, number) for node in listing.nodes]
    told = len(found) + sum(one.replies_count or 0 for one in found)
    return [*found, _page(listing, call, told, total=total)]


def _page(listing: Listing, call: Call[Any], count: int, *, total: int | None, private: bool = False) -> items.Page:
    total = listing.total if listing.total is not None else total
    exhausted = None if listing.more is None else not listing.more
    # a list entered in the middle cannot tell how much came before
    whole = call.cursor is None or call.seen > 0
    short = whole and exhausted is True and total is not None and call.seen + count < total
    # guests are not told how many posts a private account has
    hidden = private and not listing.nodes and exhausted is not False
    partial = PRIVATE if hidden else (PRIVATE if private else LIMITED) if short else None
    return items.Page.draft(next_cursor=listing.cursor, total=total, exhausted=exhausted, partial=partial)


def _is_shell(body: Body) -> bool:
    """Pages of the ``sharedData`` years promise the record itself: their meta tags stand in for nothing."""
    return body.html is not None and not any("entry_data" in document for document in body.documents)


def _shell_post(body: Body, wanted: Wanted) -> Item:
    shell: Item | None = None
    if _is_shell(body):
        shell = parse_shell.post(body.meta(), wanted) or parse_shell.embed(body.html or "", wanted)
    if shell is None:
        raise ContractError("shortcode_media | xig_polaris_media | items | og:url")
    return shell
