"""What a run may take, who may use it, and that nothing of it is left."""

from __future__ import annotations

import asyncio

import pytest

from fetchworker.proxies import parse_proxies


async def tunnel(client, echo) -> None:
    assert (await client.ask("CONNECT", f"echo.example:{echo.port}")).status == 200


@pytest.fixture
async def nothing_left():
    """At the end there are no more tasks than at the beginning."""
    before = asyncio.all_tasks()
    return lambda: asyncio.all_tasks() - before


class TestCredentials:
    async def test_others_are_asked_for_theirs(self, filtering, asker, trap):
        proxy = await filtering("127.0.0.1")
        run, other = proxy.open_run(), proxy.open_run()
        good = (run.username, run.password.get_secret_value())
        wrong = (None, ("", ""), (good[0], ""), (good[0], good[1][:-1]), ("nobody", good[1]), (other.username, good[1]))
        for credentials in wrong:
            for method, target in (("CONNECT", f"127.0.0.1:{trap.port}"), ("GET", f"http://127.0.0.1:{trap.port}/")):
                client = await asker(run)
                client.credentials = credentials
                answer = await client.ask(method, target)
                assert (answer.status, answer.reason) == (407, "credentials")
                assert answer.head.get("proxy-authenticate") == 'Basic realm="fetchworker"'
                client.credentials = good
                if credentials is None:
                    assert (await client.ask(method, target)).status == 200, "a browser tries again on the connection"
        assert trap.hits == 2
        assert not run.refusals, "they are nobody's"

    @pytest.mark.parametrize(
        "line", ["Bearer x", "Basic", "Basic %%%", "Basic /////w==", "basic", "Basic dXNlcg==", "Digest username=x"]
    )
    async def test_others_that_are_none(self, filtering, asker, line):
        client = await asker((await filtering()).open_run())
        client.credentials = None
        assert (await client.ask("CONNECT", "www.example.com:443", f"Proxy-Authorization: {line}")).status == 407

    async def test_twice_is_none(self, filtering, asker):
        client = await asker((await filtering()).open_run())
        answer = await client.ask("CONNECT", "www.example.com:443", "Proxy-Authorization: Basic dXNlcjp3b3Jk")
        assert answer.status == 407

    async def test_those_of_a_closed_run(self, filtering, asker, trap):
        run = (await filtering("127.0.0.1")).open_run()
        await run.close()
        assert (await (await asker(run)).ask("GET", f"http://127.0.0.1:{trap.port}/")).status == 407
        assert trap.hits == 0


class TestEnds:
    async def test_closing_a_run_cuts_its_tunnels_and_no_others(self, filtering, asker, echo):
        proxy = await filtering("echo.example")
        run, other = proxy.open_run(), proxy.open_run()
        mine, theirs = await asker(run), await asker(other)
        await tunnel(mine, echo)
        await tunnel(theirs, echo)
        assert run.connections == 1
        await run.close()
        assert run.connections == 0
        assert await mine.gone() == b""
        await theirs.say(b"still")
        assert await theirs.reader.readexactly(5) == b"STILL"

    async def test_closing_a_run_ends_what_waits_for_a_server(self, filtering, asker, silent):
        run = (await filtering("slow.example")).open_run()
        client = await asker(run)
        waiting = asyncio.create_task(client.ask("GET", f"http://slow.example:{silent.port}/"))
        await silent.open.wait()
        await run.close()
        with pytest.raises((EOFError, OSError)):
            await waiting

    async def test_closing_a_run_ends_what_waits_for_its_upstream(self, filtering, asker, silent):
        run = (await filtering()).open_run(upstream=parse_proxies(f"http://127.0.0.1:{silent.port}", source="test")[0])
        waiting = asyncio.create_task((await asker(run)).ask("CONNECT", "far.example:443"))
        await silent.open.wait()
        await run.close()
        with pytest.raises((EOFError, OSError)):
            await waiting

    async def test_bytes(self, filtering, asker, echo):
        run = (await filtering("echo.example")).open_run(max_bytes=1000)
        client = await asker(run)
        await tunnel(client, echo)
        await client.say(b"a" * 500)
        assert await client.reader.readexactly(500) == b"A" * 500
        await client.say(b"b")
        assert await client.gone() == b""
        assert (run.ended, run.sent, run.received) == ("byte_cap", 500, 500)
        assert echo.got == 500, "the one too many was not sent"
        answer = await (await asker(run)).ask("CONNECT", f"echo.example:{echo.port}")
        assert (answer.status, answer.reason) == (403, "byte_cap")

    async def test_bytes_of_an_answer(self, filtering, asker, echo):
        run = (await filtering("echo.example")).open_run(max_bytes=1000)
        client = await asker(run)
        await tunnel(client, echo)
        await client.say(b"a" * 501)
        assert len(await client.gone()) <= 499
        assert (run.ended, run.sent) == ("byte_cap", 501)
        assert run.received == 501, "what came is counted, though it went no further"

    async def test_time(self, filtering, asker, echo):
        run = (await filtering("echo.example")).open_run(deadline=1.5)
        client = await asker(run)
        await tunnel(client, echo)
        assert await client.gone() == b""
        assert run.ended == "deadline"
        answer = await (await asker(run)).ask("CONNECT", f"echo.example:{echo.port}")
        assert (answer.status, answer.reason) == (504, "deadline")

    async def test_a_client_that_leaves(self, filtering, asker, echo):
        run = (await filtering("echo.example")).open_run()
        client = await asker(run)
        await tunnel(client, echo)
        client.cut()
        await echo.ended.wait()
        await run.idle()
        assert run.connections == 0

    async def test_a_client_that_leaves_before_the_answer(self, filtering, asker, silent):
        run = (await filtering("slow.example")).open_run()
        client = await asker(run)
        waiting = asyncio.create_task(client.ask("GET", f"http://slow.example:{silent.port}/"))
        await silent.open.wait()
        client.cut()
        await run.idle()
        with pytest.raises((EOFError, OSError)):
            await waiting

    async def test_nothing_is_left(self, filtering, asker, echo, nothing_left):
        proxy = await filtering("echo.example")
        run = proxy.open_run()
        clients = [await asker(run) for _ in range(5)]
        for client in clients[:3]:
            await tunnel(client, echo)
        await proxy.close()
        for client in clients:
            assert await client.gone() == b""
        await echo.ended.wait()
        assert not {task for task in nothing_left() if "filter-proxy" in task.get_name()}
        assert run.ended == "closed"

    async def test_with_grace_what_is_busy_may_end(self, filtering, asker, echo):
        proxy = await filtering("echo.example")
        client = await asker(proxy.open_run())
        await tunnel(client, echo)
        closing = asyncio.create_task(proxy.close(grace=30))
        await client.say(b"last words")
        assert await client.reader.readexactly(10) == b"LAST WORDS"
        client.writer.write_eof()
        assert await client.gone() == b""
        await closing
        assert echo.got == 10


class TestLimits:
    async def test_connections_of_a_run(self, filtering, asker, echo):
        run = (await filtering("echo.example")).open_run(max_connections=1)
        first, second = await asker(run), await asker(run)
        await tunnel(first, echo)
        answer = await second.ask("CONNECT", f"echo.example:{echo.port}")
        assert (answer.status, answer.reason) == (503, "connections")
        first.cut()
        await run.idle()
        await tunnel(second, echo)

    async def test_connections_of_all(self, filtering, asker, echo):
        run = (await filtering("echo.example", connections=1)).open_run()
        await tunnel(await asker(run), echo)
        assert await (await asker(run)).gone() == b""

    async def test_a_head_that_never_ends(self, filtering, asker):
        run = (await filtering(head_seconds=0.2)).open_run()
        client = await asker(run)
        await client.say(b"CONNECT www.example.com:443 HTTP/1.1\r\nX: ")
        assert (await client.answer()).reason == "head_timeout"
        assert await client.gone() == b""

    async def test_a_head_too_long(self, filtering, asker):
        client = await asker((await filtering(head_bytes=1000)).open_run())
        answer = await client.ask("CONNECT", "www.example.com:443", "X: " + "x" * 5000)
        assert (answer.status, answer.reason) == (431, "bad_request")

    async def test_a_silent_server(self, filtering, asker, silent):
        run = (await filtering("slow.example", answer_seconds=0.2)).open_run()
        answer = await (await asker(run)).ask("GET", f"http://slow.example:{silent.port}/")
        assert (answer.status, answer.reason) == (504, "answer_timeout")

    async def test_a_silent_tunnel(self, filtering, asker, echo):
        run = (await filtering("echo.example", idle_seconds=0.1)).open_run()
        client = await asker(run)
        await tunnel(client, echo)
        assert await client.gone() == b""
        await run.idle()

    async def test_a_resolver_that_never_answers(self, filtering, asker, monkeypatch):
        proxy = await filtering(connect_seconds=0.2)

        async def never(_host: str, _port: int):
            await asyncio.Event().wait()

        monkeypatch.setattr(proxy, "_ways", type(proxy._ways)(never, 0.2))
        answer = await (await asker(proxy.open_run())).ask("CONNECT", "www.example.com:443")
        assert (answer.status, answer.reason) == (504, "connect_timeout")


@pytest.mark.parametrize(
    ("method", "target", "told"),
    [
        ("GET", "http://ann:word@10.0.0.1:81/secret?key=x", "10.0.0.1:81"),
        ("CONNECT", "ann:word@10.0.0.1:443", "10.0.0.1:443"),
        ("GET", "http://10.0.0.1?next=http://a@b/", "10.0.0.1"),
        ("GET", f"http://{'a' * 9000}.internal/", "a" * 393),
    ],
)
async def test_a_refusal_tells_the_place_and_no_secret(filtering, asker, method, target, told):
    run = (await filtering()).open_run()
    assert (await (await asker(run)).ask(method, target)).status == 403
    assert [refusal.target for refusal in run.refusals] == [told]
