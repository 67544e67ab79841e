"""From a page to items, one pure function per operation.

Each reads a body by its shape, whichever way it was asked for and whichever year it comes from, and raises
:class:`~fetchworker.errors.ContractError` when the page lacks what the operation promises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError
from fetchworker.items import Author, Comment, Item, Post
from fetchworker.items import Page as PageItem
from fetchworker.spiders.facebook import (
    feedback,
    parse_event,
    parse_group,
    parse_linked,
    parse_markup,
    parse_mobile,
    parse_profile,
    parse_story,
    parse_timeline,
    parse_viewer,
)
from fetchworker.spiders.facebook.body import Body, read
from fetchworker.spiders.reading.values import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.spiders.facebook.body import Document
    from fetchworker.spiders.facebook.parse_timeline import Timeline


def _argument(call: Call[Any], name: str) -> str | None:
    return text(getattr(call.params, name, None))


def _owner(call: Call[Any]) -> str | None:
    """The number of the account that the call names; a name that is a number is one."""
    user = _argument(call, "user")
    return _argument(call, "id") or (user if user and user.isdigit() else None) or text(call.state.get("user_id"))


def profile(page: Page, call: Call[Any]) -> Parsed:
    """The account, its first posts and where they go on."""
    body = read(page)
    wanted = _owner(call)
    found = parse_profile.header(body, wanted)
    if found is None or not text(found.get("name")):
        shell = parse_profile.shell(body)
        if shell is None or (wanted and shell.id and shell.id != wanted):
            raise ContractError("data.user.profile_header_renderer.user | og:title")
        return Parsed([shell])
    account = parse_profile.profile(found, body)
    listed = parse_timeline.of_account(body, account.id)
    return Parsed([account, *_listed(listed)] if listed is not None else [account])


def posts(page: Page, call: Call[Any]) -> Parsed:
    """One page of an account's posts, and the account where the page tells of it."""
    body = read(page)
    found = parse_profile.header(body, _owner(call))
    number = text(found.get("id")) if found is not None else _owner(call)
    listed = parse_timeline.of_account(body, number) or parse_timeline.drawn(body)
    if listed is None:
        raise ContractError("data.user.timeline_list_feed_units | data.node | article[data-ft]")
    account = [parse_profile.profile(found, body)] if found is not None and "profile_header_renderer" in found else []
    state = {"user_id": number} if number else {}
    return Parsed([*account, *_listed(listed)], listed.cursor, state)


def group(page: Page, call: Call[Any]) -> Parsed:
    """The group where the page tells of it, and one page of its posts."""
    body = read(page)
    found = parse_group.group(body)
    named = parse_group.draft(found) if found is not None and text(found.get("name")) else parse_mobile.group(body)
    number = (text(found.get("id")) if found is not None else None) or (named.id if named is not None else None)
    number = number or text(call.state.get("group_id"))
    listed = parse_timeline.of_group(body) or parse_timeline.drawn(body, group=number)
    if named is None and (listed is None or call.cursor is None):
        raise ContractError("data.group.name | h1")
    state = {"group_id": number} if number else {}
    items: list[Item] = [named] if named is not None else []
    return Parsed([*items, *_listed(listed)], listed.cursor if listed else None, state)


def _listed(listed: Timeline | None) -> Sequence[Item]:
    if listed is None:
        return []
    return [*listed.posts, PageItem.draft(next_cursor=listed.cursor, exhausted=listed.exhausted)]


def post(page: Page, call: Call[Any]) -> Parsed:
    """A post and the comments that come with it."""
    body, wanted = read(page), _argument(call, "id")
    raw = _story(body, wanted)
    if raw is not None:
        return Parsed([parse_story.post(raw), *feedback.comments(raw, parse_story.number(raw))])
    found = _drawn_post(body, wanted)
    if found is None:
        raise ContractError("data.node (Story) | article[data-ft] | userContentWrapper | SocialMediaPosting")
    return Parsed([found, *_linked_comments(body)])


def _story(body: Body, wanted: str | None) -> Document | None:
    """The wanted post; one that the page calls by another name only when it is alone, as ``pfbid`` names change."""
    found = [one for document in body.documents for one in parse_story.stories(document)]
    named = next((one for one in found if wanted is not None and parse_story.is_wanted(one, wanted)), None)
    if named is not None or (wanted is not None and wanted.isdigit()):
        return named
    numbers = {parse_story.number(one) for one in found}
    return found[0] if len(numbers) == 1 else None


def _drawn_post(body: Body, wanted: str | None) -> Post | None:
    """A post of the older sites; what its JSON-LD tells fills what the drawn one lacks."""
    told = parse_linked.posting(body)
    live = parse_markup.live_counts(body.markup)
    drawn = [parse_markup.post(one, live) for one in parse_markup.articles(body.markup)]
    drawn += [one for one in (parse_mobile.photo(body), *parse_markup.wrapped(body.markup)) if one is not None]
    found = [one for one in (*drawn, *([told] if told else [])) if _is_post(one, wanted)]
    if not found:
        return None
    return _filled(found[0], told) if told is not None and told.id == found[0].id else found[0]


def _is_post(one: Post, wanted: str | None) -> bool:
    return wanted is None or not wanted.isdigit() or wanted == one.id or wanted in one.alt_ids


def _filled(one: Post, told: Post) -> Post:
    values = one.__dict__
    for name, value in told.__dict__.items():
        if values.get(name) in (None, []) and value not in (None, []):
            values[name] = value
    if told.likes is not None:  # the scripts' count is that of one kind of reaction
        values["likes"] = told.likes
    if isinstance(values["author"], Author) and isinstance(told.author, Author):
        author = {name: value for name, value in values["author"].__dict__.items() if value is not None}
        values["author"] = Author.draft(**{**told.author.__dict__, **author})
    return one


def _linked_comments(body: Body) -> Sequence[Comment]:
    return parse_linked.comments(body)


def photo(page: Page, call: Call[Any]) -> Parsed:
    """A picture, and the comments below it where the page brings them."""
    body, wanted = read(page), _argument(call, "id")
    for raw in parse_viewer.pictures(body):
        found = parse_viewer.photo(raw)
        if wanted in (None, found.id, *found.alt_ids):
            return Parsed([found])
    drawn = parse_mobile.photo(body)
    if drawn is None or wanted not in (None, drawn.id, *drawn.alt_ids):
        raise ContractError("data.currMedia | photo-stage")
    return Parsed([drawn])


def video(page: Page, call: Call[Any]) -> Parsed:
    """A film or reel, and the comments below it where the page brings them."""
    body, wanted = read(page), _argument(call, "id")
    for raw in parse_viewer.films(body):
        found = parse_viewer.film(raw)
        if wanted in (None, found.id, *found.alt_ids):
            return Parsed([found])
    linked = parse_linked.film(body)
    if linked is None or wanted not in (None, linked.id, *linked.alt_ids):
        raise ContractError("data.video | Video | VideoObject")
    return Parsed([linked, *_linked_comments(body)])


def events(page: Page, call: Call[Any]) -> Parsed:  # noqa: ARG001  # the signature of every parser
    """The events that an account or group lists."""
    found = parse_event.events(read(page))
    if found is None:
        raise ContractError("pageItems | upcoming_events | past_events")
    return Parsed([*found[0], found[1]])


def event(page: Page, call: Call[Any]) -> Parsed:
    """One event."""
    found = parse_event.event(read(page), _argument(call, "id"))
    if found is None:
        raise ContractError("data.event")
    return Parsed([found])
