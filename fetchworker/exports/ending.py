"""Ends a crawl that cannot write what it has to keep."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler

    from fetchworker.errors import ExportError

logger = logging.getLogger(__name__)

#: the finish reason of a crawl whose disk refuses
EXPORT_ERROR = "export_error"
#: the stat that counts lines which were not written
LINES_LOST = "fetchworker/lines_lost"
#: seconds between two looks whether a closing crawl has done its items
_AGAIN = 0.1
#: what was told of each crawl
_told: WeakKeyDictionary[Crawler, set[str]] = WeakKeyDictionary()
#: tasks that close a crawl, kept so that they are not collected
_closing: set[asyncio.Task[None]] = set()


def give_up(crawler: Crawler, error: ExportError) -> None:
    """Count a line as lost, and end the crawl with :data:`EXPORT_ERROR`; says each error once."""
    crawler.stats.inc_value(LINES_LOST)
    told = _told.setdefault(crawler, set())
    if error.message in told:
        return
    told.add(error.message)
    logger.error("%s: the crawl stops, nothing more is written there", error)
    close(crawler, EXPORT_ERROR)


def close(crawler: Crawler, reason: str) -> None:
    """End a crawl for a reason of its own."""
    with suppress(RuntimeError):  # a crawl that has not begun, or is over: its stat tells
        if crawler.engine is not None:
            task = asyncio.get_running_loop().create_task(_close(crawler.engine, reason))
            _closing.add(task)
            task.add_done_callback(_closing.discard)


async def _close(engine: ExecutionEngine, reason: str) -> None:
    closing = asyncio.ensure_future(engine.close_spider_async(reason=reason))
    while not closing.done():
        await asyncio.wait({closing}, timeout=_AGAIN)
        _look_again(engine)
    with suppress(RuntimeError):  # it has closed meanwhile
        closing.result()


def _look_again(engine: ExecutionEngine) -> None:
    """Scrapy 2.19 waits for ever when the last item under way at the close came from ``start()``: it looks no more."""
    slot = engine.scraper.slot
    if slot is not None and slot.closing is not None and not slot.closing.called:
        engine.scraper._check_if_closing()  # noqa: SLF001  # no public way to have it look
