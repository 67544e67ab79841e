"""The process of a job under scrapyd: its project's egg first, where it has one."""

from __future__ import annotations

import sys
from pathlib import Path

from fetchworker.jobs.folder import JobFolder
from fetchworker.jobs.processes import die_with_parent
from fetchworker.jobs.runner import crawl


def main() -> None:
    """Run the crawl; ends the process with its exit code."""
    folder = JobFolder(Path(sys.argv[1]))
    die_with_parent(int(sys.argv[2]))
    from scrapyd.runner import project_environment  # noqa: PLC0415  # the parent is asked for first

    record = folder.read("job")
    if record is None:
        sys.exit(f"{folder.path}: no record of a job")
    with project_environment(record["project"]):
        crawl(folder, record)


if __name__ == "__main__":
    main()
