from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest
from scrapy import Request, Spider
from scrapy.exceptions import DropItem
from scrapy.http import TextResponse
from scrapy.utils.test import get_crawler
from twisted.python.failure import Failure

from fetchworker.items import Profile
from fetchworker.telemetry.scrapylog import ShortLogFormatter, short

BODY = "a very long body"


@pytest.fixture
def spider():
    spider = Spider("shop")
    spider.crawler = SimpleNamespace(settings={"DEFAULT_DROPITEM_LOG_LEVEL": "WARNING"})
    return spider


@pytest.fixture
def response():
    request = Request("https://shop.test/a", meta={"fw_request_id": "r1"})
    return TextResponse("https://shop.test/a", body=BODY.encode(), request=request)


@pytest.fixture
def formatter():
    return ShortLogFormatter()


def text(line) -> str:
    return line["msg"] % line["args"]


def test_pages_and_items_make_no_line_above_debug(response, spider):
    quiet = ShortLogFormatter.from_crawler(get_crawler(settings_dict={"LOG_LEVEL": "INFO"}))
    assert quiet.crawled(response.request, response, spider) is None
    assert quiet.scraped({}, response, spider) is None


def test_pages_and_items_make_a_short_line_at_debug(response, spider):
    loud = ShortLogFormatter.from_crawler(get_crawler(settings_dict={"LOG_LEVEL": "DEBUG"}))
    crawled = loud.crawled(response.request, response.replace(flags=["cached"]), spider)
    assert text(crawled) == "Crawled (200) <GET https://shop.test/a>, 16 bytes ['cached']"
    assert crawled["args"]["fw_attribution"] == {"request_id": "r1", "site": "shop"}
    scraped = loud.scraped(Profile.draft(item_id="i1", biography=BODY), response, spider)
    assert text(scraped) == "Scraped profile i1 from <200 https://shop.test/a>"
    assert scraped["level"] == logging.DEBUG


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        ({"kind": "post", "item_id": "i1", "text": BODY}, "post i1"),
        ({"text": BODY}, "dict"),
        (Profile.draft(item_id="i2"), "profile i2"),
        (object(), "object"),
    ],
)
def test_items_are_named_and_not_shown(item, shown):
    assert short(item) == shown


def test_items_without_a_page_come_from_the_start_or_from_a_failure(formatter, spider):
    assert text(formatter.scraped({}, None, spider)) == "Scraped dict from start"
    assert text(formatter.scraped({}, Failure(ValueError("odd")), spider)) == "Scraped dict from odd"


def test_dropped_items_and_broken_ones_are_named_without_their_content(formatter, response, spider):
    item = {"kind": "post", "item_id": "i1", "text": BODY}
    dropped = formatter.dropped(item, DropItem("no id", log_level="ERROR"), response, spider)
    assert text(dropped) == "Dropped post i1: no id"
    assert dropped["level"] == logging.ERROR
    assert formatter.dropped(item, DropItem("x"), response, spider)["level"] == logging.WARNING
    broken = formatter.item_error(item, ValueError(), response, spider)
    assert text(broken) == "Error processing post i1"
    assert broken["args"]["fw_attribution"]["request_id"] == "r1"


def test_errors_carry_the_request_s_fields(formatter, response, spider):
    failure = Failure(ValueError("odd"))
    for line in (
        formatter.spider_error(failure, response.request, response, spider),
        formatter.download_error(failure, response.request, spider, "odd"),
        formatter.download_error(failure, response.request, spider),
    ):
        assert "<GET https://shop.test/a>" in text(line)
        assert line["level"] == logging.ERROR
        assert line["args"]["fw_attribution"] == {"request_id": "r1", "site": "shop"}
