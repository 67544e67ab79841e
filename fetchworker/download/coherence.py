"""Settings that contradict a browser profile: found when a crawl starts, all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.settings import Settings
from scrapy.settings.default_settings import USER_AGENT

from fetchworker.download.caller import caller_lines
from fetchworker.download.languages import OF_EXIT, accept_language, tags_of
from fetchworker.download.profiles import get_profile, profile_names
from fetchworker.errors import ConfigError
from fetchworker.sites.checks import check_profiles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Spider
    from scrapy.settings import BaseSettings

    from fetchworker.download.profiles import Profile
    from fetchworker.sites import SiteConfig, Sites

_DEFAULT = 0  # scrapy.settings.SETTINGS_PRIORITIES["default"]
#: settings that change the TLS hello, with the values that do not
_HELLO = {
    "DOWNLOAD_TLS_MIN_VERSION": (None,),
    "DOWNLOAD_TLS_MAX_VERSION": (None,),
    "DOWNLOADER_CLIENT_TLS_CIPHERS": (None, "", "DEFAULT"),
}


def check_start_of(spider: type[Spider], settings: BaseSettings, config: SiteConfig) -> None:
    """Do what :func:`check_coherence` does in a crawl, before there is one.

    Args:
        spider: whose crawl it would be; its own settings join.
        settings: the project's and the command line's.
        config: the site's entry.

    Raises:
        ConfigError: as :func:`check_coherence`.
    """
    joined = Settings(settings)
    spider.update_settings(joined)
    check_coherence(get_profile(config.profile), joined, spider, config.accept_language, site=spider.name)


def check_sites(sites: Sites) -> None:
    """See that every site's profile is known, and would write the site's ``accept_language``.

    Raises:
        ConfigError: one line for each that is not, with what to write.
    """
    check_profiles(sites, profile_names())
    faults = [
        f"{sites.path}: sites.{site}.{fault}"
        for site, config in sites.items()
        for fault in language_faults(get_profile(config.profile), config.accept_language)
    ]
    if faults:
        raise ConfigError("\n".join(faults), file=str(sites.path))


def check_coherence(
    profile: Profile, settings: BaseSettings, spider: type[Spider], language: str | None, *, site: str
) -> None:
    """Refuse a start whose settings say something else than the profile.

    Args:
        profile: the browser that the site's requests look like.
        settings: the project's, the spider's and the command line's.
        spider: the spider.
        language: the site's ``accept_language``.
        site: its name in sites.yaml.

    Raises:
        ConfigError: one line per contradiction, with what to write.
    """
    faults = [
        *_agent_faults(profile, settings.get("USER_AGENT"), "USER_AGENT"),
        *_agent_faults(profile, getattr(spider, "user_agent", None), "the spider's user_agent"),
        *_header_faults(profile, settings),
        *_hello_faults(profile, settings),
        *(f"sites.{site}.{fault}" for fault in language_faults(profile, language)),
    ]
    if faults:
        raise ConfigError("\n".join(faults), profile=profile.name)


def language_faults(profile: Profile, language: str | None) -> Iterator[str]:
    """What is wrong with a site's ``accept_language``: a browser weighs the languages in its own way."""
    if language in (None, OF_EXIT):
        return
    assert language is not None
    as_written = accept_language(profile, tags_of(language))
    if language != as_written:
        yield f"accept_language: {profile.name} would not write {language!r}; write {as_written!r}, or leave it out"


def _agent_faults(profile: Profile, agent: Any, where: str) -> Iterator[str]:
    if agent and agent not in (USER_AGENT, profile.user_agent):
        yield f"{where} contradicts the impersonation profile {profile.name}: leave it out, or choose another profile"


def _header_faults(profile: Profile, settings: BaseSettings) -> Iterator[str]:
    if (settings.getpriority("DEFAULT_REQUEST_HEADERS") or _DEFAULT) == _DEFAULT:
        return
    for name, value in settings.getdict("DEFAULT_REQUEST_HEADERS").items():
        try:
            caller_lines(profile, [(name, value or "")])
        except ConfigError as exc:
            yield f"DEFAULT_REQUEST_HEADERS: {exc.message}"


def _hello_faults(profile: Profile, settings: BaseSettings) -> Iterator[str]:
    for name, harmless in _HELLO.items():
        if settings.get(name) not in harmless:
            yield f"{name} changes the TLS hello of the impersonation profile {profile.name}: leave it out"
