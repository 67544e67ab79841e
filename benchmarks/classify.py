"""What judging a page costs: how many recorded pages take too long, and which are the worst.

    python benchmarks/classify.py MANIFEST [--site SITE] [--limit MS] [--rounds N] [--worst N]

MANIFEST is one of `scrapy parse-file`: a JSON object a line with `file`, `site` and where known `status`, `url`,
`headers`. A page's time is the CPU of its fastest round; that of a page above 100 KB counts per 100 KB. The limit is
the project's goal, 0.3 ms.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from fetchworker.contracts import Page
from fetchworker.outcomes import classify

UNIT = 100_000
CALLS = 5  # a round is so many, as the clock of the CPU is coarse


@dataclass
class Timed:
    file: str
    size: int
    outcome: str
    ms: float

    @property
    def scaled(self) -> float:
        """Per 100 KB where the page is larger than that."""
        return self.ms * min(1.0, UNIT / max(1, self.size))


def page_of(row: dict, folder: Path) -> Page:
    headers = {name.lower(): value if isinstance(value, list) else [value] for name, value in _headers(row)}
    return Page(url=row.get("url"), status=row.get("status"), headers=headers, body=(folder / row["file"]).read_bytes())


def _headers(row: dict):
    given = row.get("headers") or {}
    return given.items() if isinstance(given, dict) else given


def measure(row: dict, folder: Path, rounds: int) -> Timed:
    page, site = page_of(row, folder), row.get("site")
    verdict = classify(page, site=site)  # reads the rules, at the first page
    best = min(_round(page, site) for _ in range(rounds))
    return Timed(row["file"], len(page.body), verdict.outcome.value, best * 1000)


def _round(page: Page, site: str | None) -> float:
    start = time.process_time()
    for _ in range(CALLS):
        classify(page, site=site)
    return (time.process_time() - start) / CALLS


def report(timed: list[Timed], limit: float, worst: int) -> None:
    scaled = sorted(each.scaled for each in timed)
    over = sum(ms > limit for ms in scaled)
    total = sum(each.ms for each in timed) / sum(each.size for each in timed) * UNIT
    print(f"{len(timed)} pages, {over} ({over / len(timed):.1%}) above {limit} ms per 100 KB")
    print(f"median {statistics.median(scaled):.3f}, 95 % below {scaled[int(len(scaled) * 0.95)]:.3f}, all {total:.3f}")
    for each in sorted(timed, key=lambda each: -each.scaled)[:worst]:
        print(f"{each.scaled:8.3f} ms per 100 KB  {each.ms:8.3f} ms  {each.size:>9,} B  {each.outcome:14} {each.file}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--site", help="only rows of this site")
    parser.add_argument("--limit", type=float, default=0.3, help="ms")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--worst", type=int, default=10, help="pages to list")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.manifest.read_text().splitlines() if line.strip()]
    rows = [row for row in rows if options.site in (None, row["site"])]
    files = {(row["site"], row["file"]): row for row in rows}
    timed = [measure(row, options.manifest.parent, options.rounds) for row in files.values()]
    report(timed, options.limit, options.worst)


if __name__ == "__main__":
    main()
