"""Ways out: to the judged address of a target, or to the run's own proxy."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import h11
from aiohappyeyeballs import start_connection
from python_socks import ProxyError, ProxyType
from python_socks.async_.asyncio.v2 import Proxy as SocksProxy

from fetchworker.egress.filter_proxy.head import basic
from fetchworker.egress.filter_proxy.reasons import FilterError, refused
from fetchworker.egress.filter_proxy.wire import Wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fetchworker.egress.filter_proxy.head import Target
    from fetchworker.egress.filter_proxy.run import Run, Upstream
    from fetchworker.egress.policy import Decision

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
AddressInfo = tuple[Any, Any, int, str, Any]
Resolve = Callable[[str, int], Awaitable[list[AddressInfo]]]
"""Looks a name up: host and port → what ``getaddrinfo`` returns, for streams."""

_NEXT_ADDRESS = 0.25  # seconds until the next address is tried beside (RFC 8305, 5)
_HEAD_BYTES = 64 * 1024
_OK = range(200, 300)


@dataclass(frozen=True, slots=True)
class Ways:
    """How connections are opened: by which resolver, in how many seconds, with which trust in proxies behind TLS."""

    resolve: Resolve
    seconds: float
    tls: ssl.SSLContext | None = None


async def look_up(host: str, port: int) -> list[AddressInfo]:
    """The host's own resolver."""
    return await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)


@asynccontextmanager
async def way_out(ways: Ways, run: Run, target: Target, decision: Decision) -> AsyncIterator[Wire]:
    """A connection by which the target is reached, counted by the run; gone at the end of the block.

    For a plain request by an HTTP proxy it leads to that proxy, otherwise to the target.

    Raises:
        FilterError: the way cannot be opened, or leads where none may go.
    """
    via = "upstream_timeout" if run.upstream else "connect_timeout"
    try:
        async with asyncio.timeout(ways.seconds):
            (reader, writer), first = await _open(ways, run, target, decision)
    except TimeoutError:
        raise FilterError(via) from None
    try:
        yield Wire(h11.CLIENT, reader, writer, head_bytes=_HEAD_BYTES, meter=run, first=first)
    finally:
        writer.transport.abort()


async def _open(ways: Ways, run: Run, target: Target, decision: Decision) -> tuple[Streams, bytes]:
    upstream = run.upstream
    if upstream is None:
        return await _direct(ways, run, target, trusted=decision.trusted), b""
    try:
        if upstream.scheme == "socks5h":
            return await _by_socks(upstream, target), b""
        return await _by_http(ways, upstream, target)
    except TimeoutError:
        raise
    except (OSError, EOFError):
        raise FilterError("upstream_unreachable") from None


async def _direct(ways: Ways, run: Run, target: Target, *, trusted: bool) -> Streams:
    """Look the name up once, judge what it says, and dial nothing else."""
    try:
        found = await ways.resolve(target.host, target.port)
    except (OSError, UnicodeError):
        raise FilterError("unresolvable") from None
    judged = [(info, run.policy.classify_address(ip_address(info[4][0]), target.port)) for info in found]
    usable = [info for info, decision in judged if trusted or decision.allowed]
    if not usable:
        raise refused(judged[0][1]) if judged else FilterError("unresolvable")
    try:
        made = await start_connection(usable, happy_eyeballs_delay=_NEXT_ADDRESS, interleave=1)
    except TimeoutError:
        raise
    except OSError:
        raise FilterError("unreachable") from None
    return await _streams(made)


async def _streams(made: socket.socket) -> Streams:
    try:
        return await asyncio.open_connection(sock=made)
    except BaseException:
        made.close()
        raise


async def _by_socks(upstream: Upstream, target: Target) -> Streams:
    """The name goes to the proxy as it is: it is looked up there."""
    user, password = upstream.username, _password(upstream)
    named = upstream.username is not None or upstream.password is not None
    proxy = SocksProxy(
        ProxyType.SOCKS5,
        upstream.host,
        upstream.port,
        username=(user or "") if named else None,
        password=password if named else None,
        rdns=True,
    )
    try:
        stream = await proxy.connect(target.host, target.port)
    except ProxyError as exc:
        # a code is the answer to CONNECT; the library has none for a refused login
        login = exc.error_code is None and "authentication" in str(exc)
        raise FilterError("upstream_auth" if login else "upstream_refused") from None
    return stream.reader, stream.writer


async def _by_http(ways: Ways, upstream: Upstream, target: Target) -> tuple[Streams, bytes]:
    """A connection to the proxy, with a tunnel if the target wants one, and what came after the tunnel stood."""
    tls = (ways.tls or _trust()) if upstream.scheme == "https" else None
    streams = await asyncio.open_connection(upstream.host, upstream.port, ssl=tls)
    if target.path is not None:
        return streams, b""
    try:
        return streams, await _ask_for_tunnel(Wire(h11.CLIENT, *streams, head_bytes=_HEAD_BYTES), upstream, target)
    except BaseException:
        streams[1].transport.abort()
        raise


async def _ask_for_tunnel(wire: Wire, upstream: Upstream, target: Target) -> bytes:
    headers = [("Host", target.place), ("Proxy-Connection", "keep-alive")]
    authorization = authorization_for(upstream)
    if authorization:
        headers.append(("Proxy-Authorization", authorization.decode()))
    await wire.send(h11.Request(method="CONNECT", target=target.place, headers=headers))
    await wire.send(h11.EndOfMessage())
    try:
        answer = await wire.next_event()
        while isinstance(answer, h11.InformationalResponse):
            answer = await wire.next_event()
    except h11.RemoteProtocolError:
        raise FilterError("upstream_refused") from None
    if not isinstance(answer, h11.Response):
        raise FilterError("upstream_unreachable")
    if answer.status_code not in _OK:
        raise FilterError("upstream_auth" if answer.status_code == 407 else "upstream_refused")  # noqa: PLR2004
    return wire.http.trailing_data[0]


def authorization_for(upstream: Upstream | None) -> bytes | None:
    """The header for an HTTP proxy; None where there is no such proxy or it wants none."""
    if upstream is None or (upstream.username is None and upstream.password is None):
        return None
    return basic(upstream.username, _password(upstream))


def _password(upstream: Upstream) -> str:
    return upstream.password.get_secret_value() if upstream.password else ""


@lru_cache(1)
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()
