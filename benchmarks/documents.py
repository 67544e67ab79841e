"""What reading documents costs: processor time a page, memory of the processes, and how long the loop waits.

``python benchmarks/documents.py FOLDER [PAGES]`` reads the pictures and PDFs of a folder, again and again up to so many
pages (100), with two processes.
"""

from __future__ import annotations

import asyncio
import sys
import time
from itertools import cycle
from pathlib import Path

import psutil

from fetchworker.documents import DocumentReader, ReaderSettings

_KINDS = {".jpg", ".jpeg", ".png", ".pdf", ".tiff", ".heic"}


class Watch:
    """Samples what a reader's processes hold, and how late the loop is."""

    def __init__(self, reader):
        self.reader = reader
        self.lags, self.parent, self.worker = [], [], 0
        self.spent: dict[int, float] = {}

    async def run(self):
        own = psutil.Process()
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.02)
            self.lags.append(time.perf_counter() - began - 0.02)
            self.parent.append(own.memory_info().rss >> 20)
            for worker in self.reader.workers:
                self._look(worker.pid)

    def _look(self, pid):
        try:
            process = psutil.Process(pid) if pid else None
            if process:
                self.worker = max(self.worker, process.memory_info().rss >> 20)
                times = process.cpu_times()
                self.spent[pid] = times.user + times.system
        except psutil.NoSuchProcess:
            pass


async def main(contents, most):
    pages, contents = 0, cycle(contents)
    async with DocumentReader(ReaderSettings()) as reader:
        watch = Watch(reader)
        watching = asyncio.create_task(watch.run())
        began = time.perf_counter()

        async def work():
            nonlocal pages
            while pages < most:
                found = await reader.examine(next(contents), lines=True)  # with lines, nothing is remembered
                pages += sum(one.pages_read for one in found)

        await asyncio.gather(work(), work())
        watching.cancel()
    lags, parent, took = sorted(watch.lags), watch.parent, time.perf_counter() - began
    print(f"{pages} pages, {took / pages:.2f} s and {sum(watch.spent.values()) / pages:.2f} CPU s a page")
    print(f"a process held {watch.worker} MB at most; the reader {parent[50]} MB at first, {parent[-1]} MB at last")
    print(
        f"the loop was late by {lags[len(lags) * 99 // 100] * 1000:.0f} ms (99 of 100), {lags[-1] * 1000:.0f} at most"
    )


if __name__ == "__main__":
    files = sorted(path for path in Path(sys.argv[1]).iterdir() if path.suffix.lower() in _KINDS)
    asyncio.run(main([path.read_bytes() for path in files], int(sys.argv[2]) if len(sys.argv) > 2 else 100))
