"""What a crawl that is a job tells its supervisor: its finish reason, its stats, its cost, or why it did not begin."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from scrapy import signals
from scrapy.exceptions import NotConfigured

from fetchworker.jobs.folder import JobFolder
from fetchworker.jobs.processes import MARK

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from fetchworker.errors import FetchworkerError

logger = logging.getLogger(__name__)

_STATS, _SPENT = "stats", "spent"
#: seconds between two looks at what the crawl has cost: of one that is killed the last of these is known
SPENT_EVERY = 5.0


class JobReport:
    """The extension; ``fetchworker.jobs.runner`` puts it into every job's crawl."""

    def __init__(self, crawler: Crawler, folder: JobFolder) -> None:
        self._crawler = crawler
        self._folder = folder
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._spent: dict[str, Any] = {}
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension.

        Raises:
            NotConfigured: the crawl is no job.
        """
        folder = _folder()
        if folder is None:
            raise NotConfigured
        return cls(crawler, folder)

    def _opened(self) -> None:
        if _account(self._crawler) is not None:
            self._task = asyncio.get_running_loop().create_task(self._tell_spent())

    async def _tell_spent(self) -> None:
        """Write down every few seconds what the crawl has cost, and once more at its end."""
        while not self._over.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(SPENT_EVERY):
                    await self._over.wait()
            told = _account(self._crawler) or {}
            if told != self._spent:
                with suppress(OSError):  # the end says whether the disk is full
                    await asyncio.to_thread(self._folder.write, _SPENT, told)
                    self._spent = told

    async def _stopped(self) -> None:
        self._over.set()
        if self._task is not None:
            await self._task
        self._write_stats()

    def _write_stats(self) -> None:
        stats = self._crawler.stats.get_stats()
        told = {"finish_reason": stats.get("finish_reason"), "thresholds": self._thresholds(), "stats": plain(stats)}
        try:
            self._folder.write(_STATS, told)
        except OSError as exc:
            logger.error("cannot write the job's stats: %s", exc.strerror or exc)  # noqa: TRY400  # no bug of ours

    def _thresholds(self) -> dict[str, Any]:
        """As the environment and the command line say; those of a project that is not ours are the defaults."""
        from fetchworker.config import command_line, load_environment  # noqa: PLC0415  # heavy to import
        from fetchworker.errors import ConfigError  # noqa: PLC0415  # as above

        with suppress(ConfigError):
            environment = load_environment(overrides=command_line(self._crawler.settings))
            return {
                "block_share": environment.job_block_share,
                "drift_share": environment.job_drift_share,
                "items_min": environment.job_items_min,
            }
        return {}


def _account(crawler: Crawler) -> dict[str, Any] | None:
    """What the crawl has cost so far; None of a project that counts nothing, for which nothing is imported."""
    if "fetchworker.runtime.crawl" not in sys.modules:
        return None
    from fetchworker.runtime import Runtime  # noqa: PLC0415  # it is there

    runtime = Runtime.known(crawler)
    return runtime.usage.told() if runtime is not None else None


def refused(error: FetchworkerError) -> None:
    """Tell that the crawl does not begin, and why; a crawl that is no job tells nobody."""
    folder = _folder()
    if folder is not None:
        with suppress(OSError):
            folder.write(_STATS, {"refused": [type(error).__name__, error.message]})


def plain(stats: dict[str, Any]) -> dict[str, Any]:
    """Stats as types that JSON has; times as texts (pure)."""
    found = orjson.loads(orjson.dumps(stats, default=str, option=orjson.OPT_NON_STR_KEYS))
    assert isinstance(found, dict)
    return found


def _folder() -> JobFolder | None:
    path = os.environ.get(MARK)
    return JobFolder(Path(path)) if path else None
