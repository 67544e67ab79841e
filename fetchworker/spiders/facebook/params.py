"""Arguments of the Facebook operations."""

from __future__ import annotations

import re
from typing import Annotated, Any, Self
from urllib.parse import unquote

from pydantic import BeforeValidator, Field, model_validator

from fetchworker.contracts import Paged, Params

#: first path segments that are sections of the site, never names of profiles
RESERVED = (
    "about", "ads", "ajax", "api", "business", "careers", "checkpoint", "dialog", "directory", "events", "fundraisers",
    "gaming", "graphql", "groups", "hashtag", "help", "home.php", "legal", "l.php", "login", "login.php", "logout.php",
    "marketplace", "media", "messages", "notes", "p", "pages", "pages_reaction_units", "people", "permalink.php",
    "photo", "photo.php", "photos", "plugins", "policies", "policy.php", "privacy", "profile.php", "public", "r.php",
    "recover", "reel", "reels", "reg", "search", "settings", "share", "sharer", "sharer.php", "stories", "story.php",
    "terms.php", "video", "video.php", "videos", "watch",
)  # fmt: skip
_NAME = re.compile(r"[\w.-]{1,120}\Z")
_NUMBER = re.compile(r"[0-9]{1,25}\Z")
_POST = re.compile(r"(?:[0-9]{1,25}|pfbid[A-Za-z0-9]{10,120})\Z")


def _name(value: Any) -> Any:
    if not isinstance(value, str):
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    name = value.strip().removeprefix("@")
    # names out of an address are percent-encoded; decoded to the end, so that reading a stored call changes nothing
    while unquote(name) != name:
        name = unquote(name)
    if not _NAME.match(name):
        raise ValueError("must be the name behind facebook.com/: letters, digits, dots and hyphens, such as nasa")
    if name.lower() in RESERVED:
        raise ValueError(f"{name!r} is a section of the site, not a name")
    return name


def _number(value: Any) -> Any:
    found = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else value
    if isinstance(found, str) and not _NUMBER.match(found):
        raise ValueError("must be a number, such as 100064860875397")
    return found


def _post(value: Any) -> Any:
    found = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else value
    if isinstance(found, str) and not _POST.match(found):
        raise ValueError("must be a number or begin with pfbid, as in the post's address")
    return found


def _named_flag(value: Any) -> Any:
    """A flag that an address sets by its own word."""
    return True if value in ("past", "reel") else value


Name = Annotated[str | None, BeforeValidator(_name)]
Number = Annotated[str | None, BeforeValidator(_number)]
User = Annotated[Name, Field(default=None, description="name behind facebook.com/ of a person or page")]
ProfileId = Annotated[Number, Field(default=None, description="number of a person or page")]
Group = Annotated[Name, Field(default=None, description="name or number of a group")]


class _OfUser(Params):
    user: User = None
    id: ProfileId = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.user is None and self.id is None:
            raise ValueError("say whose: user=<name> or id=<number>")
        return self


class ProfileParams(_OfUser):
    """Which person or page."""


class PostsParams(Paged, _OfUser):
    """Which person or page, and how much of it."""


class PostParams(Params):
    """Which post."""

    id: Annotated[str, BeforeValidator(_post), Field(description="number or pfbid… of the post")]
    user: User = None
    group: Group = None


class PhotoParams(Params):
    """Which photo."""

    id: Annotated[str, BeforeValidator(_number), Field(description="number of the photo")]


class VideoParams(Params):
    """Which video or reel."""

    id: Annotated[str, BeforeValidator(_number), Field(description="number of the video or reel")]
    user: User = None
    reel: Annotated[bool, BeforeValidator(_named_flag), Field(description="look for a reel first")] = False


class GroupParams(Paged):
    """Which group, and how many of its posts."""

    group: Annotated[str, BeforeValidator(_name), Field(description="name or number of the group")]


class EventParams(Params):
    """Which event."""

    id: Annotated[str, BeforeValidator(_number), Field(description="number of the event")]


class EventsParams(Params):
    """Whose events."""

    user: User = None
    id: ProfileId = None
    group: Group = None
    past: Annotated[bool, BeforeValidator(_named_flag), Field(description="those that are over")] = False

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.user is None and self.id is None and self.group is None:
            raise ValueError("say whose: user=<name>, id=<number> or group=<name or number>")
        return self
