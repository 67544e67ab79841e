"""Our whole stack against its peers, one after the other in one run, on loopback TLS.

    python benchmarks/crawl.py [--pages N] [--big-pages N] [--rounds N] [--flat N]

Stacks: fetchworker (16 named sessions in Redis, impersonation, outcome, validation, durable JSON lines), Scrapy's
default handler, scrapy-impersonate, and stock Scrapy with a handler that answers at once ("the ceiling"). Pages of
1 KB and 100 KB, 16 at once, one item a page. Prints CPU per request of the crawling process, requests a second, and the
ratios; then RSS over a long crawl. Rounds alternate between the stacks and the median counts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
STACKS = ("fetchworker", "ceiling", "default", "impersonate")
GOALS = {"ceiling": 1.0, "default": 0.5, "impersonate": 0.33}


def run(stack: str, server: dict, size: int, pages: int, folder: str) -> dict:
    command = [
        sys.executable,
        str(HERE / "_run.py"),
        stack,
        str(server["port"]),
        server["ca"],
        str(size),
        str(pages),
        f"{folder}/{stack}.jsonl",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout.strip():
        sys.exit(f"{stack} failed:\n{done.stderr[-3000:]}")
    result = json.loads(done.stdout.splitlines()[-1])
    if result["pages"] != pages or result["items"] != pages:
        sys.exit(f"{stack}: {result['pages']} pages and {result['items']} items of {pages}\n{done.stderr[-3000:]}")
    return result


def compare(server: dict, size: int, pages: int, rounds: int, folder: str) -> None:
    results: dict[str, list[dict]] = {stack: [] for stack in STACKS}
    for _ in range(rounds):
        for stack in STACKS:
            results[stack].append(run(stack, server, size, pages, folder))
    cpu = {stack: statistics.median(result["cpu_ms"] for result in found) for stack, found in results.items()}
    print(f"\n{size:,} bytes a page, {pages:,} pages, median of {rounds}")
    print(f"{'stack':14}{'req/s':>8}{'CPU ms/req':>12}{'ours / it':>11}{'goal':>7}")
    for stack in STACKS:
        speed = statistics.median(result["req_s"] for result in results[stack])
        goal = f"{GOALS[stack]:.2f}" if stack in GOALS and size < 10_000 else ""
        print(f"{stack:14}{speed:8.0f}{cpu[stack]:12.3f}{cpu['fetchworker'] / cpu[stack]:11.2f}{goal:>7}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=3000, help="pages of 1 KB")
    parser.add_argument("--big-pages", type=int, default=1000, help="pages of 100 KB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--flat", type=int, default=20_000, help="pages of the RSS run, 0 for none")
    options = parser.parse_args()
    upstream = subprocess.Popen([sys.executable, str(HERE / "_server.py")], stdout=subprocess.PIPE, text=True)
    try:
        server = json.loads(upstream.stdout.readline())
        with tempfile.TemporaryDirectory() as folder:
            if options.rounds:
                compare(server, 1_000, options.pages, options.rounds, folder)
                compare(server, 100_000, options.big_pages, options.rounds, folder)
            if options.flat:
                rss = run("fetchworker", server, 1_000, options.flat, folder)["rss"]
                told = " ".join(f"{value:.1f}" for value in rss)
                print(f"\nRSS over {options.flat:,} requests, MiB at each tenth: {told}")
                print(f"last / second tenth: {rss[-1] / rss[1]:.3f}")
    finally:
        upstream.terminate()
        upstream.wait()


if __name__ == "__main__":
    main()
