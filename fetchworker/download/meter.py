"""Counts the bytes of a client's connections as the kernel saw them, and tells them to the transfers they were for.

Linux counts for each TCP connection what was sent and received (``TCP_INFO``, struct ``tcp_info`` of linux/tcp.h, since
4.19): payload with everything above TCP in it, such as handshakes of TLS and of proxies, HTTP/2's frames and failed
tries, but neither TCP's and IP's own headers nor what was sent again after a loss. A connection is read when a transfer
on it ends and when it is closed; what is new since the last look is given to somebody, once, so that the sum over
transfers is the sum over connections.

Where there is no TCP_INFO curl's own sizes are taken, which leave TLS and proxies out (:func:`own_sizes`).
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from curl_cffi import CurlInfo, CurlOpt
from curl_cffi._wrapper import ffi, lib

from fetchworker.download.easy import number_of
from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from curl_cffi import Curl

_HTTP_1_1 = 2  # curl's number of it
#: bytes of struct tcp_info up to the last field that is read
_SIZE = 216
#: its state, tcpi_bytes_received, tcpi_notsent_bytes, tcpi_bytes_sent and tcpi_bytes_retrans
_FIELDS = struct.Struct("=B127xQ8xI52xQQ")
#: states in which the other side has ended: its FIN is counted as a byte received
_ENDED = frozenset({6, 8, 9, 11})  # TIME_WAIT, CLOSE_WAIT, LAST_ACK, CLOSING


class Tally(Protocol):
    """Who is told of bytes, while its transfer runs and when a connection that it used last is closed."""

    def add(self, up: int, down: int, /) -> None:
        """So many bytes more were sent and received."""


class NoTally:
    """Takes no notice."""

    def add(self, up: int, down: int, /) -> None:
        """See :class:`Tally`."""


NO_TALLY = NoTally()


class _Owner(Protocol):
    """What opens sockets: an easy handle, with the tally of the transfer that it runs."""

    tally: Tally
    curl: Curl


class _Line:
    """One socket: what was given to somebody of what it has counted, and who used it last."""

    __slots__ = ("connection", "down", "last", "socket", "up")

    def __init__(self, made: socket.socket, connection: int, opener: Tally) -> None:
        self.socket = made
        self.connection = connection
        self.last = opener
        self.up = self.down = 0

    def waiting(self) -> tuple[int, int]:
        """Bytes sent and received that were given to nobody yet."""
        up, down = counters(self.socket)
        return max(0, up - self.up), max(0, down - self.down)

    def give(self, tally: Tally, up: int, down: int) -> None:
        self.up += up
        self.down += down
        self.last = tally
        if up or down:
            tally.add(up, down)


class Meter:
    """Keeps the sockets of one client; ``exact`` tells whether the kernel counts, else nothing is kept."""

    def __init__(self, *, exact: bool | None = None) -> None:
        self.exact = kernel_counts() if exact is None else exact
        self._self: Any = ffi.new_handle(self)
        self._lines: dict[int, _Line] = {}  # by descriptor
        self._connections: dict[int, list[_Line]] = {}  # by curl's number; rarely more than one

    def watcher(self, owner: _Owner) -> Callable[[socket.socket], None] | None:
        """What :class:`~fetchworker.egress.guard.Guard` is to call with the sockets of a handle."""
        return partial(self._opened, owner) if self.exact else None

    def attach(self, curl: Curl) -> None:
        """Hear of the ends of the handle's connections; to be done again after ``reset()``.

        Raises:
            ConfigError: curl does not take it.
        """
        if not self.exact:
            return
        options = ((CurlOpt.CLOSESOCKETDATA, self._self), (CurlOpt.CLOSESOCKETFUNCTION, _close_socket))
        if any(lib._curl_easy_setopt(curl._curl, option, value) for option, value in options):  # noqa: SLF001
            raise ConfigError(
                "bytes cannot be counted: curl takes no close-socket function. "
                "Install the curl_cffi that fetchworker is tested with"
            )

    def claim_all(self, curl: Curl, tally: Tally) -> None:
        """What the connection of a handle has cost up to now is this transfer's."""
        self.claim(tally, number_of(curl, CurlInfo.CONN_ID))

    def settle(self, curl: Curl, tally: Tally, *, shared: bool) -> None:
        """A handle's transfer has ended: tell what it cost; on a connection that others use now, its own part."""
        if not self.exact:
            tally.add(*own_sizes(curl))
        elif shared and number_of(curl, CurlInfo.HTTP_VERSION) > _HTTP_1_1:
            self.share(tally, number_of(curl, CurlInfo.CONN_ID), *own_sizes(curl))
        else:
            self.claim_all(curl, tally)

    def claim(self, tally: Tally, connection: int) -> None:
        """All that is new on a connection is this transfer's."""
        for line in self._connections.get(connection, ()):
            line.give(tally, *line.waiting())

    def share(self, tally: Tally, connection: int, up: int, down: int) -> None:
        """Of what is new on a connection, so much is this transfer's; the rest waits for the others that use it."""
        for line in self._connections.get(connection, ()):
            most_up, most_down = line.waiting()
            part = min(up, most_up), min(down, most_down)
            line.give(tally, *part)
            up, down = up - part[0], down - part[1]

    def close(self) -> None:
        """The client is closed; a socket that curl did not give back is curl's."""
        for line in self._lines.values():
            line.give(line.last, *line.waiting())
            line.socket.detach()
        self._lines.clear()
        self._connections.clear()

    def _opened(self, owner: _Owner, made: socket.socket) -> None:
        connection = number_of(owner.curl, CurlInfo.CONN_ID)
        line = self._lines[made.fileno()] = _Line(made, connection, owner.tally)
        self._connections.setdefault(connection, []).append(line)

    def ended(self, descriptor: int) -> None:
        """Close a socket; what nobody had yet is whose it was last: its opener's, or the last transfer's on it."""
        line = self._lines.pop(descriptor, None)
        if line is None:
            os.close(descriptor)
            return
        line.give(line.last, *line.waiting())
        line.socket.close()
        rest = self._connections.get(line.connection, [])
        if line in rest:
            rest.remove(line)
        if not rest:
            self._connections.pop(line.connection, None)


@ffi.callback("int(void *, int)", error=1)  # type: ignore[untyped-decorator]
def _close_socket(data: Any, descriptor: int) -> int:
    ffi.from_handle(data).ended(descriptor)
    return 0


def kernel_counts() -> bool:
    """Whether this system counts the bytes of TCP connections in a way that is known here."""
    if sys.platform != "linux" or not hasattr(socket, "TCP_INFO"):
        return False
    with socket.socket() as made:
        try:
            return len(made.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SIZE)) >= _SIZE
        except OSError:
            return False


def counters(made: socket.socket) -> tuple[int, int]:
    """Bytes that a TCP connection has sent (each once) and received. About a microsecond."""
    try:
        raw = made.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SIZE)
    except OSError:  # no longer a connection
        return 0, 0
    return read_counters(raw)


def read_counters(raw: bytes) -> tuple[int, int]:
    """Bytes sent and received out of a ``tcp_info`` (pure); what waits in the kernel is as good as sent."""
    state, received, unsent, sent, again = _FIELDS.unpack_from(raw)
    return sent - again + unsent, received - (state in _ENDED)


def own_sizes(curl: Curl) -> tuple[int, int]:
    """What curl says that it sent and received for the last transfer: heads and bodies of HTTP, without TLS."""
    up = number_of(curl, CurlInfo.REQUEST_SIZE) + number_of(curl, CurlInfo.SIZE_UPLOAD_T)
    return up, number_of(curl, CurlInfo.HEADER_SIZE) + number_of(curl, CurlInfo.SIZE_DOWNLOAD_T)
