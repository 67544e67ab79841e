"""robots.txt's Crawl-delay, obeyed where robots.txt is (``robots: obey``): a space between requests to the host.

The directive is no part of RFC 9309, yet sites write it to say how fast they can be asked (seconds between requests).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.httpobj import urlparse_cached

from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser

logger = logging.getLogger(__name__)

#: a longer Crawl-delay is obeyed as this, seconds: what is more is meant to keep everybody out, which Disallow says
CRAWL_DELAY_MAX = 60.0


class CrawlDelay:
    """Reads each robots.txt that the crawl fetches. Stats: ``fetchworker/crawl_delay_capped/<site>``."""

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        self._runtime = Runtime.of(crawler)
        self._agent = crawler.settings.get("ROBOTSTXT_USER_AGENT") or "*"
        crawler.signals.connect(self._parsed, signals.robots_parsed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension.

        Raises:
            NotConfigured: robots.txt is not obeyed.
        """
        return cls(crawler)

    def _parsed(self, robotparser: RobotParser, request: Request) -> None:
        asked = robotparser.crawl_delay(self._agent)
        if not asked or asked < 0:
            return
        host, seconds = urlparse_cached(request).hostname or "", min(asked, CRAWL_DELAY_MAX)
        self._runtime.pace.space(host, seconds)
        logger.info("robots.txt of %s: %g seconds between requests", host, asked)
        if asked > seconds:
            self._runtime.count(f"crawl_delay_capped/{self._runtime.site}")
            logger.warning("robots.txt of %s asks for %g seconds, %g are kept", host, asked, seconds)
