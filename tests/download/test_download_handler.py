"""The download handler against a real TLS server: what comes back, what is refused, what is given back."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scrapy import Request, signals
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    StopDownload,
)

from fetchworker.demo.proxy import ProxyServer
from fetchworker.download.wire import WIRE, Wire
from fetchworker.errors import ConfigError, ProxyAuthError, ProxyExhaustedError, ProxyFailedError
from fetchworker.proxies import parse_proxies
from fetchworker.sessions import Session

if TYPE_CHECKING:
    from fetchworker.download.curl import CurlDownloadHandler

URL = "https://lab.example"


def echoed(response) -> dict:
    return json.loads(response.body)


def wired(url: str, *, client: str | None, proxy=None, required: bool = False, **meta) -> Request:
    session = Session.fresh("", "lab", profile="chrome", proxy_id=None, now=0, stored=False)
    wire = Wire(session=session, client=client, proxy=proxy, proxy_required=required)
    return Request(url, meta={WIRE: wire, **meta})


async def test_status_headers_body_and_address(handler, lab):
    response = await handler.download_request(Request(f"{URL}/status/418"))
    assert (response.status, response.body) == (418, b"status 418\n")
    assert str(response.ip_address) == "127.0.0.1"
    assert response.protocol == "HTTP/1.1", "without a profile it is plain HTTP/1.1"


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "REPORT"])
async def test_methods_and_binary_bodies(handler, method):
    body = bytes(range(256)) * 4 if method != "GET" else b""
    answer = echoed(await handler.download_request(Request(f"{URL}/echo", method=method, body=body)))
    assert answer["method"] == method
    assert base64.b64decode(answer["body_base64"]) == body


async def test_a_reused_connection_keeps_nothing_of_the_last_request(handler):
    first = await handler.download_request(
        Request(f"{URL}/echo", method="POST", body=b"secret", headers={"X-One": "1"})
    )
    assert echoed(first)["method"] == "POST"
    assert (await handler.download_request(Request(f"{URL}/bytes/3", method="HEAD"))).body == b""
    last = echoed(await handler.download_request(Request(f"{URL}/echo")))
    assert (last["method"], last["body_base64"]) == ("GET", "")
    assert "x-one" not in {name.lower() for name, _ in last["headers"]}


async def test_request_headers_go_out_as_scrapy_holds_them(handler):
    request = Request(f"{URL}/echo", headers={"X-Twice": ["1", "2"], "X-Raw": b"caf\xe9", "X-Empty": ""})
    headers = echoed(await handler.download_request(request))["headers"]
    found = [(name, value) for name, value in headers if name.lower().startswith("x-")]
    assert found == [("X-Twice", "1"), ("X-Twice", "2"), ("X-Raw", "caf\xe9"), ("X-Empty", "")]
    assert {name.lower() for name, _ in headers} == {"host", "x-twice", "x-raw", "x-empty"}


async def test_repeated_response_headers_are_kept_apart(handler):
    response = await handler.download_request(Request(f"{URL}/repeat-headers"))
    cookies = response.headers.getlist("Set-Cookie")
    assert len(cookies) == 3
    assert any(b", " in cookie for cookie in cookies)


@pytest.mark.parametrize(
    "path",
    ["/echo/%7ea%2fb?sig=%2Fx%2f&q=a+b", "/echo/%7Ea%2Fb", "/echo/a/../b?x=%aF", "/echo?",
     "/echo/a|b?items=[1]|{2}&q='\"^`"],
)  # fmt: skip
async def test_urls_go_out_byte_for_byte(handler, path):
    for url in (f"{URL}{path}", f"http://lab.example{path}"):
        response = await handler.download_request(Request(url, meta={"verbatim_url": True}))
        assert echoed(response)["path"] == path
        unmarked = echoed(await handler.download_request(Request(url)))["path"]
        assert f"{URL}{unmarked}" == Request(f"{URL}{path}").url, "what Scrapy has escaped, and nothing else"
    after = await handler.download_request(Request(f"{URL}/echo/plain"))
    assert echoed(after)["path"] == "/echo/plain", "the target of one request is not that of the next"


async def test_redirects_are_not_followed(handler):
    response = await handler.download_request(Request(f"{URL}/redirect/2"))
    assert response.status == 302


async def test_the_environments_proxy_is_not_used(handler, monkeypatch):
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert (await handler.download_request(Request(f"{URL}/status/200"))).status == 200


@pytest.mark.parametrize("path", ["/slow?seconds=30", "/drip?bytes=1000&interval=0.05"])
async def test_the_timeout_covers_the_whole_transfer(handler, path):
    with pytest.raises(DownloadTimeoutError, match=r"took longer than 0\.3 seconds"):
        await handler.download_request(Request(f"{URL}{path}", meta={"download_timeout": 0.3}))


async def test_the_settings_timeout_holds_without_meta(make_handler):
    with pytest.raises(DownloadTimeoutError):
        await make_handler(DOWNLOAD_TIMEOUT=0.2).download_request(Request(f"{URL}/slow?seconds=30"))


async def test_requests_go_on_after_many_timeouts(handler):
    slow = [
        handler.download_request(Request(f"{URL}/slow?seconds=30", meta={"download_timeout": 0.1})) for _ in range(20)
    ]
    results = await asyncio.gather(*slow, return_exceptions=True)
    assert {type(result) for result in results} == {DownloadTimeoutError}
    good = await asyncio.gather(*(handler.download_request(Request(f"{URL}/status/200")) for _ in range(20)))
    assert {response.status for response in good} == {200}


@pytest.mark.parametrize("path", ["/bytes/100000", "/endless"])
async def test_the_size_cap_stops_the_transfer(handler, path):
    with pytest.raises(DownloadCancelledError, match="50000"):
        await handler.download_request(Request(f"{URL}{path}", meta={"download_maxsize": 50_000}))


async def test_a_torn_body_is_data_loss(handler):
    with pytest.raises(ResponseDataLossError):
        await handler.download_request(Request(f"{URL}/truncated"))
    kept = await handler.download_request(Request(f"{URL}/truncated", meta={"download_fail_on_dataloss": False}))
    assert kept.flags == ["dataloss"]
    assert len(kept.body) == 100


async def test_errors_are_scrapys(handler, lab):
    with pytest.raises(DownloadFailedError):
        await handler.download_request(Request(f"{URL}/close"))
    with pytest.raises(CannotResolveHostError):
        await handler.download_request(Request("https://no-such-host.invalid/"))
    with pytest.raises(DownloadConnectionRefusedError):
        await handler.download_request(Request("https://127.0.0.1:9/"))


async def test_a_certificate_that_nobody_vouches_for_is_refused(make_handler, monkeypatch):
    monkeypatch.delenv("FETCHWORKER_CA_FILE")
    with pytest.raises(DownloadFailedError, match="60"):
        await make_handler().download_request(Request(f"{URL}/status/200"))
    unverified = make_handler(DOWNLOAD_VERIFY_CERTIFICATES=False)
    assert (await unverified.download_request(Request(f"{URL}/status/200"))).status == 200


async def test_signals_see_headers_and_chunks_and_can_stop(handler):
    seen: list = []

    def headers(headers, body_length, request, spider):
        seen.append((headers.get("content-length"), body_length))

    def chunks(data, request, spider):
        seen.append(len(data))
        raise StopDownload(fail=False)

    handler.crawler.signals.connect(headers, signals.headers_received)
    handler.crawler.signals.connect(chunks, signals.bytes_received)
    response = await handler.download_request(Request(f"{URL}/bytes/300000"))
    assert seen[0] == (b"300000", 300_000)
    assert len(response.body) == sum(seen[1:]) < 300_000
    assert "download_stopped" in response.flags


async def test_a_cancelled_request_ends_at_the_server_too(handler, lab):
    task = asyncio.ensure_future(handler.download_request(Request(f"{URL}/slow?seconds=60")))
    while not lab.log.requests:  # noqa: ASYNC110  # the server's log has no event
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert handler._pool.get("").active == 0
    assert (await handler.download_request(Request(f"{URL}/status/200"))).status == 200


async def test_closing_leaves_no_task_behind(make_handler):
    handler: CurlDownloadHandler = make_handler()
    await handler.download_request(Request(f"{URL}/status/200"))
    await handler.close()
    names = [task.get_coro().__qualname__ for task in asyncio.all_tasks()]
    assert not [name for name in names if "Curl" in name or "_Multi" in name]


class TestProxies:
    @pytest.fixture(params=["http", "https", "socks5"])
    async def proxy(self, request, lab):
        async with ProxyServer(
            lab.host_map(), scheme=request.param, username="us%er", password="p@:ss/wörd", authority=lab._authority
        ) as server:
            yield server

    async def test_the_request_goes_by_the_proxy_with_its_credentials(self, handler, proxy, lab):
        (parsed,) = parse_proxies(proxy.url, source="test")
        response = await handler.download_request(wired(f"{URL}/echo", client="a", proxy=parsed))
        told = json.dumps(echoed(response)).lower()
        assert "proxy-authorization" not in told
        assert "ss/w" not in told
        assert [event["target"] for event in proxy.log.events] == ["lab.example:443"]

    async def test_scrapys_own_way_of_naming_a_proxy(self, handler, proxy):
        (parsed,) = parse_proxies(proxy.url, source="test")
        token = base64.b64encode("us%er:p@:ss/wörd".encode("latin-1"))
        address = parsed.url_without_credentials
        request = Request(
            f"{URL}/status/200", meta={"proxy": address}, headers={"Proxy-Authorization": b"Basic " + token}
        )
        handler._proxy_encoding = "latin-1"
        assert (await handler.download_request(request)).status == 200

    async def test_wrong_credentials_are_an_error_of_their_own(self, handler, proxy):
        wrong = proxy.url.replace("us%25er", "somebody")
        (parsed,) = parse_proxies(wrong, source="test")
        with pytest.raises(ProxyAuthError) as caught:
            await handler.download_request(wired(f"{URL}/status/200", client="a", proxy=parsed))
        assert "ss/w" not in str(caught.value)

    async def test_urls_stay_as_they_are_on_their_way(self, handler, proxy):
        (parsed,) = parse_proxies(proxy.url, source="test")
        for start in (URL, "http://lab.example"):
            request = wired(f"{start}/echo/%7ea%2fb?s=%2f", client="a", proxy=parsed, verbatim_url=True)
            assert echoed(await handler.download_request(request))["path"] == "/echo/%7ea%2fb?s=%2f"

    async def test_plain_http_by_a_proxy(self, handler, proxy, lab):
        (parsed,) = parse_proxies(proxy.url, source="test")
        response = await handler.download_request(wired("http://lab.example/echo", client="a", proxy=parsed))
        assert "proxy-" not in json.dumps(echoed(response)).lower()
        wrong = parse_proxies(proxy.url.replace("us%25er", "somebody"), source="test")[0]
        if parsed.scheme != "socks5h":
            with pytest.raises(ProxyAuthError):
                await handler.download_request(wired("http://lab.example/echo", client="b", proxy=wrong))


async def test_a_dead_proxy_is_the_proxys_fault(handler, lab):
    (dead,) = parse_proxies("http://u:secretword@127.0.0.1:9", source="test")
    with pytest.raises(ProxyFailedError) as caught:
        await handler.download_request(wired(f"{URL}/status/200", client="a", proxy=dead))
    assert "secretword" not in str(caught.value)
    assert lab.log.requests == []


async def test_a_required_proxy_that_was_not_chosen_means_no_request(handler, lab):
    with pytest.raises(ProxyExhaustedError):
        await handler.download_request(wired(f"{URL}/status/200", client="a", required=True))
    assert lab.log.connections == []


async def test_identities_share_no_connection_and_no_ticket(handler, lab):
    for _ in range(3):
        for identity in ("a", "b", None):
            response = await handler.download_request(wired(f"{URL}/headers?{identity}", client=identity))
            assert response.status == 200
    used: dict[str, set[int]] = {}
    for request in lab.log.requests:
        used.setdefault(request.path, set()).add(request.connection.id)
    assert used["/headers?a"].isdisjoint(used["/headers?b"])
    assert len(used["/headers?a"]) == 1, "an identity keeps its connection"
    assert len(used["/headers?None"]) == 3, "a stateless try has its own each time"
    stateless = [c for c in lab.log.connections if c.id in used["/headers?None"]]
    assert all(not connection.offered and not connection.resumed for connection in stateless)


async def test_evicted_identities_are_closed_and_come_back(make_handler, monkeypatch, lab):
    monkeypatch.setenv("FETCHWORKER_CLIENTS_MAX", "2")
    handler = make_handler()
    for name in ("a", "b", "c", "a"):
        assert (await handler.download_request(wired(f"{URL}/status/200", client=name))).status == 200
    assert len(handler._pool) == 2
    assert len({request.connection.id for request in lab.log.requests}) == 4


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_file_descriptors_do_not_grow(handler, lab):
    async def once(number: int) -> None:
        await handler.download_request(wired(f"{URL}/status/200", client=None if number % 2 else "a"))

    for number in range(10):
        await once(number)
    before = open_files()
    for number in range(100):
        await once(number)
    assert open_files() <= before + 4


async def test_what_is_wrong_with_the_certificates_is_told_as_what_it_is(make_handler, monkeypatch):
    monkeypatch.setenv("FETCHWORKER_STATE_DIR", "/proc/x")
    with pytest.raises(ConfigError, match="FETCHWORKER_CA_FILE: cannot make a bundle"):
        await make_handler().download_request(Request(f"{URL}/status/200"))
