"""What passes between the demo server and its apps, and what is written down about it."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

if TYPE_CHECKING:
    from fetchworker.demo.hello import ClientHello

Value = str | bytes
Headers = Sequence[tuple[str, Value]]


class HangUp(Exception):  # noqa: N818 - an instruction, not an error
    """Raised by an app (or its body): drop the connection here, without a proper end."""


class GoAway(HangUp):
    """Raised by an app: end this HTTP/2 connection with GOAWAY and without an answer; HTTP/1.1 connections are dropped.

    ``taken``: the GOAWAY counts this request among those the server has taken on; else the client may send it again.
    """

    def __init__(self, *, taken: bool) -> None:
        super().__init__()
        self.taken = taken


class ResetStream(Exception):  # noqa: N818 - an instruction, not an error
    """Raised by an app (or its body): reset this HTTP/2 stream with ``code``; HTTP/1.1 connections are dropped."""

    def __init__(self, code: int) -> None:
        super().__init__(f"HTTP/2 error code {code:#x}")
        self.code = code


class Priority(NamedTuple):
    """An HTTP/2 priority; ``weight`` counts from 1 to 256."""

    weight: int
    depends_on: int
    exclusive: bool


@dataclass(slots=True, eq=False)
class Connection:
    """One accepted connection.

    ``tickets`` are the hashes of the TLS tickets sent to this client, ``hello.offered`` those it offered; ``resumed``
    says that the server took one. The ``h2_*`` facts are what the client sent before its first request: settings in
    order, the window added to the connection, and PRIORITY frames with their streams.
    """

    id: int
    peer: str
    peer_port: int
    secure: bool
    at: float = field(default_factory=time.time)
    hello: ClientHello | None = None
    alpn: str | None = None
    tls_version: str | None = None
    resumed: bool = False
    tickets: list[str] = field(default_factory=list)
    h2_settings: list[tuple[int, int]] = field(default_factory=list)
    h2_window: int = 0
    h2_priorities: list[tuple[int, Priority]] = field(default_factory=list)
    requests: int = 0
    error: str | None = None

    @property
    def offered(self) -> tuple[str, ...]:
        """Hashes of the tickets that the client offered."""
        return self.hello.offered if self.hello else ()

    def record(self) -> dict[str, Any]:
        """The line of the log."""
        return {
            "type": "connection", "connection": self.id, "at": self.at, "peer": self.peer, "peer_port": self.peer_port,
            "secure": self.secure, "alpn": self.alpn, "tls_version": self.tls_version, "resumed": self.resumed,
            "offered": list(self.offered), "tickets": self.tickets, "error": self.error,
            "hello": self.hello.as_dict() if self.hello else None,
        }  # fmt: skip

    def h2_fingerprint(self, pseudo: Iterable[str]) -> str:
        """``settings|window|priorities|order of pseudo-headers``, as public fingerprint pages write it."""
        settings = ";".join(f"{key}:{value}" for key, value in self.h2_settings)
        frames = ",".join(f"{s}:{int(p.exclusive)}:{p.depends_on}:{p.weight}" for s, p in self.h2_priorities) or "0"
        return f"{settings}|{self.h2_window}|{frames}|{','.join(name[1] for name in pseudo)}"


@dataclass(slots=True, eq=False)
class RequestInfo:
    """One request as it came.

    ``headers`` keep order, case and repetition, and on HTTP/2 the pseudo-headers too; values are Latin-1 text, so no
    byte is lost. ``path`` is the target with its query, exactly as sent. ``priority`` is that of the HEADERS frame,
    None when it carried none.
    """

    connection: Connection
    stream: int
    method: str
    authority: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes = b""
    priority: Priority | None = None
    at: float = field(default_factory=time.time)

    @property
    def peer(self) -> str:
        """The address the request came from: the exit of its proxy."""
        return self.connection.peer

    @property
    def host(self) -> str:
        """The authority's name, in lower case and without port."""
        return self.authority.rsplit(":", 1)[0].lower() if ":" in self.authority else self.authority.lower()

    @property
    def route(self) -> str:
        """The path without its query."""
        return self.path.split("?", 1)[0]

    def header(self, name: str) -> str | None:
        """The first value of a header, whatever its case."""
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), None)

    def query(self) -> dict[str, str]:
        """The query's parameters; of a repeated one the last."""
        return dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))

    def form(self) -> dict[str, str]:
        """The urlencoded body's fields; of a repeated one the last."""
        return dict(parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True))

    def cookies(self) -> dict[str, str]:
        """All cookies, from one header or several."""
        jar: SimpleCookie = SimpleCookie()
        for name, value in self.headers:
            if name.lower() == "cookie":
                try:
                    jar.load(value)
                except CookieError:
                    continue
        return {name: morsel.value for name, morsel in jar.items()}

    def h2_fingerprint(self) -> str | None:
        """The connection's HTTP/2 fingerprint with this request's pseudo-header order; None on HTTP/1.1."""
        pseudo = [name for name, _ in self.headers if name.startswith(":")]
        return self.connection.h2_fingerprint(pseudo) if pseudo else None

    def record(self) -> dict[str, Any]:
        """The line of the log; the body as Latin-1 text."""
        return {
            "type": "request", "connection": self.connection.id, "stream": self.stream, "at": self.at,
            "peer": self.peer, "alpn": self.connection.alpn, "method": self.method, "authority": self.authority,
            "path": self.path, "headers": self.headers, "body_length": len(self.body),
            "body": self.body.decode("latin-1"), "h2": self.h2_fingerprint(),
            "priority": list(self.priority) if self.priority else None,
        }  # fmt: skip


@dataclass(slots=True)
class Reply:
    """An app's answer: a body at once, or its chunks as they come (chunked or DATA frames, no length)."""

    status: int = 200
    headers: Headers = ()
    body: bytes | AsyncIterator[bytes] = b""

    async def pieces(self) -> AsyncGenerator[bytes]:
        """The body in pieces; ends it properly when the client leaves."""
        if isinstance(self.body, bytes):
            yield self.body
            return
        try:
            async for piece in self.body:
                yield piece
        finally:
            end = getattr(self.body, "aclose", None)
            if end is not None:
                await end()


App = Callable[[RequestInfo], Reply | Awaitable[Reply]]
"""Answers requests; one that needs no waiting may answer without being a coroutine, which saves a task."""


def by_host(apps: dict[str, App], default: App) -> App:
    """One app out of several, chosen by the request's host."""

    def choose(request: RequestInfo) -> Reply | Awaitable[Reply]:
        return apps.get(request.host, default)(request)

    return choose
