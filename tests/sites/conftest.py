"""The demo's pages of every site and operation."""

from __future__ import annotations

import asyncio

import pytest
from scrapy.settings import Settings
from scrapy.spiderloader import get_spider_loader

from fetchworker.demo.site import demo_site
from fetchworker.demo.visit import CALLS, pages_of


@pytest.fixture(scope="session")
def spiders():
    """Every site's spider, by its name."""
    settings = Settings()
    settings.setmodule("fetchworker.settings")  # get_project_settings would change the process's environment
    loader = get_spider_loader(settings)
    return {name: loader.load(name) for name in loader.list()}


class Pages(dict):
    """Shown in short: what a failure prints is read by people."""

    def __repr__(self):
        return f"<pages of {len(self)} operations>"


@pytest.fixture(scope="session")
def demo_pages(spiders):
    """(site, operation) → what the demo answers to its ways that are not refused."""

    async def visited(name, operation):
        return [page async for _, page in pages_of(spiders[name], operation, demo_site().app)]

    return Pages(
        {
            (name, operation): asyncio.run(visited(name, operation))
            for name, operations in CALLS.items()
            for operation in operations
        }
    )
