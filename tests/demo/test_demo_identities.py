"""Tickets and connections: what the log proves about identities kept apart."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import TYPE_CHECKING, Any

import pytest

from fetchworker.demo import Reply, shared_between_identities

if TYPE_CHECKING:
    from fetchworker.demo.log import Record

ANSWER = b"ok"


def app(_request: Any) -> Reply:
    return Reply(200, (), ANSWER)


def by_exit(record: Record) -> str:
    return str(record["peer"])


def once(context: ssl.SSLContext, port: int, session: ssl.SSLSession | None) -> tuple[ssl.SSLSession | None, bool]:
    """One HTTP/1.1 request on a connection of its own; its session, and whether it was resumed."""
    with (
        socket.create_connection(("127.0.0.1", port)) as plain,
        context.wrap_socket(plain, server_hostname="localhost", session=session) as tls,
    ):
        tls.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        while tls.recv(4096):
            pass
        return tls.session, bool(tls.session_reused)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_python_client_resumes_and_the_log_tells_with_which_ticket(
    serve: Any, authority: Any, version: ssl.TLSVersion
) -> None:
    server = await serve(app)
    context = ssl.create_default_context(cafile=str(authority.pem_path))
    context.maximum_version = version
    session, resumed = await asyncio.to_thread(once, context, server.port, None)
    assert not resumed
    _session, resumed = await asyncio.to_thread(once, context, server.port, session)
    assert resumed
    first, second = server.log.connections
    assert (first.resumed, second.resumed) == (False, True)
    assert first.offered == ()
    assert len(second.offered) == 1
    assert second.offered[0] in first.tickets


async def test_curl_resumes_on_a_new_connection(serve: Any, browser: Any) -> None:
    server = await serve(app, goaway_after=1)
    client = await browser()
    for _ in range(3):
        assert (await client.get(f"https://localhost:{server.port}/")).content == ANSWER
    first, second, third = server.log.connections
    assert [c.resumed for c in (first, second, third)] == [False, True, True]
    assert set(second.offered) <= set(first.tickets)
    assert set(third.offered) <= {*first.tickets, *second.tickets}


async def test_sessions_of_their_own_share_nothing(serve: Any, browser: Any, proxy: Any) -> None:
    server = await serve(app, goaway_after=2)
    for number in (11, 12):
        exit_ = await proxy(server, source=f"127.0.0.{number}")
        client = await browser(proxy=exit_.url)
        for _ in range(5):
            await client.get("https://lab.example/")
    assert {request.peer for request in server.log.requests} == {"127.0.0.11", "127.0.0.12"}
    assert any(connection.resumed for connection in server.log.connections)
    assert shared_between_identities(server.log.records(), by_exit) == []


async def test_one_session_behind_two_proxies_is_found_out(serve: Any, browser: Any, proxy: Any) -> None:
    server = await serve(app, goaway_after=2)
    client = await browser()
    for number in (11, 12):
        exit_ = await proxy(server, source=f"127.0.0.{number}")
        await client.get("https://lab.example/", proxy=exit_.url)
    findings = shared_between_identities(server.log.records(), by_exit)
    assert findings == ["connection 2 of ['127.0.0.12'] offered a ticket of ['127.0.0.11']"]


def test_one_connection_for_two_identities_is_found_out() -> None:
    request = {"type": "request", "connection": 7}
    records = [{**request, "peer": "a"}, {**request, "peer": "b"}, {"type": "behaviour"}]
    assert shared_between_identities(records, by_exit) == ["connection 7 served ['a', 'b']"]


def test_tickets_of_unknown_origin_prove_nothing() -> None:
    connection = {"type": "connection", "connection": 1, "tickets": [], "offered": ["from an earlier start"]}
    assert shared_between_identities([connection, {"type": "request", "connection": 1, "peer": "a"}], by_exit) == []
