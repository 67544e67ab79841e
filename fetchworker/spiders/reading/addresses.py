"""Addresses as pages write them, broken ones too (pure)."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qsl, urljoin, urlsplit

#: a whole address in its plainest form, which joining leaves as it is; pages have hundreds of these
_PLAIN = re.compile(r"https?://([a-z0-9.-]+)/[A-Za-z0-9%&'()*+,./:=@_~!$-]*(?:\?[A-Za-z0-9%&'()*+,./:=@_~!$-]+)?\Z")


def split(url: str | None) -> SplitResult:
    """The parts of an address; those of an empty one when it cannot be split."""
    try:
        return urlsplit(url or "")
    except ValueError:
        return urlsplit("")


def joined(base: str, link: str) -> str | None:
    """A link as a page writes it, with what the page's own address adds; None when it cannot be read."""
    if _PLAIN.match(link):
        return link
    try:
        return urljoin(base, link)
    except ValueError:
        return None


def query(url: str | None) -> dict[str, str]:
    """The parameters of an address; of a repeated one the first."""
    return dict(reversed(parse_qsl(split(url).query)))


def host(url: str | None) -> str:
    """The host of an address in lower case, without port; empty when it has none."""
    plain = _PLAIN.match(url or "")
    if plain:
        return plain[1]
    return split(url).netloc.rpartition("@")[2].partition(":")[0].lower()
