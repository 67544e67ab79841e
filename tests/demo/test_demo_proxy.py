from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest
from curl_cffi import CurlHttpVersion
from curl_cffi.requests.exceptions import ProxyError, RequestException, Timeout

from fetchworker.demo import Mode, ProxyServer, lab_app

# curl_cffi warns whoever uses a proxy behind TLS, in case it was a slip
pytestmark = pytest.mark.filterwarnings("ignore:Make sure you are using https over https proxy")

SCHEMES = ("http", "https", "socks5")


@pytest.fixture(params=SCHEMES)
async def pair(serve: Any, proxy: Any, request: Any) -> Any:
    """A lab with a proxy of each kind before it; the proxy's user has awkward letters."""
    upstream = await serve(lab_app)
    server = await proxy(
        upstream, scheme=request.param, username="us%er", password="p@:ss/wörd", source="127.0.0.21", name="p1"
    )
    return upstream, server


def events(server: ProxyServer, kind: str = "proxy") -> list[Any]:
    return [event for event in server.log.events if event["type"] == kind]


async def test_https_through_each_kind(pair: Any, browser: Any) -> None:
    upstream, server = pair
    client = await browser(proxy=server.url)
    answer = await client.get("https://lab.example/headers")
    assert answer.json()["peer"] == "127.0.0.21"
    assert answer.json()["alpn"] == "h2"
    (event,) = events(server)
    assert (event["user"], event["target"], event["status"]) == ("us%er", "lab.example:443", 200)
    (connection,) = upstream.log.connections
    assert (event["source"], event["source_port"]) == (connection.peer, connection.peer_port)
    await client.close()
    await server.close()
    (closed,) = events(server, "proxy_closed")
    assert closed["up"] > 500
    assert closed["down"] > 500


async def test_plain_http_through_each_kind(pair: Any, browser: Any) -> None:
    upstream, server = pair
    client = await browser(proxy=server.url, http_version=CurlHttpVersion.V1_1)
    for number in range(3):
        answer = await client.post(f"http://lab.example/echo?{number}", data=b"x" * 100_000)
        assert len(base64.b64decode(answer.json()["body_base64"])) == 100_000
        assert answer.json()["path"] == f"/echo?{number}"
    assert (await client.get("http://lab.example/drip?bytes=3&interval=0")).content == b"..."
    assert (await client.head("http://lab.example/bytes/5")).headers["content-length"] == "5"
    assert (await client.get("http://lab.example/status/204")).content == b""
    assert {request.peer for request in upstream.log.requests} == {"127.0.0.21"}
    seen = str([request.headers for request in upstream.log.requests]).lower()
    assert "proxy-" not in seen
    assert "us%er" not in seen


async def test_order_of_plain_headers_survives(serve: Any, proxy: Any) -> None:
    upstream = await serve(lab_app)
    server = await proxy(upstream, username="u", password="p")
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    good = base64.b64encode(b"u:p").decode()
    lines = [
        "GET http://LAB.example?q=1 HTTP/1.1",
        "Zulu: 1",
        f"Proxy-Authorization: basic {good}",
        "Host: lab.example",
    ]
    writer.write(
        "\r\n".join([*lines, "ALPHA: 2", "Proxy-Connection: keep-alive", "Connection: close", "", ""]).encode()
    )
    assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    writer.close()
    await writer.wait_closed()
    (request,) = upstream.log.requests
    assert request.headers == [("Zulu", "1"), ("Host", "lab.example"), ("ALPHA", "2"), ("Connection", "close")]
    assert request.path == "/?q=1"


async def test_wrong_credentials(pair: Any, browser: Any) -> None:
    upstream, server = pair
    for url in (
        server.url_for("us%er", "wrong"),
        server.url_for("us%er-x"),
        f"{server.url.split('://')[0]}://127.0.0.1:{server.port}",
    ):
        client = await browser(proxy=url)
        with pytest.raises(RequestException):
            await client.get("https://lab.example/")
    assert upstream.log.connections == []
    assert {event["status"] for event in events(server)} <= {407}


@pytest.mark.parametrize("authorization", ["", "Basic", "Basic !!!", "Bearer abc", "Basic dTpw", "Basic /w=="])
async def test_407_on_plain_requests_names_the_scheme(serve: Any, proxy: Any, authorization: str) -> None:
    upstream = await serve(lab_app)
    server = await proxy(upstream)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    for _ in range(2):  # the connection stays usable
        writer.write(
            b"POST http://lab.example/ HTTP/1.1\r\nHost: lab.example\r\nContent-Length: 3\r\n"
            + f"Proxy-Authorization: {authorization}\r\n\r\nabc".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 407 Proxy Authentication Required")
        assert b'proxy-authenticate: Basic realm="demo"' in head
        await reader.readline()
    writer.close()
    await writer.wait_closed()
    assert upstream.log.connections == []


async def test_nothing_but_the_table_is_reached(pair: Any, browser: Any) -> None:
    _upstream, server = pair
    client = await browser(proxy=server.url)
    for url in (
        "https://elsewhere.example/",
        "http://elsewhere.example/",
        "https://lab.example:444/",
        "https://127.0.0.1:1/",
    ):
        try:
            answer = await client.get(url)
        except RequestException:
            continue
        assert answer.status_code == 403
    assert {event["status"] for event in events(server)} == {403}


async def test_upstream_that_is_gone(proxy: Any, serve: Any, browser: Any) -> None:
    upstream = await serve(lab_app)
    server = await proxy(upstream)
    await upstream.close()
    client = await browser(proxy=server.url)
    assert (await client.get("http://lab.example/")).status_code == 502
    with pytest.raises(RequestException):
        await client.get("https://lab.example/")


async def test_modes(pair: Any, browser: Any) -> None:
    upstream, server = pair
    port = server.port
    for mode in (Mode.REFUSE_CREDENTIALS, Mode.DEAD, Mode.DROP, Mode.BLACK_HOLE):
        await server.set_mode(mode)
        client = await browser(proxy=server.url, timeout=0.5 if mode is Mode.BLACK_HOLE else 20)
        for url in ("https://lab.example/", "http://lab.example/"):
            expected: Any = Timeout if mode is Mode.BLACK_HOLE else RequestException
            if mode is Mode.REFUSE_CREDENTIALS and url.startswith("http:") and server.scheme != "socks5":
                assert (await client.get(url)).status_code == 407
                continue
            with pytest.raises(expected):
                await client.get(url)
    assert upstream.log.requests == []
    await server.set_mode(Mode.OK)
    assert server.port == port
    client = await browser(proxy=server.url)
    assert (await client.get("https://lab.example/")).status_code == 200


async def test_dead_from_the_start_and_dying(serve: Any, proxy: Any, browser: Any) -> None:
    upstream = await serve(lab_app)
    dead = await proxy(upstream, mode=Mode.DEAD)
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", dead.port)
    living = await proxy(upstream)
    client = await browser(proxy=living.url)
    assert (await client.get("https://lab.example/")).status_code == 200
    await living.set_mode(Mode.DEAD)
    with pytest.raises((ProxyError, RequestException)):
        await client.get("https://lab.example/")


async def test_gateway_gives_each_user_an_exit(serve: Any, proxy: Any, browser: Any) -> None:
    upstream = await serve(lab_app)
    gateway = await proxy(upstream, gateway=True, username="acme", name="gateway")
    exits = {}
    for user in ("acme", "acme-session-1", "acme-session-2"):
        client = await browser(proxy=gateway.url_for(user))
        exits[user] = [(await client.get("https://lab.example/headers")).json()["peer"] for _ in range(2)]
        assert exits[user] == [gateway.exit_of(user)] * 2
    assert len({peers[0] for peers in exits.values()}) == 3
    client = await browser(proxy=gateway.url_for("acme2"))
    with pytest.raises(RequestException):
        await client.get("https://lab.example/")


async def test_socks_without_credentials_or_with_another_command(serve: Any, proxy: Any) -> None:
    upstream = await serve(lab_app)
    server = await proxy(upstream, scheme="socks5", username="u", password="p")
    login = b"\x01\x01u\x01p"
    cases = {
        b"\x05\x01\x00": b"\x05\xff",
        b"\x04\x01\x00\x50": b"",
        b"\x05\x01\x02" + login + b"\x05\x02\x00\x03\x01a\x00\x50": b"\x05\x02\x01\x00\x05\x07\x00\x01" + bytes(6),
        b"\x05\x01\x02" + login + b"\x05\x01\x00\x09": b"\x05\x02\x01\x00\x05\x08\x00\x01" + bytes(6),
        b"\x05\x01\x02" + login + b"\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x01": b"\x05\x02\x01\x00\x05\x02\x00\x01"
        + bytes(6),
    }
    for sent, expected in cases.items():
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(sent)
        assert await reader.read() == expected
        writer.close()
        await writer.wait_closed()


def test_https_needs_an_authority() -> None:
    with pytest.raises(ValueError, match="authority"):
        ProxyServer({}, scheme="https")


def test_passwords_are_made_up() -> None:
    assert ProxyServer({}).password != ProxyServer({}).password
