"""Arguments of the Instagram operations."""

from __future__ import annotations

import re
from typing import Annotated, Any, Self
from urllib.parse import unquote

from pydantic import BeforeValidator, Field, model_validator

from fetchworker.contracts import Paged
from fetchworker.spiders.arguments import matching
from fetchworker.spiders.metafamily.params import OfPost, OfUser, media_id, shortcode, username

#: first path segments that are sections of the site, never names of users
RESERVED = (
    "p", "reel", "reels", "tv", "explore", "popular", "accounts", "stories", "direct", "about", "legal", "developer",
    "web", "api", "graphql", "ajax", "challenge", "checkpoint", "share", "oauth", "emails", "session", "static", "data",
    "directory", "privacy", "terms", "press", "blog", "help",
)  # fmt: skip
_USER_ID = re.compile(r"[0-9]{1,20}\Z")


def _username(value: Any) -> Any:
    name = username(value, example="nasa")
    if name in RESERVED:
        raise ValueError(f"{name!r} is a section of the site, not a user name")
    return name


def _query(value: Any) -> Any:
    query = value
    # words out of an address are percent-encoded; decoded to the end, so that reading a stored call changes nothing
    while isinstance(query, str) and unquote(query).strip() != query:
        query = unquote(query).strip()
    if query == "":
        raise ValueError("must not be empty")
    return query


Username = Annotated[str | None, BeforeValidator(_username), Field(default=None, description="user name, without @")]
UserId = Annotated[
    str | None,
    matching(_USER_ID, "a numeric user id, such as 528817151"),
    Field(default=None, description="numeric user id"),
]
Shortcode = Annotated[
    str | None,
    shortcode("a shortcode, the part behind /p/ or /reel/ of the post's address"),
    Field(default=None, description="the part behind /p/ or /reel/"),
]
MediaId = Annotated[
    str | None,
    media_id("a numeric media id, such as 3984285244001148342"),
    Field(default=None, description="numeric media id"),
]


#: base64, ids and what joins them; each generation of the site has its own
_CURSOR = re.compile(r"[A-Za-z0-9_=+/|:.,~-]{1,4096}\Z")
Cursor = Annotated[
    str | None,
    matching(_CURSOR, "a `next_cursor`: letters, digits and _ = + / | : . , ~ -"),
    Field(default=None, description="go on from a `next_cursor` of an earlier crawl"),
]


class _OfUser(OfUser):
    user: Username = None
    id: UserId = None


class _OfPost(OfPost):
    shortcode: Shortcode = None
    id: MediaId = None


class ProfileParams(_OfUser):
    """Which account."""


class PostsParams(Paged, _OfUser):
    """Which account, and how much of it."""

    cursor: Cursor = None


class ReelsParams(Paged, _OfUser):
    """Which account, and how much of it."""

    cursor: Cursor = None


class PostParams(_OfPost):
    """Which post."""


class CommentsParams(Paged, _OfPost):
    """Which post, and how many comments."""


class SearchParams(Paged):
    """What to look for."""

    query: Annotated[str | None, BeforeValidator(_query), Field(default=None, description="words to look for")] = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.query is None:
            raise ValueError("say what to look for: query=<words>")
        return self
