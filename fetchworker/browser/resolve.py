"""Names as the host map of tests and demos says, and by the host's resolver otherwise."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from fetchworker.egress.filter_proxy.outside import look_up

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fetchworker.egress.filter_proxy import Resolve


def resolver(host_map: Iterable[tuple[str, str]]) -> Resolve:
    """The resolver of a filtering proxy; entries are ``host[:port]`` → ``ip:port``."""
    known = dict(host_map)

    async def resolve(host: str, port: int) -> list[Any]:
        named = f"[{host}]" if ":" in host else host
        target = known.get(f"{named}:{port}") or known.get(named)
        if target is None:
            return await look_up(host, port)
        address, _, to = target.rpartition(":")
        address = address.strip("[]")
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, int(to)))]

    return resolve
