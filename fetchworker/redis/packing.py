"""Connections that write commands by hiredis, as the library's synchronous ones do; its own way costs far more."""

from __future__ import annotations

from typing import Any

import hiredis
from redis.asyncio.connection import AbstractConnection, Connection, SSLConnection, UnixDomainSocketConnection


class _Packed(AbstractConnection):
    def pack_command(self, *args: Any) -> list[bytes]:
        """A command in the protocol of Redis.

        Raises:
            DataError: an argument that is no text, bytes or number.
        """
        if type(args[0]) is str and " " not in args[0] and bool not in map(type, args):
            try:
                return [hiredis.pack_command(args)]
            except TypeError:  # the library takes a few kinds more, and tells of others
                pass
        packed: list[bytes] = super().pack_command(*args)
        return packed


class PackedConnection(_Packed, Connection):
    """By TCP."""


class PackedSSLConnection(_Packed, SSLConnection):
    """By TLS."""


class PackedUnixConnection(_Packed, UnixDomainSocketConnection):
    """By a Unix socket."""


#: what takes the place of the library's classes
PACKED: dict[type, type] = {
    Connection: PackedConnection,
    SSLConnection: PackedSSLConnection,
    UnixDomainSocketConnection: PackedUnixConnection,
}
