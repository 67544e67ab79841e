"""A Scrapy extension that measures how late its event loop is, every 5 ms; ``BENCH_LAG_FILE`` names where it writes.

What the thread waited for a processor (Linux: /proc/thread-self/schedstat) is told beside it: on a busy machine that is
the machine's lateness, not the program's. A line for each look: lateness and such waiting in ms.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

_EVERY = 0.005


class LoopLag:
    """Looks as long as the process lives."""

    @classmethod
    def from_crawler(cls, _crawler):
        found = cls()
        found.task = asyncio.get_running_loop().create_task(look())
        return found


async def look():
    with Path(os.environ["BENCH_LAG_FILE"]).open("w", buffering=1) as out:  # noqa: ASYNC230  # as quick as a print
        while True:
            waited, began = _waited(), time.perf_counter()
            await asyncio.sleep(_EVERY)
            late = time.perf_counter() - began - _EVERY
            out.write(f"{late * 1000:.3f} {_waited() - waited:.3f}\n")


def _waited():
    return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e6
