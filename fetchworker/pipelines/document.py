"""Reads the invoices and receipts of items: those that they name by address, and those that they hold.

On when ``FETCHWORKER_DOCUMENTS`` says so, and for the spider ``document``; docs/documents.md. Addresses are fetched as
media are. What goes wrong with a document is told in its item and never costs the item.

Stats: ``fetchworker/documents/<read|known>`` counts files, ``fetchworker/documents/failed/<reason>`` what was not read,
``fetchworker/documents/llm/<read|failed/<reason>>`` documents that a language model was asked about.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import logging
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.exceptions import CloseSpider, NotConfigured

from fetchworker.documents import DocumentReader
from fetchworker.download.languagemodel import second_engine
from fetchworker.errors import ConfigError, DocumentError, StorageError
from fetchworker.items import Document, Item
from fetchworker.items.base import Media
from fetchworker.pipelines.media import MediaPipeline
from fetchworker.pipelines.store import STORAGE_ERROR
from fetchworker.runtime import Runtime, document_settings

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from fetchworker.db.documents import DocumentStore
    from fetchworker.documents import ReaderSettings, Wanted

logger = logging.getLogger(__name__)

#: names in ``extra``: addresses; files as base64; and what they say
URLS, FILES, READINGS = "document_urls", "documents", "document_readings"
#: characters of an entry that is no address, as it is told in its item
_SHOWN = 200


class DocumentPipeline(MediaPipeline):
    """Adds ``extra["document_readings"]`` to items with documents, and what they say to items of the kind document."""

    told_as: ClassVar[str] = READINGS
    counted_as: ClassVar[str] = "documents"
    destinations: ClassVar[dict[str, str]] = {"document": "navigate"}

    def __init__(self, *, crawler: Crawler, runtime: Runtime, settings: ReaderSettings) -> None:
        super().__init__(crawler=crawler, runtime=runtime, store=None, max_bytes=settings.caps.bytes)
        self._documents = DocumentReader(settings, second_engine(runtime.environment, self._asked))
        self._shelf: DocumentStore | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline.

        Raises:
            NotConfigured: documents are not to be read.
            ConfigError: what it takes is not installed, or the language model's configuration contradicts itself.
        """
        runtime = Runtime.of(crawler)
        if not runtime.reads_documents:
            raise NotConfigured
        return cls(crawler=crawler, runtime=runtime, settings=document_settings(runtime.environment))

    # ── Scrapy's hooks ───────────────────────────────────────────────────────────────────────────────────────────

    async def open_spider(self) -> None:  # type: ignore[override]  # Scrapy awaits it
        """Make ready; processes start with the first document.

        Raises:
            CloseSpider: the database cannot be opened.
        """
        super().open_spider()
        await self._documents.__aenter__()
        environment = self._runtime.environment
        if environment.stores:
            from fetchworker.db.documents import DocumentStore  # noqa: PLC0415  # SQLAlchemy is heavy

            try:
                self._shelf = await DocumentStore.open(self._runtime.database(), patience=environment.store_patience)
            except (StorageError, ConfigError) as exc:
                raise CloseSpider(STORAGE_ERROR) from exc

    async def close_spider(self) -> None:
        """End the processes."""
        await self._documents.close()
        if self._shelf is not None:
            await self._shelf.close()

    async def process_item(self, item: Any) -> Any:  # type: ignore[override]  # without the spider
        """Read what the item holds, then what it names."""
        if isinstance(item, Document):
            return await self._whole(item)
        if not isinstance(item, Item):
            return await super().process_item(item)
        held, wrong = item.extra.get(FILES), self._no_addresses(item)
        item = await super().process_item(item)
        if wrong:
            item.extra = {**item.extra, READINGS: [*item.extra.get(READINGS, ()), *wrong]}
        if isinstance(held, list):
            told = [await self._held(file) for file in held]
            rest = {name: value for name, value in item.extra.items() if name != FILES}
            item.extra = {**rest, READINGS: [*rest.get(READINGS, ()), *told]}
        return item

    def named(self, item: Item) -> dict[str, str]:
        """The addresses of an item's documents."""
        urls = item.extra.get(URLS)
        found = [url for url in urls if _is_address(url)] if isinstance(urls, list) else []
        found += [part.url for part in getattr(item, "media", None) or () if _is_document(part)]
        return {url: "document" for url in found if _is_address(url)}

    def _no_addresses(self, item: Item) -> list[dict[str, Any]]:
        """An error for each entry that names no document, so that none vanishes."""
        urls = item.extra.get(URLS)
        if urls is None:
            return []
        if not isinstance(urls, list):
            return [self._no_address(urls, f"{URLS} is a list of addresses, not {type(urls).__name__}")]
        return [self._no_address(url, _wanted(url)) for url in urls if not _is_address(url)]

    def _no_address(self, entry: Any, message: str) -> dict[str, Any]:
        shown = entry[:_SHOWN] if isinstance(entry, str) else None
        return {"url": shown, **self._failed(None, "ARGUMENT_ERROR", message)}

    async def _used(self, response: Response) -> dict[str, Any]:
        try:
            return await self._read(response.body, "auto")
        except DocumentError as exc:
            assert response.request
            return self._failed(response.request, exc.reason.upper(), exc.message)

    def _asked(self, what: str) -> None:
        self._runtime.count(f"documents/llm/{what}")

    # ── documents ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _whole(self, item: Document) -> Document:
        body, item.body_base64 = item.body_base64, None
        try:
            content = base64.b64decode(body or "", validate=True)
            item.id, item.bytes = await _digest(content), len(content)
            told = await self._read(content, item.read_as)
        except (DocumentError, binascii.Error) as exc:
            item.error = self._error(exc)
            return item
        item.pages_read, item.pages_total = told["pages_read"], told["pages_total"]
        item.documents = told["documents"]
        return item

    async def _held(self, file: Any) -> dict[str, Any]:
        name, body = (file.get("name"), file.get("body_base64") or "") if isinstance(file, dict) else (None, file)
        try:
            told = await self._read(base64.b64decode(body, validate=True), "auto")
        except (DocumentError, binascii.Error, TypeError, ValueError) as exc:
            error = self._error(exc)
            return {"name": name, "error": error["reason"].upper(), "message": error["message"]}
        return {"name": name, **told}

    def _error(self, error: Exception) -> dict[str, Any]:
        if not isinstance(error, DocumentError):
            error = DocumentError("not_a_document", "the file is not told as base64")
        self._runtime.count(f"documents/failed/{error.reason}")
        logger.info("a document is not read: %s (%s)", error.reason, error.message)
        return error.to_json()

    async def _read(self, content: bytes, kind: Wanted) -> dict[str, Any]:
        digest = await _digest(content)
        known = await self._known(digest, kind)
        if known is not None:
            self._runtime.count("documents/known")
            return known
        found = await self._documents.examine(content, kind=kind, patient=True)
        told: dict[str, Any] = {
            "sha256": digest,
            "bytes": len(content),
            "pages_read": found[0].pages_read,
            "pages_total": found[0].pages_total,
            "documents": [_plain(one.reading.to_json()) for one in found],
        }
        self._runtime.count("documents/read")
        if self._shelf is not None and not any(one.again for one in found):
            await self._remember(digest, kind, told)
        return told

    async def _known(self, digest: str, kind: str) -> dict[str, Any] | None:
        if self._shelf is None:
            return None
        try:
            return await self._shelf.known(self._key(digest, kind))
        except StorageError as exc:  # it can still be read
            logger.warning("%s: what documents say is not looked up", exc.message)
            return None

    async def _remember(self, digest: str, kind: str, told: dict[str, Any]) -> None:
        assert self._shelf is not None
        try:
            await self._shelf.remember(self._key(digest, kind), told)
        except StorageError as exc:  # the item has it; it would be read again
            logger.warning("%s: what a document says is not kept", exc.message)

    def _key(self, digest: str, kind: str) -> Any:
        from fetchworker.db.documents import DocumentKey  # noqa: PLC0415  # SQLAlchemy is heavy

        return DocumentKey(digest, self._documents.name, kind)


def _is_address(url: Any) -> bool:
    return isinstance(url, str) and url.lower().startswith(("https://", "http://"))


def _wanted(entry: Any) -> str:
    told = "an http or https address is wanted"
    return told if isinstance(entry, str) else f"{told}, not {type(entry).__name__}"


async def _digest(content: bytes) -> str:
    return await asyncio.to_thread(lambda: hashlib.sha256(content).hexdigest())


def _is_document(part: Any) -> bool:
    return isinstance(part, Media) and part.type == "document" and isinstance(part.url, str)


def _plain(told: dict[str, Any]) -> dict[str, Any]:
    """Without what is told of the file beside it."""
    return {name: value for name, value in told.items() if name not in ("file", "error")}
