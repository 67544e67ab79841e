"""Impersonation profiles: what one version of a browser says about itself.

TLS and HTTP/2 come from curl_cffi's target of the same name; header values, their order and stream weights stand
in ``profiles.yaml`` (with their sources). A session has one profile for life.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import yaml

from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

Destination = Literal["navigate", "xhr", "image", "script"]
"""What a browser would be doing: loading a page, a script's fetch(), or loading a part of a page."""


@dataclass(frozen=True, slots=True)
class Template:
    """What a browser sends for one kind of request.

    ``order`` holds lower-case names in the order of sending; ``<custom>`` and ``<blink>`` in it stand for headers that
    have no place of their own. ``weight`` (1–256) is the priority in the HTTP/2 HEADERS frame, None where the browser
    sends none; ``priority`` is the header, None for no header.
    """

    accept: str
    priority: str | None
    weight: int | None
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """One version of a browser on one system. Profiles are shared: get them from :func:`get_profile`.

    ``curl_target`` goes to ``Curl.impersonate()`` (which knows no aliases). The ``sec_ch_ua`` values are None in
    browsers without client hints. ``recorded`` is the day the values were read. ``fetch_user``, ``trailers``,
    ``http1_priority``, ``post_revalidates`` and ``upgrade_insecure``: does the browser send ``sec-fetch-user``,
    ``te: trailers``, ``priority`` over HTTP/1, ``cache-control: max-age=0`` with a form's POST, and
    ``upgrade-insecure-requests`` over https. ``storage_access`` is
    what ``sec-fetch-storage-access`` says on cross-site requests with cookies, None in browsers that lack it.
    """

    name: str
    curl_target: str
    family: str
    version: str
    recorded: dt.date
    user_agent: str
    sec_ch_ua: str | None
    sec_ch_ua_mobile: str | None
    sec_ch_ua_platform: str | None
    accept_language: str
    accept_encoding: str
    fetch_user: bool
    trailers: bool
    http1_priority: bool
    post_revalidates: bool
    upgrade_insecure: bool
    storage_access: str | None
    templates: Mapping[Destination, Template]

    @property
    def even_languages(self) -> bool:
        """Whether it weighs languages as Firefox did: as far apart as their number allows."""
        return self.accept_language.endswith("q=0.5")

    def weight(self, destination: Destination) -> int | None:
        """The HTTP/2 stream weight for ``CurlOpt.STREAM_WEIGHT``; None: leave the option alone."""
        return self.templates[destination].weight


def get_profile(name: str) -> Profile:
    """The profile of a name or alias (``chrome`` is the newest Chrome).

    Raises:
        ConfigError: there is none of this name; the message lists close ones.
    """
    data = _data()
    real = data["aliases"].get(name, name)
    if real not in data["profiles"]:
        near = get_close_matches(name, profile_names(), n=3) or ["chrome", "firefox", "safari"]
        raise ConfigError(f"there is no impersonation profile {name!r}; near it: {', '.join(near)}", profile=name)
    return _profile(real)


def is_profile(name: str) -> bool:
    """Whether there is a profile of this name or alias."""
    return name in _data()["profiles"] or name in _data()["aliases"]


def profile_names() -> list[str]:
    """All profiles and aliases."""
    return [*_data()["aliases"], *_data()["profiles"]]


@cache
def _data() -> dict[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = (files("fetchworker.download") / "profiles.yaml").read_text("utf-8")
    data: dict[str, Any] = yaml.load(text, Loader=loader)  # noqa: S506  # both loaders are safe ones
    return data


@lru_cache(maxsize=256)
def _profile(name: str) -> Profile:
    own = _data()["profiles"][name]
    family = _data()["families"][own["family"]]
    return Profile(
        name=name,
        curl_target=name,
        family=own["family"],
        version=own["version"],
        recorded=_data()["recorded"],
        user_agent=own["user_agent"],
        sec_ch_ua=own.get("sec_ch_ua"),
        sec_ch_ua_mobile=own.get("sec_ch_ua_mobile"),
        sec_ch_ua_platform=own.get("sec_ch_ua_platform"),
        accept_language=own["accept_language"],
        accept_encoding=own["accept_encoding"],
        fetch_user=family.get("fetch_user", True),
        trailers=family.get("trailers", False),
        http1_priority=family.get("http1_priority", False),
        post_revalidates=family.get("post_revalidates", False),
        upgrade_insecure=own.get("upgrade_insecure", True),
        storage_access=own.get("storage_access"),
        templates=_templates(family["kinds"], with_priority=own.get("priority_header", True)),
    )


def _templates(kinds: dict[Destination, dict[str, Any]], *, with_priority: bool) -> Mapping[Destination, Template]:
    return MappingProxyType(
        {
            kind: Template(
                accept=values["accept"],
                priority=values["priority"] if with_priority else None,
                weight=values["weight"],
                order=tuple(values["order"]),
            )
            for kind, values in kinds.items()
        }
    )
