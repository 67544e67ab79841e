"""Arguments that the sites of Meta have in common: whose, and which post.

A site writes its own fields over these, with its own checks and words.
"""

from __future__ import annotations

import re
from typing import Any, Self

from pydantic import BeforeValidator, model_validator

from fetchworker.contracts import Params
from fetchworker.spiders.arguments import as_text
from fetchworker.spiders.instagram.ids import media_pk

_USERNAME = re.compile(r"[a-z0-9._]{1,30}\Z")
_SHORTCODE = re.compile(r"[A-Za-z0-9_-]{5,64}\Z")


def username(value: Any, *, example: str = "mira.k") -> Any:
    """The name of an account, without ``@`` and in lower case; other values stay for the model to refuse."""
    name = value.strip().removeprefix("@").lower() if isinstance(value, str) else value
    if isinstance(name, str) and not _USERNAME.match(name):
        raise ValueError(f"must be a user name: 1 to 30 letters, digits, dots and underscores, such as {example}")
    return name


def shortcode(told: str) -> Any:
    """A validator: the code of a post's address, which is ``told`` in the error."""

    def check(value: Any) -> Any:
        code = value.strip() if isinstance(value, str) else value
        if isinstance(code, str) and not _SHORTCODE.match(code):
            raise ValueError(f"must be {told}")
        return code

    return BeforeValidator(check)


def media_id(told: str) -> Any:
    """A validator: a post's number, with or without its account's behind it."""

    def check(value: Any) -> Any:
        found = as_text(value)
        number = media_pk(found) if isinstance(found, str) else None
        if isinstance(found, str) and number is None:
            raise ValueError(f"must be {told}")
        return number or found

    return BeforeValidator(check)


class OfUser(Params):
    """Which account."""

    user: str | None = None
    id: str | None = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.user is None and self.id is None:
            raise ValueError("say which account: user=<name> or id=<number>")
        return self


class OfPost(Params):
    """Which post."""

    shortcode: str | None = None
    id: str | None = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.shortcode is None and self.id is None:
            raise ValueError("say which post: shortcode=<code> or id=<number>")
        return self
