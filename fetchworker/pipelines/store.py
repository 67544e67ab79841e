"""Stores items in the database; an item leaves this pipeline when the transaction that holds it is committed.

On when ``FETCHWORKER_STORE`` says so or ``FETCHWORKER_DATABASE_URL`` is set; docs/database.md.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import CloseSpider, DropItem, NotConfigured

from fetchworker.errors import ConfigError, ItemInvalidError, RefusedError, StorageError
from fetchworker.items import Item
from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from fetchworker.db.batches import BatchWriter
    from fetchworker.db.observation import Observation
    from fetchworker.db.store import ItemStore

logger = logging.getLogger(__name__)

#: how a crawl ends whose items cannot be stored
STORAGE_ERROR = "storage_error"


class StorePipeline:
    """Writes items in batches. A database that fails ends the crawl; what it did not store is not done."""

    def __init__(self, crawler: Crawler, runtime: Runtime) -> None:
        self._crawler = crawler
        self._runtime = runtime
        self._store: ItemStore | None = None
        self._writer: BatchWriter | None = None
        self._ending: asyncio.Future[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline.

        Raises:
            NotConfigured: nothing is to be stored.
        """
        runtime = Runtime.of(crawler)
        if not runtime.environment.stores:
            raise NotConfigured
        return cls(crawler, runtime)

    async def open_spider(self) -> None:
        """Connect, and make the tables.

        Raises:
            CloseSpider: there is no database to be had.
        """
        from fetchworker.db.batches import BatchWriter  # noqa: PLC0415  # only crawls that store
        from fetchworker.db.store import ItemStore  # noqa: PLC0415  # as above; SQLAlchemy is heavy

        environment = self._runtime.environment
        try:
            place = self._runtime.database()
            self._store = await ItemStore.open(place, patience=environment.store_patience)
        except (StorageError, ConfigError) as exc:
            logger.error("%s: nothing can be stored, the crawl does not start", exc)  # noqa: TRY400  # it says it all
            raise CloseSpider(STORAGE_ERROR) from exc
        self._writer = BatchWriter(self._store.save, size=environment.store_batch, delay=environment.store_delay)
        logger.info("items are stored in %s", place.label)

    async def process_item(self, item: Any) -> Any:
        """Return the item when it is stored, or when it is none of ours, which are not stored.

        Raises:
            DropItem: it cannot be stored, whatever the database; the reject file has it.
            StorageError: it is not stored, and the crawl ends.
        """
        from fetchworker.db.observation import observe  # noqa: PLC0415  # as above

        if not isinstance(item, Item):
            return item
        environment = self._runtime.environment
        try:
            seen = observe(item, crawl_id=self._runtime.crawl_id, round_id=environment.crawl_id or "")
            await self._write(seen)
        except (ItemInvalidError, RefusedError) as exc:
            self._reject(item, exc.message)
            raise DropItem(exc.message) from None
        except StorageError as exc:
            self._give_up(exc)
            raise
        return item

    async def _write(self, seen: Observation) -> None:
        if self._writer is None:
            raise StorageError("the database is not open")
        await self._writer.write(seen)
        self._runtime.count(f"stored/{seen.kind}")

    def _reject(self, item: Item, reason: str) -> None:
        self._runtime.count(f"rejected/{item.kind}")
        self._runtime.records.reject({"reason": reason, "item": {"kind": item.kind, "item_id": item.item_id}})

    def _give_up(self, error: StorageError) -> None:
        """End the crawl, once."""
        if self._ending is not None:
            return
        logger.error("%s: the crawl stops, its last items are not stored", error)
        assert self._crawler.engine
        self._ending = asyncio.ensure_future(self._crawler.engine.close_spider_async(reason=STORAGE_ERROR))

    async def close_spider(self) -> None:
        """Close the database. Nothing waits any more: the crawl ends after its last item."""
        if self._writer is not None:
            await self._writer.close()
            self._crawler.stats.set_value("fetchworker/store/batches", self._writer.batches)
        if self._store is not None:
            await self._store.close()
