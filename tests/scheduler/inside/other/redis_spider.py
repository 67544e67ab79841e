"""scrapy-redis's own spider; the way it connects is deprecated by Redis's library."""

import warnings

from scrapy_redis.spiders import RedisSpider

from other.spiders import item

warnings.filterwarnings("ignore", "Call to '__init__' function with deprecated")


class SeedsSpider(RedisSpider):
    name = "seeds"

    def parse(self, response):
        yield item(response)
