"""robots.txt's Crawl-delay as the crawl's own parser reads it."""

from __future__ import annotations

import pytest
from scrapy import Request, Spider
from scrapy.robotstxt import ProtegoRobotParser
from scrapy.utils.test import get_crawler

from fetchworker.download.crawldelay import CRAWL_DELAY_MAX, CrawlDelay
from fetchworker.runtime import Runtime


class LabSpider(Spider):
    name = "lab"


@pytest.mark.parametrize(
    ("written", "kept"),
    [("2.5", 2.5), ("86400", CRAWL_DELAY_MAX), ("inf", 0), ("nan", 0), ("-1", 0), ("0", 0), ("soon", 0)],
)
def test_what_lies_between_two_requests(environment, written, kept):
    crawler = get_crawler(LabSpider, {"ROBOTSTXT_OBEY": True, "TWISTED_REACTOR_ENABLED": False, "EXTENSIONS_BASE": {}})
    extension, pace = CrawlDelay.from_crawler(crawler), Runtime.of(crawler).pace
    text = f"User-agent: *\nCrawl-delay: {written}\n".encode()
    extension._parsed(ProtegoRobotParser.from_crawler(crawler, text), Request("https://lab.example/1"))
    pace.started("lab.example", "x", 0)
    assert pace.wait("lab.example", "x") == pytest.approx(kept, abs=1)
    assert pace.free == (not kept)
