"""The handler with a real Chromium: scrapy-playwright's words, Scrapy's limits."""

from __future__ import annotations

import asyncio

import pytest
from scrapy import Request
from scrapy.settings import Settings
from scrapy_playwright.page import PageMethod as TheirMethod

from fetchworker.browser import PageMethod
from fetchworker.download.browser import BrowserDownloadHandler
from fetchworker.download.foreign import ForeignHandlers
from fetchworker.errors import ConfigError, PageSizeError

from .conftest import answer

pytestmark = pytest.mark.browser


def wanted(url: str, **meta) -> Request:
    return Request(url, meta={"playwright": True, **meta})


async def test_a_page_as_scripts_made_it(handler, site):
    site.pages["/"] = b"<title>before</title><body><script>document.title = 'after'</script>"
    response = await handler.download_request(wanted(site.url()))
    assert (response.status, response.url, response.flags) == (200, site.url(), ["playwright"])
    assert response.css("title::text").get() == "after"
    assert response.headers[b"Content-Type"] == b"text/html; charset=utf-8"


async def test_requests_that_want_no_browser_start_none(handler, site):
    site.pages["/"] = b"<title>before</title><script>document.title = 'after'</script>"
    response = await handler.download_request(Request(site.url()))
    assert response.css("title::text").get() == "before"
    assert handler._shared._engine is None


async def test_what_is_done_with_the_page(handler, site):
    site.pages["/"] = b"<button onclick=\"document.body.append('pressed')\">press</button>"
    methods = [TheirMethod("click", "button"), PageMethod("title"), PageMethod(told, 2)]
    response = await handler.download_request(wanted(site.url(), playwright_page_methods=methods))
    assert "pressed" in response.text
    assert [method.result for method in methods] == [None, "", site.url() * 2]


async def test_a_page_that_goes_on_and_on_is_read_where_it_ends(handler, site):
    async def next_one(writer, asked):
        number = int(asked.path.partition("?")[2])
        body = f"<meta http-equiv=refresh content='0;/on?{number + 1}'>" if number < 7 else "<p>the end"
        writer.write(answer(body.encode()))

    site.pages["/on"] = next_one
    response = await handler.download_request(wanted(site.url("/on?0")))
    assert (response.url, "the end" in response.text) == (site.url("/on?7"), True)


async def told(page, times):
    return page.url * times


async def test_events_go_to_the_spider(handler, site):
    site.pages["/"] = b"<img src=/picture>"
    handlers = {"request": "noticed"}
    await handler.download_request(wanted(site.url(), playwright_page_event_handlers=handlers))
    assert handler.crawler.spider.urls == [site.url(), site.url("/picture")]


async def test_method_body_and_headers_go_out_with_the_page_alone(handler, site):
    site.pages["/"] = b"<img src=/picture>"
    request = Request(
        site.url(), method="POST", body=b"a=1", headers={"X-Own": "1", "User-Agent": "Scrapy/2.19 (+https://scrapy.org)",
        "Content-Type": "application/x-www-form-urlencoded"}, meta={"playwright": True},
    )  # fmt: skip
    await handler.download_request(request)
    page, picture = site.to("/")[0], site.to("/picture")[0]
    assert (page.method, page.body, page["x-own"]) == ("POST", b"a=1", "1")
    assert page["content-type"] == "application/x-www-form-urlencoded"
    assert (picture.method, picture["x-own"]) == ("GET", None)
    assert "Scrapy" not in page["user-agent"] + picture["user-agent"]


async def test_requests_that_the_spider_wants_left_out(make_handler, site):
    site.pages["/"] = b"<img src=/picture><p>here"
    handler = make_handler(PLAYWRIGHT_ABORT_REQUEST=pictures)
    response = await handler.download_request(wanted(site.url()))
    assert "here" in response.text
    assert not site.to("/picture")


def pictures(request):
    return request.resource_type == "image"


async def test_redirects_are_told(handler, site):
    async def on(writer, asked):
        writer.write(answer(b"", "Location: /end", status="302 Found"))

    site.pages |= {"/": on, "/end": "<meta charset=latin-1><p>caf\u00e9".encode("latin-1")}
    request = wanted(site.url())
    response = await handler.download_request(request)
    assert response.url == site.url("/end")
    assert (request.meta["redirect_urls"], request.meta["redirect_reasons"]) == ([site.url()], [302])


async def test_size_limits_hold_for_the_page_itself(handler, site):
    site.pages["/"] = b"<script>document.write('x'.repeat(5000))</script>"
    with pytest.raises(PageSizeError, match="more than DOWNLOAD_MAXSIZE"):
        await handler.download_request(wanted(site.url(), download_maxsize=3000))


class TestContexts:
    async def test_a_name_keeps_its_cookies_and_storage(self, make_handler, site):
        site.pages["/"] = b"<script>document.cookie = 'seen=1'</script>"
        handler = make_handler(PLAYWRIGHT_MAX_CONTEXTS=1)
        for name in ("a", "a", "b"):
            await handler.download_request(wanted(site.url(), playwright_context=name))
        assert [asked["cookie"] for asked in site.to("/")] == [None, "seen=1", None]

    async def test_arguments_of_a_context(self, make_handler, site):
        site.pages["/"] = b"<script>document.title = navigator.language + innerWidth</script>"
        handler = make_handler(PLAYWRIGHT_CONTEXTS={"small": {"viewport": {"width": 400, "height": 300}}})
        response = await handler.download_request(
            wanted(site.url(), playwright_context="small", playwright_context_kwargs={"locale": "fr-FR"})
        )
        assert response.css("title::text").get() == "fr-FR400"

    @pytest.mark.parametrize(
        ("setting", "value", "named"),
        [
            ("PLAYWRIGHT_BROWSER_TYPE", "firefox", "firefox"),
            ("PLAYWRIGHT_CDP_URL", "http://127.0.0.1:9222", "PLAYWRIGHT_CDP_URL"),
            ("PLAYWRIGHT_LAUNCH_OPTIONS", {"proxy": {"server": "http://p.example"}}, "proxy"),
            ("PLAYWRIGHT_LAUNCH_OPTIONS", {"args": ["--proxy-server=direct://"]}, "--proxy-server"),
            ("PLAYWRIGHT_LAUNCH_OPTIONS", {"args": ["--disable-features=x"]}, "--disable-features"),
            ("PLAYWRIGHT_LAUNCH_OPTIONS", {"env": {"A": "1"}}, "env"),
        ],
    )
    def test_settings_that_cannot_be_had_stop_the_start(self, setting, value, named):
        with pytest.raises(ConfigError, match=named):
            ForeignHandlers().update_settings(Settings({setting: value}))

    def test_their_handler_is_replaced_by_ours_and_what_is_off_stays_off(self):
        theirs = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
        settings = Settings({"DOWNLOAD_HANDLERS": {"https": theirs, "http": "own.Handler"}})
        ForeignHandlers().update_settings(settings)
        ours = f"{BrowserDownloadHandler.__module__}.{BrowserDownloadHandler.__qualname__}"
        assert settings.getdict("DOWNLOAD_HANDLERS") == {
            "http": "own.Handler", "https": ours, "file": None, "ftp": None, "s3": None, "data": None,
        }  # fmt: skip


class TestPages:
    async def test_the_spider_has_its_page_and_closes_it(self, handler, site):
        site.pages |= {"/": b"<p>first", "/next": b"<p>second"}
        request = wanted(site.url(), playwright_include_page=True, playwright_context="kept")
        await handler.download_request(request)
        page = request.meta["playwright_page"]
        assert await page.inner_text("p") == "first"
        again = wanted(site.url("/next"), playwright_page=page)
        assert "second" in (await handler.download_request(again)).text
        assert await page.inner_text("p") == "second"
        await page.close()
        await handler._shared.held.close()
        assert len(handler._shared.held) == 0
        engine = await handler._shared.engine()
        assert [slot.users for slot in engine._slots] == [0]

    async def test_one_that_is_forgotten_is_closed(self, handler, site, caplog):
        site.pages["/"] = b"<p>here"
        request = wanted(site.url(), playwright_include_page=True, download_timeout=3)
        await handler.download_request(request)
        page, closed = request.meta["playwright_page"], asyncio.Event()
        page.on("close", lambda _: closed.set())
        async with asyncio.timeout(20):
            await closed.wait()
        assert "did not close its page" in caplog.text
        assert handler.crawler.stats.get_value("fetchworker/browser/pages_forgotten") == 1
