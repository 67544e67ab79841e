"""Where a cookie comes from and where it may go: hosts, domains, paths and public suffixes (RFC 6265bis 5.1, 5.2)."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import idna

if TYPE_CHECKING:
    from tldextract import TLDExtract

_SECURE = {"https", "wss"}
# No backslash: browsers and curl do not agree on where the host ends then
_URL = re.compile(r"(https?|wss?)://([^/?#\\]+)(?![^/?#])([^?#]*)", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]]+))(?::[0-9]*)?\Z")
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?\Z|[0-9a-f:]*:[0-9a-f:.]*\Z")
_NUMBER = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)\Z")


class Place(NamedTuple):
    """What matters of a URL: ``domains`` are the keys under which a jar keeps cookies for it, the host itself first."""

    host: str
    path: str
    secure: bool
    domains: tuple[str, ...]


def locate(url: str) -> Place | None:
    """The place of ``url``; None when it is no http(s) or ws(s) URL, or does not say plainly which host it means."""
    parts = _URL.match(url)
    if parts is None:
        return None
    scheme, authority, path = parts.groups()
    host, domains = _host_of(authority)
    return Place(host, path or "/", scheme.lower() in _SECURE, domains) if host else None


@lru_cache(maxsize=1024)
def _host_of(authority: str) -> tuple[str | None, tuple[str, ...]]:
    found = _AUTHORITY.match(authority.rpartition("@")[2])
    host = canonical_host(found[1] or found[2]) if found else None
    return (host, domain_keys(host)) if host else (None, ())


def domain_keys(host: str) -> tuple[str, ...]:
    """The domains whose cookies go to ``host``: itself, and with a leading dot itself and what it is part of."""
    if is_ip(host):
        return (host,)
    labels = host.split(".")
    return (host, *("." + ".".join(labels[start:]) for start in range(len(labels))))


def canonical_host(host: str) -> str | None:
    """``host`` in lower case, international names in their ASCII form; None when it cannot be a host."""
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode()
        except idna.IDNAError:
            return None
    host = host.lower()
    return host if _HOST.match(host) else None


def is_ip(host: str) -> bool:
    """Whether browsers read ``host`` as an address: IPv6, or a last label that is a number."""
    return ":" in host or _NUMBER.match(host.rstrip(".").rpartition(".")[2]) is not None


def domain_match(host: str, domain: str) -> bool:
    """RFC 6265bis 5.1.3, for ``domain`` without a leading dot."""
    return host == domain or (host.endswith("." + domain) and not is_ip(host))


def path_match(path: str, cookie_path: str) -> bool:
    """RFC 6265bis 5.1.4."""
    if cookie_path in ("/", path):
        return True
    return path.startswith(cookie_path) and (cookie_path[-1] == "/" or path[len(cookie_path)] == "/")


def default_path(path: str) -> str:
    """The path of a cookie that came without one: the directory of the page that set it."""
    return path[: path.rfind("/")] or "/"


@lru_cache(maxsize=1024)
def is_public_suffix(domain: str) -> bool:
    """Whether anybody may register names under ``domain``: a cookie for all of it is refused."""
    name = domain.rstrip(".")
    if "." not in name:
        return True
    found = _suffixes().extract_str(name)
    return not found.domain and found.suffix == name


@cache
def _suffixes() -> TLDExtract:
    """The list that is bundled with tldextract, private suffixes (github.io) included; no network, no cache on disk."""
    from tldextract import TLDExtract  # noqa: PLC0415 - 0.1 s, and only Domain= cookies need it

    return TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
