"""Scrapy's HTTP and HTTPS download handler on curl_cffi.

It sends what the middlewares prepared (``meta["fw_wire"]``: whose connection, which proxy, which header lines, dressed
as which browser) or, without that, the request's own headers and ``meta["proxy"]`` as Scrapy means them. It never
follows redirects, keeps no cookies, reads no proxy from the environment and never falls back to another way out. What
leads where none may go is refused: by its URL, and by the address of every connection (docs/egress.md).
"""

from __future__ import annotations

import base64
import logging
import time
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import ResponseDataLossError
from scrapy.utils._download_handlers import get_dataloss_msg, make_response, normalize_bind_address

from fetchworker.download.budget import BudgetStop
from fetchworker.download.charging import end_of, open_charge
from fetchworker.download.client import ClientOptions, TransferError, TransferInfo, TransferRequest
from fetchworker.download.pool import ClientPool
from fetchworker.download.receive import Receiver
from fetchworker.download.tls import check_key_log, tls_options
from fetchworker.download.translate import (
    DATA_LOSS_CODES,
    PROXY_AUTHENTICATION_REQUIRED,
    may_repeat,
    proxy_auth_error,
    translate,
)
from fetchworker.download.trust import ca_bundle, connect_to_entries
from fetchworker.download.wire import WIRE, Wire
from fetchworker.egress import denied
from fetchworker.egress.guard import DIRECT, TRUSTED, Route, proxy_route, self_test
from fetchworker.errors import ConfigError, ProxyExhaustedError
from fetchworker.proxies import parse_proxies
from fetchworker.runtime import Runtime
from fetchworker.signals import has_listeners
from fetchworker.usage import UNJUDGED

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from fetchworker.download.client import CurlClient
    from fetchworker.proxies import Proxy
    from fetchworker.usage import Charge

logger = logging.getLogger(__name__)

_PROTOCOLS = {b"HTTP/1.0": "HTTP/1.0", b"HTTP/1.1": "HTTP/1.1", b"HTTP/2": "h2", b"HTTP/3": "h3"}
_pools: WeakKeyDictionary[Crawler, ClientPool] = WeakKeyDictionary()


class CurlDownloadHandler(BaseDownloadHandler):
    """Downloads ``http`` and ``https`` requests; both schemes of a crawler share one pool of clients."""

    lazy: ClassVar[bool] = True  # type: ignore[misc]  # an instance attribute in the base's annotations

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._maxsize = settings.getint("DOWNLOAD_MAXSIZE")
        self._warnsize = settings.getint("DOWNLOAD_WARNSIZE")
        self._timeout = settings.getfloat("DOWNLOAD_TIMEOUT")
        self._fail_on_dataloss = settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS")
        self._proxy_encoding = settings.get("HTTPPROXY_AUTH_ENCODING")
        self._dataloss_warned = False
        self._runtime = Runtime.of(crawler)
        self._egress = self._runtime.egress
        self._budget = BudgetStop.of(crawler)
        with suppress(ConfigError):  # the first request tells it: Scrapy would say "Unsupported URL scheme"
            self._pool  # noqa: B018  # what else is wrong is told here

    @cached_property
    def _pool(self) -> ClientPool:
        """The clients of the crawler."""
        return _pool_of(self.crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the handler of one scheme."""
        return cls(crawler)

    async def download_request(self, request: Request) -> Response:
        """Download one request.

        Raises:
            ProxyExhaustedError: a proxy is required and none was chosen; nothing was sent.
            ProxyAuthError: the proxy answered 407.
            EgressDeniedError: it may not go there; nothing was sent.
            UnfinishedError: the site's budget of bytes is used up; nothing was sent.
            TierSpentError: that of the exit's tier is; nothing was sent.
            ConfigError: the connections cannot be made as configured.
            scrapy.exceptions: its family of download errors for everything else.
        """
        wire: Wire | None = request.meta.get(WIRE)
        proxy = self._proxy(request, wire)
        route = self._route(request, proxy, configured=wire is not None)
        if self._budget is not None:  # other requests were sent while this one waited for its turn
            self._budget.check_exit(request.url, proxy)
        charge = self._charge(request, wire, proxy)
        try:
            response = await self._download(request, wire, proxy, route, charge)
        except BaseException as exc:
            charge.end(end_of(exc))
            raise
        charge.end(UNJUDGED)
        return response

    async def _download(
        self, request: Request, wire: Wire | None, proxy: Proxy | None, route: Route, charge: Charge
    ) -> Response:
        timeout = float(request.meta.get("download_timeout") or self._timeout)
        receiver = self._receiver(request)
        client = self._pool.get(wire.client if wire else f"proxy:{proxy.id}" if proxy else "")
        started = time.monotonic()
        try:
            transfer = _transfer(request, wire, proxy, route, timeout)
            info = await self._perform(client, transfer, receiver, charge)
        except TransferError as exc:
            return self._failed(exc, request, receiver, proxy, timeout)
        finally:
            ended = time.monotonic()
            request.meta["download_latency"] = (receiver.answered or ended) - started
            if wire:
                wire.elapsed, wire.bytes_down, wire.bytes_up = ended - started, receiver.received, len(request.body)
        if receiver.status == PROXY_AUTHENTICATION_REQUIRED and proxy is not None and request.url.startswith("http:"):
            raise proxy_auth_error()
        return _response(request, receiver, info)

    def _charge(self, request: Request, wire: Wire | None, proxy: Proxy | None) -> Charge:
        """What the transfer's bytes are counted as."""
        usage = self._runtime.usage
        usage.start()
        charge = open_charge(usage, self._runtime.site, request, proxy)
        if wire is not None:
            wire.charge = charge
        return charge

    async def _perform(
        self, client: CurlClient, transfer: TransferRequest, receiver: Receiver, charge: Charge
    ) -> TransferInfo:
        """Run a transfer; once more where the connection ended under it and nothing speaks against that."""
        started = time.monotonic()
        try:
            return await client.perform(transfer, receiver.on_header, receiver.on_body, charge)
        except TransferError as exc:
            left = transfer.timeout - (time.monotonic() - started)
            if receiver.version or left <= 0 or not may_repeat(exc.code, transfer.method):
                raise
            self.crawler.stats.inc_value("fetchworker/repeated")
            return await client.perform(replace(transfer, timeout=left), receiver.on_header, receiver.on_body, charge)

    def _proxy(self, request: Request, wire: Wire | None) -> Proxy | None:
        if wire is None:
            return _scrapy_proxy(request, self._proxy_encoding)
        if wire.proxy is None and wire.proxy_required:
            raise ProxyExhaustedError(f"a proxy is required for {request.url} and none was chosen")
        return wire.proxy

    def _route(self, request: Request, proxy: Proxy | None, *, configured: bool) -> Route:
        """Where the connection may lead. A proxy that is none of ours is a destination like any other."""
        decision = self._egress.classify(request.url)
        if not decision.allowed:
            raise denied(decision, request.url)
        if proxy is None:
            return TRUSTED if decision.trusted else DIRECT
        trusted = configured or self._is_ours(proxy)
        if not trusted:
            decision = self._egress.classify(f"http://{proxy.address}")
            if not decision.allowed:
                raise denied(replace(decision, layer="proxy"), request.url)
            trusted = decision.trusted
        return proxy_route(proxy.host, proxy.port, trusted=trusted)

    def _is_ours(self, proxy: Proxy) -> bool:
        return any(known.address == proxy.address for known in self._runtime.proxies)

    def _receiver(self, request: Request) -> Receiver:
        meta, sender = request.meta, self.crawler.signals.sender
        return Receiver(
            self.crawler,
            request,
            maxsize=meta.get("download_maxsize", self._maxsize),
            warnsize=meta.get("download_warnsize", self._warnsize),
            signalled=(has_listeners(sender, signals.headers_received), has_listeners(sender, signals.bytes_received)),
        )

    def _failed(
        self, error: TransferError, request: Request, receiver: Receiver, proxy: Proxy | None, timeout: float
    ) -> Response:
        if receiver.aborted:
            raise receiver.aborted
        if receiver.stopped:
            return _response(request, receiver, error.info)
        if error.denied:
            raise denied(error.denied, request.url, address=error.refused)
        if receiver.headers_done and error.code in DATA_LOSS_CODES:
            return self._data_loss(error, request, receiver)
        raise translate(
            error.code,
            error.reason,
            url=request.url,
            connect_code=error.info.connect_code,
            timeout=timeout,
            proxied=proxy is not None,
            socks=error.info.socks_code,
        )

    def _data_loss(self, error: TransferError, request: Request, receiver: Receiver) -> Response:
        if not request.meta.get("download_fail_on_dataloss", self._fail_on_dataloss):
            return _response(request, receiver, error.info, flags=["dataloss"])
        if not self._dataloss_warned:
            logger.warning(get_dataloss_msg(request.url))
            self._dataloss_warned = True
        raise ResponseDataLossError(f"{error.reason} (curl {error.code}) for {request.url}")

    async def close(self) -> None:
        """Close all connections of the crawler."""
        pool = _pools.pop(self.crawler, None)
        if pool is not None:
            await pool.close()


def _pool_of(crawler: Crawler) -> ClientPool:
    pool = _pools.get(crawler)
    if pool is None:
        self_test()
        runtime = Runtime.of(crawler)
        environment = runtime.environment
        settings = crawler.settings
        check_key_log()
        options = ClientOptions(
            egress=runtime.egress,
            verify=settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES"),
            ca_file=ca_bundle(environment),
            connect_to=connect_to_entries(environment.host_map),
            bind=normalize_bind_address(settings.get("DOWNLOAD_BIND_ADDRESS")),
            tls=tls_options(settings),
        )
        pool = _pools[crawler] = ClientPool(options, limit=environment.clients_max)
        runtime.usage.before_close(pool.close)
    return pool


def _scrapy_proxy(request: Request, encoding: str) -> Proxy | None:
    """``meta["proxy"]`` and the Proxy-Authorization header, as Scrapy's HttpProxyMiddleware leaves them."""
    address = request.meta.get("proxy")
    if not address:
        return None
    if "://" not in address:
        address = f"http://{address}"
    authorization = request.headers.get(b"Proxy-Authorization")
    if authorization:
        scheme, _, token = authorization.partition(b" ")
        if scheme != b"Basic":
            raise ConfigError(f"Proxy-Authorization must be Basic, not {scheme.decode('latin-1')}")
        user, _, password = base64.b64decode(token).decode(encoding).partition(":")
        start, _, rest = address.partition("://")
        address = f"{start}://{quote(user, safe='')}:{quote(password, safe='')}@{rest}"
    return parse_proxies(address, source="request.meta['proxy']")[0]


def _transfer(
    request: Request, wire: Wire | None, proxy: Proxy | None, route: Route, timeout: float
) -> TransferRequest:
    profile = wire.profile if wire else None
    return TransferRequest(
        method=request.method,
        url=request.url.encode(),
        headers=wire.headers if wire and wire.headers is not None else _own_headers(request),
        body=request.body,
        timeout=timeout,
        order=wire.order if wire else None,
        cookie=wire.cookie if wire else None,
        target=profile.curl_target if profile else None,
        weight=wire.weight if wire else None,
        proxy=proxy,
        bind=normalize_bind_address(request.meta.get("bindaddress")),
        route=route,
    )


#: headers that curl adds by itself unless told not to
_CURL_DEFAULTS = (b"User-Agent", b"Accept", b"Expect", b"Content-Type")


def _own_headers(request: Request) -> list[bytes]:
    lines = [
        name + b": " + value if value else name + b";"
        for name, values in request.headers.items()
        if name != b"Proxy-Authorization"
        for value in values
    ]
    lines.extend(name + b":" for name in _CURL_DEFAULTS if name not in request.headers)
    return lines


def _response(request: Request, receiver: Receiver, info: TransferInfo, flags: list[str] | None = None) -> Response:
    return make_response(
        url=request.url,
        status=receiver.status,
        headers=receiver.made_headers(),
        body=receiver.content(),
        flags=flags,
        certificate=info.certificate,
        ip_address=_ip_address(info.ip) if info.ip else None,
        protocol=_PROTOCOLS.get(receiver.version),
        stop_download=receiver.stopped,
    )


_ip_address = lru_cache(1024)(ip_address)  # few servers answer, and often
