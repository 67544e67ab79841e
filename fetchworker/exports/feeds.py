"""Scrapy's feeds (``-o``, ``-O``, ``FEEDS``) on durable JSON lines.

``FEED_STORAGES`` and ``FEED_EXPORTERS`` in settings.py name these classes: files named ``*.jsonl``, ``*.jl`` or
``*.jsonlines`` are written line by line (``fetchworker.exports.lines``); other formats go Scrapy's own way.
"""

from __future__ import annotations

import os
from functools import partial
from io import BufferedWriter, FileIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from scrapy.exporters import JsonLinesItemExporter
from scrapy.extensions.feedexport import FileFeedStorage

from fetchworker.errors import ExportError
from fetchworker.exports.ending import give_up
from fetchworker.exports.lines import LineFile
from fetchworker.exports.probe import check_file
from fetchworker.items import Item

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from _typeshed import ReadableBuffer
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

LINE_FORMATS = frozenset({"jsonlines", "jsonl", "jl"})
_open_files: set[LineFile] = set()
#: feeds whose file could not be opened
_lost_feeds: dict[LineFeedStorage, ExportError] = {}


class LineFeedStorage(FileFeedStorage):
    """``file:`` feeds: JSON lines get a :class:`~fetchworker.exports.lines.LineFile`, other formats a plain file."""

    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        super().__init__(uri, feed_options=feed_options)
        options = feed_options or {}
        self._lines = options.get("format") in LINE_FORMATS and "postprocessing" not in options
        self._overwrite = bool(options.get("overwrite", False))

    def check(self) -> None:
        """See before a crawl that the feed's file could be opened.

        Raises:
            ExportError: it could not.
        """
        path = Path(self.path)
        if "%" in self.path:  # a pattern of names: the crawl fills it in
            path = next(place for place in path.parents if "%" not in str(place)) / "feed"
        check_file(path, alone=self._lines and self._overwrite)

    def open(self, spider: Spider) -> IO[bytes]:
        """Open the feed's file; a torn last line is cut off and told. A file that cannot be opened ends the crawl."""
        try:
            return self._opened(spider)
        except (ExportError, OSError) as exc:
            self._lose(spider.crawler, exc)
            return Path(os.devnull).open("wb")

    def _lose(self, crawler: Crawler, error: ExportError | OSError) -> None:
        """End the crawl: Scrapy writes while it handles an item, and would go on without the file."""
        if not isinstance(error, ExportError):
            error = ExportError(f"cannot write {self.path}: {error.strerror or error}")
        _lost_feeds[self] = error
        give_up(crawler, error)

    def _opened(self, spider: Spider) -> IO[bytes]:
        if not self._lines:
            with super().open(spider) as plain:
                raw = _PlainFile(os.dup(plain.fileno()), plain.mode, lost=partial(self._lose, spider.crawler))
            return BufferedWriter(raw)
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
        try:
            lines.close()
        finally:
            _open_files.discard(lines)
        failed = lines.failed if isinstance(lines, LineFile) else _lost_feeds.pop(self, None)
        if failed is not None:
            raise failed


class _PlainFile(FileIO):
    """A file of another format. What it does not take is told, and nothing more is written."""

    def __init__(self, fd: int, mode: str, *, lost: Callable[[OSError], None]) -> None:
        super().__init__(fd, mode)
        self._lost = lost
        self._failed = False

    def write(self, data: ReadableBuffer) -> int:
        if not self._failed:
            try:
                return super().write(data)
            except OSError as exc:
                self._failed = True
                self._lost(exc)
        return memoryview(data).nbytes


class LineExporter(JsonLinesItemExporter):
    """One line an item, in one write; a feed's ``fields`` still hold. A disk that refuses ends the crawl."""

    def __init__(self, file: Any, *, crawler: Crawler | None = None, **options: Any) -> None:
        super().__init__(file, **options)
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: Any, **options: Any) -> Self:
        """Make the exporter of a feed."""
        return cls(file, crawler=crawler, **options)

    def export_item(self, item: Any) -> None:
        """Write one item."""
        try:
            self.file.write(self._line(item))
        except ExportError as exc:
            if self._crawler is None or self._crawler.engine is None:
                raise
            give_up(self._crawler, exc)

    def _line(self, item: Any) -> bytes:
        if isinstance(item, Item) and not self.fields_to_export:
            return item.model_dump_json().encode() + b"\n"
        fields = dict(self.get_serialized_fields(item))
        return f"{self.encoder.encode(fields)}\n".encode(self.encoding or "utf-8")


async def feeds_durable() -> None:
    """Return when every line that this process wrote to a feed is on disk.

    Raises:
        ExportError: one is not.
    """
    for error in _lost_feeds.values():
        raise error
    for file in list(_open_files):
        await file.durable()


def check_feeds(settings: BaseSettings) -> None:
    """See before a crawl that the files of its feeds could be opened.

    Raises:
        ExportError: the first that could not.
    """
    for uri, options in settings.getdict("FEEDS").items():
        if urlsplit(str(uri)).scheme in ("", "file"):
            LineFeedStorage(str(uri), feed_options=options).check()


def check_resumed(settings: BaseSettings, crawl_id: str | None) -> None:
    """See that a crawl which goes on does not empty what it has written before.

    Args:
        settings: with the feeds.
        crawl_id: of a crawl that has begun before; None for a new one.

    Raises:
        ExportError: an output would be started anew.
    """
    for uri, options in settings.getdict("FEEDS").items():
        if crawl_id is not None and options.get("overwrite"):
            raise ExportError(
                f"crawl {crawl_id} has begun before, and what it has done is not done again: {uri} must not be "
                "emptied; write -o instead of -O, or give the crawl another FETCHWORKER_CRAWL_ID"
            )
