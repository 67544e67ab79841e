"""The guard by itself: what curl asks it, and the proof that it is asked."""

from __future__ import annotations

import socket
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from curl_cffi import Curl, CurlOpt
from curl_cffi._wrapper import ffi, lib

from fetchworker.config import destinations
from fetchworker.download.client import ClientOptions, CurlClient, TransferError, TransferRequest
from fetchworker.egress import EgressPolicy, guard
from fetchworker.egress.guard import DIRECT, TRUSTED, Guard, Route, proxy_route, self_test
from fetchworker.errors import ConfigError

REFUSED = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text())
#: these are refused by their URL alone, and may lead to public addresses
BY_URL_ALONE = ("port", "scheme", "userinfo")
#: no URL, no name to look up (.onion among them)
CURLS_OWN = (3, 6)
SPELLINGS = [url for reason, urls in REFUSED.items() if reason not in BY_URL_ALONE for url in urls]


async def fetched(client: CurlClient, url: str, route: Route = DIRECT) -> TransferError | None:
    request = TransferRequest("GET", url.encode(), (), b"", 5.0, route=route)
    try:
        await client.perform(request, len, len)
    except TransferError as exc:
        return exc
    return None


@pytest.fixture
async def client():
    made = CurlClient(ClientOptions(egress=EgressPolicy()), stateless=True)
    yield made
    await made.close()


@pytest.fixture
async def open_client():
    made = CurlClient(
        ClientOptions(egress=EgressPolicy(allow=destinations("127.0.0.0/8,0.0.0.0,::1,::,::ffff:127.0.0.0/104"))),
        stateless=True,
    )
    yield made
    await made.close()


class TestWithoutTheRulesForUrls:
    """Every spelling is handed to curl as it is; all names lead to 127.0.0.1."""

    async def test_no_spelling_gets_a_connection(self, client, trap, names):
        for url in SPELLINGS:
            error = await fetched(client, url.format(port=trap.port))
            assert error is not None, url
            assert error.denied or error.code in CURLS_OWN, f"{url}: the guard refuses it, or curl"
        assert trap.hits == 0

    async def test_most_of_them_would_have_got_one(self, open_client, trap, names):
        for url in REFUSED["loopback"] + REFUSED["numeral"] + REFUSED["special_name"] + REFUSED["single_label"]:
            await fetched(open_client, url.format(port=trap.port))
        assert trap.hits > 40

    async def test_the_reason_and_the_address_are_kept(self, client, trap, names):
        names.answers["inside.example"] = [["10.1.2.3"]]
        error = await fetched(client, f"http://inside.example:{trap.port}/")
        assert error is not None
        assert (error.code, error.refused) == (7, "10.1.2.3")
        assert error.denied is not None
        assert (error.denied.layer, error.denied.reason) == ("address", "private")

    async def test_one_transfers_refusal_is_not_the_nexts(self, client, trap):
        assert (await fetched(client, f"http://127.0.0.1:{trap.port}/")).denied is not None
        free = socket.create_server(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        error = await fetched(client, f"http://127.0.0.1:{port}/", TRUSTED)
        assert (error.code, error.denied) == (7, None)

    async def test_a_used_handle_is_guarded_again_after_its_reset(self, client, trap):
        for target in ("chrome146", None, "chrome146"):
            request = TransferRequest("GET", f"http://127.0.0.1:{trap.port}/".encode(), (), b"", 5.0, target=target)
            with pytest.raises(TransferError) as caught:
                await client.perform(request, len, len)
            assert caught.value.denied is not None
        assert trap.hits == 0


class TestRoutes:
    def judged(self, route: Route, address: str, port: int, allow: str = "") -> str:
        made = Guard(EgressPolicy(allow=destinations(allow)))
        made.begin(route)
        permitted = made.permits(ip_address(address), port)
        assert permitted is (made.denied is None)
        return "" if made.denied is None else f"{made.denied.layer}: {made.denied.reason}"

    @pytest.mark.parametrize(
        ("route", "address", "port", "told"),
        [
            (DIRECT, "8.8.8.8", 443, ""),
            (DIRECT, "10.0.0.1", 443, "address: private"),
            (DIRECT, "8.8.8.8", 25, "address: port"),
            (TRUSTED, "10.0.0.1", 25, ""),
            (proxy_route("10.0.0.1", 3128, trusted=True), "10.0.0.1", 3128, ""),
            (proxy_route("10.0.0.1", 3128, trusted=True), "10.0.0.2", 3128, "proxy: not_the_proxy"),
            (proxy_route("10.0.0.1", 3128, trusted=True), "10.0.0.1", 3129, "proxy: not_the_proxy"),
            (proxy_route("10.0.0.1", 3128, trusted=True), "8.8.8.8", 443, "proxy: not_the_proxy"),
            (proxy_route("fd00::1", 3128, trusted=True), "fd00::1", 3128, ""),
            (proxy_route("gate.example", 3128, trusted=True), "10.0.0.1", 3128, ""),
            (proxy_route("gate.example", 3128, trusted=True), "8.8.8.8", 443, "proxy: not_the_proxy"),
            (proxy_route("gate.example", 3128, trusted=False), "10.0.0.1", 3128, "proxy: private"),
            (proxy_route("10.0.0.1", 3128, trusted=False), "10.0.0.1", 3128, "proxy: private"),
            (proxy_route("8.8.8.8", 3128, trusted=False), "8.8.8.8", 3128, ""),
        ],
    )
    def test_where_a_connection_may_lead(self, route, address, port, told):
        assert self.judged(route, address, port) == told

    def test_the_list_holds_for_proxies_that_are_not_configured(self):
        route = proxy_route("10.0.0.1", 3128, trusted=False)
        assert self.judged(route, "10.0.0.1", 3128, allow="10.0.0.0/8") == ""


class TestProof:
    @pytest.fixture(autouse=True)
    def _fresh(self):
        self_test.cache_clear()
        yield
        self_test.cache_clear()

    def test_the_installed_curl_passes(self):
        self_test()

    def test_it_is_done_once(self, monkeypatch):
        self_test()
        monkeypatch.setattr(guard, "_reached", None)
        self_test()

    def test_a_guard_that_is_not_asked_ends_the_start(self, monkeypatch):
        monkeypatch.setattr(Guard, "attach", lambda self, curl: None)
        with pytest.raises(ConfigError, match="a connection that it refuses is made"):
            self_test()

    def test_a_curl_that_takes_no_guard_ends_the_start(self, monkeypatch):
        monkeypatch.setattr(guard, "lib", SimpleNamespace(_curl_easy_setopt=lambda *_: 48))
        with pytest.raises(ConfigError, match="takes no open-socket function"):
            self_test()

    def test_a_guard_that_lets_nothing_through_ends_the_start(self, monkeypatch):
        monkeypatch.setattr(Guard, "permits", lambda self, address, port: self.fail())
        with pytest.raises(ConfigError, match="a connection that it allows is not made"):
            self_test()

    def test_another_reason_is_no_proof(self, monkeypatch):
        monkeypatch.setattr(guard, "_connect", lambda *_: 28)
        with pytest.raises(ConfigError, match="for another reason"):
            self_test()

    def test_a_machine_without_loopback_is_told_so(self, monkeypatch):
        def none(*_):
            raise OSError(99, "Cannot assign requested address")

        monkeypatch.setattr(socket, "create_server", none)
        with pytest.raises(ConfigError, match="no listener"):
            self_test()


async def test_an_error_in_the_check_opens_nothing(client, trap, monkeypatch):
    def broken(*_):
        raise RuntimeError

    monkeypatch.setattr(Guard, "permits", broken)
    error = await fetched(client, f"http://127.0.0.1:{trap.port}/")
    assert error is not None
    assert error.denied is not None
    assert error.denied.reason == "error"
    assert trap.hits == 0


def test_a_socket_of_this_machine_is_no_way_out(tmp_path):
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.setblocking(False)
        watch, curl = Guard(EgressPolicy()), Curl()
        watch.attach(curl)
        watch.begin(TRUSTED)
        curl.setopt(CurlOpt.URL, b"http://www.example.com/")
        lib._curl_easy_setopt(curl._curl, CurlOpt.UNIX_SOCKET_PATH, ffi.new("char[]", str(path).encode()))
        with suppress(Exception):
            curl.perform()
        curl.close()
        with pytest.raises(BlockingIOError):
            listener.accept()
        assert watch.denied is not None


async def test_a_closed_handle_lets_go_of_its_guard():
    client = CurlClient(ClientOptions(egress=EgressPolicy()))
    await fetched(client, "http://127.0.0.1:9/")
    watch = client._idle[0].guard
    await client.close()
    assert watch._self is None
