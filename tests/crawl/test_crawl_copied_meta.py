"""A spider that hands its page's meta on (``meta=response.meta``): its requests are requests of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fetchworker.demo.lab import redirect, text
from tests import preloaded

ROOT = Path(__file__).resolve().parents[2]
SPIDER = """
from scrapy import Request, Spider

class CopySpider(Spider):
    name = "copy"

    async def start(self):
        yield Request("https://lab.example/old", self.parse_list)

    def parse_list(self, response):
        yield response.follow("/busy", self.parse_page, meta=response.meta)

    def parse_page(self, response):
        self.logger.info("got %s: %s", response.url, response.text)
"""

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("frontier", ["memory", "redis"])
def test_a_retry_fetches_the_page_and_not_the_one_that_led_to_it(project, lab, tmp_path, frontier):
    project.use(lab)
    entry = {"proxy": "none", "robots": "ignore", "delay": 0, "retries": 4, "backoff": {"first": 0.05, "max": 0.2}}
    (tmp_path / "sites.yaml").write_text(json.dumps({"sites": {"copy": entry}}))
    busy = iter([503, 503, 503])

    def app(request):
        match request.route:
            case "/old":
                return redirect("/list")
            case "/list":
                return text("list")
        return text("page", next(busy, 200))

    lab.app = app
    (tmp_path / "copy_spider.py").write_text(SPIDER)
    settings = ["-s", "SPIDER_MODULES=copy_spider"]
    if frontier == "redis":
        settings += ["-s", "SCHEDULER=fetchworker.frontier.scheduler.Scheduler"]
    done = preloaded.run(
        project.command("crawl", "copy", *settings),
        cwd=ROOT,
        env=project.environment() | {"PYTHONPATH": str(tmp_path)},
        timeout=60,
    )
    asked = [path for path in lab.paths if path != "/robots.txt"]
    assert asked == ["/old", "/list", "/busy", "/busy", "/busy", "/busy"], done.stderr
    assert "got https://lab.example/busy: page" in done.stderr
