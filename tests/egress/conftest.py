"""A trap that nobody may get into, a DNS server that says what it is told, and the handler as a crawl uses it."""

from __future__ import annotations

import asyncio
import base64
import socket
import struct
from collections import defaultdict
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from curl_cffi import CurlOpt
from scrapy import Spider
from scrapy.utils.test import get_crawler

from fetchworker.demo.http1 import Head, read_body, read_head
from fetchworker.download.client import CurlClient
from fetchworker.download.curl import CurlDownloadHandler
from fetchworker.telemetry.attribution import set_process

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

_TYPES = {1: socket.AF_INET, 28: socket.AF_INET6}
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"


class Trap:
    """Counts connections and answers 200 to everything, CONNECT included."""

    def __init__(self) -> None:
        self.hits = 0
        self.first = asyncio.Event()
        self.heads: list[bytes] = []
        self.port = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.hits += 1
        self.first.set()
        try:
            self.heads.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(_ANSWER)
            await writer.drain()
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()


class Names(asyncio.DatagramProtocol):
    """Answers each question with the next of the name's answers, the last one again and again; TTL 0.

    An answer is a list of addresses; names that are not listed lead to 127.0.0.1.
    """

    def __init__(self) -> None:
        self.answers: dict[str, list[list[str]]] = {}
        self.asked: dict[str, int] = defaultdict(int)

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.transport.sendto(self.answer(data), addr)

    def answer(self, query: bytes) -> bytes:
        end = query.index(b"\0", 12)
        labels, place = [], 12
        while place < end:
            length = query[place]
            labels.append(query[place + 1 : place + 1 + length].decode())
            place += 1 + length
        name, kind = ".".join(labels).lower(), struct.unpack("!H", query[end + 1 : end + 3])[0]
        addresses = self.next_of(name, kind)
        family = _TYPES.get(kind)
        packed = [socket.inet_pton(family, text) for text in addresses if family and (":" in text) == (kind == 28)]
        head = query[:2] + struct.pack("!5H", 0x8180, 1, len(packed), 0, 0)
        records = [b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 0, len(each)) + each for each in packed]
        return head + query[12 : end + 5] + b"".join(records)

    def next_of(self, name: str, kind: int) -> list[str]:
        answers = self.answers.get(name, [["127.0.0.1"]])
        key = f"{name} {kind}"  # both kinds of address are asked for, in any order
        self.asked[key] += 1
        return answers[min(self.asked[key], len(answers)) - 1]


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture
def serve(stack: AsyncExitStack) -> Callable[..., Any]:
    """Put a trap on an address."""

    async def start(host: str = "127.0.0.1", port: int = 0, made: Trap | None = None) -> Trap:
        made = made or Trap()
        server = await asyncio.start_server(made, host, port)
        stack.push_async_callback(server.wait_closed)
        stack.callback(server.close)
        made.port = server.sockets[0].getsockname()[1]
        return made

    return start


@pytest.fixture
async def trap(serve: Callable[..., Any]) -> Trap:
    """A trap on every IPv4 address of this machine, and on ::1 where there is one."""
    found: Trap = await serve("0.0.0.0")
    with suppress(OSError):
        await serve("::1", found.port, found)
    return found


@pytest.fixture
async def names(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Names]:
    """The DNS server that curl asks, each time anew."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.create_datagram_endpoint(Names, local_addr=("127.0.0.1", 0))
    server = f"127.0.0.1:{transport.get_extra_info('sockname')[1]}"
    configure = CurlClient._configure_lasting

    def asking_us(self: CurlClient, handle: Any, request: Any) -> None:
        configure(self, handle, request)
        handle.curl.setopt(CurlOpt.DNS_SERVERS, server)
        handle.curl.setopt(CurlOpt.DNS_CACHE_TIMEOUT, 0)

    monkeypatch.setattr(CurlClient, "_configure_lasting", asking_us)
    yield protocol
    transport.close()


class NobodySpider(Spider):
    name = "nobody"


@pytest.fixture
async def make_handler(tmp_path, monkeypatch) -> AsyncIterator[Callable[..., CurlDownloadHandler]]:
    monkeypatch.setenv("FETCHWORKER_STATE_DIR", str(tmp_path / "state"))
    made = []

    def make(**environment: str) -> CurlDownloadHandler:
        for name, value in environment.items():
            monkeypatch.setenv(f"FETCHWORKER_{name}", value)
        settings = {"TWISTED_REACTOR_ENABLED": False, "EXTENSIONS_BASE": {}, "DOWNLOAD_TIMEOUT": 5.0}
        handler = CurlDownloadHandler.from_crawler(get_crawler(NobodySpider, settings))
        made.append(handler)
        return handler

    yield make
    for handler in made:
        await handler.close()
    set_process(crawl_id=None, trace_id=None)


# ── the filtering proxy ──────────────────────────────────────────────────────────────────────────────────────────────


class Asker:
    """One connection to the filtering proxy, with the credentials of a run or others."""

    def __init__(self, run: Any) -> None:
        self.run = run
        self.credentials: tuple[str, str] | None = (run.username, run.password.get_secret_value())

    async def open(self) -> None:
        host, _, port = self.run.url.rpartition("://")[2].partition(":")
        self.reader, self.writer = await asyncio.open_connection(host, int(port))

    def cut(self) -> None:
        self.writer.transport.abort()

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def ask(self, method: str, target: str | bytes, *lines: str, body: bytes = b"") -> Answer:
        """Send a request; its answer."""
        raw = target if isinstance(target, bytes) else target.encode()
        head = [f"{method} ".encode() + raw + b" HTTP/1.1", b"Host: x", *(line.encode() for line in lines)]
        if self.credentials:
            pair = base64.b64encode(":".join(self.credentials).encode())
            head.append(b"Proxy-Authorization: Basic " + pair)
        await self.say(b"\r\n".join([*head, b"", b""]) + body)
        return await self.answer(method)

    async def answer(self, method: str = "GET") -> Answer:
        head = await read_head(self.reader)
        if head is None:
            raise EOFError
        status = int(head.start.split()[1])
        bodyless = method == "HEAD" or (method == "CONNECT" and status == 200) or status < 200
        body = b"" if bodyless else b"".join([piece async for piece in read_body(self.reader, head)])
        return Answer(status, head.get("x-fetchworker-reason") or "", head, body)

    async def gone(self) -> bytes:
        """What still comes until the connection ends, by whatever way."""
        with suppress(OSError):
            return await self.reader.read()
        return b""


@dataclass
class Answer:
    status: int
    reason: str
    head: Head
    body: bytes


@pytest.fixture
def asker(stack: AsyncExitStack) -> Callable[..., Any]:
    """Open a connection to the proxy of a run."""

    async def opened(run: Any) -> Asker:
        made = Asker(run)
        await made.open()
        stack.callback(made.cut)
        return made

    return opened


@pytest.fixture
async def filtering(stack: AsyncExitStack) -> Callable[..., Any]:
    """Start a filtering proxy whose names lead where ``lead`` says, else to 127.0.0.1."""
    from fetchworker.config import destinations
    from fetchworker.egress import EgressPolicy
    from fetchworker.egress.filter_proxy import FilterProxy, Limits

    async def start(allow: str = "", *, lead: Any = None, upstream_tls: Any = None, **limits: Any) -> Any:
        async def resolve(host: str, port: int) -> list[Any]:
            addresses = lead(host) if lead else ["127.0.0.1"]
            family = {True: socket.AF_INET6, False: socket.AF_INET}
            return [(family[":" in text], socket.SOCK_STREAM, 6, "", (text, port)) for text in addresses]

        policy = EgressPolicy(allow=destinations(allow))
        proxy = FilterProxy(policy, resolve=resolve, limits=Limits(**limits), upstream_tls=upstream_tls)
        return await stack.enter_async_context(proxy)

    return start


class Echo:
    """A server that counts bytes: it sends back what it gets, in capitals, and ends when the client does."""

    def __init__(self) -> None:
        self.got = self.said = self.port = 0
        self.open = asyncio.Event()
        self.ended = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.set()
        try:
            while data := await reader.read(65_536):
                self.got += len(data)
                self.said += len(data)
                writer.write(data.upper())
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()
            self.ended.set()


@pytest.fixture
async def echo(serve: Callable[..., Any]) -> Echo:
    return await serve("127.0.0.1", 0, Echo())


class Silent:
    """A server that reads and says nothing."""

    def __init__(self) -> None:
        self.port = 0
        self.open = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.set()
        with suppress(OSError):
            await reader.read(-1)
        writer.close()


@pytest.fixture
async def silent(serve: Callable[..., Any]) -> Silent:
    return await serve("127.0.0.1", 0, Silent())
