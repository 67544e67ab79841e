"""Judges every connection that curl opens, by the address that it really leads to.

curl asks its *open-socket* function for a socket before each connection (https://curl.se/libcurl/c/CURLOPT_OPENSOCKETFUNCTION.html,
seen 2026-11) and passes the address; without a socket there is no connection. curl_cffi has no public way to set it, so
its private library object is used: :func:`self_test` proves in each process that this works with what is installed.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, Any

from curl_cffi import Curl, CurlError, CurlOpt
from curl_cffi._wrapper import ffi, lib

from fetchworker.egress.policy import ALLOWED, Decision, EgressPolicy, Layer
from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fetchworker.egress.addresses import IPAddress

_NO_SOCKET = -1
_COULD_NOT_CONNECT = 7
#: struct curl_sockaddr: family, type, protocol and length of the address that follows
_HEAD = struct.Struct("@iiiI")
_TEST_TIMEOUT = 5000  # milliseconds


@dataclass(frozen=True, slots=True)
class Route:
    """Where the connections of one transfer may lead: anywhere that the policy allows, or only to a proxy.

    ``trusted``: the operator named the host or the proxy, so any address of it will do. ``port`` and, where it is
    known, ``address`` are the proxy's.
    """

    layer: Layer
    trusted: bool = False
    port: int | None = None
    address: IPAddress | None = None


DIRECT = Route("address")
TRUSTED = Route("address", trusted=True)


@lru_cache(1024)
def proxy_route(host: str, port: int, *, trusted: bool) -> Route:
    """The way to a proxy and to nothing else; ``trusted`` if it is one of the configured proxies."""
    try:
        address = ip_address(host)
    except ValueError:  # a name: curl looks it up, and only its port is known before
        address = None
    return Route("proxy", trusted=trusted, port=port, address=address)


class Guard:
    """Watches over one easy handle of curl.

    ``denied`` is what it refused last in this transfer, ``refused`` the address of that connection. ``opened`` is given
    each socket that curl gets, and keeps it: who sets it must close it in curl's *close-socket* function.
    """

    __slots__ = ("_policy", "_route", "_self", "denied", "opened", "refused")

    def __init__(self, policy: EgressPolicy, *, opened: Callable[[socket.socket], None] | None = None) -> None:
        self._policy = policy
        self.opened = opened
        self._route = DIRECT
        self._self: Any = ffi.new_handle(self)
        self.denied: Decision | None = None
        self.refused = ""

    def attach(self, curl: Curl) -> None:
        """Set the guard on a handle; to be done again after ``reset()``.

        Raises:
            ConfigError: curl does not take it.
        """
        options = ((CurlOpt.OPENSOCKETDATA, self._self), (CurlOpt.OPENSOCKETFUNCTION, _open_socket))
        if any(lib._curl_easy_setopt(curl._curl, option, value) for option, value in options):  # noqa: SLF001
            raise ConfigError(_told("curl takes no open-socket function"))

    def begin(self, route: Route) -> None:
        """A transfer with this route is next."""
        self._route = route
        self.denied = None

    def close(self) -> None:
        """Let go of the handle, which must be closed."""
        self._self = None

    def permits(self, address: IPAddress, port: int) -> bool:
        """Whether a connection may be opened; a refusal is kept."""
        decision = self._judge(address, port)
        if decision.allowed:
            return True
        self.denied, self.refused = decision, str(address)
        return False

    def fail(self) -> None:
        """The judging itself went wrong, which is no reason to let anything pass."""
        self.denied, self.refused = Decision(allowed=False, reason="error", layer=self._route.layer), ""

    def _judge(self, address: IPAddress, port: int) -> Decision:
        route = self._route
        if route.port not in (None, port) or route.address not in (None, address):
            return Decision(allowed=False, reason="not_the_proxy", layer="proxy")
        if route.trusted:
            return ALLOWED
        decision = self._policy.classify_address(address, port)
        return decision if decision.allowed else Decision(allowed=False, reason=decision.reason, layer=route.layer)


def _failed(_type: Any, _value: Any, traceback: Any) -> int:
    data = traceback.tb_frame.f_locals.get("data") if traceback else None
    if data:
        ffi.from_handle(data).fail()
    return _NO_SOCKET


@ffi.callback("int(void *, int, void *)", error=_NO_SOCKET, onerror=_failed)  # type: ignore[untyped-decorator]
def _open_socket(data: Any, _purpose: int, wanted: Any) -> int:
    guard: Guard = ffi.from_handle(data)
    family, kind, protocol, length = _HEAD.unpack(ffi.buffer(wanted, _HEAD.size))
    raw = ffi.buffer(wanted, _HEAD.size + length)[_HEAD.size :]
    address, port = _read(family, raw)
    if not guard.permits(address, port):
        return _NO_SOCKET
    try:
        made = socket.socket(family, kind, protocol)
    except OSError:  # no such protocol here, or no descriptor left: curl says so
        return _NO_SOCKET
    if guard.opened is None:
        return made.detach()
    guard.opened(made)
    return made.fileno()


def _read(family: int, raw: bytes) -> tuple[IPAddress, int]:
    """Address and port of a ``sockaddr_in`` or ``sockaddr_in6``; others (a local socket) are an error."""
    port = int.from_bytes(raw[2:4], "big")
    if family == socket.AF_INET:
        return IPv4Address(raw[4:8]), port
    if family == socket.AF_INET6:
        return IPv6Address(raw[8:24]), port
    raise ValueError(f"no address of the internet: family {family}")


# ── proof ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(1)
def self_test() -> None:
    """Prove, once per process, that a guarded handle reaches what it may and nothing else. Takes some milliseconds.

    Raises:
        ConfigError: it does not, or it could not be tried out.
    """
    try:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            port = listener.getsockname()[1]
            if not _reached(listener, proxy_route("127.0.0.1", port, trusted=True)):
                raise ConfigError(_told("a connection that it allows is not made"))
            if _reached(listener, DIRECT):
                raise ConfigError(_told("a connection that it refuses is made"))
    except OSError as exc:
        raise ConfigError(_told(f"no listener on 127.0.0.1 to try it out ({exc.strerror})")) from exc


def _reached(listener: socket.socket, route: Route) -> bool:
    """Whether a guarded handle connects to the listener; not to have come so far for another reason is an error."""
    guard, curl = Guard(EgressPolicy()), Curl()
    try:
        code = _connect(curl, guard, route, listener.getsockname()[1])
    finally:
        curl.close()
        guard.close()
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        if code != _COULD_NOT_CONNECT or guard.denied is None:
            raise ConfigError(_told(f"the connection failed for another reason (curl {code})")) from None
        return False
    return True


def _connect(curl: Curl, guard: Guard, route: Route, port: int) -> int:
    guard.attach(curl)
    guard.begin(route)
    options = {CurlOpt.NOSIGNAL: 1, CurlOpt.CONNECT_ONLY: 1, CurlOpt.TIMEOUT_MS: _TEST_TIMEOUT, CurlOpt.NOPROXY: b"*"}
    for option, value in options.items():
        curl.setopt(option, value)
    curl.setopt(CurlOpt.URL, f"http://127.0.0.1:{port}/".encode())
    try:
        curl.perform()
    except CurlError as exc:
        return int(exc.code)
    return 0


def _told(what: str) -> str:
    return f"the egress guard does not work here: {what}. Install the curl_cffi that fetchworker is tested with"
