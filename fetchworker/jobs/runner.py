"""The process of a job: ``scrapy crawl`` as the job's record says, so that nothing of it stands in the command line.

``python -m fetchworker.jobs.runner FOLDER SUPERVISOR``: the job's folder, and the process that started this one and
without which it does not live.
"""

from __future__ import annotations

import os
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fetchworker.jobs.folder import JobFolder
from fetchworker.jobs.processes import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import Settings

#: above those of command lines
_PRIORITY = 50
_REPORT = "fetchworker.jobs.report.JobReport"


def main() -> None:
    """Run the crawl; ends the process with its exit code."""
    folder = JobFolder(Path(sys.argv[1]))
    die_with_parent(int(sys.argv[2]))
    record = folder.read("job")
    if record is None:
        sys.exit(f"{folder.path}: no record of a job")
    crawl(folder, record)


def crawl(folder: JobFolder, record: Mapping[str, Any]) -> None:
    """Run the crawl of a record in this process."""
    from scrapy.cmdline import execute  # noqa: PLC0415  # the parent is asked for first
    from scrapy.utils.project import get_project_settings  # noqa: PLC0415  # as above

    choose_project(record["project"])
    settings = get_project_settings()
    place(settings, folder)
    execute(arguments(record), settings)


def choose_project(name: str) -> None:
    """Take the project that scrapy.cfg has by this name; without one, what the environment says."""
    from scrapy.utils.conf import get_config  # noqa: PLC0415  # as above

    if get_config().has_option("settings", name):
        os.environ.pop("SCRAPY_SETTINGS_MODULE", None)
        os.environ["SCRAPY_PROJECT"] = name


def arguments(record: Mapping[str, Any]) -> list[str]:
    """The command line that the record stands for (pure)."""
    given = chain.from_iterable(["-a", f"{name}={value}"] for name, value in record["arguments"].items())
    configured = chain.from_iterable(["-s", f"{name}={value}"] for name, value in record["settings"].items())
    return ["scrapy", "crawl", record["spider"], *given, *configured]


def place(settings: Settings, folder: JobFolder) -> None:
    """Have items go to the job's file, the log to its process's, and the end to its supervisor."""
    feed = {str(folder.items).replace("%", "%%"): {"format": "jsonlines"}}
    settings.set("FEEDS", feed, priority=_PRIORITY)
    settings.set("LOG_ENABLED", True, priority=_PRIORITY)
    settings.set("LOG_FILE", None, priority=_PRIORITY)
    base = {**settings.getdict("EXTENSIONS_BASE"), _REPORT: 0}
    settings.set("EXTENSIONS_BASE", base, priority=_PRIORITY)


if __name__ == "__main__":
    main()
