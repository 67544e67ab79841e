"""What `scrapy list` of this project costs beside that of a bare Scrapy project.

    python benchmarks/start.py [--rounds N]

The bare projects are what `scrapy startproject` and `scrapy genspider` write, with one spider and with as many as this
project has. The three take turns, and the median of each counts: CPU (user and system) and wall time of the process.
Ends with 1 when the goal is missed against the project with one spider.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOAL = 1.5
SCRAPY = (sys.executable, "-m", "scrapy")
#: another project's settings must not come along
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("SCRAPY_")}


def scrapy(folder: Path, *arguments: str) -> list[str]:
    done = subprocess.run(
        [*SCRAPY, *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"scrapy {' '.join(arguments)} failed in {folder}:\n{done.stderr[-3000:]}")
    return done.stdout.split()


def bare(folder: Path, spiders: int) -> Path:
    """A project as Scrapy writes it."""
    scrapy(folder, "startproject", f"bare{spiders}")
    project = folder / f"bare{spiders}"
    scrapy(project, "genspider", "spider0", "example.com")
    first = project / f"bare{spiders}" / "spiders" / "spider0.py"
    for number in range(1, spiders):
        text = first.read_text().replace("spider0", f"spider{number}").replace("Spider0", f"Spider{number}")
        first.with_name(f"spider{number}.py").write_text(text)
    return project


def timed(folder: Path, names: int) -> tuple[float, float]:
    """Seconds of CPU and of wall time."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    told = scrapy(folder, "list")
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert len(told) == names, told
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as temporary:
        count = len(scrapy(ROOT, "list"))
        projects = {bare(Path(temporary), 1): 1, bare(Path(temporary), count): count, ROOT: count}
        found: dict[Path, list[tuple[float, float]]] = {folder: [] for folder in projects}
        for turn in range(rounds + 1):
            for folder, names in projects.items():
                measured = timed(folder, names)
                if turn:  # the first one compiles and fills the caches
                    found[folder].append(measured)
    medians = {folder: tuple(map(statistics.median, zip(*values, strict=True))) for folder, values in found.items()}
    ours = medians[ROOT]
    print(f"scrapy list, median of {rounds} in turn\n{'project':28}{'CPU ms':>8}{'wall ms':>9}{'ours / it':>16}")
    for folder, (cpu, wall) in medians.items():
        label = f"{'fetchworker' if folder == ROOT else 'bare'}, spiders: {projects[folder]}"
        ratio = f"{ours[0] / cpu:.2f} CPU {ours[1] / wall:.2f} wall"
        print(f"{label:28}{cpu * 1000:8.0f}{wall * 1000:9.0f}  {ratio}")
    one = medians[next(iter(projects))]
    worst = max(ours[0] / one[0], ours[1] / one[1])
    print(f"goal: {GOAL} of the bare project with one spider: {'met' if worst <= GOAL else 'missed'}")
    sys.exit(worst > GOAL)


if __name__ == "__main__":
    main()
