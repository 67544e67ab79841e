"""The heads on the wire: sent by curl to a server that logs raw HTTP/2 and HTTP/1 requests."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import threading
from dataclasses import dataclass, field
from io import BytesIO

import h2.config
import h2.connection
import h2.events
import pytest
import trustme
from curl_cffi import Curl, CurlHttpVersion, CurlOpt
from curl_cffi._wrapper import ffi, lib

from fetchworker.download.headers import request_head, request_headers
from fetchworker.download.profiles import get_profile, profile_names

CUSTOM = [("X-App-Id", "9"), ("X-CSRF-Token", "t"), (b"X-Raw", b"caf\xe9"), ("X-Empty", ""), ("Connection", "close")]
BODY = b"a=1"
NOT_READ_FROM_CURL_CFFI = {"chrome131_android": {"sec-ch-ua-mobile"}}  # it says ?0 against its own user agent


@dataclass
class Sent:
    headers: list[tuple[bytes, bytes]]
    body: bytes = b""
    weight: int | None = None
    exclusive: bool | None = None

    def field_names(self) -> list[bytes]:
        return [name for name, _ in self.headers if not name.startswith(b":")]


@dataclass
class DumpServer:
    """Answers 204 to everything and keeps what it was sent; one connection at a time."""

    alpn: str | None
    context: ssl.SSLContext | None
    ca_file: str
    sent: list[Sent] = field(default_factory=list)

    @property
    def scheme(self) -> str:
        return "https" if self.context else "http"

    def start(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    def _run(self) -> None:
        while True:
            try:
                raw, _ = self._listener.accept()
            except OSError:
                return
            raw.settimeout(5)
            with contextlib.suppress(OSError), raw:
                if self.context is None:
                    self._http1(raw)
                    continue
                with self.context.wrap_socket(raw, server_side=True) as tls:
                    (self._http2 if tls.selected_alpn_protocol() == "h2" else self._http1)(tls)

    def _http1(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as lines:
            lines.readline()
            head = list(iter(lambda: lines.readline().rstrip(b"\r\n"), b""))
            headers = [(name, value.strip()) for name, _, value in (line.partition(b":") for line in head)]
            length = int(next((value for name, value in headers if name.lower() == b"content-length"), 0))
            self.sent.append(Sent(headers, lines.read(length)))
        connection.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

    def _http2(self, connection: socket.socket) -> None:
        # crumbs of cookies are left as they come
        config = h2.config.H2Configuration(client_side=False, header_encoding=None, normalize_inbound_headers=False)
        h2c = h2.connection.H2Connection(config)
        h2c.initiate_connection()
        connection.sendall(h2c.data_to_send())
        while data := connection.recv(65536):
            for event in h2c.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    priority = event.priority_updated
                    weight, exclusive = (priority.weight, priority.exclusive) if priority else (None, None)
                    self.sent.append(Sent(list(event.headers), b"", weight, exclusive))
                elif isinstance(event, h2.events.DataReceived):
                    self.sent[-1].body += event.data
                    h2c.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    h2c.send_headers(event.stream_id, [(":status", "204")], end_stream=True)
            connection.sendall(h2c.data_to_send())


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    authority = trustme.CA()
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return authority, str(path)


def _server(ca, alpn: str | None) -> DumpServer:
    authority, path = ca
    context = None
    if alpn is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("dump.example").configure_cert(context)
        context.set_alpn_protocols([alpn])
    return DumpServer(alpn, context, path)


@pytest.fixture(scope="module", params=["h2", "http/1.1", None], ids=["h2", "h1-tls", "http"])
def server(request, ca):
    running = _server(ca, request.param)
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def h2_server(ca):
    running = _server(ca, "h2")
    running.start()
    yield running
    running.stop()


def send(server: DumpServer, profile, configure, *, default_headers: bool = False) -> Sent:
    curl = Curl(cacert=server.ca_file)
    try:
        assert curl.impersonate(profile.curl_target, default_headers=default_headers) == 0
        curl.setopt(CurlOpt.HTTP_VERSION, CurlHttpVersion.V2TLS)
        curl.setopt(CurlOpt.URL, f"{server.scheme}://dump.example:{server.port}/".encode())
        curl.setopt(CurlOpt.RESOLVE, [f"dump.example:{server.port}:127.0.0.1"])
        curl.setopt(CurlOpt.WRITEDATA, BytesIO())
        configure(curl)
        curl.perform()
    finally:
        curl.close()
    return server.sent[-1]


def send_head(server: DumpServer, profile, destination, method, body=None, **rest) -> tuple[Sent, list[bytes]]:
    asked = {
        "destination": destination,
        "method": method,
        "url": f"{server.scheme}://dump.example:{server.port}/",
        "body_length": None if body is None else len(body),
        **rest,
    }
    head = request_head(profile, **asked)

    def configure(curl: Curl) -> None:
        curl.setopt(CurlOpt.HTTPHEADER, head.lines)
        curl.setopt(CurlOpt.HTTPHEADER_ORDER, head.order)
        lib._curl_easy_setopt(curl._curl, CurlOpt.COOKIE, head.cookie or ffi.NULL)
        if body is not None:
            curl.setopt(CurlOpt.POSTFIELDSIZE, len(body))
            curl.setopt(CurlOpt.POSTFIELDS, body)
        if weight := profile.weight(destination):
            curl.setopt(CurlOpt.STREAM_WEIGHT, weight)

    return send(server, profile, configure), request_headers(profile, **asked)


def expected(lines: list[bytes], server: DumpServer, profile) -> list[tuple[bytes, bytes]]:
    """What of the lines reaches the wire over the server's protocol."""
    pairs = [(re.split(rb"[:;]", line)[0], line.partition(b":")[2].strip()) for line in lines if line[-1:] != b":"]
    if server.alpn != "h2":
        host = (b"Host", f"dump.example:{server.port}".encode())
        return [host, *(pair for pair in pairs if pair[0] != b"Priority" or profile.http1_priority)]
    split = [(name, value.split(b"; ") if name == b"Cookie" else [value]) for name, value in pairs]
    return [(name.lower(), crumb) for name, crumbs in split if name != b"Connection" for crumb in crumbs]


@pytest.mark.parametrize("name", ["chrome", "firefox", "safari"])
@pytest.mark.parametrize(
    ("destination", "method", "body"),
    [
        ("navigate", "GET", None),
        ("navigate", "POST", BODY),
        ("xhr", "GET", None),
        ("xhr", "POST", BODY),
        ("xhr", "POST", b""),
        ("image", "GET", None),
        ("script", "GET", None),
    ],
)
def test_order_and_values_arrive_as_made(server, name, destination, method, body):
    profile = get_profile(name)
    page = f"{server.scheme}://dump.example:{server.port}/page"
    rest = {"referer": page, "cookies": "a=1; b=2; c=3", "caller_headers": CUSTOM if destination == "xhr" else ()}
    sent, lines = send_head(server, profile, destination, method, body, **rest)
    assert [pair for pair in sent.headers if not pair[0].startswith(b":")] == expected(lines, server, profile)
    assert sent.body == (body or b"")


@pytest.mark.parametrize(("name", "exclusive"), [("chrome", True), ("firefox", False), ("safari", None)])
@pytest.mark.parametrize("destination", ["navigate", "xhr", "image", "script"])
def test_stream_weight(h2_server, name, exclusive, destination):
    profile = get_profile(name)
    sent, _ = send_head(h2_server, profile, destination, "GET")
    assert (sent.weight, sent.exclusive) == (profile.weight(destination), exclusive)


def test_a_big_body_is_sent_at_once(server):
    body = b"z" * (1024 * 1024 + 1)
    sent, _ = send_head(server, get_profile("chrome"), "xhr", "POST", body, content_type="text/plain")
    assert b"expect" not in [name.lower() for name in sent.field_names()]
    assert len(sent.body) == len(body)


@pytest.mark.parametrize("name", [name for name in profile_names() if any(char.isdigit() for char in name)])
def test_values_are_those_of_the_installed_curl_cffi(h2_server, name):
    profile = get_profile(name)
    theirs = dict(send(h2_server, profile, lambda curl: None, default_headers=True).headers)
    ours = dict(send_head(h2_server, profile, "navigate", "GET")[0].headers)
    compared = {
        "user-agent",
        "sec-ch-ua",
        "sec-ch-ua-mobile",
        "sec-ch-ua-platform",
        "accept",
        "accept-encoding",
        "accept-language",
        "upgrade-insecure-requests",
    } - NOT_READ_FROM_CURL_CFFI.get(name, set())
    if profile.family == "firefox":
        compared -= {"upgrade-insecure-requests"}  # some of its Firefoxes were recorded making an XHR
    for header in compared:
        assert ours.get(header.encode()) == theirs.get(header.encode()), header
