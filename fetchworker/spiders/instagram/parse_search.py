"""Searches: accounts, hashtags and places (topsearch), or the reels that rank for words (what guests get, 2026)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fetchworker.items import Item, Profile, SearchResult
from fetchworker.spiders.instagram import contract
from fetchworker.spiders.instagram.parse_media import post
from fetchworker.spiders.instagram.parse_shapes import Account, Listing, holders, listing
from fetchworker.spiders.instagram.parse_user import profile
from fetchworker.spiders.reading.values import count, dig, flag, ident, link, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.spiders.instagram.parse_body import Body, Document

_ROOTS = ("xdt_api__v1__fbsearch__topsearch_connection", "xdt_api__v1__fbsearch__non_profiled_serp")
_POPULAR = "xig_logged_out_popular_search_media_info"
#: ``partial`` of an account that a search shows with its name and picture alone
HIT = "search_hit"


def results(body: Body) -> list[Item] | None:
    """The hits in the order of the site, each followed by what the page says of it; None when this is no search."""
    root = _root(body)
    if root is None:
        return None
    hits = [(kind, entry) for kind in ("user", "hashtag", "place") for entry in sequence(root.get(kind + "s"))]
    hits.sort(key=lambda hit: _position(hit[1]))
    items: list[Item] = []
    for number, (kind, entry) in enumerate(hits, 1):
        items.extend(_hit(kind, entry, number))
    return items


def popular(body: Body) -> Listing | None:
    """The reels that rank for the words."""
    return next((listing(root) for holder in holders(body) if isinstance(root := holder.get(_POPULAR), dict)), None)


def popular_results(found: Listing, seen: int) -> Iterator[Item]:
    """A hit and its post for each reel."""
    for position, node in enumerate(found.nodes, seen + 1):
        reel = post(node, reel=True)
        cover = next((one.url for one in reel.media if one.type == "image"), None) or reel.extra.get("display_url")
        yield SearchResult.draft(position=position, id=reel.id, name=reel.text, image_url=cover, url=reel.url)
        yield reel


def keywords(body: Body) -> list[str]:
    """Words that the site proposes beside a search."""
    edges = [dig(holder, "popular_search_related_keywords_connection", "edges") for holder in holders(body)]
    words = [text(dig(edge, "node", "query_text")) for found in edges for edge in sequence(found)]
    return [word for word in words if word]


def _root(body: Body) -> Document | None:
    for holder in holders(body):
        for key in _ROOTS:
            if isinstance(holder.get(key), dict):
                root: Document = holder[key]
                return root
        if isinstance(holder.get("users"), list) and ("places" in holder or "hashtags" in holder or "status" in holder):
            return holder
    return None


def _position(entry: Any) -> int:
    found = count(dig(entry, "position"))
    return found if found is not None else 1 << 30


def _hit(kind: str, entry: Any, position: int) -> Iterator[Item]:
    raw = dig(entry, kind)
    raw = raw if isinstance(raw, dict) else entry
    if not isinstance(raw, dict):
        return
    if kind == "user":
        yield from _user(raw, position)
    elif kind == "hashtag" and text(raw.get("name")):
        yield _hashtag(raw, position)
    elif kind == "place":
        yield _place(raw, position)


def _user(raw: Document, position: int) -> Iterator[Item]:
    found: Profile = profile(Account(raw, "app"))
    if not found.username:
        return
    extra = {"type": "user", "username": found.username, "is_verified": flag(raw.get("is_verified"))}
    name = found.name or found.username
    yield SearchResult.draft(
        position=position, id=found.id, name=name, image_url=found.avatar_url, url=found.url, extra=extra
    )
    found.partial = HIT
    yield found


def _hashtag(raw: Document, position: int) -> SearchResult:
    name = text(raw.get("name")) or ""
    return SearchResult.draft(
        position=position,
        id=ident(raw.get("id")),
        name=f"#{name}",
        url=f"{contract.HOME}/explore/tags/{quote(name, safe='')}/",
        extra={"type": "hashtag", "media_count": count(raw.get("media_count"))},
    )


def _place(raw: Document, position: int) -> SearchResult:
    place = mapping(raw.get("location"))
    number = ident(place.get("pk")) or ident(place.get("facebook_places_id"))
    return SearchResult.draft(
        position=position,
        id=number,
        name=text(raw.get("title")) or text(place.get("name")),
        url=f"{contract.HOME}/explore/locations/{quote(number, safe='')}/" if number else None,
        image_url=link(dig(raw, "media_bundles", 0, "image")),
        extra={"type": "place", "slug": text(raw.get("slug"))},
    )
