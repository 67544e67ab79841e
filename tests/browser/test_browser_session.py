"""The session's proxy, cookies, profile and trust in the browser, and what the browser brings back to it."""

from __future__ import annotations

import json
import time

import pytest
from parsel import Selector
from scrapy import Request
from scrapy.utils.test import get_crawler

from fetchworker.browser.cookies import changes, for_browser, kept
from fetchworker.demo.lab import lab_app
from fetchworker.demo.proxy import ProxyServer
from fetchworker.demo.server import UpstreamServer
from fetchworker.download.browser import BrowserDownloadHandler
from fetchworker.download.profiles import get_profile
from fetchworker.download.wire import WIRE, Wire
from fetchworker.errors import (
    ContradictionError,
    PageFailedError,
    ProxyAuthError,
    ProxyExhaustedError,
    ProxyFailedError,
)
from fetchworker.proxies import parse_proxies
from fetchworker.runtime import Runtime
from fetchworker.sessions import Session
from fetchworker.sessions.cookies import CookieJar
from fetchworker.telemetry.attribution import set_process

from .conftest import PageSpider, answer

URL = "https://lab.example"


def wired(url: str, *, session=None, proxy=None, profile="chrome", required=False, stored=False, **meta) -> Request:
    session = session or Session.fresh("", "pages", profile=profile, proxy_id=None, now=0, stored=stored)
    wire = Wire(session=session, client=session.identity if stored else None, proxy=proxy, proxy_required=required)
    wire.profile = get_profile(session.profile)
    return Request(url, meta={WIRE: wire, "playwright": True, **meta})


@pytest.fixture
async def lab(stack):
    return await stack.enter_async_context(UpstreamServer(lab_app, hosts=("lab.example", "other.example")))


@pytest.fixture
def lab_handler(lab, shell, tmp_path, monkeypatch, stack):
    """The handler as a crawl uses it, which trusts the lab's authority, or whom it is told."""

    def make(*, ca: str | None = lab.ca_pem_path, **settings):
        values = {"STATE_DIR": str(tmp_path / "state"), "HOST_MAP": json.dumps(lab.host_map()), "BROWSER": shell}
        for name, value in {**values, **({"CA_FILE": ca} if ca else {})}.items():
            monkeypatch.setenv(f"FETCHWORKER_{name}", value)
        base = {"TWISTED_REACTOR_ENABLED": False, "EXTENSIONS_BASE": {}, "DOWNLOAD_VERIFY_CERTIFICATES": True}
        handler = BrowserDownloadHandler.from_crawler(get_crawler(PageSpider, {**base, **settings}))
        stack.push_async_callback(handler.close)
        return handler

    yield make
    set_process(crawl_id=None, trace_id=None)


def told(response) -> dict:
    return json.loads(Selector(text=response.text).css("pre::text").get())


class TestCookies:
    def test_a_jar_and_a_browser_agree(self):
        jar, now = CookieJar(), time.time()
        lines = [
            "a=1; Path=/x; Secure; HttpOnly; SameSite=Lax",
            "b=2; Domain=example.com; Max-Age=100",
            b"c=caf\xc3\xa9",
        ]
        assert jar.set_from_response("https://www.example.com/", lines, now) == 3
        before = kept(jar, now)
        said = list(for_browser(before))
        assert said[0] == {
            "name": "a", "value": "1", "domain": "www.example.com", "path": "/x", "secure": True, "httpOnly": True,
            "sameSite": "Lax",
        }  # fmt: skip
        assert (said[1]["domain"], round(said[1]["expires"] - now)) == (".example.com", 100)
        assert said[2]["value"] == "caf\u00e9"
        after = [{"expires": -1, "sameSite": "Lax", **cookie} for cookie in said]
        assert changes(before, after) == ([], [])
        after[0]["value"] = "9"
        changed = changes(before, after[:2])
        assert [(cookie.name, cookie.value) for cookie in changed.written] == [("a", "9")]
        assert [cookie.name for cookie in changed.gone] == ["c"]

    @pytest.mark.browser
    @pytest.mark.slow
    async def test_both_ways(self, handler, site):
        site.pages["/"] = (
            b"<script>document.cookie = 'new=caf\xc3\xa9'; document.cookie = 'old=; Max-Age=0';"
            b"document.cookie = 'changed=after'</script>"
        )

        async def set_one(writer, asked):
            writer.write(answer(site.pages["/"], "Set-Cookie: sent=1; HttpOnly; Path=/"))

        site.pages["/set"] = set_one
        session = Session.fresh("ann", "pages", profile="chrome", proxy_id=None, now=0, stored=True)
        now = time.time()
        for line in ("old=1", "changed=before", "same=1"):
            session.jar.set_from_response(site.url(), [line], now)
        stamps = {cookie.name: cookie.stamp for cookie in session.jar}
        request = wired(site.url("/set"), session=session, stored=True)
        await handler.download_request(request)
        assert site.to("/set")[0]["cookie"] == "old=1; changed=before; same=1"
        found = {cookie.name: cookie for cookie in session.jar}
        assert {name: cookie.value for name, cookie in found.items()} == {
            "same": "1", "changed": "after", "new": "caf\u00c3\u00a9", "sent": "1",
        }  # fmt: skip
        assert found["sent"].http_only
        assert found["same"].stamp == stamps["same"], "what did not change is not written"
        assert request.meta[WIRE].cookies_kept
        await handler.download_request(wired(site.url("/set"), session=session, stored=True))
        assert sorted(site.to("/set")[1]["cookie"].split("; ")) == sorted(
            ["same=1", "changed=after", "new=caf\u00c3\u00a9", "sent=1"]
        )


@pytest.mark.browser
@pytest.mark.slow
class TestWayOut:
    @pytest.fixture(params=["http", "socks5"])
    async def proxy(self, request, lab, stack):
        made = ProxyServer(lab.host_map(), scheme=request.param, username="us%er", password="p@:ss")
        return await stack.enter_async_context(made)

    async def test_the_sessions_proxy_with_its_credentials_and_its_bytes(self, lab_handler, proxy):
        handler = lab_handler()
        (parsed,) = parse_proxies(proxy.url, source="test")
        request = wired(f"{URL}/echo", proxy=parsed)
        response = await handler.download_request(request)
        headers = dict(told(response)["headers"])
        assert headers["user-agent"] == get_profile("chrome").user_agent
        assert headers["sec-ch-ua"] == get_profile("chrome").sec_ch_ua
        wire = request.meta[WIRE]
        assert wire.bytes_down > len(response.body)
        used = {key.key: use for key, use in Runtime.of(handler.crawler).usage.ledger.drain().items()}
        ((key, use),) = used.items()
        assert (key.provider, key.site, use.down, use.up) == ("static", "pages", wire.bytes_down, wire.bytes_up)

    async def test_wrong_credentials(self, lab_handler, proxy):
        (parsed,) = parse_proxies(proxy.url_for("us%er", "wrong"), source="test")
        with pytest.raises(ProxyAuthError):
            await lab_handler().download_request(wired(f"{URL}/echo", proxy=parsed))

    async def test_what_the_proxy_does_not_reach(self, lab_handler, proxy):
        (parsed,) = parse_proxies(proxy.url, source="test")
        with pytest.raises(ProxyFailedError):
            await lab_handler().download_request(wired("https://elsewhere.example/", proxy=parsed))

    async def test_no_proxy_where_one_is_required(self, lab_handler):
        with pytest.raises(ProxyExhaustedError):
            await lab_handler().download_request(wired(f"{URL}/echo", required=True))

    async def test_a_dead_proxy(self, lab_handler):
        (parsed,) = parse_proxies("http://127.0.0.1:9", source="test")
        with pytest.raises(ProxyFailedError):
            await lab_handler().download_request(wired(f"{URL}/echo", proxy=parsed))


@pytest.mark.browser
@pytest.mark.slow
class TestTrust:
    async def test_the_operators_authority(self, lab_handler):
        assert (await lab_handler().download_request(wired(f"{URL}/status/200"))).status == 200

    async def test_nobody_else(self, lab_handler):
        with pytest.raises(PageFailedError) as caught:
            await lab_handler(ca=None).download_request(wired(f"{URL}/status/200"))
        assert caught.value.context["code"] == "ERR_CERT_AUTHORITY_INVALID"

    async def test_unless_nothing_is_verified(self, lab_handler):
        handler = lab_handler(ca=None, DOWNLOAD_VERIFY_CERTIFICATES=False)
        assert (await handler.download_request(wired(f"{URL}/status/200"))).status == 200


async def test_a_profile_that_is_no_chromium(handler, site):
    with pytest.raises(ContradictionError, match="choose a chrome profile"):
        await handler.download_request(wired(site.url(), profile="firefox"))


async def test_another_browser_than_the_sessions(handler, site):
    with pytest.raises(ContradictionError, match="user_agent contradicts"):
        await handler.download_request(wired(site.url(), playwright_context_kwargs={"user_agent": "Other/1"}))
