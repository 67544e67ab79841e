from __future__ import annotations

import asyncio
import json
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from curl_cffi import CurlHttpVersion
from curl_cffi.requests.exceptions import RequestException

from fetchworker.demo import Log, Reply, RequestInfo, UpstreamServer, read_log

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CHROME_H2 = "1:65536;2:0;4:6291456;6:262144|15663105|0|m,a,s,p"
CHROME_JA4 = "t13d1517h2_8daaf6152771_cb7bf5808d99"


def hello_app(request: RequestInfo) -> Reply:
    return Reply(200, (("content-type", "text/plain"),), f"{request.method} {request.path}".encode())


async def raw(port: int, data: bytes, **options: Any) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, **options)
    writer.write(data)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def test_chrome_over_http2_is_logged_as_it_came(serve: Any, browser: Any) -> None:
    server = await serve(hello_app)
    client = await browser(server)
    answer = await client.post(f"https://lab.example:{server.port}/a%2Fb?c=d", data=b"\x00\xff body")
    assert answer.text == "POST /a%2Fb?c=d"
    (connection,), (request,) = server.log.connections, server.log.requests
    assert (connection.alpn, connection.tls_version, connection.resumed) == ("h2", "TLSv1.3", False)
    assert connection.hello.sni == "lab.example"
    assert connection.hello.ja4 == CHROME_JA4
    assert connection.offered == ()
    assert request.h2_fingerprint() == CHROME_H2
    assert [name for name, _ in request.headers][:5] == [":method", ":authority", ":scheme", ":path", "sec-ch-ua"]
    assert request.priority == (256, 0, True)
    assert (request.method, request.host, request.path) == ("POST", "lab.example", "/a%2Fb?c=d")
    assert request.body == b"\x00\xff body"
    assert request.peer == "127.0.0.1"


async def test_http1_by_alpn(serve: Any, browser: Any) -> None:
    server = await serve(hello_app)
    client = await browser(http_version=CurlHttpVersion.V1_1)
    answers = [await client.get(f"https://localhost:{server.port}/{n}") for n in range(3)]
    assert [answer.text for answer in answers] == ["GET /0", "GET /1", "GET /2"]
    (connection,) = server.log.connections
    assert connection.alpn == "http/1.1"
    assert connection.requests == 3


async def test_plain_http_keeps_order_case_and_repetition(serve: Any) -> None:
    server = await serve(hello_app)
    data = (
        b"GET /x HTTP/1.1\r\nZulu: 1\r\nhost: lab.example\r\nALPHA:  two words \r\nzulu: 3\r\nConnection: close\r\n\r\n"
    )
    answer = await raw(server.http_port, data)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.endswith(b"\r\n\r\nGET /x")
    (request,) = server.log.requests
    assert request.headers == [
        ("Zulu", "1"), ("host", "lab.example"), ("ALPHA", "two words"), ("zulu", "3"), ("Connection", "close"),
    ]  # fmt: skip
    assert request.header("ZULU") == "1"
    assert not request.connection.secure


async def test_chunked_request_bodies_and_pipelining(serve: Any) -> None:
    server = await serve(lambda request: Reply(200, (), request.body))
    chunks = b"3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: t\r\n\r\n"
    one = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
    two = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nfg"
    answer = await raw(server.http_port, one + two)
    assert b"abcde" in answer
    assert answer.endswith(b"fg")


@pytest.mark.parametrize("data", [b"nonsense\r\n\r\n", b"GET /\r\nno colon\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a"])
async def test_broken_http1_is_dropped(serve: Any, data: bytes) -> None:
    server = await serve(hello_app)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.http_port)
    writer.write(data)
    writer.write_eof()
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
    assert server.log.requests == []
    assert "BadMessage" in (server.log.connections[0].error or "")


async def test_not_tls_on_the_tls_port(serve: Any) -> None:
    server = await serve(hello_app)
    with suppress(ConnectionResetError):  # our bytes were never read, so the kernel may reset
        assert await raw(server.port, b"GET / HTTP/1.1\r\n\r\n") == b""
    assert "not a TLS handshake" in server.log.connections[0].error


async def test_untrusting_client_is_logged(authority: Any) -> None:
    async with UpstreamServer(hello_app, authority=authority) as server:
        with pytest.raises(ssl.SSLCertVerificationError):
            await raw(server.port, b"", ssl=ssl.create_default_context(), server_hostname="lab.example")
    (connection,) = server.log.connections
    assert connection.hello is not None
    assert connection.hello.sni == "lab.example"
    assert server.log.requests == []


async def test_large_bodies_wait_for_the_window(serve: Any, browser: Any) -> None:
    body = bytes(20 << 20)  # more than Chrome's windows of 6 and 15 MiB
    server = await serve(lambda _request: Reply(200, (), body))
    client = await browser()
    answer = await client.get(f"https://localhost:{server.port}/")
    assert answer.content == body


async def test_twenty_at_once_on_one_connection(serve: Any, browser: Any) -> None:
    async def app(request: RequestInfo) -> Reply:
        await asyncio.sleep(0)
        return Reply(200, (), request.path.encode())

    server = await serve(app)
    client = await browser()
    await client.get(f"https://localhost:{server.port}/first")
    answers = await asyncio.gather(*(client.get(f"https://localhost:{server.port}/{n}") for n in range(20)))
    assert [answer.text for answer in answers] == [f"/{n}" for n in range(20)]
    assert len(server.log.requests) == 21


async def test_head_and_bodyless_answers(serve: Any, browser: Any) -> None:
    server = await serve(lambda request: Reply(204 if request.route == "/none" else 200, (), b"12345"))
    for version in (None, CurlHttpVersion.V1_1):
        client = await browser(http_version=version)
        answer = await client.head(f"https://localhost:{server.port}/")
        assert (answer.headers["content-length"], answer.content) == ("5", b"")
    assert (await client.get(f"https://localhost:{server.port}/none")).content == b""


@pytest.mark.parametrize("version", [None, CurlHttpVersion.V1_1])
async def test_broken_app_does_not_hang_the_client(serve: Any, browser: Any, version: Any) -> None:
    async def late(_request: RequestInfo) -> Reply:
        raise LookupError("late")

    def app(request: RequestInfo) -> Any:
        if request.route == "/late":
            return late(request)
        raise LookupError("early")

    server = await serve(app)
    client = await browser(http_version=version)
    for path in ("early", "late"):
        with pytest.raises(RequestException):
            await client.get(f"https://localhost:{server.port}/{path}")
    assert {f"LookupError('{path}')" for path in ("early", "late")} >= {c.error for c in server.log.connections}


async def test_goaway_after_some_requests(serve: Any, browser: Any) -> None:
    server = await serve(hello_app, goaway_after=3)
    client = await browser()
    for n in range(7):
        assert (await client.get(f"https://localhost:{server.port}/{n}")).text == f"GET /{n}"
    assert [connection.requests for connection in server.log.connections] == [3, 3, 1]


async def test_only_http1_when_asked(serve: Any, browser: Any) -> None:
    server = await serve(hello_app, alpn=("http/1.1",))
    client = await browser()
    assert (await client.get(f"https://localhost:{server.port}/")).text == "GET /"
    assert server.log.connections[0].alpn == "http/1.1"


@pytest.mark.parametrize("version", [None, CurlHttpVersion.V1_1])
async def test_client_that_leaves_stops_the_body(serve: Any, browser: Any, version: Any) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def forever() -> AsyncIterator[bytes]:
        begun.set()
        try:
            while True:
                yield b"x" * 10_000
                await asyncio.sleep(0.001)
        finally:
            ended.set()

    server = await serve(lambda _request: Reply(200, (), forever()))
    client = await browser(http_version=version)
    reading = asyncio.ensure_future(client.get(f"https://localhost:{server.port}/"))
    await begun.wait()
    reading.cancel()
    with suppress(asyncio.CancelledError):
        await reading
    await client.close()
    await asyncio.wait_for(ended.wait(), 20)


@pytest.mark.parametrize("kind", ["https", "http"])
async def test_close_ends_open_connections(authority: Any, browser: Any, kind: str) -> None:
    asked = asyncio.Event()

    async def never(_request: RequestInfo) -> Reply:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    client = await browser()
    async with UpstreamServer(never, authority=authority) as server:
        port = server.port if kind == "https" else server.http_port
        waiting = asyncio.ensure_future(client.get(f"{kind}://localhost:{port}/"))
        await asked.wait()
    with pytest.raises(RequestException):
        await waiting


async def test_log_file_says_the_same_as_memory(serve: Any, browser: Any, tmp_path: Any) -> None:
    with Log(tmp_path / "log.jsonl") as log:
        server = await serve(hello_app, log=log)
        client = await browser()
        await client.post(f"https://localhost:{server.port}/", data=b"\xff\x00")
        log.event("note", text="by the test")
        await client.close()
        assert json.loads(json.dumps(log.records())) == read_log(tmp_path / "log.jsonl")
    kinds = [record["type"] for record in log.records()]
    assert kinds == ["connection", "request", "note"]
    assert log.records()[1]["body"] == "\xff\x00"
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"type": "half a li')
    assert len(read_log(tmp_path / "log.jsonl")) == 3
