"""The handler with a real Chromium: scrapy-playwright's words, Scrapy's limits."""

from __future__ import annotations

import pytest
from scrapy import Request

from fetchworker.browser import PageMethod

from .conftest import answer

pytestmark = pytest.mark.browser


def wanted(url: str, **meta) -> Request:
    return Request(url, meta={"playwright": True, **meta}, **meta.pop("of_request", {}))


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
