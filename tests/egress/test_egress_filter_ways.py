"""What goes through the filtering proxy, and by which ways; bytes as a counting server counts them."""

from __future__ import annotations

import asyncio
import ssl

import pytest

from fetchworker.demo.http1 import BadMessageError
from fetchworker.demo.proxy import Mode, ProxyServer
from fetchworker.demo.tls import Authority
from fetchworker.egress.filter_proxy.head import basic
from fetchworker.proxies import parse_proxies

UPSTREAMS = ["http", "https", "socks5"]


class Plain:
    """A server that keeps what it gets, with the body whole, and answers what it is told."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.body = b""
        self.got = self.said = self.port = 0
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.body = await self._read_body(reader, head.lower())
            self.heads.append(head.decode("latin-1"))
            self.got += len(head) + len(self.body)
            self.said += len(self.answer)
            writer.write(self.answer)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _read_body(self, reader: asyncio.StreamReader, head: bytes) -> bytes:
        if b"chunked" in head:
            return await reader.readuntil(b"0\r\n\r\n")
        if b"content-length: " in head:
            return await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
        return b""


@pytest.fixture
async def plain(serve) -> Plain:
    return await serve("127.0.0.1", 0, Plain())


@pytest.fixture
async def by(stack, filtering):
    """A run by an upstream of a kind, which leads names to ports of this machine, and knows its user."""

    async def start(scheme: str, targets: dict[str, int], *, word: str = "s3cret", **limits):
        table = {name: f"127.0.0.1:{port}" for name, port in targets.items()}
        authority = stack.enter_context(Authority()) if scheme == "https" else None
        made = ProxyServer(table, scheme=scheme, username="ann", password="s3cret", authority=authority)
        server = await stack.enter_async_context(made)
        trust = ssl.create_default_context(cafile=str(authority.pem_path)) if authority else None
        proxy = parse_proxies(server.url_for("ann", word), source="test")[0]
        filtered = await filtering(
            lead=lambda host: pytest.fail(f"{host} was looked up here"), upstream_tls=trust, **limits
        )
        return server, filtered.open_run(upstream=proxy)

    return start


async def carries(client, target: str) -> bool:
    """Open a tunnel and see that it carries."""
    assert (await client.ask("CONNECT", target)).status == 200
    await client.say(b"hello")
    return await client.reader.readexactly(5) == b"HELLO"


def asked(server: ProxyServer) -> list[tuple[str, str]]:
    return [(event["method"], event["target"]) for event in server.log.events if event["type"] == "proxy"]


class TestTunnels:
    async def test_bytes_are_those_of_the_server(self, filtering, asker, echo):
        run = (await filtering("echo.example")).open_run()
        client = await asker(run)
        assert (await client.ask("CONNECT", f"echo.example:{echo.port}")).status == 200
        data = bytes(range(97, 123)) * 20_000
        _, got = await asyncio.gather(client.say(data), client.reader.readexactly(len(data)))
        assert got == data.upper()
        client.writer.write_eof()
        assert await client.gone() == b""
        assert (run.sent, run.received) == (echo.got, echo.said) == (len(data), len(data))

    async def test_each_run_has_its_own(self, filtering, asker, echo):
        proxy = await filtering("echo.example")
        runs = [proxy.open_run(), proxy.open_run()]
        for run in runs:
            assert await carries(await asker(run), f"echo.example:{echo.port}")
        assert [(run.sent, run.received) for run in runs] == [(5, 5), (5, 5)]
        assert len({run.username for run in runs} | {run.password.get_secret_value() for run in runs}) == 4
        assert runs[0].password.get_secret_value() not in repr(runs[0]) + repr(vars(runs[0]))

    async def test_what_comes_right_behind_the_head_goes_first(self, filtering, asker, echo):
        client = await asker((await filtering("echo.example")).open_run())
        assert (await client.ask("CONNECT", f"echo.example:{echo.port}", body=b"early")).status == 200
        await client.say(b"late")
        assert await client.reader.readexactly(9) == b"EARLYLATE"

    async def test_half_closed(self, filtering, asker, serve):
        """The server speaks only after the client has ended; all of it arrives."""
        late = b"x" * 300_000

        class Late:
            port = 0

            async def __call__(self, reader, writer) -> None:
                writer.write(late if await reader.read() == b"all" else b"")
                await writer.drain()
                writer.close()

        server = await serve("127.0.0.1", 0, Late())
        run = (await filtering("late.example")).open_run()
        client = await asker(run)
        assert (await client.ask("CONNECT", f"late.example:{server.port}")).status == 200
        await client.say(b"all")
        client.writer.write_eof()
        assert await client.reader.read() == late
        assert run.received == len(late)

    async def test_tls_is_not_touched(self, filtering, stack):
        """The certificate that the client sees is the server's own."""
        authority = stack.enter_context(Authority())
        context = authority.server_context(("secure.example",))

        async def greet(reader, writer) -> None:
            writer.write(await reader.readline())
            await writer.drain()
            writer.close()

        server = await stack.enter_async_context(await asyncio.start_server(greet, "127.0.0.1", 0, ssl=context))
        port = server.sockets[0].getsockname()[1]
        run = (await filtering("secure.example")).open_run()
        host, _, own = run.url.rpartition("/")[2].partition(":")
        reader, writer = await asyncio.open_connection(host, int(own))
        stack.callback(writer.transport.abort)
        credentials = basic(run.username, run.password.get_secret_value())
        writer.write(
            b"CONNECT secure.example:%d HTTP/1.1\r\nHost: x\r\nProxy-Authorization: %s\r\n\r\n" % (port, credentials)
        )
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        trust = ssl.create_default_context(cafile=str(authority.pem_path))
        await writer.start_tls(trust, server_hostname="secure.example")
        writer.write(b"over TLS\n")
        assert await reader.readline() == b"over TLS\n"


class TestPlain:
    async def test_only_what_is_for_the_server_goes_on(self, filtering, asker, plain):
        run = (await filtering("shop.example")).open_run()
        client = await asker(run)
        lines = (
            "User-Agent: Browser/1", "Proxy-Connection: keep-alive", "Connection: X-Hop", "X-Hop: 1", "Keep-Alive: 5",
            "TE: trailers", "Upgrade: h2c", "Cookie: a=b", "Proxy-Other: 1",
        )  # fmt: skip
        assert (await client.ask("GET", f"http://shop.example:{plain.port}/a?b=c", *lines)).body == b"hi"
        head = f"GET /a?b=c HTTP/1.1\r\nHost: shop.example:{plain.port}\r\nConnection: keep-alive\r\n"
        assert plain.heads == [head + "User-Agent: Browser/1\r\nCookie: a=b\r\n\r\n"]
        assert (run.sent, run.received) == (plain.got, plain.said)

    @pytest.mark.parametrize("lines", [("Content-Length: 6",), ("Transfer-Encoding: chunked",)])
    async def test_bodies(self, filtering, asker, plain, lines):
        run = (await filtering("shop.example")).open_run()
        client = await asker(run)
        body = b"abcdef" if "Length" in lines[0] else b"2\r\nab\r\n4\r\ncdef\r\n0\r\n\r\n"
        for _ in range(2):  # on one connection
            assert (await client.ask("POST", f"http://shop.example:{plain.port}/", *lines, body=body)).body == b"hi"
            assert plain.body == body
        assert (run.sent, run.received) == (plain.got, plain.said)

    async def test_two_lengths_are_not_passed_on(self, filtering, asker, plain):
        """What one server takes for a body another takes for a request: only the chunks count, for all."""
        client = await asker((await filtering("shop.example")).open_run())
        lines = ("Content-Length: 3", "Transfer-Encoding: chunked")
        url = f"http://shop.example:{plain.port}/"
        assert (await client.ask("POST", url, *lines, body=b"2\r\nab\r\n0\r\n\r\n")).status == 200
        assert "content-length" not in plain.heads[0].lower()

    @pytest.mark.parametrize(
        ("answer", "body"),
        [
            (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", b"until the end"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", b"abc"),
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
                b"abc",
            ),
            (b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc", b"abc"),
            (b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", b""),
        ],
    )
    async def test_answers(self, filtering, asker, plain, answer, body):
        plain.answer = answer
        run = (await filtering("shop.example")).open_run()
        client = await asker(run)
        got = await client.ask("GET", f"http://shop.example:{plain.port}/")
        got = await client.answer() if got.status == 103 else got
        assert got.body == body
        assert run.received == plain.said
        assert (await client.ask("GET", f"http://shop.example:{plain.port}/")).status in (200, 103), "it goes on"

    async def test_head(self, filtering, asker, plain):
        plain.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"
        client = await asker((await filtering("shop.example")).open_run())
        for _ in range(2):
            answer = await client.ask("HEAD", f"http://shop.example:{plain.port}/")
            assert (answer.status, answer.head.get("content-length")) == (200, "99")
        assert (await client.ask("HEAD", "http://10.0.0.1/")).reason == "private"

    @pytest.mark.parametrize(
        "answer", [b"", b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\n\r\n", b"HTTP/1.1 20"]
    )
    async def test_no_answer_for_a_browser(self, filtering, asker, plain, answer):
        plain.answer = answer
        run = (await filtering("shop.example")).open_run()
        got = await (await asker(run)).ask("GET", f"http://shop.example:{plain.port}/")
        assert (got.status, got.reason) == (502, "bad_answer")
        assert [refusal.target for refusal in run.refusals] == [f"shop.example:{plain.port}"]

    async def test_cut_short(self, filtering, asker, plain):
        """The client must not take it for whole."""
        plain.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"
        client = await asker((await filtering("shop.example")).open_run())
        with pytest.raises((OSError, BadMessageError)):
            await client.ask("GET", f"http://shop.example:{plain.port}/")

    async def test_nobody_there(self, filtering, asker, stack):
        dead = await stack.enter_async_context(ProxyServer({}, mode=Mode.DEAD))
        run = (await filtering("gone.example")).open_run()
        for method, target in (("CONNECT", "gone.example:{}"), ("GET", "http://gone.example:{}/")):
            answer = await (await asker(run)).ask(method, target.format(dead.port))
            assert (answer.status, answer.reason) == (502, "unreachable")

    async def test_a_name_that_nobody_knows(self, filtering, asker):
        def lead(_host: str) -> list[str]:
            raise OSError("no such name")

        for found in (lead, lambda _host: []):
            run = (await filtering(lead=found)).open_run()
            answer = await (await asker(run)).ask("CONNECT", "nowhere.example:443")
            assert (answer.status, answer.reason) == (502, "unresolvable")


class TestUpstreams:
    @pytest.mark.parametrize("scheme", UPSTREAMS)
    async def test_a_tunnel(self, by, asker, echo, scheme):
        server, run = await by(scheme, {"far.example:443": echo.port})
        assert await carries(await asker(run), "far.example:443")
        assert [target for _, target in asked(server)] == ["far.example:443"]
        assert (run.sent, run.received) == (echo.got, echo.said) == (5, 5)

    @pytest.mark.parametrize("scheme", UPSTREAMS)
    async def test_a_plain_request(self, by, asker, plain, scheme):
        server, run = await by(scheme, {"far.example:80": plain.port})
        answer = await (await asker(run)).ask("GET", "http://far.example/a", "Proxy-Connection: keep-alive")
        assert answer.body == b"hi"
        assert asked(server) == [("SOCKS5" if scheme == "socks5" else "GET", "far.example:80")]
        assert len(plain.heads) == 1
        assert "proxy-" not in plain.heads[0].lower(), "neither our credentials nor the upstream's"
        assert plain.heads[0].startswith("GET /a HTTP/1.1\r\nHost: far.example\r\n")

    @pytest.mark.parametrize("scheme", UPSTREAMS)
    @pytest.mark.parametrize(
        ("mode", "reason"),
        [
            (Mode.REFUSE_CREDENTIALS, "upstream_auth"), (Mode.FORBID, "upstream_refused"),
            (Mode.UNREACHABLE, "upstream_refused"), (Mode.DEAD, "upstream_unreachable"),
        ],
    )  # fmt: skip
    async def test_its_faults_have_names(self, by, asker, scheme, mode, reason):
        server, run = await by(scheme, {})
        await server.set_mode(mode)
        answer = await (await asker(run)).ask("CONNECT", "far.example:443")
        assert (answer.status, answer.reason) == (502, reason)
        assert b"s3cret" not in answer.body
        assert [refusal.reason for refusal in run.refusals] == [reason]

    @pytest.mark.parametrize("scheme", UPSTREAMS)
    async def test_other_credentials(self, by, asker, echo, plain, scheme):
        _, run = await by(scheme, {"far.example:443": echo.port, "far.example:80": plain.port}, word="other")
        for method, target in (("CONNECT", "far.example:443"), ("GET", "http://far.example/")):
            answer = await (await asker(run)).ask(method, target)
            assert (answer.status, answer.reason) == (502, "upstream_auth")

    @pytest.mark.parametrize("scheme", UPSTREAMS)
    async def test_it_says_nothing(self, by, asker, scheme):
        server, run = await by(scheme, {}, connect_seconds=0.2)
        await server.set_mode(Mode.BLACK_HOLE)
        answer = await (await asker(run)).ask("CONNECT", "far.example:443")
        assert (answer.status, answer.reason) == (504, "upstream_timeout")

    @pytest.mark.parametrize("scheme", UPSTREAMS)
    async def test_it_drops_the_tunnel(self, by, asker, echo, scheme):
        server, run = await by(scheme, {"far.example:443": echo.port})
        await server.set_mode(Mode.DROP)
        client = await asker(run)
        assert (await client.ask("CONNECT", "far.example:443")).status == 200
        assert await client.gone() == b""

    async def test_it_carries_a_part_only(self, by, asker, echo):
        server, run = await by("http", {"far.example:443": echo.port})
        await server.set_mode(Mode.TRUNCATE)
        client = await asker(run)
        assert (await client.ask("CONNECT", "far.example:443")).status == 200
        await client.say(b"a" * 20_000)
        got = await client.gone()
        assert set(got) <= {ord("A")}
        assert len(got) == run.received < 20_000

    async def test_an_upstream_of_no_known_kind(self, filtering):
        from types import SimpleNamespace

        from fetchworker.errors import ConfigError

        with pytest.raises(ConfigError, match="scheme"):
            (await filtering()).open_run(upstream=SimpleNamespace(scheme="socks4"))
