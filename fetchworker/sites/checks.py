"""Does what ``sites.yaml`` names exist elsewhere in the program?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fetchworker.errors import ConfigError
from fetchworker.sites.loading import nearest

if TYPE_CHECKING:
    from collections.abc import Collection

    from fetchworker.sites.model import Sites


def check_spiders(sites: Sites, spider_names: Collection[str]) -> None:
    """Every site has a spider and every spider an entry.

    Raises:
        ConfigError: one line for each that has not, with the nearest right word.
    """
    strays = [
        f"sites.{site}: there is no spider of this name" + _hint(site, spider_names)
        for site in sites
        if site not in spider_names
    ]
    missing = [
        f"the spider {name} has no entry under sites" + _hint(name, strayed(sites, spider_names))
        for name in spider_names
        if name not in sites
    ]
    _raise(sites, strays + missing)


def check_profiles(sites: Sites, profiles: Collection[str]) -> None:
    """Every ``profile`` is one of ``profiles``.

    Raises:
        ConfigError: one line for each that is not, with the nearest right word.
    """
    wrong = [
        f"sites.{site}.profile: unknown profile {config.profile!r}" + _hint(config.profile, profiles)
        for site, config in sites.items()
        if config.profile not in profiles
    ]
    _raise(sites, wrong)


def strayed(sites: Sites, spider_names: Collection[str]) -> list[str]:
    """Entries without a spider."""
    return [site for site in sites if site not in spider_names]


def _hint(word: str, words: Collection[str]) -> str:
    near = nearest(word, words)
    return f"; {near}" if near else f" (known: {', '.join(sorted(words))})" if words else ""


def _raise(sites: Sites, faults: list[str]) -> None:
    if faults:
        raise ConfigError("\n".join(f"{sites.path}: {fault}" for fault in faults), file=str(sites.path))
