"""The demo's upstream: HTTPS (HTTP/2 and HTTP/1.1 by ALPN) and plain HTTP on loopback, with everything logged."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, cast

from fetchworker.demo.h1server import Http1Conversation
from fetchworker.demo.h2server import Http2Protocol
from fetchworker.demo.hello import ClientHello, handshake_message, parse_client_hello
from fetchworker.demo.http1 import HEAD_LIMIT
from fetchworker.demo.log import Log
from fetchworker.demo.tls import Authority, TicketWatch

if TYPE_CHECKING:
    import ssl
    from collections.abc import Coroutine, Sequence

    from fetchworker.demo.model import App, Connection

DEFAULT_HOSTS = (
    "www.instagram.com", "i.instagram.com", "scontent.cdninstagram.com", "www.ebay.com", "www.ebay.de",
    "itm.ebaydesc.com", "linktr.ee", "www.threads.com", "www.threads.net", "www.facebook.com", "m.facebook.com",
    "graph.facebook.com", "www.walmart.com", "www.walmart.ca", "adstransparency.google.com",
    "www.tiktok.com", "shop.tiktok.com", "library.tiktok.com", "ads.tiktok.com",
    "www.linkedin.com", "static.xx.fbcdn.net", "static.cdninstagram.com", "lab.example", "bench.example",
)  # fmt: skip
"""The names the demo answers to; the ``.example`` ones carry the test routes and the benchmark pages."""

_HANDSHAKE_SECONDS = 15.0
_PEEK = 32 * 1024


class UpstreamServer:
    """Serves an app on two loopback ports: TLS with ALPN, and plain HTTP/1.1.

    Use it as an async context manager. The client must trust ``ca_pem_path`` and reach ``port`` under one of
    ``hosts`` (through one of the demo's proxies, or by curl's RESOLVE) or as ``localhost``.

    Args:
        app: answers the requests.
        hosts: the names in the certificate.
        port, http_port: 0 takes a free one.
        authority: who signs the certificate; without one a fresh authority is made and removed again.
        log: where to write down what is seen.
        alpn: protocols offered, the preferred one first.
        goaway_after: end each HTTP/2 connection politely after so many requests.
        watch_tickets: note which tickets are sent to whom (costs a little time per TLS record).
    """

    def __init__(
        self,
        app: App,
        *,
        hosts: Sequence[str] = DEFAULT_HOSTS,
        port: int = 0,
        http_port: int = 0,
        authority: Authority | None = None,
        log: Log | None = None,
        alpn: Sequence[str] = ("h2", "http/1.1"),
        goaway_after: int | None = None,
        watch_tickets: bool = True,
    ) -> None:
        self.app = app
        self.hosts = tuple(hosts)
        self.log = log if log is not None else Log()
        self.port, self.http_port = port, http_port
        self._own_authority = authority is None
        self.authority = self._authority = authority if authority is not None else Authority()
        self._tls = self.authority.server_context(self.hosts, alpn=alpn)
        self._watch = TicketWatch(self._tls) if watch_tickets else None
        self._goaway_after = goaway_after
        self._listeners: list[socket.socket] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: dict[asyncio.Transport, asyncio.Future[None]] = {}

    @property
    def ca_pem_path(self) -> str:
        """The certificate that clients have to trust."""
        return str(self.authority.pem_path)

    def host_map(self) -> dict[str, str]:
        """``name:port`` → loopback address, for the proxies: the hosts on 443 and 80, and the server's own ports."""
        secure, plain = f"127.0.0.1:{self.port}", f"127.0.0.1:{self.http_port}"
        table = {f"{host}:443": secure for host in self.hosts} | {f"{host}:80": plain for host in self.hosts}
        own = {f"{name}:{port}": f"127.0.0.1:{port}" for name in ("localhost", "127.0.0.1") for port in self._ports()}
        return table | own

    def _ports(self) -> tuple[int, int]:
        return self.port, self.http_port

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()

    async def start(self) -> None:
        """Listen."""
        secure, plain = _listen(self.port), _listen(self.http_port)
        self._listeners = [secure, plain]
        self.port, self.http_port = secure.getsockname()[1], plain.getsockname()[1]
        self._spawn(self._accept(secure, self._tls))
        self._spawn(self._accept(plain, None))

    async def close(self) -> None:
        """Stop listening, drop every connection and wait until they are gone."""
        for task in list(self._tasks):
            task.cancel()
        for transport in list(self._open):
            transport.abort()
        await asyncio.gather(*self._tasks, *self._open.values(), return_exceptions=True)
        for listener in self._listeners:
            listener.close()
        if self._own_authority:
            self.authority.close()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, listener: socket.socket, tls: ssl.SSLContext | None) -> None:
        loop = asyncio.get_running_loop()
        while True:
            client, peer = await loop.sock_accept(listener)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._spawn(self._serve(client, self.log.new_connection(peer, secure=tls is not None), tls))

    async def _serve(self, client: socket.socket, connection: Connection, tls: ssl.SSLContext | None) -> None:
        """Bring one accepted connection to the protocol that its client asks for."""
        loop = asyncio.get_running_loop()
        timeout = _HANDSHAKE_SECONDS if tls is not None else None
        try:
            if tls is not None:
                connection.hello = await asyncio.wait_for(_peek_hello(client), timeout)
            await loop.connect_accepted_socket(
                lambda: _Chooser(self, connection), client, ssl=tls, ssl_handshake_timeout=timeout
            )
        except (OSError, ValueError, TimeoutError) as exc:
            connection.error = f"{type(exc).__name__}: {exc}"
            self.log.opened(connection)
            client.close()
        except asyncio.CancelledError:
            connection.error = "the server was closed during the handshake"
            self.log.opened(connection)
            client.close()
            raise

    def begin(self, transport: asyncio.Transport, connection: Connection) -> None:
        """Start serving a connection whose handshake is over."""
        session: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
        if session is not None:
            connection.alpn = session.selected_alpn_protocol()
            connection.tls_version = session.version()
            connection.resumed = bool(session.session_reused)
            connection.tickets = self._watch.tickets(session) if self._watch is not None else []
        self.log.opened(connection)
        closed = self._open[transport] = asyncio.get_running_loop().create_future()
        if connection.alpn == "h2":
            self._begin_http2(transport, connection, closed)
        else:
            self._begin_http1(transport, connection)

    def _begin_http2(self, transport: asyncio.Transport, connection: Connection, closed: asyncio.Future[None]) -> None:
        def gone() -> None:
            self._open.pop(transport, None)
            if not closed.done():
                closed.set_result(None)

        protocol = Http2Protocol(connection, self.app, self.log, goaway_after=self._goaway_after, on_close=gone)
        transport.set_protocol(protocol)
        protocol.connection_made(transport)

    def _begin_http1(self, transport: asyncio.Transport, connection: Connection) -> None:
        reader = asyncio.StreamReader(limit=HEAD_LIMIT)
        protocol = asyncio.StreamReaderProtocol(reader)
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        writer = asyncio.StreamWriter(transport, protocol, reader, asyncio.get_running_loop())
        del self._open[transport]  # its task is what close() waits for
        self._spawn(Http1Conversation(reader, writer, connection, self.app, self.log).run())


class _Chooser(asyncio.Protocol):
    """Stands in until the handshake is over and ALPN has spoken."""

    def __init__(self, server: UpstreamServer, connection: Connection) -> None:
        self._server, self._connection = server, connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are no subclass of asyncio's
        self._server.begin(cast("asyncio.Transport", transport), self._connection)


def _listen(port: int) -> socket.socket:
    listener = socket.create_server(("127.0.0.1", port), backlog=512)
    listener.setblocking(False)
    return listener


async def _peek_hello(client: socket.socket) -> ClientHello:
    """Read the ClientHello without taking it from the socket.

    Raises:
        ValueError: the client does not speak TLS.
        OSError: it hung up.
    """
    while True:
        await _readable(client)
        data = client.recv(_PEEK, socket.MSG_PEEK)
        if not data:
            raise ConnectionResetError("closed before the handshake")
        message = handshake_message(data)
        if message is not None:
            return parse_client_hello(message)
        await asyncio.sleep(0.001)  # the rest is on its way; the socket stays readable, so waiting on it would spin


async def _readable(client: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        loop.remove_reader(client)
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(client, wake)
    try:
        await ready
    finally:
        with suppress(OSError, ValueError):
            loop.remove_reader(client)
