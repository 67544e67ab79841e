"""``python -m fetchworker.jobs FOLDER``: the supervisor of the job in this folder."""

from __future__ import annotations

import sys
from pathlib import Path

from fetchworker.jobs.folder import JobFolder
from fetchworker.jobs.supervisor import Supervisor


def main() -> None:
    """See the job through, unless somebody does or it has ended."""
    folder = JobFolder(Path(sys.argv[1]).absolute())
    record = folder.read("job")
    if record is None:
        sys.exit(f"{folder.path}: no record of a job")
    with folder.locked() as free:
        if free and not folder.has("end") and not folder.has("start"):
            Supervisor(folder, record).run()


if __name__ == "__main__":
    main()
