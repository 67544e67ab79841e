"""Arguments of the Threads operations."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from fetchworker.contracts import MOST, Paged, Params
from fetchworker.spiders.arguments import matching
from fetchworker.spiders.metafamily.params import OfPost, OfUser, media_id, shortcode, username

_NUMBER = re.compile(r"[0-9]{1,20}\Z")


Username = Annotated[str | None, BeforeValidator(username), Field(default=None, description="user name, without @")]
UserId = Annotated[
    str | None,
    matching(_NUMBER, "the account's number on Threads, such as 63055343223"),
    Field(default=None, description="the account's number"),
]
_code = shortcode("a code, the part behind /post/ of the post's address")
Shortcode = Annotated[str | None, _code, Field(default=None, description="the part behind /post/ or /t/")]
Share = Annotated[str | None, _code, Field(default=None, description="the part behind /share/")]
MediaId = Annotated[
    str | None,
    media_id("a post's number, such as 3912345678901234567"),
    Field(default=None, description="the post's number"),
]


class _OfUser(OfUser):
    user: Username = None
    id: UserId = None


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


class LikersParams(OfPost):
    """Which post, and how many of them; the site gives them in one go."""

    limit: int | None = Field(default=None, ge=1, le=MOST, description="stop after so many accounts")

    shortcode: Shortcode = None
    id: MediaId = None
