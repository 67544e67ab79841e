"""What reading documents costs: processor time a page, beside the engine's alone, memory, and how late the loop is.

    python benchmarks/documents.py FOLDER [PAGES]

reads the pictures and PDFs of a folder, again and again up to so many pages (100), with two processes; then 20 pages
of text, one after the other, and the pictures by the bare engine, once each (40 at most), in a process of its own.
Exit code 1 when a figure is beyond what it may be.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from array import array
from itertools import cycle
from pathlib import Path

import psutil

from fetchworker.demo.invoices import write
from fetchworker.documents import DocumentReader, ReaderSettings
from fetchworker.documents.caps import Caps

_PICTURES = {".jpg", ".jpeg", ".png", ".tiff", ".heic"}
_KINDS = {*_PICTURES, ".pdf"}
_ALONE, _TEXTS = int(os.environ.get("BENCH_ALONE", "40")), 20
#: a busy machine is slow, which is not what is measured
_PATIENT = Caps(seconds=3600)
#: CPU of a page beside the engine's, MB of a process, MB by which the parent may grow, seconds for a page of text
RATIO, WORKER, GROWTH, TEXT = 1.1, 1024, 20, 0.1


class Watch:
    """Samples what a reader's processes hold, and how late the loop is."""

    def __init__(self, reader):
        self.reader = reader
        self.lags, self.parent, self.worker = array("f"), array("f"), 0  # lists would grow the parent themselves
        self.spent: dict[int, float] = {}

    async def run(self):
        own = psutil.Process()
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.02)
            self.lags.append(time.perf_counter() - began - 0.02)
            self.parent.append(own.memory_info().rss / 2**20)
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


async def read(contents, most):
    """So many pages by two processes; pages, CPU seconds of a page, and the watch."""
    pages, contents = 0, cycle(contents)
    async with DocumentReader(ReaderSettings(caps=_PATIENT)) as reader:
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
    lags, took = sorted(watch.lags), time.perf_counter() - began
    quarters = [watch.parent[len(watch.parent) * part // 8] for part in (1, 3, 5, 7)]
    spent = sum(watch.spent.values()) / pages
    print(f"{pages} pages, {took / pages:.2f} s and {spent:.2f} CPU s a page, processes' starts included")
    print(f"a process held {watch.worker} MB at most; the reader {', '.join(f'{mb:.0f}' for mb in quarters)} MB")
    print(f"the loop was late by {lags[len(lags) * 99 // 100] * 1000:.0f} ms (p99), {lags[-1] * 1000:.0f} at most")
    return spent, watch.worker, quarters[-1] - quarters[0]


def made():
    """Invoices as PDFs with text."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), _TEXTS + 1)
        return [path.read_bytes() for path in sorted(Path(folder).glob("*.pdf"))]


async def text_page(contents):
    """Seconds for a page of text, the median."""
    took = []
    async with DocumentReader(ReaderSettings(workers=1, caps=_PATIENT)) as reader:
        for content in contents:
            began = time.perf_counter()
            (found,) = await reader.examine(content)
            assert found.reading.engine.startswith("text-layer"), found.reading.engine
            took.append((time.perf_counter() - began) / found.pages_read)
    took = sorted(took[1:])  # the first one waits for the process
    print(f"a page of text: {took[len(took) // 2]:.3f} s (median), {took[-1]:.3f} at most")
    return took[len(took) // 2]


def alone(files):
    """CPU seconds of the bare engine for a page, its start left out; in a process that does nothing else."""
    import numpy as np

    from fetchworker.documents.engine import Engine
    from fetchworker.documents.pictures import Pictures

    engine = Engine(ReaderSettings().state_dir)
    pages = [
        np.ascontiguousarray(np.asarray(page)[:, :, ::-1])
        for file in files
        for page in Pictures(Path(file).read_bytes(), Caps())
    ]
    engine._ocr.predict(pages[0])  # noqa: SLF001  # what ours is compared with
    began = time.process_time()
    for page in pages:
        engine._ocr.predict(page)  # noqa: SLF001  # as above
    print(json.dumps({"cpu": (time.process_time() - began) / len(pages)}))


def main(folder, most):
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in _KINDS)
    spent, worker, growth = asyncio.run(read([path.read_bytes() for path in files], most))
    text = asyncio.run(text_page(made()))
    figures = {"worker MB": (worker, WORKER), "parent's growth MB": (growth, GROWTH), "text page s": (text, TEXT)}
    pictures = [str(path) for path in files if path.suffix.lower() in _PICTURES][:_ALONE]
    if pictures and len(pictures) == min(len(files), _ALONE):
        told = subprocess.run(
            [sys.executable, __file__, "--alone", *pictures],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        own = json.loads(told.stdout.splitlines()[-1])["cpu"]
        print(f"the engine alone: {own:.2f} CPU s a page; ours is {spent / own:.2f} of it")
        figures["CPU beside the engine's"] = (spent / own, RATIO)
    for name, (seen, allowed) in figures.items():
        print(f"{'ok  ' if seen <= allowed else 'OVER'} {name}: {seen:.3g} (at most {allowed})")
    return any(seen > allowed for seen, allowed in figures.values())


if __name__ == "__main__":
    if sys.argv[1] == "--alone":
        alone(sys.argv[2:])
    else:
        sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100))
