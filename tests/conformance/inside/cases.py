"""Scrapy's test bases for download handlers, with our handler in them.

Copied into the unpacked tests of Scrapy and run there. ``CONFORMANCE_PROFILE`` names the browser profile
that each request wears; without it, requests go out as Scrapy holds them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from curl_cffi import CurlInfo
from scrapy import Request
from tests.mockserver.http import MockServer
from tests.mockserver.proxy_echo import ProxyEchoMockServer
from tests.mockserver.simple_https import SimpleMockServer
from tests.utils.bases import download_handlers_http as bases
from tests.utils.decorators import coroutine_test

from fetchworker.download.client import CurlClient
from fetchworker.download.curl import CurlDownloadHandler, _scrapy_proxy
from fetchworker.download.headers import request_head
from fetchworker.download.profiles import get_profile
from fetchworker.download.wire import WIRE, Wire
from fetchworker.sessions import Session
from tests import IDNA_REJECTED_HOSTNAMES

PROFILE = os.environ.get("CONFORMANCE_PROFILE")
PORTS = os.environ["CONFORMANCE_PORTS"]


# ── the handler ──────────────────────────────────────────────────────────────────────────────────────────────────────


class ProfiledHandler(CurlDownloadHandler):
    """The handler behind what the middlewares do: an identity, its headers, their order."""

    async def download_request(self, request):
        if request.url.startswith("http"):
            request.meta[WIRE] = dressed(request, self._proxy_encoding)
        return await super().download_request(request)


def dressed(request, encoding):
    session = Session.fresh("", "conformance", profile=PROFILE, proxy_id=None, now=time.time(), stored=False)
    profile = get_profile(session.profile)
    head = request_head(
        profile,
        destination="navigate",
        method=request.method,
        url=request.url,
        caller_headers=[(name, value) for name, values in request.headers.items() for value in values],
        body_length=len(request.body) if request.body else None,
    )
    return Wire(
        session=session,
        client="identity",
        proxy=_scrapy_proxy(request, encoding),
        profile=profile,
        headers=head.lines,
        order=head.order,
        cookie=head.cookie,
        weight=profile.weight("navigate"),
    )


HANDLER = ProfiledHandler if PROFILE else CurlDownloadHandler


class Ours:
    """What the bases ask for."""

    #: Scrapy's is 180 s, for which a server that promises an answer and sends none would be waited for
    default_handler_settings: ClassVar = {"DOWNLOAD_TIMEOUT": 5}

    @property
    def download_handler_cls(self):
        return HANDLER

    @property
    def settings_dict(self):
        path = f"{HANDLER.__module__}.{HANDLER.__qualname__}"
        return {"DOWNLOAD_HANDLERS": {"http": path, "https": path}}


# ── who served what ──────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Count:
    asked: int = 0
    answered: int = 0


@contextmanager
def recording():
    """Counts what our handler is asked for and answers, and notes the ports its connections have on this side."""
    count, ports = Count(), set()
    download, give_back = CurlDownloadHandler.download_request, CurlClient._give_back

    async def counted(self, request):
        count.asked += 1
        response = await download(self, request)
        count.answered += 1
        return response

    def noted(self, handle, *, reusable):
        ports.add(handle.curl.getinfo(CurlInfo.LOCAL_PORT))
        give_back(self, handle, reusable=reusable)

    CurlDownloadHandler.download_request, CurlClient._give_back = counted, noted
    try:
        yield count
    finally:
        CurlDownloadHandler.download_request, CurlClient._give_back = download, give_back
        with Path(PORTS).open("a") as file:
            file.writelines(f"{port}\n" for port in ports)


@pytest.fixture(autouse=True)
def served(record_property):
    with recording() as count:
        yield
    record_property("asked", count.asked)
    record_property("answered", count.answered)


for server in (MockServer, ProxyEchoMockServer, SimpleMockServer):
    server.module_name = server.module_name.replace(".mockserver.", ".mockserver.recorded_")


@pytest.fixture(scope="session")
def mockserver():
    """As Scrapy's own; its process notes requests where the environment says."""
    with MockServer() as started:
        yield started


# ── plain HTTP, TLS ──────────────────────────────────────────────────────────────────────────────────────────────────


KEYLOG = """
import asyncio, sys
from scrapy import Request
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler
from tests.test_fetchworker import HANDLER, recording

async def main():
    handler = build_from_crawler(HANDLER, get_crawler())
    response = await handler.download_request(Request(sys.argv[1]))
    await handler.close()
    sys.stdout.buffer.write(response.body)

with recording():
    asyncio.run(main())
"""


class Resolving:
    @pytest.fixture
    def resolve_to_loopback(self, monkeypatch, mockserver):
        """curl does not ask Python for addresses: the names are mapped."""
        ports = (mockserver.port(), mockserver.port(is_secure=True))
        mapped = {f"{name}:{port}": f"127.0.0.1:{port}" for name in IDNA_REJECTED_HOSTNAMES for port in ports}
        monkeypatch.setenv("FETCHWORKER_HOST_MAP", json.dumps(mapped))


class TestHttp(Ours, Resolving, bases.TestHttpBase):
    pass


class TestHttps(Ours, Resolving, bases.TestHttpsBase):
    """With a profile this is HTTP/2, without one HTTP/1.1: the server takes both."""

    http2 = bool(PROFILE)

    @coroutine_test
    async def test_protocol(self, mockserver):
        async with self.get_dh() as handler:
            response = await handler.download_request(Request(mockserver.url("/host", is_secure=True)))
        assert response.protocol == ("h2" if PROFILE else "HTTP/1.1")

    def test_keylog(self, mockserver, tmp_path):
        """curl opens the file once in a process: in one of its own."""
        keys = tmp_path / "keys"
        command = [sys.executable, "-c", KEYLOG, mockserver.url("/text", is_secure=True)]
        done = subprocess.run(command, env={**os.environ, "SSLKEYLOGFILE": str(keys)}, capture_output=True, check=True)
        assert done.stdout == b"Works"
        lines = [line for line in keys.read_text().splitlines() if not line.startswith("#")]
        assert lines
        assert all(len(line.split()) == 3 for line in lines)

    @pytest.mark.skip(reason="the check is Twisted-specific: Scrapy's other handlers skip it too")
    def test_verify_certs_deprecated(self):
        pass


class TestSimpleHttps(Ours, bases.TestSimpleHttpsBase):
    pass


class TestHttpsWrongHostname(Ours, bases.TestHttpsWrongHostnameBase):
    pass


class TestHttpsInvalidDNSId(Ours, bases.TestHttpsInvalidDNSIdBase):
    pass


class TestHttpsInvalidDNSPattern(Ours, bases.TestHttpsInvalidDNSPatternBase):
    pass


class TestHttpsCustomCiphers(Ours, bases.TestHttpsCustomCiphersBase):
    # the base's Camellia is in no browser's TLS library, and so not in curl's (BoringSSL)
    cipher_string = "AES256-SHA"


class TestHttpsDefaultCiphers(Ours, bases.TestHttpsDefaultCiphersBase):
    pass


class TestHttpsTLSVersion(Ours, bases.TestHttpsTLSVersionBase):
    pass


class TestHttpWithCrawler(Ours, bases.TestHttpWithCrawlerBase):
    pass


class TestHttpsWithCrawler(TestHttpWithCrawler):
    is_secure = True


# ── proxies ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class TestHttpProxy(Ours, bases.TestHttpProxyBase):
    # the slash belongs to the path of a request, as httpx and browsers send it
    expected_http_proxy_request_body = b"http://example.com/"


class TestHttpsProxy(TestHttpProxy):
    is_secure = True


@pytest.mark.requires_mitmproxy
class TestMitmProxy(Ours, bases.TestMitmProxyBase):
    handler_supports_socks = True

    @pytest.fixture(scope="class")
    @classmethod
    def mockserver(cls):
        """A server that only proxies speak to: its peers' ports say nothing."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CONFORMANCE_LOG", os.environ["CONFORMANCE_LOG"] + "-proxied")
            with MockServer() as started:
                yield started
