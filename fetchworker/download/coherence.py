"""Settings that contradict a browser profile: found when a crawl starts, all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.settings.default_settings import USER_AGENT

from fetchworker.download.caller import caller_lines
from fetchworker.download.languages import OF_EXIT, accept_language, tags_of
from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from fetchworker.download.profiles import Profile

_DEFAULT = 0  # scrapy.settings.SETTINGS_PRIORITIES["default"]
#: settings that change the TLS hello, with the values that do not
_HELLO = {
    "DOWNLOAD_TLS_MIN_VERSION": (None,),
    "DOWNLOAD_TLS_MAX_VERSION": (None,),
    "DOWNLOADER_CLIENT_TLS_CIPHERS": (None, "", "DEFAULT"),
}


def check_coherence(profile: Profile, crawler: Crawler, language: str | None, *, site: str) -> None:
    """Refuse a start whose settings say something else than the profile.

    Args:
        profile: the browser that the site's requests look like.
        crawler: whose settings (the project's, the spider's, the command line's) and spider these are.
        language: the site's ``accept_language``.
        site: its name in sites.yaml.

    Raises:
        ConfigError: one line per contradiction, with what to write.
    """
    settings = crawler.settings
    faults = [
        *_agent_faults(profile, settings.get("USER_AGENT"), "USER_AGENT"),
        *_agent_faults(profile, getattr(crawler.spidercls, "user_agent", None), "the spider's user_agent"),
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
