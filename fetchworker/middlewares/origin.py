"""Tells the media pipeline who fetched the page that an item is from (off unless media or documents are fetched)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured

from fetchworker.download.wire import WIRE, Wire
from fetchworker.items import Item
from fetchworker.media import Origin
from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response


class OriginMiddleware:
    """Stands outside of the completion middleware: when its output ends, the items have left the pipelines."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware.

        Raises:
            NotConfigured: neither media nor documents are fetched.
        """
        runtime = Runtime.of(crawler)
        if not (runtime.environment.media or runtime.reads_documents):
            raise NotConfigured
        return cls(runtime)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Note the origin of each item as long as it is on its way."""
        origins, origin = self._runtime.origins, _origin(response)
        noted: list[str] = []
        if origin.name:
            origins.hold(origin.name)
        try:
            async for output in result:
                if isinstance(output, Item):
                    noted.append(str(output.__dict__.get("item_id")))
                    origins.add(noted[-1], origin)
                yield output
        finally:
            for item_id in noted:
                origins.remove(item_id, origin)
            if origin.name and origins.release(origin.name):
                await self._runtime.drop_session(origin.name)


def _origin(response: Response) -> Origin:
    name = response.meta.get("fw_session")
    wire: Wire | None = response.meta.get(WIRE)
    return Origin(response.url, name, None if name or wire is None else wire.session)
