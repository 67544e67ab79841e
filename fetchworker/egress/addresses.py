"""Which addresses are public (pure).

The table is ssrfguard's: IANA's special-purpose registries of 2026-08-22, multicast, metadata services of clouds. It is
read more strictly here. What IANA lists as special is refused even where it is reachable from anywhere, since none of
it serves pages; and an IPv6 address that carries an IPv4 one must be public itself and carry a public one.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_network
from typing import TYPE_CHECKING

from ssrfguard import DEFAULT_DENIED, Reach

if TYPE_CHECKING:
    from ssrfguard import Block

IPAddress = IPv4Address | IPv6Address

#: the only part of IPv6 that is given out for use on the internet (IANA, seen 2026-11)
_GLOBAL_UNICAST = IPv6Network("2000::/3")
#: forms of IPv6 that end in an IPv4 address: mapped, compatible, NAT64
_ENDINGS = tuple(IPv6Network(text) for text in ("::ffff:0:0/96", "::/96", "64:ff9b::/96"))
#: interface identifiers of ISATAP (RFC 5214, 6.1), without and with the "universal" bit
_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})
#: public by number, and yet a service of the host's own cloud
_METADATA = (ip_network("168.63.129.16/32"),)  # Azure's WireServer

_SLUGS = {
    "Loopback": "loopback",
    "Loopback Address": "loopback",
    "Private-Use": "private",
    "Unique-Local": "private",
    "Site-Local (deprecated)": "private",
    "Shared Address Space": "shared",
    "Link Local": "link_local",
    "Link-Local Unicast": "link_local",
    "This network": "unspecified",
    "This host on this network": "unspecified",
    "Unspecified Address": "unspecified",
    "Multicast": "multicast",
}


@lru_cache(4096)
def special(address: IPAddress) -> str:
    """Why an address is not a public one, as a slug; "" when it is public."""
    if any(address in network for network in _METADATA):
        return "metadata"
    verdict = DEFAULT_DENIED.classify(address)
    block = verdict.block
    if block is not None and (verdict.blocked or block.reach is Reach.PERMITTED):
        return _slug(block)
    if isinstance(address, IPv4Address):
        return ""
    if block is None and address not in _GLOBAL_UNICAST:
        return "special"
    return next((why for inner in _carried(address) if (why := special(inner))), "")


def _slug(block: Block) -> str:
    return "metadata" if "metadata" in block.name else _SLUGS.get(block.name, "special")


def _carried(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses in an IPv6 one: packets may end there."""
    number = int(address)
    last = IPv4Address(number & 0xFFFF_FFFF)
    if any(address in network for network in _ENDINGS):
        return (last,)
    carried = [*(address.teredo or ()), *([address.sixtofour] if address.sixtofour else [])]
    if number >> 32 & 0xFFFF_FFFF in _ISATAP:
        carried.append(last)
    return tuple(carried)
