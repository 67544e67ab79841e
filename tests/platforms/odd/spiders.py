"""Spiders that end in every way, and tell in files what they do. They ask no site."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import scrapy

STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
)


async def told(path):
    """Return when somebody has made the file."""
    while not Path(path).exists():
        await asyncio.sleep(0.02)


class Lines(scrapy.Spider):
    """``count`` items; with ``gate``, the second half when that file is there."""

    name = "lines"

    async def start(self):
        count = int(getattr(self, "count", 3))
        for number in range(count):
            if number == count // 2 and getattr(self, "gate", None):
                await told(self.gate)
            yield {"number": number, "text": getattr(self, "text", "zażółć")}


class Starts(scrapy.Spider):
    name = "starts"

    async def start(self):
        raise RuntimeError("nothing to start with")
        yield


class Hangs(scrapy.Spider):
    """Runs until it is ended; with ``deaf``, takes no TERM, nor does a grandchild that leaves its group."""

    name = "hangs"

    async def start(self):
        bare = {} if getattr(self, "bare", None) else None
        child = subprocess.Popen(
            [sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE, start_new_session=True, env=bare
        )
        child.stdout.readline()
        if getattr(self, "deaf", None):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        made = Path(self.told)
        made.with_suffix(".new").write_text(f"{os.getpid()} {child.pid}")
        made.with_suffix(".new").rename(made)
        await asyncio.sleep(600)
        yield


class Grows(scrapy.Spider):
    """Holds more and more memory, a part of it in a child."""

    name = "grows"

    async def start(self):
        hold = "held = bytearray(60_000_000); print('up', flush=True); import time; time.sleep(600)"
        child = subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE)
        child.stdout.readline()
        self.held = []
        for _ in range(1000):
            self.held.append(b"x" * 10_000_000)
            await asyncio.sleep(0.01)
        yield


class Dies(scrapy.Spider):
    name = "dies"

    async def start(self):
        os.kill(os.getpid(), signal.SIGKILL)
        yield


class Environment(scrapy.Spider):
    """Tells its environment and its command line."""

    name = "environment"

    async def start(self):
        command = Path("/proc/self/cmdline").read_bytes().decode().split("\0")
        above = Path(f"/proc/{os.getppid()}/cmdline").read_bytes().decode().split("\0")
        yield {"environment": dict(os.environ), "command": command, "above": above, "told": getattr(self, "told", None)}
