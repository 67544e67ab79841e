"""``scrapy runspider``, which fails as well when every item of the spider was dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.commands.runspider import Command as ScrapyRunspider

if TYPE_CHECKING:
    import argparse

    from scrapy import Spider
    from scrapy.crawler import Crawler

FAILED = 1


class Command(ScrapyRunspider):
    """Run a spider of a file."""

    def long_desc(self) -> str:
        return "Run the spider defined in the given file. Exit code 1: it could not begin, or every item was dropped."

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from fetchworker.summary import all_dropped  # noqa: PLC0415  # keeps `scrapy list` light

        self._crawlers: list[Crawler] = []
        super().run(args, opts)
        if any(crawler.stats is not None and all_dropped(crawler.stats.get_stats()) for crawler in self._crawlers):
            self.exitcode = FAILED

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        crawler: Crawler = super()._create_crawler(spidercls)
        self._crawlers.append(crawler)
        return crawler
