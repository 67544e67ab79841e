"""What ``FETCHWORKER_EGRESS_ALLOW`` and ``FETCHWORKER_EGRESS_PORTS`` say (pure)."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple

IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_NAME = re.compile(r"(\*\.)?[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_SEPARATORS = re.compile(r"[\s,]+")
_MAX_PORT = 65_535
_LONG = 64  # characters of a wrong entry that an error shows

EVERY_DEFAULT_PORT = ((80, 80), (443, 443), (1024, _MAX_PORT))


class Destination(NamedTuple):
    """A place that may be reached though it is no public one: a name or a network, at one port or (None) at any.

    A name that begins with ``*.`` stands for all names below.
    """

    name: str | None
    network: IPNetwork | None
    port: int | None


def destinations(text: str) -> tuple[Destination, ...]:
    """The destinations of a list with commas or blanks between them.

    Raises:
        ValueError: naming the entry that is none.
    """
    return tuple(destination(entry) for entry in _SEPARATORS.split(text.strip()) if entry)


def destination(entry: str) -> Destination:
    """One of ``name``, ``*.name``, ``address`` and ``network/bits``; an IPv6 address with a port is in brackets.

    Raises:
        ValueError: it is none of these.
    """
    host, port = _split(entry)
    if port == 0:
        raise ValueError(f"{_told(entry)} has no port from 1 to {_MAX_PORT} after the colon")
    try:
        return Destination(None, ipaddress.ip_network(host), port)
    except ValueError as exc:
        if "host bits" in str(exc):
            raise ValueError(f"{_told(entry)} is an address inside a network; write {_network(host)}") from None
    name = host.lower().removesuffix(".")
    if not _NAME.fullmatch(name) or name.rpartition(".")[2].isdigit():
        raise ValueError(f"{_told(entry)} is no host, host:port, address or network")
    return Destination(name, None, port)


def port_ranges(text: str) -> tuple[tuple[int, int], ...]:
    """Ranges of ports, first and last, of a list such as ``80,443,1024-65535``.

    Raises:
        ValueError: naming the entry that is none.
    """
    found = []
    for entry in _SEPARATORS.split(text.strip()):
        first, dash, last = entry.partition("-")
        low, high = _port(first), _port(last if dash else first)
        if not 0 < low <= high:
            raise ValueError(f"{_told(entry)} is no port and no range of ports")
        found.append((low, high))
    return tuple(found)


def _split(entry: str) -> tuple[str, int | None]:
    """Host without brackets and port; the port is None when there is none and 0 when what stands there is no port."""
    if entry.startswith("["):
        host, _, rest = entry[1:].partition("]")
        if rest and not rest.startswith(":"):
            return entry, None
        return host, _port(rest[1:]) if rest else None
    if entry.count(":") != 1:  # none, or an IPv6 address
        return entry, None
    host, _, port = entry.partition(":")
    return host, _port(port)


def _port(text: str) -> int:
    valid = text.isascii() and text.isdigit() and len(text) <= len(str(_MAX_PORT)) and int(text) <= _MAX_PORT
    return int(text) if valid else 0


def _network(text: str) -> str:
    return str(ipaddress.ip_network(text, strict=False))


def _told(entry: str) -> str:
    """The entry, unless it is long or may hold credentials."""
    return repr(entry) if len(entry) <= _LONG and "@" not in entry and "//" not in entry else "an entry"
