"""Scrapy's feeds (``-o``, ``-O``, ``FEEDS``) on durable JSON lines.

``FEED_STORAGES`` and ``FEED_EXPORTERS`` in settings.py name these classes: files named ``*.jsonl``, ``*.jl`` or
``*.jsonlines`` are written line by line (``fetchworker.exports.lines``); other formats go Scrapy's own way.
"""

from __future__ import annotations

import asyncio
import logging
from typing import IO, TYPE_CHECKING, Any, cast

from scrapy.exporters import JsonLinesItemExporter
from scrapy.extensions.feedexport import FileFeedStorage

from fetchworker.errors import ExportError
from fetchworker.exports.lines import LineFile
from fetchworker.items import Item

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: the finish reason of a crawl whose disk refuses
EXPORT_ERROR = "export_error"
#: the stat that counts the lines that were not written
LINES_LOST = "fetchworker/lines_lost"
LINE_FORMATS = frozenset({"jsonlines", "jsonl", "jl"})
_open_files: set[LineFile] = set()
#: tasks that close a crawl whose disk is full, kept so that they are not collected
_closing: list[asyncio.Future[None]] = []


class LineFeedStorage(FileFeedStorage):
    """``file:`` feeds: JSON lines get a :class:`~fetchworker.exports.lines.LineFile`, other formats a plain file."""

    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        super().__init__(uri, feed_options=feed_options)
        options = feed_options or {}
        self._lines = options.get("format") in LINE_FORMATS and "postprocessing" not in options
        self._overwrite = bool(options.get("overwrite", False))

    def open(self, spider: Spider) -> IO[bytes]:
        """Open the feed's file; a torn last line is cut off and told."""
        if not self._lines:
            return super().open(spider)
        file = LineFile(self.path, overwrite=self._overwrite)
        _open_files.add(file)
        if file.repaired:
            spider.logger.warning("%s ended in a torn line: %d bytes cut off", self.path, file.repaired)
        return cast("IO[bytes]", file)

    def store(self, file: IO[bytes]) -> None:
        """Sync and close.

        Raises:
            ExportError: a line was lost.
        """
        lines = cast("LineFile", file)
        lines.close()
        _open_files.discard(lines)
        if isinstance(lines, LineFile) and lines.failed is not None:
            raise lines.failed


class LineExporter(JsonLinesItemExporter):
    """One line an item, in one write; a feed's ``fields`` still hold. A disk that refuses ends the crawl."""

    def __init__(self, file: Any, *, crawler: Crawler | None = None, **options: Any) -> None:
        super().__init__(file, **options)
        self._crawler = crawler
        self._broken = False

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: Any, **options: Any) -> Self:
        """Make the exporter of a feed."""
        return cls(file, crawler=crawler, **options)

    def export_item(self, item: Any) -> None:
        """Write one item."""
        try:
            self.file.write(self._line(item))
        except ExportError as exc:
            self._give_up(exc)

    def _line(self, item: Any) -> bytes:
        if isinstance(item, Item) and not self.fields_to_export:
            return item.model_dump_json().encode() + b"\n"
        fields = dict(self.get_serialized_fields(item))
        return f"{self.encoder.encode(fields)}\n".encode(self.encoding or "utf-8")

    def _give_up(self, error: ExportError) -> None:
        if self._crawler is None or self._crawler.engine is None:
            raise error
        self._crawler.stats.inc_value(LINES_LOST)
        if self._broken:
            return
        self._broken = True
        logger.error("%s: the crawl stops, nothing more is written there", error)
        _closing.append(asyncio.ensure_future(self._crawler.engine.close_spider_async(reason=EXPORT_ERROR)))


async def feeds_durable() -> None:
    """Return when every line that this process wrote to a feed is on disk."""
    for file in list(_open_files):
        await file.durable()
