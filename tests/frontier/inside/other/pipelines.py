"""Items on their way: one that hangs, one with which the process is killed, once."""

import asyncio
import os
import signal
from pathlib import Path

from scrapy.dupefilters import BaseDupeFilter


class Pipeline:
    async def process_item(self, item):
        if item["path"] == os.environ.get("HANGS_IN_PIPELINE"):
            await asyncio.Event().wait()
        if item["path"] == os.environ.get("KILLED_AT") and not Path("killed").exists():
            Path("killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return item


class OwnFilter(BaseDupeFilter):
    """Keeps its set to itself."""
