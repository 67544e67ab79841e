"""People and pages in Comet data, and the line of meta tags that goes with them (pure).

The header's counts are rounded and in the page's language (``2,2 tys. polubienia``); what they count is told by the
address behind each. The exact number of likes stands in ``og:description`` alone (seen 2023 and 2024).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.items import Link, Profile, contact
from fetchworker.spiders.facebook import ids
from fetchworker.spiders.facebook.body import fill, walk
from fetchworker.spiders.reading.counts import first_count
from fetchworker.spiders.reading.values import dig, flag, ident, link, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fetchworker.spiders.facebook.body import Body, Document

#: ``partial`` of an account made from meta tags
SHELL = "page_shell"
_SOCIAL = {
    "friends_likes": "likes_count", "likes": "likes_count", "followers": "followers", "following": "following",
}  # fmt: skip
#: context items that are contact data, and what they are called in ``extra["contact"]``, which only a setting keeps
_CONTACT = {"PHONE": "phone", "EMAIL": "email", "MESSENGER": "messenger", "WHATSAPP": "whatsapp"}
_EXTRA_ITEMS = {
    "INTRO_CARD_BUSINESS_PRICE": "price_range", "INTRO_CARD_BUSINESS_SERVICES": "services",
    "INTRO_CARD_CURRENT_CITY": "current_city", "INTRO_CARD_HOMETOWN": "hometown",
    "INTRO_CARD_WORK": "work", "INTRO_CARD_EDUCATION": "education",
}  # fmt: skip
_PICTURES = ("profilePicLarge", "profilePic160", "profilePicMedium", "profile_picture", "profilePicSmall")
_RATING = re.compile(r"(?P<before>%)?\s?(?P<number>\d{1,3}(?:[.,]\d{1,2})?)\s?(?P<after>[%％])?")
_REVIEWS = re.compile(r"[(（](?P<inside>[^()（）]{1,60})[)）]")
_BEST = 5
_NUMBERS = re.compile(r"\d(?:[.,'\u2019\u00a0\u202f ]?\d){0,15}")
#: what "likes" is called behind the number or before it, in the site's languages
_LIKES = re.compile(
    r"(?:(?P<after>\d[\d.,'\u2019\u00a0\u202f ]{0,20})\s?(?:likes?\b|„gefällt mir|gefällt|j.aime|me gusta|mi piace"
    r"|curtidas|gostos|vind-ik-leuks|os[oó]b\w* lubi|polubie\w+|gilla|liker\b|tykkää|beğen|lượt thích|suka\b"
    r"|отмет\w+|людям это)"
    r"|(?:いいね[!！]?\s?|讚\s?|赞\s?|좋아요\s?)(?P<before>\d[\d.,]{0,20}))",
    re.IGNORECASE,
)


def header(body: Body, wanted: str | None) -> Document | None:
    """The account of the page: facts of all its objects with the number; None when the page is of nobody."""
    users = [user for user in _roots(body) if wanted is None or ident(user.get("id")) == wanted]
    number = next((ident(user.get("id")) for user in users if ident(user.get("id"))), None)
    if number is None:
        return None
    merged: Document = {}
    inner = [dig(user, "profile_header_renderer", "user") for user in users]
    for one in [*(one for one in inner if isinstance(one, dict)), *users]:
        fill(merged, one)
    return {**merged, "id": number}


def _roots(body: Body) -> Iterator[Document]:
    """The accounts that the page's queries are about, the header's first."""
    found = [
        user
        for document in body.documents
        for name in ("user", "page", "node", "profile")
        if isinstance(user := dig(document, "data", name), dict) and _is_account(name, user)
    ]
    yield from sorted(found, key=lambda user: "profile_header_renderer" not in user)


def _is_account(name: str, raw: Document) -> bool:
    return name != "node" or raw.get("__typename") in ("User", "Page") or "profile_header_renderer" in raw


def profile(raw: Document, body: Body) -> Profile:
    """The account's item; what the page does not tell stays None."""
    items = list(_context_items(body))
    told = {kind: (words, link_) for kind, words, link_ in items}
    summary = text(body.meta.get("og:description")) or text(body.meta.get("description"))
    social = _social(raw, _language(body))
    url = link(raw.get("url")) or link(body.meta.get("canonical"))
    links = [Link.draft(title=words, url=where) for kind, words, where in items if kind.endswith("WEBSITE") and where]
    rating, reviews = _rating(told.get("INTRO_CARD_RATING", (None, None))[0])
    return Profile.draft(
        id=ident(raw.get("id")),
        alt_ids=list(_other_ids(raw)),
        username=ids.username(url) or text(raw.get("vanity")) or text(raw.get("username")),
        name=text(raw.get("name")),
        biography=_biography(body) or text(dig(raw, "delegate_page", "best_description", "text")),
        summary=summary,
        avatar_url=next((found for name in _PICTURES if (found := link(dig(raw, name, "uri")))), None),
        followers=social.get("followers"),
        following=social.get("following"),
        likes_count=_exact(social.get("likes_count"), summary, text(raw.get("name"))),
        verified=_verified(raw),
        business=_business(raw, body),
        category=_category(told) or text(raw.get("category_name")),
        external_url=links[0].url if links else None,
        links=links,
        location=told.get("INTRO_CARD_ADDRESS", (None, None))[0],
        rating=rating,
        feedback_count=reviews,
        url=url,
        extra=_extra(raw, told),
    )


def _other_ids(raw: Document) -> Iterator[str]:
    for name in ("delegate_page", "page"):
        found = ident(dig(raw, name, "id"))
        if found and found != ident(raw.get("id")):
            yield found
            return


def _language(body: Body) -> str:
    match = re.search(r'<html[^<>]{0,300}?\blang="([a-zA-Z-]{2,12})"', body.markup[:4000])
    return match[1].lower() if match else ""


def _social(raw: Document, language: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for entry in sequence(dig(raw, "profile_social_context", "content")):
        number = social_count(text(dig(entry, "text", "text")), language)
        name = _SOCIAL.get(_tab(text(dig(entry, "uri"))))
        if name and number is not None:
            found.setdefault(name, number)
    for name, path in (("followers", ("follower_count",)), ("likes_count", ("page_likers", "global_likers_count"))):
        number = dig(raw, *path)
        if isinstance(number, int) and not isinstance(number, bool) and number >= 0:
            found[name] = number
    return found


def social_count(words: str | None, language: str = "") -> int | None:
    """The count in a line such as ``2.1K followers``; in Turkish ``B`` is a thousand."""
    if words and language.startswith("tr"):
        words = re.sub(r"(\d)\s?B\b", r"\1 bin", words)
    return first_count(words)


def _tab(address: str | None) -> str:
    segments, query = ids.split(address) or ([], {})
    return query.get("sk") or (segments[-1] if segments else "")


def _exact(rounded: int | None, summary: str | None, name: str | None) -> int | None:
    """The number in the summary that the rounded one stands for; the rounded one when there is none."""
    words = _behind_name(summary, name)
    if rounded is None:
        return likes(words)
    unit = 10 ** max(0, len(str(rounded)) - 2)
    for match in _NUMBERS.findall(words):
        number = first_count(match)
        if number is not None and rounded - unit < number < rounded + unit:
            return number
    return rounded


def _behind_name(summary: str | None, name: str | None) -> str:
    words = summary or ""
    return words.partition(name)[2] if name and name in words else words


def likes(words: str | None) -> int | None:
    """The likes that a preview's line tells."""
    match = _LIKES.search(words or "")
    return first_count((match["after"] or match["before"]).strip()) if match else None


def _verified(raw: Document) -> bool | None:
    found = flag(raw.get("is_verified"))
    return found if found is not None else flag(raw.get("show_verified_badge_on_profile"))


def _business(raw: Document, body: Body) -> bool | None:
    if dig(raw, "delegate_page", "id") or raw.get("is_additional_profile_plus") is True:
        return True
    kinds = {one.get("profile_type_name_for_content") for one in _tiles(body)}
    return "PAGE" in kinds or None


def _tiles(body: Body) -> Sequence[Document]:
    """The objects of the results that have the introduction of the account."""
    found = [dig(document, "data", "user", "profile_tile_sections") for document in body.documents]
    found += [dig(document, "data", "profile_tile_sections") for document in body.documents]
    return [one for section in found if section is not None for one in walk(section)]


def _context_items(body: Body) -> Iterator[tuple[str, str, str | None]]:
    """Kind, words and link of each line of the introduction."""
    for one in _tiles(body):
        item = mapping(one.get("timeline_context_item"))
        kind = text(item.get("timeline_context_list_item_type"))
        shown = mapping(dig(item, "renderer", "context_item"))
        words = text(dig(shown, "title", "text"))
        if kind and words:
            entity = dig(shown, "title", "ranges", 0, "entity")
            where = text(dig(entity, "external_url")) or text(dig(entity, "url")) or text(shown.get("url"))
            yield kind, words, link(ids.target(where))


def _biography(body: Body) -> str | None:
    found = (text(dig(one, "profile_status_text", "text")) for one in _tiles(body))
    return next((words for words in found if words), None)


def _category(told: Mapping[str, tuple[str, str | None]]) -> str | None:
    words = told.get("INTRO_CARD_INFLUENCER_CATEGORY") or told.get("INTRO_CARD_CATEGORY")
    if words is None:
        return None
    # "Page · Bakery": before the point stands what kind of profile it is
    return text(words[0].partition(" · ")[2]) or words[0]


def _rating(words: str | None) -> tuple[float | None, int | None]:
    """Rating and number of reviews in ``Rating · 4.7 (130 Reviews)`` or ``94% recommend (75 Reviews)``."""
    if not words:
        return None, None
    inside = _REVIEWS.search(words)
    match = _RATING.search(words[: inside.start()] if inside else words)
    number = float(match["number"].replace(",", ".")) if match else None
    share = match is not None and bool(match["before"] or match["after"])
    good = number is not None and (number <= 100 if share else number <= _BEST)  # noqa: PLR2004  # per cent
    return number if good else None, first_count(inside["inside"]) if inside else None


def _extra(raw: Document, told: Mapping[str, tuple[str, str | None]]) -> dict[str, Any]:
    found: dict[str, Any] = {name: told[kind][0] for kind, name in _EXTRA_ITEMS.items() if kind in told}
    found["cover_url"] = link(dig(raw, "cover_photo", "photo", "image", "uri"))
    found["alternate_name"] = text(raw.get("alternate_name"))
    found["memorialized"] = flag(raw.get("is_visibly_memorialized")) or None
    known = {name: value for name, value in found.items() if value is not None}
    reached = ((name, words) for kind, (words, _) in told.items() if (name := _contact_of(kind)))
    return known | contact(**dict(reached))


def _contact_of(kind: str) -> str | None:
    return next((name for mark, name in _CONTACT.items() if mark in kind), None)


def shell(body: Body) -> Profile | None:
    """An account out of meta tags; None when they speak of none."""
    meta = body.meta
    url = link(meta.get("og:url")) or link(meta.get("canonical"))
    number = ids.profile_number(meta.get("al:android:url")) or ids.profile_number(url)
    name, summary = text(meta.get("og:title")), text(meta.get("og:description")) or text(meta.get("description"))
    username = ids.username(url)
    segments = (ids.split(url) or ([], {}))[0]
    if name is None or (number is None and username is None) or (username is not None and len(segments) > 1):
        return None
    name = name.partition(" | ")[0].strip() or name
    found = likes(_behind_name(summary, name))
    return Profile.draft(
        id=number, username=username, name=name, summary=summary, avatar_url=link(meta.get("og:image")),
        likes_count=found, url=url, partial=SHELL,
    )  # fmt: skip
