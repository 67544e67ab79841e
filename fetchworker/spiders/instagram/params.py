"""Arguments of the Instagram operations."""

from __future__ import annotations

import re
from typing import Annotated, Any, Self
from urllib.parse import unquote

from pydantic import BeforeValidator, Field, model_validator

from fetchworker.contracts import Paged, Params
from fetchworker.spiders.instagram.ids import media_pk

#: first path segments that are sections of the site, never names of users
RESERVED = (
    "p", "reel", "reels", "tv", "explore", "popular", "accounts", "stories", "direct", "about", "legal", "developer",
    "web", "api", "graphql", "ajax", "challenge", "checkpoint", "share", "oauth", "emails", "session", "static", "data",
    "directory", "privacy", "terms", "press", "blog", "help",
)  # fmt: skip
_USERNAME = re.compile(r"[a-z0-9._]{1,30}\Z")
_SHORTCODE = re.compile(r"[A-Za-z0-9_-]{5,64}\Z")
_USER_ID = re.compile(r"[0-9]{1,20}\Z")


def _username(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    name = value.strip().removeprefix("@").lower()
    if not _USERNAME.match(name):
        raise ValueError("must be a user name: 1 to 30 letters, digits, dots and underscores, such as nasa")
    if name in RESERVED:
        raise ValueError(f"{name!r} is a section of the site, not a user name")
    return name


def _user_id(value: Any) -> Any:
    found = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else value
    if isinstance(found, str) and not _USER_ID.match(found):
        raise ValueError("must be a numeric user id, such as 528817151")
    return found


def _shortcode(value: Any) -> Any:
    code = value.strip() if isinstance(value, str) else value
    if isinstance(code, str) and not _SHORTCODE.match(code):
        raise ValueError("must be a shortcode, the part behind /p/ or /reel/ of the post's address")
    return code


def _media_id(value: Any) -> Any:
    found = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else value
    if isinstance(found, str) and media_pk(found) is None:
        raise ValueError("must be a numeric media id, such as 3984285244001148342")
    return media_pk(found) if isinstance(found, str) else found


def _query(value: Any) -> Any:
    query = value
    # words out of an address are percent-encoded; decoded to the end, so that reading a stored call changes nothing
    while isinstance(query, str) and unquote(query).strip() != query:
        query = unquote(query).strip()
    if query == "":
        raise ValueError("must not be empty")
    return query


Username = Annotated[str | None, BeforeValidator(_username), Field(default=None, description="user name, without @")]
UserId = Annotated[str | None, BeforeValidator(_user_id), Field(default=None, description="numeric user id")]
Shortcode = Annotated[
    str | None, BeforeValidator(_shortcode), Field(default=None, description="the part behind /p/ or /reel/")
]
MediaId = Annotated[str | None, BeforeValidator(_media_id), Field(default=None, description="numeric media id")]


class _OfUser(Params):
    user: Username = None
    id: UserId = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.user is None and self.id is None:
            raise ValueError("say which account: user=<name> or id=<number>")
        return self


class _OfPost(Params):
    shortcode: Shortcode = None
    id: MediaId = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.shortcode is None and self.id is None:
            raise ValueError("say which post: shortcode=<code> or id=<number>")
        return self


class ProfileParams(_OfUser):
    """Which account."""


class PostsParams(Paged, _OfUser):
    """Which account, and how much of it."""


class ReelsParams(Paged, _OfUser):
    """Which account, and how much of it."""


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
