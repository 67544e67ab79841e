"""Page methods as values: in the queue, and what is none."""

from __future__ import annotations

import pytest
from scrapy import Request, Spider
from scrapy_playwright.page import PageMethod as TheirMethod

from fetchworker.browser import PageMethod
from fetchworker.errors import BrowserError, UnqueueableError
from fetchworker.frontier.codec import decode, encode
from fetchworker.pagemethod import methods_of


class QueueSpider(Spider):
    name = "queue"


@pytest.mark.parametrize("kind", [PageMethod, TheirMethod])
def test_they_can_be_queued(kind):
    methods = [kind("click", "a", timeout=5), kind("title")]
    request = Request("https://www.example.com/", meta={"playwright": True, "playwright_page_methods": methods})
    found = decode(encode(request, QueueSpider()), QueueSpider()).meta["playwright_page_methods"]
    assert found == [PageMethod("click", "a", timeout=5), PageMethod("title")]
    assert request.meta["playwright_page_methods"] is methods, "the request itself is left as it is"


def test_a_mapping_of_them_too():
    request = Request("https://www.example.com/", meta={"playwright_page_methods": {"x": PageMethod("title")}})
    found = decode(encode(request, QueueSpider()), QueueSpider()).meta["playwright_page_methods"]
    assert found == {"x": PageMethod("title")}


def test_one_that_calls_a_function_cannot():
    request = Request("https://www.example.com/", meta={"playwright_page_methods": [PageMethod(print)]})
    with pytest.raises(UnqueueableError, match=r"playwright_page_methods\[0\]"):
        encode(request, QueueSpider())


def test_a_page_stays_in_its_process():
    request = Request("https://www.example.com/", meta={"playwright_page": object(), "playwright": True})
    assert decode(encode(request, QueueSpider()), QueueSpider()).meta == {"playwright": True}


def test_what_is_none_is_told():
    with pytest.raises(BrowserError, match=r"playwright_page_methods\[1\] is a str") as caught:
        methods_of([PageMethod("title"), "title"])
    assert caught.value.layer == "action"
