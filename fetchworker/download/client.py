"""curl clients: one per identity, so that connections, TLS tickets and DNS answers are never shared between two.

A client is one curl *multi* handle (``AsyncCurl``) and the *easy* handles it keeps for reuse. The stateless client
serves every unstored try: each of its transfers opens a connection of its own and neither offers nor keeps a TLS
ticket.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from curl_cffi import Curl, CurlError, CurlInfo, CurlOpt
from curl_cffi._wrapper import ffi, lib

from fetchworker.download.easy import (
    number_of,
    request_target,
    set_bind,
    set_method,
    set_number,
    set_proxy,
    set_stateless,
    set_text,
    set_verification,
    text_of,
)
from fetchworker.download.meter import NO_TALLY, Meter
from fetchworker.download.multi import Gate, Multi
from fetchworker.download.tls import TlsOptions, certificate, connection_logger, log_certificate, set_tls
from fetchworker.egress.guard import DIRECT, Guard, Route
from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fetchworker.download.meter import Tally
    from fetchworker.egress import Decision, EgressPolicy
    from fetchworker.proxies import Proxy

WRITE_ABORT = 0xFFFFFFFF
COULDNT_CONNECT = 7
ABORTED = 42
_BUFFER = 128 * 1024  # bytes that one read takes at most: fewer calls into Python for big bodies
_CERTIFICATES = 64  # connections whose certificate a client remembers
_HTTP_1_1 = 2
_HTTP_2_ON_TLS = 4


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """What is the same for every transfer of a process.

    ``egress`` says where connections may lead; ``connect_to`` holds curl's ``HOST:PORT:ADDRESS:PORT`` entries for
    direct ones (tests and the demo); ``ca_file`` is a PEM bundle, None for curl's default; ``bind`` the local address
    and port, 0 for any port.
    """

    egress: EgressPolicy
    verify: bool = True
    ca_file: str | None = None
    connect_to: Sequence[bytes] = ()
    bind: tuple[str, int] | None = None
    connect_timeout: float = 30.0
    tls: TlsOptions = field(default_factory=TlsOptions)


@dataclass(frozen=True, slots=True)
class TransferRequest:
    """One HTTP request as curl needs it.

    ``timeout`` is in seconds, ``headers`` are ``Name: value`` lines, ``bind`` stands for the options' one; ``route`` is
    where its connections may lead.
    """

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
    bind: tuple[str, int] | None = None
    route: Route = DIRECT


@dataclass(frozen=True, slots=True)
class TransferInfo:
    """Facts about a transfer that ended, well or not.

    ``ip`` is the address connected to (a proxy's where there is one), ``connect_code`` the proxy's answer to CONNECT,
    ``certificate`` the server's as DER (None for stateless transfers).
    """

    ip: str = ""
    connect_code: int = 0
    socks_code: int = 0
    certificate: bytes | None = None


class TransferError(Exception):
    """curl gave up; ``code`` is its error number, ``reason`` its words.

    ``denied`` is why the guard let no connection be opened, ``refused`` to which address.
    """

    def __init__(
        self, code: int, reason: str, info: TransferInfo, *, denied: Decision | None = None, refused: str = ""
    ) -> None:
        super().__init__(f"curl {code}: {reason}")
        self.code = code
        self.reason = reason
        self.info = info
        self.denied = denied
        self.refused = refused


class _Handle:
    """An easy handle with the lists that curl reads while it runs, and whose bytes its connections count as."""

    __slots__ = ("configured", "connect_to", "curl", "guard", "tally")

    def __init__(self, egress: EgressPolicy, meter: Meter) -> None:
        self.curl = Curl()
        self.tally: Tally = NO_TALLY
        self.guard = Guard(egress, opened=meter.watcher(self))
        self.connect_to: Any = None
        self.configured: tuple[Any, ...] | None = None

    def close(self) -> None:
        self.curl.close()
        self.guard.close()
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
        self._multi = Multi()
        self._meter = Meter()
        self._idle: list[_Handle] = []
        self._gates: dict[bytes, Gate] = {}
        self._certificates: dict[int, bytes] = {}
        self.active = 0
        self._closed = False

    async def perform(
        self,
        request: TransferRequest,
        on_header: Callable[[bytes], int],
        on_body: Callable[[bytes], int],
        tally: Tally = NO_TALLY,
    ) -> TransferInfo:
        """Run one transfer; the callbacks get header lines and body parts and return what they took.

        ``tally`` is told the bytes of the transfer as the wire saw them (docs/usage.md), and later those of its
        connection's end.

        Raises:
            TransferError: curl gave up (code 23 when a callback returned ``WRITE_ABORT``).
        """
        self.active += 1
        try:
            if self._stateless:
                return await self._transfer(request, on_header, on_body, tally)
            async with self._gate(request.url) as gate:
                return await self._transfer(request, on_header, on_body, tally, gate)
        finally:
            self.active -= 1

    def _gate(self, url: bytes) -> Gate:
        origin = b"/".join(url.split(b"/", 3)[:3])
        gate = self._gates.get(origin)
        if gate is None:
            gate = self._gates[origin] = Gate()
        return gate

    async def _transfer(
        self,
        request: TransferRequest,
        on_header: Callable[[bytes], int],
        on_body: Callable[[bytes], int],
        tally: Tally,
        gate: Gate | None = None,
    ) -> TransferInfo:
        handle = self._idle.pop() if self._idle else _Handle(self._options.egress, self._meter)
        handle.tally = tally
        running = reusable = False
        try:
            self._configure(handle, request)
            curl = handle.curl
            if gate is not None:
                on_header = gate.opened_by(on_header, partial(self._meter.claim_all, curl, tally))
            curl.setopt(CurlOpt.HEADERFUNCTION, on_header)
            curl.setopt(CurlOpt.WRITEFUNCTION, on_body)
            if self._options.tls.verbose:
                curl.setopt(CurlOpt.DEBUGFUNCTION, connection_logger(_host(request.url)))
            future = self._multi.add_handle(curl)
            running = True
            try:
                await future
            except CurlError as exc:
                running, reusable = False, True
                raise _error(exc, handle, self._info(curl, request)) from None
            running, reusable = False, True
            if self._closed:  # closing ends transfers as if they were done
                raise TransferError(ABORTED, "the client was closed", TransferInfo())
            return self._info(curl, request)
        finally:
            if running:  # cancelled: the transfer must not go on without us
                self._multi.remove_handle(handle.curl)
            handle.tally = NO_TALLY
            self._meter.settle(handle.curl, tally, shared=gate is not None and gate.inside > 1)
            self._give_back(handle, reusable=reusable)

    def _give_back(self, handle: _Handle, *, reusable: bool) -> None:
        handle.curl.clean_handles_and_buffers()
        if reusable and not self._closed:
            self._idle.append(handle)
        else:
            handle.close()

    def _configure(self, handle: _Handle, request: TransferRequest) -> None:
        curl = handle.curl
        lasting = (request.target, request.proxy.id if request.proxy else None, request.weight, request.bind)
        if handle.configured != lasting:
            self._configure_lasting(handle, request)
            handle.configured = lasting
        handle.guard.begin(request.route)
        set_text(curl, CurlOpt.URL, request.url)
        set_text(curl, CurlOpt.REQUEST_TARGET, request_target(request.url, request.proxy))
        set_number(curl, CurlOpt.TIMEOUT_MS, max(1, int(request.timeout * 1000)))
        set_method(curl, request.method, request.body)
        curl.setopt(CurlOpt.HTTPHEADER, request.headers)
        set_text(curl, CurlOpt.HTTPHEADER_ORDER, request.order)
        set_text(curl, CurlOpt.COOKIE, request.cookie)

    def _configure_lasting(self, handle: _Handle, request: TransferRequest) -> None:
        curl, options = handle.curl, self._options
        if handle.configured is not None:
            curl.reset()
        handle.guard.attach(curl)
        self._meter.attach(curl)
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
        set_bind(curl, request.bind or options.bind)
        if self._stateless:
            set_stateless(curl)
        set_verification(curl, verify=options.verify, ca_file=options.ca_file)
        set_tls(curl, options.tls, certificates=self._keeps_certificates)
        set_proxy(curl, request.proxy)
        if request.proxy is None:
            self._set_host_map(handle)

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

    @property
    def _keeps_certificates(self) -> bool:
        # curl takes 0.05 to 0.2 ms to write one down, at each handshake
        return not self._stateless or self._options.tls.verbose

    def _info(self, curl: Curl, request: TransferRequest) -> TransferInfo:
        return TransferInfo(
            ip=text_of(curl, CurlInfo.PRIMARY_IP),
            connect_code=number_of(curl, CurlInfo.HTTP_CONNECTCODE) if request.proxy else 0,
            socks_code=number_of(curl, CurlInfo.PROXY_ERROR) if request.proxy else 0,
            certificate=self._certificate(curl) if request.url.startswith(b"https:") else None,
        )

    def _certificate(self, curl: Curl) -> bytes | None:
        """The certificate of the transfer's connection: curl tells it to the one that made the connection."""
        if not self._keeps_certificates:
            return None
        connection = number_of(curl, CurlInfo.CONN_ID)
        known = self._certificates.get(connection)
        if known is None and (known := certificate(curl)) is not None:
            self._certificates[connection] = known
            if len(self._certificates) > _CERTIFICATES:
                del self._certificates[next(iter(self._certificates))]
            if self._options.tls.verbose:
                log_certificate(known)
        return known

    async def close(self) -> None:
        """Close every connection; running transfers end with an error."""
        self._closed = True
        for handle in self._idle:
            handle.close()
        self._idle.clear()
        await self._multi.close()  # type: ignore[no-untyped-call]  # the library has no hint here
        self._meter.close()


def _host(url: bytes) -> str:
    return urlsplit(url.decode("latin-1")).hostname or ""


def _error(exc: CurlError, handle: _Handle, info: TransferInfo) -> TransferError:
    code, guard = int(exc.code), handle.guard
    # a refused address is no matter where another one of the same name was reached
    denied = guard.denied if code == COULDNT_CONNECT else None
    return TransferError(code, _reason(str(exc)), info, denied=denied, refused=guard.refused)


def _reason(text: str) -> str:
    """Curl's own words out of curl_cffi's sentence."""
    _, _, rest = text.partition(") ")
    return rest.partition(". See https://curl.se")[0]
