"""curl clients: one per identity, so that connections, TLS tickets and DNS answers are never shared between two.

A client is one curl *multi* handle (``AsyncCurl``) and the *easy* handles it keeps for reuse. The stateless client
serves every unstored try: each of its transfers opens a connection of its own and neither offers nor keeps a TLS
ticket.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curl_cffi import AsyncCurl, Curl, CurlError, CurlInfo, CurlOpt
from curl_cffi._wrapper import ffi, lib

from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from fetchworker.proxies import Proxy

WRITE_ABORT = 0xFFFFFFFF
ABORTED = 42
_SOCKET_TIMEOUT = -1
_TICK = 0.1  # seconds
#: seconds for which a connection that answered is expected to live on
_WARM = 30.0
_BUFFER = 128 * 1024  # bytes that one read takes at most: fewer calls into Python for big bodies
_HTTP_1_1 = 2
_HTTP_2_ON_TLS = 4


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """What is the same for every transfer of a process.

    ``connect_to`` holds curl's ``HOST:PORT:ADDRESS:PORT`` entries for direct connections (tests and the demo);
    ``ca_file`` is a PEM bundle, None for curl's default; ``interface`` the local address to bind.
    """

    verify: bool = True
    ca_file: str | None = None
    connect_to: Sequence[bytes] = ()
    interface: str | None = None
    connect_timeout: float = 30.0


@dataclass(frozen=True, slots=True)
class TransferRequest:
    """One HTTP request as curl needs it. ``timeout`` is in seconds, ``headers`` are ``Name: value`` lines."""

    method: str
    url: bytes
    headers: Sequence[bytes]
    body: bytes
    timeout: float
    order: bytes | None = None
    cookie: bytes | None = None
    target: str | None = None
    weight: int | None = None
    proxy: Proxy | None = None


@dataclass(frozen=True, slots=True)
class TransferInfo:
    """Facts about a transfer that ended."""

    http_version: int
    ip: str
    connect_code: int


class TransferError(Exception):
    """curl gave up; ``code`` is its error number, ``reason`` its words."""

    def __init__(self, code: int, reason: str, connect_code: int) -> None:
        super().__init__(f"curl {code}: {reason}")
        self.code = code
        self.reason = reason
        self.connect_code = connect_code


class _Multi(AsyncCurl):
    """An ``AsyncCurl`` whose safety ticker (ten wake-ups a second) runs only while there are transfers."""

    def add_handle(self, curl: Curl) -> asyncio.Future[None]:
        future: asyncio.Future[None] = super().add_handle(curl)
        if self._timeout_checker.done():
            self._timeout_checker = self.loop.create_task(self._force_timeout())
        return future

    async def _force_timeout(self) -> None:
        while self._curlm and self._curl2future:
            self.process_data(_SOCKET_TIMEOUT, 0)
            await asyncio.sleep(_TICK)


class _Gate:
    """Lets one transfer open the connection to an origin; the others wait for its first answer and then share it.

    A browser does so. curl's own switch for it (PIPEWAIT) now and then leaves a transfer waiting for ever (one in some
    10,000 at the start of a connection, libcurl 8.23, 2026-11).
    """

    __slots__ = ("_opening", "_warm_until")

    def __init__(self) -> None:
        self._opening: asyncio.Future[None] | None = None
        self._warm_until = 0.0

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        while loop.time() > self._warm_until:
            if self._opening is None:
                self._opening = loop.create_future()
                break
            await asyncio.shield(self._opening)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._open()

    def opened_by(self, on_header: Callable[[bytes], int]) -> Callable[[bytes], int]:
        """The header callback that opens the gate at the first line."""
        if self._opening is None:
            return on_header

        def first(line: bytes) -> int:
            self._warm_until = asyncio.get_running_loop().time() + _WARM
            self._open()
            return on_header(line)

        return first

    def _open(self) -> None:
        opening, self._opening = self._opening, None
        if opening is not None and not opening.done():
            opening.set_result(None)


class _Handle:
    """An easy handle with the lists that curl reads while it runs."""

    __slots__ = ("configured", "connect_to", "curl")

    def __init__(self) -> None:
        self.curl = Curl()
        self.connect_to: Any = None
        self.configured: tuple[Any, ...] | None = None

    def close(self) -> None:
        self.curl.close()
        if self.connect_to is not None:
            lib.curl_slist_free_all(self.connect_to)
            self.connect_to = None


class CurlClient:
    """One identity's way to the network.

    Args:
        options: the process-wide options.
        stateless: every transfer on a connection of its own, no TLS ticket offered or kept.
    """

    def __init__(self, options: ClientOptions, *, stateless: bool = False) -> None:
        self._options = options
        self._stateless = stateless
        self._multi = _Multi()
        self._idle: list[_Handle] = []
        self._gates: dict[bytes, _Gate] = {}
        self.active = 0
        self._closed = False

    async def perform(
        self,
        request: TransferRequest,
        on_header: Callable[[bytes], int],
        on_body: Callable[[bytes], int],
    ) -> TransferInfo:
        """Run one transfer; the callbacks get header lines and body parts and return what they took.

        Raises:
            TransferError: curl gave up (code 23 when a callback returned ``WRITE_ABORT``).
        """
        self.active += 1
        try:
            if self._stateless:
                return await self._transfer(request, on_header, on_body)
            async with self._gate(request.url) as gate:
                return await self._transfer(request, gate.opened_by(on_header), on_body)
        finally:
            self.active -= 1

    def _gate(self, url: bytes) -> _Gate:
        origin = b"/".join(url.split(b"/", 3)[:3])
        gate = self._gates.get(origin)
        if gate is None:
            gate = self._gates[origin] = _Gate()
        return gate

    async def _transfer(
        self, request: TransferRequest, on_header: Callable[[bytes], int], on_body: Callable[[bytes], int]
    ) -> TransferInfo:
        handle = self._idle.pop() if self._idle else _Handle()
        running = reusable = False
        try:
            self._configure(handle, request)
            curl = handle.curl
            curl.setopt(CurlOpt.HEADERFUNCTION, on_header)
            curl.setopt(CurlOpt.WRITEFUNCTION, on_body)
            future = self._multi.add_handle(curl)
            running = True
            try:
                await future
            except CurlError as exc:
                running, reusable = False, True
                raise TransferError(int(exc.code), _reason(str(exc)), _connect_code(curl)) from None
            running, reusable = False, True
            if self._closed:  # closing ends transfers as if they were done
                raise TransferError(ABORTED, "the client was closed", 0)
            return _info(curl)
        finally:
            if running:  # cancelled: the transfer must not go on without us
                self._multi.remove_handle(handle.curl)
            self._give_back(handle, reusable=reusable)

    def _give_back(self, handle: _Handle, *, reusable: bool) -> None:
        handle.curl.clean_handles_and_buffers()
        if reusable and not self._closed:
            self._idle.append(handle)
        else:
            handle.close()

    def _configure(self, handle: _Handle, request: TransferRequest) -> None:
        curl = handle.curl
        lasting = (request.target, request.proxy.id if request.proxy else None, request.weight)
        if handle.configured != lasting:
            self._configure_lasting(handle, request)
            handle.configured = lasting
        _set_text(curl, CurlOpt.URL, request.url)
        _set_text(curl, CurlOpt.REQUEST_TARGET, request_target(request.url, request.proxy))
        _set_number(curl, CurlOpt.TIMEOUT_MS, max(1, int(request.timeout * 1000)))
        _set_method(curl, request.method, request.body)
        curl.setopt(CurlOpt.HTTPHEADER, request.headers)
        _set_text(curl, CurlOpt.HTTPHEADER_ORDER, request.order)
        _set_text(curl, CurlOpt.COOKIE, request.cookie)

    def _configure_lasting(self, handle: _Handle, request: TransferRequest) -> None:
        curl, options = handle.curl, self._options
        if handle.configured is not None:
            curl.reset()
        if request.target and curl.impersonate(request.target, default_headers=False) != 0:
            # it returns a code and would send undisguised
            raise ConfigError(f"the installed curl_cffi does not know the target {request.target}")
        curl.setopt(CurlOpt.HTTP_VERSION, _HTTP_2_ON_TLS if request.target else _HTTP_1_1)
        if request.weight:
            curl.setopt(CurlOpt.STREAM_WEIGHT, request.weight)
        curl.setopt(CurlOpt.NOSIGNAL, 1)
        curl.setopt(CurlOpt.BUFFERSIZE, _BUFFER)
        curl.setopt(CurlOpt.PATH_AS_IS, 1)
        curl.setopt(CurlOpt.SUPPRESS_CONNECT_HEADERS, 1)
        curl.setopt(CurlOpt.CONNECTTIMEOUT_MS, int(options.connect_timeout * 1000))
        if options.interface:
            curl.setopt(CurlOpt.INTERFACE, options.interface.encode())
        if self._stateless:
            _set_stateless(curl)
        self._set_verification(curl)
        _set_proxy(curl, request.proxy)
        if request.proxy is None:
            self._set_host_map(handle)

    def _set_verification(self, curl: Curl) -> None:
        options = self._options
        if not options.verify:
            for option in (CurlOpt.SSL_VERIFYPEER, CurlOpt.SSL_VERIFYHOST):
                curl.setopt(option, 0)
            curl._skip_cacert = True  # noqa: SLF001  # curl_cffi's own switch; it has no public one
        elif options.ca_file:
            curl.setopt(CurlOpt.CAINFO, options.ca_file)
            curl.setopt(CurlOpt.PROXY_CAINFO, options.ca_file)

    def _set_host_map(self, handle: _Handle) -> None:
        if not self._options.connect_to:
            return
        if handle.connect_to is None:
            entries = ffi.NULL
            for entry in self._options.connect_to:
                entries = lib.curl_slist_append(entries, entry)
            handle.connect_to = entries
        # curl_cffi's setopt knows no lists but headers and RESOLVE
        lib._curl_easy_setopt(handle.curl._curl, CurlOpt.CONNECT_TO, handle.connect_to)  # noqa: SLF001

    async def close(self) -> None:
        """Close every connection; running transfers end with an error."""
        self._closed = True
        for handle in self._idle:
            handle.close()
        self._idle.clear()
        await self._multi.close()  # type: ignore[no-untyped-call]  # the library has no hint here


class ClientPool:
    """The clients of a process: the stateless one and at most ``limit`` identities, least recently used out first."""

    def __init__(self, options: ClientOptions, *, limit: int = 200) -> None:
        self._options = options
        self._limit = limit
        self._stateless: CurlClient | None = None
        self._clients: OrderedDict[str, CurlClient] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    def get(self, key: str | None) -> CurlClient:
        """The client of an identity, or the stateless one for None."""
        if key is None:
            if self._stateless is None:
                self._stateless = CurlClient(self._options, stateless=True)
            return self._stateless
        client = self._clients.get(key)
        if client is None:
            client = self._clients[key] = CurlClient(self._options)
            self._evict()
        else:
            self._clients.move_to_end(key)
        return client

    def _evict(self) -> None:
        if len(self._clients) <= self._limit:
            return
        idle = [key for key, client in self._clients.items() if not client.active]
        for key in idle[: len(self._clients) - self._limit]:
            task = asyncio.ensure_future(self._clients.pop(key).close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def __len__(self) -> int:
        return len(self._clients)

    async def close(self) -> None:
        """Close all clients."""
        clients = [*self._clients.values(), *([self._stateless] if self._stateless else [])]
        self._clients.clear()
        self._stateless = None
        await asyncio.gather(*(client.close() for client in clients), *self._closing)


#: curl rewrites these in a path: lower-case hex after %, dot segments, bytes that are no ASCII
_REWRITTEN = re.compile(rb"%[0-9A-F]?[a-f]|%[a-f]|/\.|[\x80-\xff]")
_UNSAFE = re.compile(rb"[\x00-\x20\x7f]")


def request_target(url: bytes, proxy: Proxy | None) -> bytes | None:
    """The target to send byte for byte, None where curl leaves the URL as it is (pure).

    By a plain HTTP proxy without a tunnel the target is the whole URL.
    """
    scheme, _, rest = url.partition(b"://")
    whole = url.partition(b"#")[0]
    start = re.search(rb"[/?#]", rest)
    target = rest[start.start() :].partition(b"#")[0] if start else b""
    if not _REWRITTEN.search(target.partition(b"?")[0]) or _UNSAFE.search(target):
        return None
    if scheme.lower() == b"http" and proxy is not None and not proxy.scheme.startswith("socks"):
        return whole
    return target if target.startswith(b"/") else b"/" + target


def _set_method(curl: Curl, method: str, body: bytes) -> None:
    # a reused handle keeps the last request's method; HTTPGET clears NOBODY, POST and UPLOAD, but not CUSTOMREQUEST
    _set_text(curl, CurlOpt.CUSTOMREQUEST, None)
    _set_number(curl, CurlOpt.HTTPGET, 1)
    if method == "HEAD" and not body:
        _set_number(curl, CurlOpt.NOBODY, 1)
        return
    if body or method == "POST":
        _set_number(curl, CurlOpt.POSTFIELDSIZE, len(body))
        curl.setopt(CurlOpt.POSTFIELDS, body)
    if method != ("POST" if body or method == "POST" else "GET"):
        _set_text(curl, CurlOpt.CUSTOMREQUEST, method.encode())


# The next two set options without curl_cffi's ``setopt``, which is ten times slower and can neither put curl's own
# value back (NULL) nor take lists.


def _set_text(curl: Curl, option: CurlOpt, value: bytes | None) -> None:
    """Set a text option, which curl copies; None puts curl's own value back."""
    lib._curl_easy_setopt(curl._curl, option, ffi.NULL if value is None else value)  # noqa: SLF001


def _set_number(curl: Curl, option: CurlOpt, value: int) -> None:
    """Set a number or a switch."""
    lib._curl_easy_setopt(curl._curl, option, ffi.new("long*", value))  # noqa: SLF001


def _set_stateless(curl: Curl) -> None:
    curl.setopt(CurlOpt.FRESH_CONNECT, 1)
    curl.setopt(CurlOpt.FORBID_REUSE, 1)
    curl.setopt(CurlOpt.SSL_SESSIONID_CACHE, 0)


def _set_proxy(curl: Curl, proxy: Proxy | None) -> None:
    # an empty PROXY and NOPROXY keep curl from reading http_proxy and no_proxy in the environment
    curl.setopt(CurlOpt.NOPROXY, b"")
    if proxy is None:
        curl.setopt(CurlOpt.PROXY, b"")
        return
    curl.setopt(CurlOpt.PROXY, proxy.url_without_credentials.encode())
    if proxy.username is not None:
        curl.setopt(CurlOpt.PROXYUSERNAME, proxy.username.encode())
        password = proxy.password.get_secret_value() if proxy.password else ""
        curl.setopt(CurlOpt.PROXYPASSWORD, password.encode())


def _reason(text: str) -> str:
    """Curl's own words out of curl_cffi's sentence."""
    _, _, rest = text.partition(") ")
    return rest.partition(". See https://curl.se")[0]


def _connect_code(curl: Curl) -> int:
    value = curl.getinfo(CurlInfo.HTTP_CONNECTCODE)
    return value if isinstance(value, int) else 0


def _info(curl: Curl) -> TransferInfo:
    version, ip = curl.getinfo(CurlInfo.HTTP_VERSION), curl.getinfo(CurlInfo.PRIMARY_IP)
    return TransferInfo(
        http_version=version if isinstance(version, int) else 0,
        ip=ip.decode() if isinstance(ip, bytes) else "",
        connect_code=_connect_code(curl),
    )
