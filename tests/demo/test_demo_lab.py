from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest
from curl_cffi import CurlHttpVersion
from curl_cffi.requests.exceptions import IncompleteRead, RequestException, Timeout

from fetchworker.demo import lab_app


@pytest.fixture
async def base(serve: Any) -> str:
    server = await serve(lab_app)
    return f"https://localhost:{server.port}"


@pytest.fixture(params=["h2", "http/1.1"])
async def client(browser: Any, request: Any) -> Any:
    return await browser(http_version=CurlHttpVersion.V1_1 if request.param == "http/1.1" else None)


async def test_statuses(client: Any, base: str) -> None:
    for code in (200, 404, 451, 503, 599, 999):
        assert (await client.get(f"{base}/status/{code}")).status_code == code
    assert (await client.get(f"{base}/nowhere")).status_code == 404


async def test_headers_and_echo(client: Any, base: str) -> None:
    answer = (await client.get(f"{base}/headers", headers={"x-mine": "1"})).json()
    assert ["x-mine", "1"] in answer["headers"]
    answer = (await client.post(f"{base}/echo?q=%2F", data=b"\x00\xff")).json()
    assert (answer["method"], answer["path"]) == ("POST", "/echo?q=%2F")
    assert base64.b64decode(answer["body_base64"]) == b"\x00\xff"


async def test_redirects(client: Any, base: str) -> None:
    answer = await client.get(f"{base}/redirect/3")
    assert (answer.redirect_count, answer.json()["path"]) == (3, "/echo")
    answer = await client.get(
        f"{base}/redirect-to?url=https%3A%2F%2Fother.example%2F&status=307", allow_redirects=False
    )
    assert (answer.status_code, answer.headers["location"]) == (307, "https://other.example/")


async def test_cookie_chain_ends_with_the_right_jar(client: Any, base: str) -> None:
    answer = (await client.get(f"{base}/cookies/chain")).json()
    assert answer["cookies"] == {"first": "2", "last": "1"}


async def test_cookies_set_word_for_word(client: Any, base: str) -> None:
    answer = await client.get(f"{base}/cookies/set?a=1&b=2")
    assert answer.json()["cookies"] == {"a": "1", "b": "2"}
    answer = await client.get(
        f"{base}/cookies/raw?line=c%3D3&line=a%3D%3B%20Path%3D%2F%3B%20Max-Age%3D0&next=%2Fcookies"
    )
    assert answer.json()["cookies"] == {"b": "2", "c": "3"}
    answer = await client.get(f"{base}/cookies/raw?line=d%3D4%3B%20HttpOnly", quote=False)
    assert answer.headers.get_list("set-cookie") == ["d=4; HttpOnly"]


async def test_cookie_that_a_503_sets(client: Any, base: str) -> None:
    statuses = [(await client.get(f"{base}/cookies/needed")).status_code for _ in range(2)]
    assert statuses == [503, 200]


async def test_bytes_and_drip(client: Any, base: str) -> None:
    assert len((await client.get(f"{base}/bytes/200000")).content) == 200_000
    assert (await client.get(f"{base}/drip?bytes=3&interval=0")).content == b"..."


async def test_repeated_headers(client: Any, base: str) -> None:
    answer = await client.get(f"{base}/repeat-headers")
    cookies = answer.headers.get_list("set-cookie")
    assert len(cookies) == 3
    assert "Wed, 21 Oct 2037" in cookies[0]
    raw = [value for name, value in answer.headers.raw if name.lower() == b"x-latin"]
    assert raw == [b"caf\xe9"]


async def test_too_many(client: Any, base: str) -> None:
    answer = await client.get(f"{base}/429?retry_after=Wed,%2021%20Oct%202037%2007:28:00%20GMT")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "Wed, 21 Oct 2037 07:28:00 GMT")
    assert "retry-after" not in (await client.get(f"{base}/429")).headers


async def test_late_endless_cut_and_dropped(client: Any, base: str) -> None:
    with pytest.raises(Timeout):
        await client.get(f"{base}/slow?seconds=30", timeout=0.3)
    with pytest.raises(Timeout):
        await client.get(f"{base}/endless", timeout=0.3)
    with pytest.raises((IncompleteRead, RequestException)):
        await client.get(f"{base}/truncated")
    with pytest.raises(RequestException):
        await client.get(f"{base}/close")
    assert (await client.get(f"{base}/")).text == "demo\n"


async def test_gzip_bomb_is_true_gzip(client: Any, base: str) -> None:
    answer = await client.get(f"{base}/gzip-bomb?mib=3")
    assert answer.content == bytes(3 << 20)


async def test_gzip_bomb_is_small_on_the_wire(client: Any, base: str) -> None:
    answer = await client.get(f"{base}/gzip-bomb?mib=8", accept_encoding=None)
    assert answer.headers["content-encoding"] == "gzip"
    assert len(answer.content) < 64 * 1024
    assert gzip.decompress(answer.content) == bytes(8 << 20)


async def test_http1_required(browser: Any, base: str) -> None:
    client = await browser(http_version=CurlHttpVersion.V1_1)
    assert (await client.get(f"{base}/h1-required")).text == "http/1.1\n"
    client = await browser()
    assert (await client.get(f"{base}/h1-required")).text == "http/1.1\n"  # libcurl falls back by itself


async def test_empty_json(client: Any, base: str) -> None:
    answer = await client.get(f"{base}/empty")
    assert (answer.content, answer.headers["content-type"]) == (b"", "application/json")
    with pytest.raises(json.JSONDecodeError):
        answer.json()
