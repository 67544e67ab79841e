"""start() of a crawl in Redis: once for a namespace, and a start() that fails ends the crawl instead of holding it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import preloaded

if TYPE_CHECKING:
    import subprocess

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SPIDER = """
import os
from scrapy import Spider
from fetchworker.items import FetchResult

class StartSpider(Spider):
    name = "starting"

    async def start(self):
        made = {"item_id": "1", "site": self.name, "operation": "start", "fetched_at": "2026-01-01T00:00:00Z"}
        yield FetchResult.draft(status=200, **made)
        if "BREAKS" in os.environ:
            raise RuntimeError("the list of addresses is gone")
"""


@pytest.fixture
def crawl(project, tmp_path):
    """Runs the spider in one namespace."""
    (tmp_path / "starting_spider.py").write_text(SPIDER)
    env = {"FETCHWORKER_CRAWL_ID": "start-1", "PYTHONPATH": str(tmp_path)}
    settings = ("SPIDER_MODULES=starting_spider", "SCHEDULER=fetchworker.frontier.scheduler.Scheduler")

    def run(**more: str) -> subprocess.CompletedProcess[str]:
        project.env |= env
        arguments = [part for setting in settings for part in ("-s", setting)]
        return preloaded.run(
            project.command("crawl", "starting", *arguments),
            cwd=ROOT,
            env=project.environment() | more,
            timeout=60,
        )

    return run


def test_a_start_that_fails_ends_the_crawl_and_is_tried_again_by_the_next(crawl):
    failed = crawl(BREAKS="1")
    assert failed.returncode == 1, failed.stderr
    assert "the list of addresses is gone" in failed.stderr
    assert "Spider closed (start_error)" in failed.stderr
    done = crawl()
    assert (done.returncode, "'item_scraped_count': 1" in done.stderr) == (0, True), done.stderr


def test_a_start_that_is_done_is_not_done_again(crawl):
    first, second = crawl(), crawl()
    assert "'item_scraped_count': 1" in first.stderr, first.stderr
    assert "item_scraped_count" not in second.stderr
    assert (first.returncode, second.returncode) == (0, 0)


def test_a_spider_without_an_entry_keeps_what_it_says_of_itself(project):
    (project.folder / "odd.py").write_text(
        "import scrapy\n"
        "class Odd(scrapy.Spider):\n"
        "    name = 'odd'\n"
        "    custom_settings = {'DOWNLOAD_TIMEOUT': 5, 'CONCURRENT_REQUESTS_PER_DOMAIN': 3}\n"
        "    async def start(self):\n"
        "        names = [*self.custom_settings, 'DOWNLOAD_MAXSIZE']\n"
        "        self.logger.warning('told %s', [self.settings.getint(name) for name in names])\n"
        "        return\n"
        "        yield\n"
    )
    done = project.scrapy("runspider", str(project.folder / "odd.py"))
    assert "told [5, 3, 16777216]" in done.stderr
