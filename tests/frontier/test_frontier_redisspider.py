"""What the scheduler takes over from scrapy-redis's spiders, and what it leaves to them."""

from __future__ import annotations

import pytest
from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy_redis.spiders import RedisCrawlSpider, RedisSpider

from fetchworker.frontier.redisspider import idle_limit, reads_seeds, seeds_key, stop_own_reader

# scrapy-redis's own way of making a connection
pytestmark = pytest.mark.filterwarnings("ignore:Call to '__init__' function with deprecated:DeprecationWarning")


class PlainSpider(Spider):
    name = "plain"
    redis_key = "plain:seeds"


class StockSpider(RedisSpider):
    name = "stock"


class NamedSpider(RedisCrawlSpider):
    name = "named"
    redis_key = "%(name)s:to_do"
    max_idle_time = "40"


class WatchfulSpider(RedisSpider):
    name = "watchful"

    def spider_idle(self):
        """Its own idea of being idle."""


def made(spidercls):
    crawler = Crawler(spidercls, {"LOG_LEVEL": "ERROR"})
    return crawler, spidercls.from_crawler(crawler)


@pytest.mark.parametrize(
    ("spidercls", "reads", "key", "idle"),
    [
        (PlainSpider, False, None, 0),
        (StockSpider, True, "stock:start_urls", 0),
        (NamedSpider, True, "named:to_do", 40),
    ],
)
def test_what_a_spider_says_of_its_seeds(spidercls, reads, key, idle):
    _, spider = made(spidercls)
    assert (reads_seeds(spidercls), reads_seeds(spider)) == (reads, reads)
    assert (seeds_key(spider), idle_limit(spider)) == (key, idle)


def test_no_spider_names_no_key():
    assert seeds_key(None) is None


@pytest.mark.parametrize(("spidercls", "stays"), [(StockSpider, False), (WatchfulSpider, True), (PlainSpider, False)])
def test_its_own_reader_is_off_but_what_a_subclass_wrote_stays(spidercls, stays):
    crawler, spider = made(spidercls)
    stop_own_reader(crawler, spider)
    heard = crawler.signals.send_catch_log(signals.spider_idle, spider=spider)
    assert bool(heard) is stays
