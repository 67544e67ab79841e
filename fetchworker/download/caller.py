"""What a caller's own headers may change about a browser's request."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.httpcompression import ACCEPTED_ENCODINGS
from scrapy.settings.default_settings import DEFAULT_REQUEST_HEADERS, USER_AGENT

from fetchworker.download.blink import HINTS
from fetchworker.download.lines import encode, header_line
from fetchworker.errors import ConfigError, ContradictionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fetchworker.download.profiles import Profile

#: left out: they belong to the connection or are written from the body
_DROPPED = frozenset(
    (
        "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-authenticate",
        "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    )
)  # fmt: skip
#: what Scrapy's own middlewares add where nobody asked for it: left out with exactly these values
_SCRAPYS = {
    **{name.lower(): value.encode() for name, value in DEFAULT_REQUEST_HEADERS.items()},
    "accept-encoding": b", ".join(ACCEPTED_ENCODINGS),
    "user-agent": USER_AGENT.encode(),
}
_CHECKED = ("user-agent", *HINTS)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BRAND = re.compile(r'"([^"]*)";v="(\d+)')


def caller_lines(
    profile: Profile, headers: Iterable[tuple[bytes | str, bytes | str]]
) -> tuple[dict[str, bytes], list[tuple[str, bytes]]]:
    """The caller's lines by lower-case name, and the second and later lines of names given more than once.

    Raises:
        ContradictionError: a header contradicts the profile.
        ConfigError: it is no header.
    """
    values: dict[str, bytes] = {}
    repeats: list[tuple[str, bytes]] = []
    for raw_name, raw_value in headers:
        name, key = _name(raw_name)
        value = (encode(raw_value) if isinstance(raw_value, str) else raw_value).strip()
        if key in _DROPPED or _SCRAPYS.get(key) == value:
            continue
        if key == "user-agent" or key.startswith("sec-ch-"):
            _check_against(profile, key, value)
        if key in _CHECKED:
            continue
        if key in values:
            repeats.append((key, header_line(name, value)))
        else:
            values[key] = header_line(name, value)
    return values, repeats


@lru_cache(maxsize=4096)
def _name(raw: bytes | str) -> tuple[str, str]:
    name = raw if isinstance(raw, str) else raw.decode("latin-1")
    if not _TOKEN.fullmatch(name):
        raise ConfigError(f"{name!r} is no header name", header=name)
    return name, name.lower()


def _check_against(profile: Profile, key: str, value: bytes) -> None:
    text = value.decode("latin-1")
    if key in _CHECKED:
        fits = text == getattr(profile, key.replace("-", "_"))
    elif key == "sec-ch-ua-full-version-list" and profile.sec_ch_ua:
        fits = sorted(_BRAND.findall(text)) == sorted(_BRAND.findall(profile.sec_ch_ua))
    else:
        fits = profile.sec_ch_ua is not None
    if not fits:
        raise ContradictionError(
            f"the header {key} contradicts the impersonation profile {profile.name}: leave it out, or choose a profile "
            "that says so",
            header=key,
            profile=profile.name,
        )
