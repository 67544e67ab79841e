"""scrapy-redis's RedisSpider as it is, in this project: its seeds are read by lease, from the key that it names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import preloaded

ROOT = Path(__file__).resolve().parents[2]
SPIDER = """
from scrapy_redis.spiders import RedisSpider

class WaresSpider(RedisSpider):
    name = "wares"
    redis_key = "%(name)s:to_do"
    max_idle_time = 1

    def parse(self, response):
        yield {
            "kind": "fetch_result", "item_id": response.url, "site": self.name, "operation": "ware",
            "fetched_at": "2026-01-01T00:00:00Z", "url": response.url, "status": response.status,
        }
"""

pytestmark = pytest.mark.slow


def test_it_serves_its_own_key_and_ends_when_idle(project, lab, queue, tmp_path):
    project.use(lab)
    entry = {"proxy": "none", "robots": "ignore", "delay": 0}
    (tmp_path / "sites.yaml").write_text(json.dumps({"sites": {"wares": entry}}))
    (tmp_path / "wares_spider.py").write_text(SPIDER)
    queue.rpush("wares:to_do", *(f"https://lab.example/?ware={number}" for number in range(5)), "123")
    done = preloaded.run(
        project.command("crawl", "wares", "-s", "SPIDER_MODULES=wares_spider", "-o", str(tmp_path / "wares.jsonl")),
        cwd=ROOT,
        env=project.environment() | {"PYTHONPATH": str(tmp_path)},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "Spider closed (idle)" in done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    found = sorted(item["url"] for item in project.lines("wares.jsonl"))
    assert found == [f"https://lab.example/?ware={number}" for number in range(5)]
    assert queue.llen("wares:to_do") == 0
    assert queue.hlen("{wares:to_do}:dead") == 1, "the seed that is none"
