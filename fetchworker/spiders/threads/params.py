"""Arguments of the Threads operations."""

from __future__ import annotations

import re
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from fetchworker.contracts import MOST, Paged, Params
from fetchworker.spiders.instagram.ids import media_pk

_USERNAME = re.compile(r"[a-z0-9._]{1,30}\Z")
_SHORTCODE = re.compile(r"[A-Za-z0-9_-]{5,64}\Z")
_NUMBER = re.compile(r"[0-9]{1,20}\Z")


def _username(value: Any) -> Any:
    name = value.strip().removeprefix("@").lower() if isinstance(value, str) else value
    if isinstance(name, str) and not _USERNAME.match(name):
        raise ValueError("must be a user name: 1 to 30 letters, digits, dots and underscores, such as mira.k")
    return name


def _written(value: Any) -> Any:
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else value


def _user_id(value: Any) -> Any:
    found = _written(value)
    if isinstance(found, str) and not _NUMBER.match(found):
        raise ValueError("must be the account's number on Threads, such as 63055343223")
    return found


def _shortcode(value: Any) -> Any:
    code = value.strip() if isinstance(value, str) else value
    if isinstance(code, str) and not _SHORTCODE.match(code):
        raise ValueError("must be a code, the part behind /post/ of the post's address")
    return code


def _media_id(value: Any) -> Any:
    found = _written(value)
    number = media_pk(found) if isinstance(found, str) else None
    if isinstance(found, str) and number is None:
        raise ValueError("must be a post's number, such as 3912345678901234567")
    return number or found


Username = Annotated[str | None, BeforeValidator(_username), Field(default=None, description="user name, without @")]
UserId = Annotated[str | None, BeforeValidator(_user_id), Field(default=None, description="the account's number")]
Shortcode = Annotated[
    str | None, BeforeValidator(_shortcode), Field(default=None, description="the part behind /post/ or /t/")
]
Share = Annotated[str | None, BeforeValidator(_shortcode), Field(default=None, description="the part behind /share/")]
MediaId = Annotated[str | None, BeforeValidator(_media_id), Field(default=None, description="the post's number")]


class _OfUser(Params):
    user: Username = None
    id: UserId = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.user is None and self.id is None:
            raise ValueError("say which account: user=<name> or id=<number>")
        return self


class ProfileParams(_OfUser):
    """Which account."""


class PostsParams(Paged, _OfUser):
    """Which account, and how much of it."""


class PostParams(Params):
    """Which post; ``user`` is only for the address."""

    shortcode: Shortcode = None
    id: MediaId = None
    share: Share = None
    user: Username = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.shortcode is None and self.id is None and self.share is None:
            raise ValueError("say which post: shortcode=<code>, id=<number> or share=<code of a share link>")
        return self


class RepliesParams(Paged):
    """Whose replies, or the replies to which post."""

    user: Username = None
    id: UserId = None
    shortcode: Shortcode = None
    post: MediaId = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        account, post = self.user or self.id, self.shortcode or self.post
        if not account and not post:
            raise ValueError("say whose: user=<name> or id=<number>; or to which post: shortcode=<code> or post=…")
        if self.id and post:
            raise ValueError("an account or a post, not both")
        return self


class LikersParams(Params):
    """Which post, and how many of them; the site gives them in one go."""

    limit: int | None = Field(default=None, ge=1, le=MOST, description="stop after so many accounts")

    shortcode: Shortcode = None
    id: MediaId = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.shortcode is None and self.id is None:
            raise ValueError("say which post: shortcode=<code> or id=<number>")
        return self
