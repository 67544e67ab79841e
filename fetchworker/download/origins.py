"""Origins and sites as browsers compare them: sec-fetch-site, Origin and the trimmed Referer.

Rules: HTML (origin, site), Fetch Metadata (sec-fetch-site), Referrer Policy (strict-origin-when-cross-origin, the
default of every browser). Registrable domains come from the Public Suffix List bundled with tldextract, private part
included as browsers do; nothing is fetched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Site = Literal["none", "same-origin", "same-site", "cross-site"]

_URL = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://(?:[^/?#@\\]*@)?([^/?#\\]*)")
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_LONGEST_REFERER = 4096
_BY_DISTANCE: tuple[Site, ...] = ("same-origin", "same-site", "cross-site")


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port of a URL. ``text`` is its serialised form; the host is lower-case ASCII, without port."""

    text: str
    scheme: str
    host: str

    @property
    def trustworthy(self) -> bool:
        """Whether browsers treat pages from here as a secure context (https, or this machine)."""
        return self.scheme == "https" or _is_loopback(self.host)


def origin_of(url: str) -> Origin | None:
    """The origin of an http or https URL (or of a bare origin), None for anything else."""
    found = _URL.match(url)
    return _origin(found[1], found[2]) if found else None


@lru_cache(maxsize=4096)
def _origin(scheme: str, authority: str) -> Origin | None:
    scheme = scheme.lower()
    if scheme not in _DEFAULT_PORTS or not authority:
        return None
    try:
        authority = _ascii(authority.lower())
    except UnicodeError:  # no name that could be looked up
        return None
    authority = authority.removesuffix(_DEFAULT_PORTS[scheme]).removesuffix(":")
    host = authority[: authority.index("]") + 1] if authority.startswith("[") else authority.partition(":")[0]
    return Origin(f"{scheme}://{authority}", scheme, host)


def _ascii(authority: str) -> str:
    return authority if authority.isascii() else authority.encode("idna").decode("ascii")


@lru_cache(maxsize=4096)
def relation(initiator: Origin, target: Origin) -> Site:
    """How the target lies to the initiator, as sec-fetch-site says it. Sites differ when their schemes do."""
    if initiator.text == target.text:
        return "same-origin"
    same = initiator.scheme == target.scheme and registrable_domain(initiator.host) == registrable_domain(target.host)
    return "same-site" if same else "cross-site"


def farthest(initiator: Origin, targets: Iterable[Origin]) -> Site:
    """The relation of a request that went through redirects: a hop to another site is not forgotten."""
    return _BY_DISTANCE[max(_BY_DISTANCE.index(relation(initiator, target)) for target in targets)]


@lru_cache(maxsize=4096)
def registrable_domain(host: str) -> str:
    """``example.co.uk`` for ``a.example.co.uk``; the host itself where it has none (an address, a public suffix)."""
    return _psl()(host) or host


@cache
def _psl() -> Callable[[str], str]:
    from tldextract import TLDExtract  # noqa: PLC0415  # slow to import, and only cross-origin requests need it

    extract = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
    return lambda host: extract.extract_str(host).top_domain_under_public_suffix


def trim_referer(referer: str, source: Origin, target: Origin) -> str | None:
    """What a page may tell the target of its URL, None for nothing."""
    if source.trustworthy and not target.trustworthy:
        return None
    if source.text != target.text:
        return source.text + "/"
    end = _path_start(referer)
    path = referer[end:].partition("#")[0]
    text = source.text + (path if path.startswith("/") else f"/{path}")
    return text if len(text) <= _LONGEST_REFERER else source.text + "/"


def _path_start(url: str) -> int:
    found = _URL.match(url)
    return found.end() if found else len(url)


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
