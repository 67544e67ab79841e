"""Items on their way: one that hangs, one with which the process is killed, once."""

import asyncio
import os
import signal
from pathlib import Path

from scrapy.dupefilters import BaseDupeFilter


def killed_once() -> None:
    """End the process with SIGKILL, unless that was done in this folder before."""
    if not Path("killed").exists():
        Path("killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)


class Pipeline:
    async def process_item(self, item):
        if item["path"] == os.environ.get("HANGS_IN_PIPELINE"):
            await asyncio.Event().wait()
        if item["path"] == os.environ.get("KILLED_AT"):
            killed_once()
        return item


class OwnFilter(BaseDupeFilter):
    """Keeps its set to itself."""
