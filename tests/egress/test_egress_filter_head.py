"""The head of a request: any bytes at all, and what of them goes on."""

from __future__ import annotations

import asyncio

import h11
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fetchworker.config import destinations
from fetchworker.egress import EgressPolicy
from fetchworker.egress.filter_proxy import FilterProxy
from fetchworker.egress.filter_proxy.head import Target, basic, end_to_end, read_credentials, read_target
from fetchworker.egress.filter_proxy.reasons import FilterError

POLICY = EgressPolicy()
LINES = st.sampled_from(
    [
        b"CONNECT a.example:443 HTTP/1.1", b"GET http://a.example/ HTTP/1.1", b"GET / HTTP/1.0", b"Host: a", b"Host: b",
        b"Content-Length: 5", b"Content-Length: -1", b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip", b": x",
        b"Proxy-Authorization: Basic AA==", b" folded", b"X\x00: y", b"", b"\xff\xfe", b"PRI * HTTP/2.0",
        b"\x16\x03\x01",
    ]
)  # fmt: skip
HEADS = st.lists(LINES | st.binary(max_size=30), max_size=8).map(lambda lines: b"\r\n".join([*lines, b"", b""]))


async def say(proxy: FilterProxy, message: bytes, *, ends: bool = True) -> bytes:
    """All that is answered to a message on a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
    try:
        writer.write(message)
        if ends:
            writer.write_eof()
        return await reader.read()
    except OSError:
        return b""
    finally:
        writer.transport.abort()


ANSWERS = st.sampled_from(
    [
        b"HTTP/1.1 200 OK", b"HTTP/1.1 101 Switching Protocols", b"HTTP/1.1 407 No", b"HTTP/1.0 204 No", b"HTTP/9 1",
        b"HTTP/1.1 100 Continue", b"Content-Length: 3", b"Content-Length: x", b"Transfer-Encoding: chunked", b"3",
        b"abc", b"0",
        b"Connection: upgrade", b"Upgrade: x", b"", b"Proxy-Authenticate: Basic", b"ffffffffffffffffffff", b" folded",
    ]
)  # fmt: skip
REPLIES = st.lists(ANSWERS | st.binary(max_size=20), max_size=8).map(lambda lines: b"\r\n".join([*lines, b""]))


@settings(max_examples=100)
@given(st.lists(REPLIES, min_size=1, max_size=6))
def test_whatever_a_server_answers_is_passed_on_or_ends(replies):
    """Any bytes of a server: no exception is left to the loop, and the browser is never asked for other credentials."""
    wrong: list[dict] = []
    waiting = list(replies)

    async def reply(reader, writer) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(waiting.pop())
        writer.close()

    async def talk() -> list[bytes]:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: wrong.append(context))
        policy = EgressPolicy(allow=destinations("127.0.0.1"))
        async with await asyncio.start_server(reply, "127.0.0.1", 0) as server, FilterProxy(policy) as proxy:
            port = server.sockets[0].getsockname()[1]
            run = proxy.open_run()
            known = basic(run.username, run.password.get_secret_value())
            head = b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\nProxy-Authorization: %s\r\n" % (port, known)
            return [await say(proxy, head + b"Connection: close\r\n\r\n", ends=False) for _ in replies]

    for answer in asyncio.run(talk()):
        assert not answer.startswith((b"HTTP/1.1 407", b"HTTP/1.1 101"))
        assert b"proxy-authenticate" not in answer.lower().partition(b"\r\n\r\n")[0]
    assert not wrong
    assert not waiting, "the server was asked each time"


@settings(max_examples=150)
@given(st.lists(HEADS | st.binary(max_size=200), min_size=1, max_size=6))
def test_whatever_is_said_is_answered_or_cut_and_nothing_goes_out(messages):
    """Nobody has credentials here, so no answer can be a 2xx; and no exception is left to the loop."""
    wrong: list[dict] = []

    async def talk() -> list[bytes]:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: wrong.append(context))
        async with FilterProxy(POLICY) as proxy:
            return [await say(proxy, message) for message in messages]

    for answer in asyncio.run(talk()):
        assert answer == b"" or answer[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 407", b"HTTP/1.1 431", b"HTTP/1.1 501")
    assert not wrong


def read(method: bytes, raw: bytes) -> Target | FilterError:
    try:
        return read_target(method, raw, POLICY)[0]
    except FilterError as exc:
        return exc


@given(st.sampled_from([b"CONNECT", b"GET"]), st.binary(max_size=60) | st.text(max_size=40).map(str.encode))
def test_a_target_is_read_or_refused(method, raw):
    target = read(method, raw)
    if isinstance(target, FilterError):
        assert target.status in (400, 403)
    else:
        assert POLICY.classify(f"http://{target.place}").allowed, "what is dialled is what was judged"


@given(st.sampled_from(["a.example", "[2606:2800:220:1:248:1893:25c8:1946]", "93.184.215.14"]), st.integers(1, 65_535))
def test_what_is_written_plainly_is_read_as_it_is(host, port):
    tunnel, plain = read(b"CONNECT", f"{host}:{port}".encode()), read(b"GET", f"http://{host}:{port}?q".encode())
    if isinstance(tunnel, FilterError) or isinstance(plain, FilterError):
        assert (tunnel.reason, plain.reason) == ("port", "port")
        return
    assert (tunnel.host, tunnel.port, tunnel.place) == (host.strip("[]"), port, f"{host}:{port}")
    assert (plain.host, plain.port, plain.path) == (tunnel.host, port, "/?q")
    assert plain.authority == (host if port == 80 else f"{host}:{port}")


@given(st.text(), st.text())
def test_credentials_are_read_as_they_were_written(user, password):
    user = user.replace(":", "")
    pair = (user.encode(errors="ignore").decode(), password.encode(errors="ignore").decode())
    assert read_credentials([(b"proxy-authorization", basic(*pair))]) == pair


@given(st.binary())
def test_what_are_no_credentials_gives_none(raw):
    assert all(isinstance(part, str) for part in read_credentials([(b"proxy-authorization", b"Basic " + raw)]))
    assert read_credentials([(b"proxy-authorization", raw)] * 2) == ("", "")


@pytest.mark.parametrize("named", [b"X-Hop", b"close, x-hop", b" X-HOP ,"])
def test_headers_for_neighbours_are_taken_out(named):
    raw = [(b"Connection", named), (b"X-Hop", b"1"), (b"X-Stays", b"2"), (b"Proxy-Authorization", b"secret")]
    assert end_to_end(raw) == [(b"X-Stays", b"2")]


def test_nobody_takes_the_length_or_the_host_out():
    raw = [(b"Connection", b"content-length, host"), (b"Content-Length", b"3"), (b"Host", b"a")]
    assert end_to_end(raw) == raw[1:]


def test_h11_still_reads_a_tunnel_as_we_rely_on():
    """The bytes behind the head are kept apart, and 2xx gets no length."""
    http = h11.Connection(h11.SERVER)
    http.receive_data(b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\nabc")
    assert isinstance(http.next_event(), h11.Request)
    assert isinstance(http.next_event(), h11.EndOfMessage)
    assert http.send(h11.Response(status_code=200, headers=[])) == b"HTTP/1.1 200 \r\n\r\n"
    assert http.trailing_data[0] == b"abc"
