"""Pages that go on by themselves to what cannot be had: an error that says so, never what Chromium shows instead."""

from __future__ import annotations

import re

import pytest
from scrapy import Request
from scrapy.exceptions import DownloadFailedError, IgnoreRequest

from fetchworker.browser import PageMethod
from fetchworker.download.rendering import Rendering
from fetchworker.download.wire import WIRE, Wire
from fetchworker.errors import BrowserError, PageFailedError
from fetchworker.runtime import Runtime

from .conftest import answer

pytestmark = [pytest.mark.browser, pytest.mark.slow]
GONE = [PageMethod("wait_for_url", re.compile("cut|^chrome-error:"), wait_until="commit", timeout=8000)]


async def cut(writer, asked):
    writer.close()


def leads(url: str) -> bytes:
    return f"<h1>here</h1><script>onload = () => setTimeout(() => location.href = '{url}', 50)</script>".encode()


async def never(page):
    return False


def rendered(handler, url: str, *, most: int = 10) -> Request:
    """A request whose page is waited for until it stands elsewhere, which it never does."""
    session = Runtime.of(handler.crawler).mint("")
    wire = Wire(session=session, client=None, rendering=Rendering("always", never, 6.0, most))
    return Request(url, meta={WIRE: wire, "download_timeout": 20})


async def failure(handler, request) -> BrowserError:
    with pytest.raises(BrowserError) as caught:
        await handler.download_request(request)
    assert "chrome-error" not in caught.value.message
    return caught.value


@pytest.mark.parametrize("how", ["playwright", "rendered"])
@pytest.mark.parametrize("target", ["/cut?token=5", "https://nowhere.invalid/?token=5"])
async def test_a_page_that_goes_where_nothing_answers(handler, site, how, target):
    """Over https the browser shows its own page for that, over http the filtering proxy's."""
    site.pages |= {"/": leads(target), "/cut": cut}
    plain = Request(site.url(), meta={"playwright": True, "playwright_page_methods": GONE})
    error = await failure(handler, rendered(handler, site.url()) if how == "rendered" else plain)
    assert isinstance(error, PageFailedError)
    assert isinstance(error, DownloadFailedError), "another try may do"
    assert error.layer == "navigation"
    assert ("page.example" if target.startswith("/") else "nowhere.invalid") in error.message
    assert "token=5" not in error.message


@pytest.mark.parametrize("host", ["https://10.0.0.1/", "http://10.0.0.1/"], ids=["https", "http"])
async def test_a_page_that_goes_where_it_may_not(handler, site, host):
    site.pages["/"] = leads(host)
    error = await failure(handler, rendered(handler, site.url()))
    assert (error.layer, isinstance(error, IgnoreRequest)) == ("target_policy", True)


async def test_a_page_that_cannot_be_had_and_then_can_is_an_answer(handler, site):
    site.pages |= {"/": leads("/cut"), "/cut": cut, "/good": b"<p>good"}
    methods = [*GONE, PageMethod("goto", site.url("/good"))]
    meta = {"playwright": True, "playwright_page_methods": methods}
    response = await handler.download_request(Request(site.url(), meta=meta))
    assert (response.url, "good" in response.text) == (site.url("/good"), True)


async def test_an_action_on_a_page_that_is_gone_fails_as_its_navigation(handler, site):
    site.pages |= {"/": leads("/cut"), "/cut": cut}
    methods = [*GONE, PageMethod("click", "h1", timeout=200)]
    meta = {"playwright": True, "playwright_page_methods": methods}
    assert (await failure(handler, Request(site.url(), meta=meta))).layer == "navigation"


async def test_a_page_that_loads_itself_again_and_again_is_let_to_a_number(handler, site):
    async def again(writer, asked):
        writer.write(answer(b"<h1>wait</h1><script>setTimeout(() => location.reload(), 30)</script>"))

    site.pages["/"] = again
    error = await failure(handler, rendered(handler, site.url(), most=4))
    assert (error.layer, error.context["reason"]) == ("navigation", "navigations")
    assert len(site.to("/")) < 4 * 4, "5 pages, and those that came while the page was closed"


async def test_movements_within_a_page_are_not_counted(handler, site):
    moves = b"<script>for (let n = 0; n < 40; n++) { history.pushState(n, '', '?' + n); location.hash = n }</script>ok"
    site.pages["/"] = moves
    request = rendered(handler, site.url(), most=2)
    request.meta[WIRE].rendering.patience = 1.0
    response = await handler.download_request(request)
    assert response.text.endswith("ok</body></html>")
