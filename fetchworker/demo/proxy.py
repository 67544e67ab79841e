"""Local forward proxies with credentials: HTTP (CONNECT and absolute-form, plain or over TLS) and SOCKS5.

A proxy reaches nothing but the addresses of its table, so no request leaves the machine whatever a client asks for.
Each connects to the upstream from a loopback address of its own, which is what the upstream takes for the exit.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import secrets
import socket
from enum import StrEnum
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal, Self
from urllib.parse import quote

from fetchworker.demo import socks
from fetchworker.demo.http1 import HEAD_LIMIT, BadMessageError, Head, read_body, read_head, response_head
from fetchworker.demo.log import Log
from fetchworker.demo.relay import Refused, Streams, Tunnel, carry, close, exchange, split_target

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    from fetchworker.demo.tls import Authority

Scheme = Literal["http", "https", "socks5"]
_CHUNK = 64 * 1024
_ASK = (("proxy-authenticate", 'Basic realm="demo"'),)


class Mode(StrEnum):
    """What a proxy does to everybody."""

    OK = "ok"
    REFUSE_CREDENTIALS = "refuse_credentials"
    """Asks for other credentials, always (407; SOCKS5: authentication failed)."""
    DEAD = "dead"
    """Nobody listens on the port."""
    BLACK_HOLE = "black_hole"
    """Accepts connections and never says a word."""
    DROP = "drop"
    """Says that the tunnel stands, then drops it."""
    FORBID = "forbid"
    """Takes the credentials and refuses the way (403; SOCKS5: not allowed)."""
    UNREACHABLE = "unreachable"
    """Takes the credentials and has no exit for us (502; SOCKS5: refused)."""
    TRUNCATE = "truncate"
    """Carries a little of what comes back, then drops the connection."""


_REFUSING = {Mode.FORBID: HTTPStatus.FORBIDDEN, Mode.UNREACHABLE: HTTPStatus.BAD_GATEWAY}
#: bytes that a proxy which truncates carries back: a TLS handshake and the beginning of an answer
TRUNCATED = 6000


class ProxyServer:
    """One proxy on a loopback port; an async context manager.

    Args:
        host_map: ``name:port`` → ``address:port`` of everything that may be reached, such as
            :meth:`UpstreamServer.host_map() <fetchworker.demo.server.UpstreamServer.host_map>`. Others get 403.
        scheme: ``https`` is an HTTP proxy behind TLS and needs an ``authority``.
        username: who may use it.
        password: made up when none is given.
        address: loopback address to listen on.
        source: loopback address to connect from.
        gateway: also take user names that begin with ``<username>-``, each with an exit of its own, as the gateways of
            proxy providers do.
        mode: what the proxy does to everybody; :meth:`set_mode` changes it.
        authority: who signs the certificate of an ``https`` proxy.
        log: gets an event ``proxy`` for every tunnel or request, and ``proxy_closed`` with its bytes at the end.
        port: 0 takes a free one.
        name: how the log calls the proxy; its port when none is given.
    """

    def __init__(
        self,
        host_map: Mapping[str, str],
        *,
        scheme: Scheme = "http",
        username: str = "user",
        password: str | None = None,
        address: str = "127.0.0.1",
        source: str = "127.0.0.1",
        gateway: bool = False,
        mode: Mode = Mode.OK,
        authority: Authority | None = None,
        log: Log | None = None,
        port: int = 0,
        name: str | None = None,
    ) -> None:
        if scheme == "https" and authority is None:
            raise ValueError("an https proxy needs an authority for its certificate")
        self.host_map = {key.lower(): value for key, value in host_map.items()}
        self.scheme: Scheme = scheme
        self.username, self.password = username, password if password is not None else secrets.token_urlsafe(12)
        self.source, self.gateway, self.mode, self.port = source, gateway, mode, port
        self.address = address
        self.log = log if log is not None else Log()
        self._name = name
        self._tls: ssl.SSLContext | None = None
        if authority is not None and scheme == "https":
            self._tls = authority.server_context(("proxy.example",))
        self._server: asyncio.Server | None = None
        self._place: socket.socket | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def name(self) -> str:
        """How the log calls the proxy."""
        return self._name or str(self.port)

    @property
    def url(self) -> str:
        """The proxy's address with its credentials."""
        return self.url_for(self.username)

    def url_for(self, username: str, password: str | None = None) -> str:
        """The address with other credentials; ``socks5h``, so that clients leave names to the proxy."""
        secret = password if password is not None else self.password
        scheme = "socks5h" if self.scheme == "socks5" else self.scheme
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{scheme}://{quote(username, safe='')}:{quote(secret, safe='')}@{host}:{self.port}"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()

    async def start(self) -> None:
        """Take the port, and listen unless the mode is ``dead``."""
        self._place = _bind(self.address, self.port)
        self.port = self._place.getsockname()[1]
        if self.mode is not Mode.DEAD:
            await self._listen()

    async def close(self) -> None:
        """Stop listening and drop every connection."""
        await self._silence()
        if self._place is not None:
            self._place.close()
            self._place = None

    async def set_mode(self, mode: Mode) -> None:
        """Change the mode; connections that stand are dropped. The port stays the same."""
        await self._silence()
        self.mode = mode
        if self._place is None:
            self._place = _bind(self.address, self.port)
        if mode is not Mode.DEAD:
            await self._listen()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._accept, sock=self._place, ssl=self._tls, limit=HEAD_LIMIT)
        self._place = None  # the server closes it

    async def _silence(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begin a task of our own: asyncio's tells a cancelled one as an error that nobody handled."""
        task = asyncio.get_running_loop().create_task(self._client(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: writer.transport.abort())  # one that was cancelled before it began

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._speak((reader, writer))
        except (OSError, BadMessageError, asyncio.IncompleteReadError):
            pass  # the client left, or was told what is wrong
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            await close(writer)

    async def _speak(self, client: Streams) -> None:
        if self.mode is Mode.BLACK_HOLE:
            while await client[0].read(_CHUNK):
                pass
        elif self.scheme == "socks5":
            await self._socks(client)
        else:
            while (head := await read_head(client[0])) is not None:
                if not await self._answer(head, client):
                    break

    # who may do what

    def knows(self, user: str, password: str) -> bool:
        """Whether the credentials are good; takes the same time for all that are not."""
        known = self.username
        if self.gateway and user.startswith(f"{known}-"):
            known = user
        good = hmac.compare_digest(f"{user}:{password}".encode(), f"{known}:{self.password}".encode())
        return good and self.mode is not Mode.REFUSE_CREDENTIALS

    def who(self, user: str, password: str) -> str:  # noqa: ARG002 - for gateways that read it
        """What the log calls the user, and what its exit hangs on."""
        return user

    def exit_of(self, user: str) -> str:
        """The loopback address that a user's connections come from."""
        if user == self.username:
            return self.source
        digest = hashlib.sha256(f"{self.name}:{user}".encode()).digest()
        return f"127.{1 + digest[0] % 250}.{digest[1]}.{1 + digest[2] % 254}"

    async def _open(self, tunnel: Tunnel) -> Streams:
        """Connect to a target of the table, from the user's exit."""
        address = self.host_map.get(tunnel.target.lower())
        if address is None or self.mode in _REFUSING:
            status = _REFUSING.get(self.mode, HTTPStatus.FORBIDDEN)
            self._note(tunnel, status)
            raise Refused(status)
        host, _, port = address.rpartition(":")
        local = (self.exit_of(tunnel.user), 0)
        try:
            reader, writer = await asyncio.open_connection(host, int(port), local_addr=local, limit=HEAD_LIMIT)
        except OSError as exc:
            self._note(tunnel, HTTPStatus.BAD_GATEWAY)
            raise Refused(HTTPStatus.BAD_GATEWAY) from exc
        tunnel.source, tunnel.source_port = writer.get_extra_info("sockname")[:2]
        self._note(tunnel, HTTPStatus.OK)
        return reader, writer

    def _note(self, tunnel: Tunnel, status: HTTPStatus) -> None:
        self.log.event(
            "proxy", proxy=self.name, user=tunnel.user, method=tunnel.method, target=tunnel.target, status=int(status),
            source=tunnel.source, source_port=tunnel.source_port,
        )  # fmt: skip

    def _done(self, tunnel: Tunnel) -> None:
        self.log.event(
            "proxy_closed", proxy=self.name, user=tunnel.user, method=tunnel.method, target=tunnel.target,
            source=tunnel.source, source_port=tunnel.source_port, up=tunnel.up, down=tunnel.down,
        )  # fmt: skip

    # HTTP

    async def _answer(self, head: Head, client: Streams) -> bool:
        """Serve one request; whether the connection may bring another."""
        method, _, rest = head.start.partition(" ")
        user, password = _credentials(head.get("proxy-authorization"))
        tunnel = Tunnel(self.who(user, password), method, rest.rpartition(" ")[0])
        try:
            if not self.knows(user, password):
                self._note(tunnel, HTTPStatus.PROXY_AUTHENTICATION_REQUIRED)
                raise Refused(HTTPStatus.PROXY_AUTHENTICATION_REQUIRED)  # noqa: TRY301 - answered below like the others
            if method != "CONNECT":
                return await self._forward(tunnel, head, client)
            upstream = await self._open(tunnel)
            client[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await self._carry(tunnel, client, upstream)
        except Refused as exc:
            await _refuse(head, client, exc.status)
            return True
        return False

    async def _forward(self, tunnel: Tunnel, head: Head, client: Streams) -> bool:
        """Pass a plain HTTP request on; whether the client's connection may bring another."""
        tunnel.target, path = split_target(tunnel.target)
        upstream = await self._open(tunnel)
        try:
            if self.mode is Mode.DROP:
                client[1].transport.abort()
                return False
            return await exchange(tunnel, (head, path), client, upstream)
        finally:
            self._done(tunnel)
            await close(upstream[1])

    async def _carry(self, tunnel: Tunnel, client: Streams, upstream: Streams) -> None:
        try:
            if self.mode is Mode.DROP:
                await client[1].drain()
            else:
                await carry(tunnel, client, upstream, most=TRUNCATED if self.mode is Mode.TRUNCATE else None)
        finally:
            self._done(tunnel)
            await close(upstream[1])

    # SOCKS5

    async def _socks(self, client: Streams) -> None:
        reader, writer = client
        user, password = await socks.greet(reader, writer)
        good = self.knows(user, password)
        await socks.answer_login(writer, good=good)
        if not good:
            self._note(Tunnel(self.who(user, password), "SOCKS5", ""), HTTPStatus.PROXY_AUTHENTICATION_REQUIRED)
            return
        tunnel = Tunnel(self.who(user, password), "SOCKS5", await socks.read_target(reader, writer))
        try:
            upstream = await self._open(tunnel)
        except Refused as exc:
            forbidden = exc.status is HTTPStatus.FORBIDDEN
            await socks.answer_connect(writer, socks.NOT_ALLOWED if forbidden else socks.REFUSED)
            return
        await socks.answer_connect(writer, socks.SUCCEEDED)
        await self._carry(tunnel, client, upstream)


def _bind(address: str, port: int) -> socket.socket:
    place = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    place.bind((address, port))
    return place


def _credentials(authorization: str | None) -> tuple[str, str]:
    """User name and password of a Basic authorization; empty ones when it is none."""
    kind, _, encoded = (authorization or "").partition(" ")
    if kind.lower() != "basic":
        return "", ""
    try:
        user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return user, password


async def _refuse(head: Head, client: Streams, status: HTTPStatus) -> None:
    reader, writer = client
    async for _ in read_body(reader, head):
        pass
    body = f"the demo's proxy says {int(status)} {status.phrase}\n".encode()
    ask = _ASK if status is HTTPStatus.PROXY_AUTHENTICATION_REQUIRED else ()
    headers = (*ask, ("content-type", "text/plain"), ("content-length", str(len(body))))
    writer.write(response_head(status, headers) + body)
    await writer.drain()
