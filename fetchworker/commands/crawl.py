"""``scrapy crawl``, which checks arguments and configuration first and says by its exit code how the crawl ended."""

from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as ScrapyCrawl

if TYPE_CHECKING:
    import argparse

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: finish reasons of a crawl that did what it was asked
_GOOD = frozenset({"finished", "idle", "closespider_itemcount", "closespider_pagecount", "closespider_timeout"})
#: failures that are the site's answer: what was asked for is not there
_ANSWERED = "/NOT_FOUND_UPSTREAM"
#: beginnings of stats that count what was not written: lines of ours, and whole feeds
_LOST = ("fetchworker/lines_lost", "feedexport/failed_count/")

FAILED = 1
BAD_USE = 2
OVER_BUDGET = 3
#: the finish reason of a crawl that used up its site's budget
_BUDGET = "budget"


class Command(ScrapyCrawl):
    """Run a spider."""

    def short_desc(self) -> str:
        return "Run a spider: one call by its arguments, or the seeds of the shared queue"

    def long_desc(self) -> str:
        return (
            "Run a spider. With -a arguments the crawl is private and does one call (-a user=nasa); without any it "
            "serves the seeds of the shared queue. `scrapy sites` lists spiders, operations and their arguments. "
            "Exit codes: 0 done (what is not there, gone or private counts as an answer: see the failures), "
            "1 failed (also: every request failed, every item was dropped, no proxy came back, or an output was not "
            "written whole), 2 wrong arguments or configuration, proxies that refuse our credentials, or an output "
            "that cannot be written, 3 the site's budget of bytes for today is used up: what is not done is kept."
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        self._crawlers: list[Crawler] = []
        # what a launcher adds for itself names no call: scrapyd gives each job a `_job`
        opts.spargs = {name: value for name, value in opts.spargs.items() if not name.startswith("_")}
        if len(args) == 1 and (refused := self._refused(args[0], opts)):
            self.exitcode = refused
            return
        if len(args) == 1:
            self._crawl(args[0], opts)
        else:
            super().run(args, opts)  # says how it is used
        self._tell_killed()
        if self.exitcode == 0 and any(not _succeeded(crawler) for crawler in self._crawlers):
            self.exitcode = FAILED
        if any(crawler.stats.get_value("finish_reason") == _BUDGET for crawler in self._crawlers):
            self.exitcode = OVER_BUDGET

    def _crawl(self, name: str, opts: argparse.Namespace) -> None:
        """Crawl; what is found wrong only while the crawl's parts are made is told like what was found before."""
        from fetchworker.errors import ConfigError  # noqa: PLC0415  # keeps `scrapy list` light
        from fetchworker.jobs.report import refused  # noqa: PLC0415  # as above

        assert self.crawler_process
        crawling = self.crawler_process.crawl(self._create_crawler(name), **opts.spargs)
        self.crawler_process.start()
        self.exitcode = FAILED if self.crawler_process.bootstrap_failed else self.exitcode
        fault = None
        if isinstance(crawling, asyncio.Task) and crawling.done() and not crawling.cancelled():
            fault = crawling.exception()
        if isinstance(fault, ConfigError):
            print(f"scrapy crawl {name}: {fault.message}", file=sys.stderr)
            refused(fault)
            self.exitcode = BAD_USE
        elif fault is not None:
            logger.critical("the crawl could not begin", exc_info=fault)

    def _tell_killed(self) -> None:
        """A crawl that was forced to stop has not closed: what it leaves is written down here."""
        from fetchworker.summary import abandon  # noqa: PLC0415  # keeps `scrapy list` light

        for crawler in self._crawlers:
            with suppress(RuntimeError):  # a crawl that never began has nothing to leave
                if crawler.engine is not None and crawler.stats.get_value("finish_reason") is None:
                    abandon(crawler)

    def _refused(self, name: str, opts: argparse.Namespace) -> int:
        """The exit code of a crawl that cannot be, 0 for one that can; says what is wrong."""
        from fetchworker.doctor.proxies import check_start  # noqa: PLC0415  # keeps `scrapy list` light
        from fetchworker.download.coherence import check_sites, check_start_of  # noqa: PLC0415  # as above
        from fetchworker.download.trust import ca_bundle  # noqa: PLC0415  # as above
        from fetchworker.errors import ArgumentError, FetchworkerError, RedisUnavailableError  # noqa: PLC0415  # keeps `scrapy list` light
        from fetchworker.exports.feeds import check_feeds, check_resumed  # noqa: PLC0415  # as above
        from fetchworker.jobs.report import refused  # noqa: PLC0415  # as above
        from fetchworker.runtime import (  # noqa: PLC0415  # as above
            check_artifacts_written,
            check_state_dir,
            load_configuration,
            wait_for_queue,
        )
        from fetchworker.sites import SiteConfig  # noqa: PLC0415  # as above
        from fetchworker.spiders.base import SiteSpider  # noqa: PLC0415  # as above

        assert self.crawler_process
        assert self.settings
        known = self.crawler_process.spider_loader.list()
        if name not in known:
            error = ArgumentError(f"no spider {name!r}{_nearest(name, known)}; known: {', '.join(known)}")
            print(f"scrapy crawl: {error.message}", file=sys.stderr)
            refused(error)
            return BAD_USE
        spider = self.crawler_process.spider_loader.load(name)
        try:
            ours = spider if issubclass(spider, SiteSpider) else None
            started = ours.make_resolver().arguments(opts.spargs) if ours and opts.spargs else None
            environment, sites = load_configuration(self.settings)
            check_sites(sites)
            check_start_of(spider, self.settings, sites.get(name) or SiteConfig())
            check_state_dir(environment)
            check_artifacts_written(environment)
            ca_bundle(environment)
            check_feeds(self.settings)
            check_start(environment, sites.get(name) or SiteConfig())
            if ours and started:
                ours.check_call(started.call, sites.get(name) or SiteConfig())
            if ours and (not started or environment.frontier == "redis"):
                begun = wait_for_queue(environment, name)
                check_resumed(self.settings, environment.crawl_id if started and begun else None)
        except FetchworkerError as exc:
            print(f"scrapy crawl {name}: {exc.message}", file=sys.stderr)
            refused(exc)
            return FAILED if isinstance(exc, RedisUnavailableError) else BAD_USE
        return 0

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        crawler: Crawler = super()._create_crawler(spidercls)
        self._crawlers.append(crawler)
        return crawler


def _succeeded(crawler: Crawler) -> bool:
    from fetchworker.summary import all_dropped  # noqa: PLC0415  # keeps `scrapy list` light

    stats = crawler.stats.get_stats()
    failed = any(name.startswith("fetchworker/failed/") and not name.endswith(_ANSWERED) for name in stats)
    nothing = not stats.get("item_scraped_count")
    lost = any(name.startswith(_LOST) for name in stats)
    return stats.get("finish_reason") in _GOOD and not lost and not (failed and nothing) and not all_dropped(stats)


def _nearest(word: str, known: list[str]) -> str:
    import difflib  # noqa: PLC0415  # rare

    close = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
