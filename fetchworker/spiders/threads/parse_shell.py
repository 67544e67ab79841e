"""Pages that come without data, for scripts to fill: what their meta tags and their route tell (2023 to 2026).

Meta tags round (``11K``) and cut, so they are read only when nothing better is in the page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fetchworker.errors import OutcomeError
from fetchworker.items import Author, Media, Post, Profile
from fetchworker.spiders.instagram.ids import created_at, pk_of, shortcode_of
from fetchworker.spiders.instagram.parse_media import hashtags, mentions
from fetchworker.spiders.paging import SHELL
from fetchworker.spiders.reading.counts import count as abbreviated
from fetchworker.spiders.reading.values import link, text
from fetchworker.spiders.threads import contract

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.spiders.threads.parse_shapes import Wanted

_NAMED = re.compile(r"(?P<name>[^\n]{0,200}?)\s{0,3}\(@(?P<user>[A-Za-z0-9._]{1,30})\)")
_NUMBER = r"([\d.,]{1,16}\s?[KMB]?)"
_FOLLOWERS = re.compile(rf"{_NUMBER} Followers?\b", re.IGNORECASE)
_THREADS = re.compile(rf"{_NUMBER} Threads?\b", re.IGNORECASE)
_ADDRESS = re.compile(
    r"https?://(?:www\.)?threads\.(?:net|com)/@(?P<user>[A-Za-z0-9._]{1,30})(?:/post/(?P<code>[A-Za-z0-9_-]+))?/?(?:[?#]|$)"
)
_POST_ID = re.compile(r'"props"\s*:\s*\{\s*"post_id"\s*:\s*"(\d{1,20})"')


def challenge(what: str) -> OutcomeError:
    """The error for a page that only a browser fills."""
    return OutcomeError(
        "challenge", f"the page is a shell without {what}: a browser's work", evidence=["threads_shell"]
    )


def profile(meta: Mapping[str, str], wanted: Wanted) -> Profile | None:
    """An account out of meta tags; None when they speak of none, or of another."""
    named = _NAMED.match(meta.get("og:title", ""))
    user = named["user"].lower() if named else None
    if named is None or (wanted.user or user) != user or _ADDRESS.match(meta.get("og:url", "")) is None:
        return None
    told = meta.get("og:description", "")
    followers, threads = _FOLLOWERS.search(told), _THREADS.search(told)
    if followers is None:
        return None
    return Profile.draft(
        username=user,
        name=text(named["name"]),
        avatar_url=link(meta.get("og:image")),
        followers=abbreviated(followers[1]),
        posts_count=abbreviated(threads[1]) if threads else None,
        url=contract.profile_url(user),
        partial=SHELL,
    )


def post(meta: Mapping[str, str], page: str, number: str | None) -> Post | None:
    """A post out of meta tags and the page's route; None when they speak of none, or of another."""
    address, route = _ADDRESS.match(meta.get("og:url", "")), _POST_ID.search(page)
    code = address["code"] if address else None
    own = route[1] if route else pk_of(code)
    if own is None or address is None or number not in (None, own):
        return None
    words, user = text(meta.get("og:description")), address["user"].lower()
    named, picture = _NAMED.match(meta.get("og:title", "")), link(meta.get("og:image"))
    name = text(named["name"]) if named and named["user"].lower() == user else None
    code = code or shortcode_of(own)
    return Post.draft(
        id=own,
        shortcode=code,
        text=words,
        created_at=created_at(own),
        # without pictures of its own, a post's page shows its author's
        media=[Media.draft(type="image", url=picture)] if picture and "/t51.2885-19/" not in picture else [],
        author=Author.draft(username=user, name=name),
        hashtags=hashtags(words),
        mentions=mentions(words),
        url=contract.post_url(user, code),
        partial=SHELL,
    )
