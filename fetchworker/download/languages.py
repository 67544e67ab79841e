"""Accept-Language as browsers write it: the user's languages in order, with weights that each engine reckons."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.download.profiles import Profile

#: the word in sites.yaml for the languages of the exit's country
OF_EXIT = "exit"


def accept_language(profile: Profile, tags: Sequence[str]) -> str:
    """The header's value for these languages, most wanted first."""
    many = len(tags)
    if profile.even_languages:
        # Firefox before 147: as far apart as their number allows, rounded to one digit
        weights = [_one_digit((many - place) / many) for place in range(many)]
    else:
        weights = [f"{max(1, 10 - place) / 10:g}" for place in range(many)]
    pairs = zip(tags, weights, strict=True)
    return ",".join(tag if place == 0 else f"{tag};q={weight}" for place, (tag, weight) in enumerate(pairs))


def tags_of(value: str) -> list[str]:
    """The languages in an Accept-Language value, in its order."""
    return [part.partition(";")[0].strip() for part in value.split(",") if part.strip()]


def language_for(profile: Profile, wanted: str | None, country: str | None) -> str:
    """What an identity asks for.

    Args:
        profile: its browser.
        wanted: the site's ``accept_language``: a value, :data:`OF_EXIT`, or None for the profile's own.
        country: the ISO code of its exit's country, as far as it is known.
    """
    if wanted is None:
        return profile.accept_language
    if wanted != OF_EXIT:
        return wanted
    tags = _countries().get((country or "").upper())
    return accept_language(profile, tags) if tags else profile.accept_language


@cache
def _countries() -> dict[str, list[str]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = (files("fetchworker.download") / "languages.yaml").read_text("utf-8")
    found: dict[str, list[str]] = yaml.load(text, Loader=loader)  # noqa: S506  # both loaders are safe ones
    return found


def _one_digit(weight: float) -> str:
    return f"{int(weight * 10 + 0.5) / 10:g}"
