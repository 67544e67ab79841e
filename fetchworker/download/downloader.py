"""A Downloader that keeps ``CONCURRENT_REQUESTS_PER_DOMAIN``.

Scrapy 2.19 checks for a free place in a slot and then *schedules* the coroutine that takes it, one loop turn later, so
that every request queued in the same turn passes (28 at once under a limit of 4, counted at the server, 2026-11).
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import _schedule_coro

if TYPE_CHECKING:
    from scrapy.core.downloader import Slot


class Downloader(ScrapyDownloader):
    """Takes the place in the slot before the transfer is scheduled."""

    def _process_queue(self, slot: Slot) -> None:
        if slot.latercall:
            return
        while slot.queue and slot.free_transfer_slots() > 0:
            wait = self._wait_time(slot)
            if wait > 0:
                slot.latercall = call_later(wait, self._latercall, slot)
                return
            slot.lastseen = monotonic()
            request, answer = slot.queue.popleft()
            # ``_download`` adds it again, which a set takes in its stride
            slot.transferring.add(request)
            _schedule_coro(self._wait_for_download(slot, request, answer))

    @staticmethod
    def _wait_time(slot: Slot) -> float:
        delay = slot.download_delay()
        return delay - monotonic() + slot.lastseen if delay else 0.0
