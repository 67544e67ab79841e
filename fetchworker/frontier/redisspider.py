"""What scrapy-redis's spiders (``RedisSpider``, ``RedisCrawlSpider``) bring along: a key of seeds, and a reader of it.

Their reader pops seeds before they are done, on the loop that it blocks; the scheduler reads them by lease instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

_THEIRS = "scrapy_redis.spiders"


def reads_seeds(spider: Spider | type[Spider]) -> bool:
    """Whether it is such a spider."""
    return any(cls.__module__ == _THEIRS for cls in (spider if isinstance(spider, type) else type(spider)).__mro__)


def seeds_key(spider: Spider | type[Spider] | None) -> str | None:
    """The key that the spider names itself (``redis_key``), None when it leaves that to the settings."""
    key = getattr(spider, "redis_key", None) if spider is not None and reads_seeds(spider) else None
    return str(key) if key else None


def idle_limit(spider: Spider) -> float:
    """Seconds that it waits for seeds (``MAX_IDLE_TIME_BEFORE_CLOSE``); 0 for ever."""
    return float(getattr(spider, "max_idle_time", None) or 0) if reads_seeds(spider) else 0.0


def stop_own_reader(crawler: Crawler, spider: Spider) -> None:
    """Keep the spider from reading seeds by itself; a ``spider_idle`` that a subclass has written stays."""
    own = getattr(spider, "spider_idle", None)
    if own is not None and reads_seeds(spider) and own.__func__.__module__ == _THEIRS:
        crawler.signals.disconnect(own, signals.spider_idle)
