"""The demo's pages of every site and operation, for benchmarks of parsers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy.spiderloader import get_spider_loader
from scrapy.utils.project import get_project_settings

from fetchworker.demo.site import demo_site
from fetchworker.demo.visit import CALLS, pages_of

if TYPE_CHECKING:
    from fetchworker.contracts import Call, Page


@dataclass
class Work:
    """An operation with the pages that the demo has for it."""

    name: str
    parse: object
    call: Call
    pages: list[Page]


def all_work() -> list[Work]:
    return asyncio.run(_all())


async def _all() -> list[Work]:
    loader, site = get_spider_loader(get_project_settings()), demo_site()
    found = []
    for name, operations in CALLS.items():
        spider = loader.load(name)
        for operation, arguments in operations.items():
            call = spider(operation=operation, **arguments).started.call
            pages = [page async for _, page in pages_of(spider, operation, site.app)]
            found.append(Work(f"{name} {operation}", spider.operations[operation].parse, call, pages))
    return found
