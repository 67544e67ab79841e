"""Where the generations of the site keep an account, a post, a list: found by shape, given back in one form.

Pages carry other people's posts and accounts beside the wanted ones (recommendations, related accounts), so
whatever names itself is compared with what was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fetchworker.spiders.instagram.ids import media_pk, pk_of
from fetchworker.spiders.reading.values import count, dig, flag, ident, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fetchworker.contracts import Call
    from fetchworker.spiders.instagram.parse_body import Body, Document

_WRAPPERS = ("data", "graphql", "context", "gql_data", "result", "payload")
_USER_KEYS = ("user", "xig_user_by_username", "xig_user_by_igid_v2", "node", "fetch__XDTUserDict")
_MEDIA_KEYS = ("shortcode_media", "xdt_shortcode_media", "xig_polaris_media", "media")
_TIMELINE_KEYS = ("edge_owner_to_timeline_media", "polaris_ordered_timeline_connection")
_TIMELINE_ROOTS = ("xdt_api__v1__feed__user_timeline_graphql_connection",)
_CLIPS_KEYS = ("polaris_clips_connection", "edge_felix_video_timeline")
_CLIPS_ROOTS = ("xdt_api__v1__clips__user__connection_v2", "xdt_api__v1__clips__user__connection")
_COMMENT_KEYS = ("edge_media_to_parent_comment", "edge_media_to_comment", "comments_connection")
_COMMENT_ROOTS = ("xdt_api__v1__media__media_id__comments__connection",)
_COMMENT_PREVIEWS = ("edge_media_preview_comment",)
_DEEPEST = 5


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the call asked for; None where it did not say (every candidate fits then)."""

    user: str | None = None
    user_id: str | None = None
    media: str | None = None

    @classmethod
    def account(cls, call: Call[Any]) -> Wanted:
        user, number = _argument(call, "user"), _argument(call, "id")
        return cls(user=user.lower() if user else None, user_id=number)

    @classmethod
    def post(cls, call: Call[Any]) -> Wanted:
        code = _argument(call, "shortcode")
        return cls(media=media_pk(_argument(call, "id")) or pk_of(code))

    def is_account(self, raw: Document) -> bool:
        """Whether an account is, or may be, the wanted one."""
        name, numbers = text(raw.get("username")), {ident(raw.get("pk")), ident(raw.get("id"))} - {None}
        if self.user_id and numbers:
            return self.user_id in numbers
        return not (self.user and name) or name.lower() == self.user

    def is_media(self, raw: Document) -> bool:
        """Whether a post is, or may be, the wanted one."""
        number = media_number(raw)
        return self.media is None or number is None or number == self.media


def _argument(call: Call[Any], name: str) -> str | None:
    return text(getattr(call.params, name, None))


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a list: its nodes, how many there are in all, where the next page begins."""

    nodes: Sequence[Document]
    total: int | None = None
    cursor: str | None = None
    more: bool | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """An account as the page tells it; ``flavour`` names the generation that its cursors belong to."""

    raw: Document
    flavour: str

    @property
    def pk(self) -> str | None:
        """The numeric id; the ``id`` of the 2026 generation is another, app-scoped one."""
        return ident(self.raw.get("pk")) or (None if self.flavour == "polaris" else ident(self.raw.get("id")))

    @property
    def scoped_id(self) -> str | None:
        """The app-scoped id (17841…), which later pages of the 2026 generation ask for."""
        found = ident(self.raw.get("fbid")) or (ident(self.raw.get("id")) if self.flavour == "polaris" else None)
        return found if found != ident(self.raw.get("pk")) else None

    @property
    def username(self) -> str | None:
        return text(self.raw.get("username"))

    @property
    def named(self) -> bool:
        return bool(self.pk or self.username)


def media_number(raw: Document) -> str | None:
    """The number of a media, from its ids or its shortcode."""
    own = media_pk(ident(raw.get("pk"))) or media_pk(ident(raw.get("id")))
    return own or pk_of(text(raw.get("shortcode")) or text(raw.get("code")))


def holders(body: Body) -> Iterator[Document]:
    """The objects that directly hold the roots of a body."""
    for document in body.documents:
        yield from _unwrapped(document, 0)


def _unwrapped(document: Document, depth: int) -> Iterator[Document]:
    yield document
    if depth >= _DEEPEST:
        return
    for key in _WRAPPERS:
        if isinstance(document.get(key), dict):
            yield from _unwrapped(document[key], depth + 1)
    for pages in mapping(document.get("entry_data")).values():
        for page in sequence(pages):
            if isinstance(page, dict):
                yield from _unwrapped(page, depth + 1)


def account(body: Body, wanted: Wanted) -> Account | None:
    """The wanted account, facts of all queries of the page put together; None when the page names no such account."""
    candidates = list(_accounts(body))
    # a query's result may hold the number alone: the name that another result gives it decides
    others = {found.pk for found in candidates if not wanted.is_account(found.raw)} - {None}
    merged: Account | None = None
    for found in candidates:
        if not wanted.is_account(found.raw) or found.pk in others:
            continue
        if merged is None:
            merged = Account(dict(found.raw), found.flavour)
        elif _same(merged, found):
            merged.raw.update({key: value for key, value in found.raw.items() if merged.raw.get(key) is None})
    return merged


def _same(one: Account, other: Account) -> bool:
    if one.pk and other.pk:
        return one.pk == other.pk
    return one.username is None or other.username is None or one.username == other.username


def _accounts(body: Body) -> Iterator[Account]:
    for holder in holders(body):
        if holder.get("type") == "Profile" and "username" in holder:
            yield Account(holder, "embed")
        for key in _USER_KEYS:
            raw = holder.get(key)
            inner = dig(raw, "reel", "user") or dig(raw, "reel", "owner")
            if isinstance(inner, dict):
                yield Account(inner, "graph")
            elif isinstance(raw, dict) and (key != "node" or any(name in raw for name in _TIMELINE_KEYS + _CLIPS_KEYS)):
                yield Account(raw, _flavour(key, raw))


def _flavour(key: str, raw: Document) -> str:
    if key.startswith("xig_") or key == "node" or any(name.startswith("polaris_") for name in raw):
        return "polaris"
    return "app" if "pk" in raw else "graph"


def timeline(body: Body, owner: Account | None) -> tuple[Listing, str] | None:
    """The account's posts and the generation that the cursor belongs to."""
    found = _listing_of(owner, _TIMELINE_KEYS)
    if found:
        return found
    for holder in holders(body):
        for key in _TIMELINE_ROOTS:
            if isinstance(holder.get(key), dict):
                return listing(holder[key]), "xdt"
        if isinstance(holder.get("graphql_media"), list):
            nodes = [dig(entry, "shortcode_media") for entry in holder["graphql_media"]]
            return Listing([node for node in nodes if isinstance(node, dict)]), "embed"
        if _is_feed(holder):
            return _feed(holder), "app"
    return None


def clips(body: Body, owner: Account | None) -> tuple[Listing, str] | None:
    """The account's reels and the generation that the cursor belongs to."""
    found = _listing_of(owner, _CLIPS_KEYS)
    if found:
        return found
    for holder in holders(body):
        for key in _CLIPS_ROOTS:
            if isinstance(holder.get(key), dict):
                return listing(holder[key]), "xdt"
        if _is_feed(holder):
            return _feed(holder), "app"
    return None


def _listing_of(owner: Account | None, keys: Sequence[str]) -> tuple[Listing, str] | None:
    for key in keys:
        raw = owner.raw.get(key) if owner else None
        if isinstance(raw, dict) and (isinstance(raw.get("edges"), list) or "page_info" in raw):
            return listing(raw), "polaris" if key.startswith("polaris_") else "graph"
    return None


def listing(raw: Document) -> Listing:
    """A connection (``edges``, ``page_info``, ``count``) as a list."""
    nodes = [_node(edge) for edge in sequence(raw.get("edges"))]
    info = mapping(raw.get("page_info"))
    more = flag(info.get("has_next_page"))
    cursor = text(info.get("end_cursor")) if more is not False else None
    return Listing([node for node in nodes if node], count(raw.get("count")), cursor, more)


def _node(edge: Any) -> Document | None:
    node = dig(edge, "node")
    media = dig(node, "media")
    found = media if isinstance(media, dict) else node
    return found if isinstance(found, dict) else None


def _is_feed(holder: Document) -> bool:
    return isinstance(holder.get("items"), list) and ("paging_info" in holder or "more_available" in holder)


def _feed(holder: Document) -> Listing:
    nodes = [dig(entry, "media") or entry for entry in holder["items"]]
    paging = mapping(holder.get("paging_info"))
    more = flag(paging.get("more_available"))
    more = flag(holder.get("more_available")) if more is None else more
    cursor = (ident(paging.get("max_id")) or ident(holder.get("next_max_id"))) if more else None
    return Listing([node for node in nodes if isinstance(node, dict)], None, cursor, more)


def media(body: Body, wanted: Wanted) -> Document | None:
    """The wanted post; comments that stand beside it are put into it."""
    for holder in holders(body):
        for key in _MEDIA_KEYS:
            if isinstance(holder.get(key), dict):
                found = _ungated(holder[key])
                if found is not None and wanted.is_media(found):
                    return found
        items = holder.get("items") or dig(holder, "xdt_api__v1__media__shortcode__web_info", "items")
        for item in sequence(items):
            if isinstance(item, dict) and media_number(item) is not None and wanted.is_media(item):
                return item
    return None


def _ungated(raw: Document) -> Document | None:
    if "if_not_gated_logged_out" not in raw:
        return raw
    inner = raw["if_not_gated_logged_out"]
    inner = dig(inner, 0) if isinstance(inner, list) else inner
    if not isinstance(inner, dict):
        # a page of comments says nothing of the post itself
        return {"comments_connection": raw["comments_connection"]} if raw.get("comments_connection") else None
    beside = {key: raw[key] for key in ("__typename", "comments_connection") if raw.get(key) is not None}
    return {**beside, **inner}


def comments(body: Body, post: Document | None) -> Listing | None:
    """The page's comments on the post."""
    found = _comments_of(post) if post is not None else None
    if found is not None:
        return found
    for holder in holders(body):
        for key in _COMMENT_ROOTS:
            if isinstance(holder.get(key), dict):
                return listing(holder[key])
        if isinstance(holder.get("comments"), list) and post is None:
            return _app_comments(holder)
    return None


def _comments_of(post: Document) -> Listing | None:
    for key in (*_COMMENT_KEYS, *_COMMENT_PREVIEWS):
        raw = post.get(key)
        if isinstance(raw, dict) and (sequence(raw.get("edges")) or "page_info" in raw):
            return listing(raw)
    if isinstance(post.get("comments"), list) or isinstance(post.get("preview_comments"), list):
        return _app_comments(post)
    return None


def _app_comments(holder: Document) -> Listing:
    nodes = sequence(holder.get("comments")) or sequence(holder.get("preview_comments"))
    cursor = ident(holder.get("next_min_id")) or ident(holder.get("next_max_id"))
    more = flag(holder.get("has_more_comments"))
    more = flag(holder.get("has_more_headload_comments")) if more is None else more
    cursor = cursor if more is not False else None
    return Listing([node for node in nodes if isinstance(node, dict)], count(holder.get("comment_count")), cursor, more)
