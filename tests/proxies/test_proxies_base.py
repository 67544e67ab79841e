"""What a proxy is, what it shows, and that its URL means the same to the client library."""

from __future__ import annotations

import asyncio
import base64
import copy
import pickle
from dataclasses import asdict, replace
from typing import get_args

import pytest
from curl_cffi import AsyncSession
from curl_cffi.requests.exceptions import RequestException
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from fetchworker.errors import ProxyConfigError
from fetchworker.proxies import Proxy, parse_proxies
from fetchworker.proxies.base import SCHEMES, Scheme

#: any text that a credential may be: no control characters, no lone surrogates
credentials = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=40)
hosts = st.sampled_from(["gate.example", "192.0.2.7", "2001:db8::7", "localhost", "tor_1"])


def proxy(**changes: object) -> Proxy:
    parts: dict = {"scheme": "http", "host": "gate.example", "port": 8080, "username": "ada", "password": "Zq9-canary"}
    parts |= changes
    if isinstance(parts["password"], str):
        parts["password"] = SecretStr(parts["password"])
    return Proxy(**parts)


@given(st.sampled_from(list(SCHEMES)), hosts, st.integers(1, 65_535), credentials, credentials)
def test_url_round_trip(scheme, host, port, username, password):
    there = proxy(scheme=scheme, host=host, port=port, username=username, password=password)
    (back,) = parse_proxies([there.url.get_secret_value()], source="test")
    assert back == there
    assert back.id == there.id
    (again,) = parse_proxies(there.url.get_secret_value(), source="test")  # the text form splits at nothing of it
    assert again == there


@given(credentials.map("Uk4{}Uk4".format), credentials.map("Zq9{}Zq9".format))
def test_nothing_printable_holds_credentials(username, password):
    it = proxy(username=username, password=password)
    shown = [repr(it), str(it), it.label, it.url_without_credentials, it.id, f"{it}", repr(it.url), str(it.url)]
    for text in [*shown, repr([it]), repr({"proxy": it}), str(asdict(it)["password"])]:
        assert "Zq9" not in text
        assert "Uk4" not in text


def test_scheme_table_and_type_agree():
    assert set(get_args(Scheme)) == set(SCHEMES.values())


def test_socks5_means_names_resolved_at_the_proxy():
    assert proxy(scheme="socks5").scheme == "socks5h"
    assert proxy(scheme="socks5").id == proxy(scheme="socks5h").id


def test_label_is_provider_and_place():
    assert proxy(provider="evomi").label == "evomi:gate.example:8080"
    assert proxy(host="[2001:DB8::0:7]").label == "static:[2001:db8::7]:8080"


def test_host_is_normalised():
    assert proxy(host="GATE.Example").host == "gate.example"
    assert proxy(host="bücher.example").host == "xn--bcher-kva.example"


def test_id_stays_the_same_over_processes():
    assert proxy().id == proxy().id
    assert proxy(provider="evomi", country="DE").id == proxy().id
    # a stored session names its proxy by this: it must not change between versions
    assert proxy().id == "e7f28115515d00af"


@pytest.mark.parametrize(
    "change",
    [
        {"scheme": "https"},
        {"host": "gate2.example"},
        {"port": 8081},
        {"username": "bob"},
        {"username": None},
        {"password": "other"},
        {"password": None},
    ],
)
def test_another_endpoint_or_credential_is_another_proxy(change):
    assert proxy(**change).id != proxy().id
    assert not proxy(**change).same_endpoint(proxy())


def test_id_tells_too_little_of_the_password_to_find_it():
    """Of 2,000 candidates some share an id, so an id never confirms a guess."""
    ids = {proxy(password=f"candidate-{n}").id for n in range(2000)}
    assert 1900 < len(ids) < 2000
    assert {tell[:12] for tell in ids} == {proxy().id[:12]}


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"scheme": "socks4"}, "scheme"),
        ({"host": ""}, "host"),
        ({"host": "two words"}, "host"),
        ({"host": "a..b"}, "host"),
        ({"host": "fe80::1%eth0"}, "host"),
        ({"host": "x" * 300}, "host"),
        ({"port": 0}, "port"),
        ({"port": 65_536}, "port"),
        ({"port": True}, "port"),
        ({"port": "80"}, "port"),
        ({"username": "a\r\nb"}, "user name"),
        ({"password": "Zq9\x00"}, "password"),
        ({"password": "Zq9\ud800"}, "password"),
        ({"scheme": "socks5h", "password": "Zq9" * 100}, "password"),
    ],
)
def test_what_is_no_proxy_is_refused_by_name(change, part):
    with pytest.raises(ProxyConfigError, match=part) as caught:
        proxy(**change)
    assert "Zq9" not in str(caught.value)


def test_password_without_user_and_user_without_password():
    key_only = proxy(username="api-key", password=None)
    assert key_only.url.get_secret_value() == "http://api-key@gate.example:8080"
    assert proxy(username=None, password="p").url.get_secret_value() == "http://:p@gate.example:8080"
    assert proxy(username="", password="").url.get_secret_value() == "http://gate.example:8080"


def test_copies_are_equal():
    it = proxy(country="DE", tags=frozenset({"a"}))
    assert copy.deepcopy(it) == pickle.loads(pickle.dumps(it)) == replace(it) == it
    assert len({it, replace(it)}) == 1


CREDENTIALS = [
    ("ada", "plain"),
    ("ada-session-7", "p%40ss%"),
    ("ada@work", "p@ss:with:colons"),
    ("ünïcode", "пароль 鍵"),
    ("ada", "a/b?c#d&e=f+g h"),
    ("key-alone", ""),
]


@pytest.mark.parametrize(("username", "password"), CREDENTIALS)
async def test_curl_reads_the_url_as_we_mean_it_http(username, password):
    seen: list[bytes] = []

    async def serve(reader, writer):
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server, AsyncSession() as session:
        here = proxy(host="127.0.0.1", port=server.sockets[0].getsockname()[1], username=username, password=password)
        answer = await session.get("http://shop.example/", proxy=here.url.get_secret_value())
    assert answer.content == b"ok"
    (line,) = [line for line in seen[0].split(b"\r\n") if line.lower().startswith(b"proxy-authorization: basic ")]
    assert base64.b64decode(line.split()[2]).decode() == f"{username}:{password}"


@pytest.mark.parametrize(("username", "password"), CREDENTIALS[:-1])
async def test_curl_reads_the_url_as_we_mean_it_socks(username, password):
    """The user name and password arrive, and so does the site's name: it is not looked up here."""
    seen: dict[str, bytes] = {}

    async def serve(reader, writer):
        await reader.readexactly((await reader.readexactly(2))[1])
        writer.write(b"\x05\x02")
        for part in ("username", "password"):
            if part == "username":
                await reader.readexactly(1)
            seen[part] = await reader.readexactly((await reader.readexactly(1))[0])
        writer.write(b"\x01\x00")
        seen["kind"] = (await reader.readexactly(4))[3:]
        seen["name"] = await reader.readexactly((await reader.readexactly(1))[0])
        writer.write(b"\x05\x01\x00\x01\x00\x00\x00\x00\x00\x00")  # general failure: we know enough
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server, AsyncSession() as session:
        port = server.sockets[0].getsockname()[1]
        here = proxy(scheme="socks5", host="127.0.0.1", port=port, username=username, password=password)
        with pytest.raises(RequestException):
            await session.get("http://shop.example/", proxy=here.url.get_secret_value())
    assert seen == {
        "username": username.encode(),
        "password": password.encode(),
        "kind": b"\x03",
        "name": b"shop.example",
    }
