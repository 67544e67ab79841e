"""Our whole stack against its peers, one after the other in one run, on loopback TLS.

    python benchmarks/crawl.py [--pages N] [--big-pages N] [--rounds N] [--redis-rounds N] [--flat N]

Stacks: fetchworker (16 named sessions in Redis, impersonation, outcome, validation, durable JSON lines), Scrapy's
default handler, scrapy-impersonate, and stock Scrapy with a handler that answers at once ("the ceiling"). Pages of
1 KB and 100 KB, 16 at once, one item a page. Prints CPU per request of the crawling process, requests a second, and
their ratios. Then the same with the queue in a Redis of this run's own, against scrapy-redis with scrapy-impersonate;
then RSS over a long crawl. Rounds alternate between the stacks and the median counts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from _chaos_parts import PrivateRedis

HERE = Path(__file__).parent
#: stack → what our CPU per request may be of it
STACKS = {"fetchworker": None, "ceiling": 1.0, "default": 0.5, "impersonate": 0.33}
#: the same for the queue in Redis; of the ceiling also the requests a second, at least
REDIS_STACKS = {"fetchworker-redis": None, "ceiling": None, "scrapy-redis": 0.36}
REDIS_SPEED = 0.85


def run(stack: str, server: dict, size: int, pages: int, folder: str, redis_url: str = "") -> dict:
    command = [
        sys.executable,
        str(HERE / "_run.py"),
        stack,
        str(server["port"]),
        server["ca"],
        str(size),
        str(pages),
        f"{folder}/{stack}.jsonl",
        redis_url,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout.strip():
        sys.exit(f"{stack} failed:\n{done.stderr[-3000:]}")
    result = json.loads(done.stdout.splitlines()[-1])
    if result["pages"] != pages or result["items"] != pages:
        sys.exit(f"{stack}: {result['pages']} pages and {result['items']} items of {pages}\n{done.stderr[-3000:]}")
    return result


def compare(
    stacks: dict[str, float | None], server: dict, size: int, pages: int, rounds: int, folder: str, redis_url: str = ""
) -> dict[str, list[dict]]:
    """A table of the stacks, the first of them ours."""
    results: dict[str, list[dict]] = {stack: [] for stack in stacks}
    for _ in range(rounds):
        for stack in stacks:
            results[stack].append(run(stack, server, size, pages, folder, redis_url))
    cpu = {stack: median(found, "cpu_ms") for stack, found in results.items()}
    print(f"\n{size:,} bytes a page, {pages:,} pages, median of {rounds}")
    print(f"{'stack':18}{'req/s':>8}{'CPU ms/req':>12}{'ours / it':>11}{'goal':>7}")
    for stack, goal in stacks.items():
        told = f"{goal:.2f}" if goal and size < 10_000 else ""
        ratio = cpu[next(iter(stacks))] / cpu[stack]
        print(f"{stack:18}{median(results[stack], 'req_s'):8.0f}{cpu[stack]:12.3f}{ratio:11.2f}{told:>7}")
    return results


def median(found: list[dict], what: str) -> float:
    return statistics.median(result[what] for result in found)


def compare_redis(server: dict, pages: int, rounds: int, folder: str) -> None:
    redis = PrivateRedis(Path(folder), durable=False)
    redis.start()
    try:
        results = compare(REDIS_STACKS, server, 1_000, pages, rounds, folder, redis.url)
    finally:
        redis.kill()
    speed = median(results["fetchworker-redis"], "req_s") / median(results["ceiling"], "req_s")
    cpu = median(results["ceiling"], "cpu_ms") / median(results["fetchworker-redis"], "cpu_ms")
    print(f"of the ceiling, from Redis: {speed:.2f} of its requests/s, {cpu:.2f} of them per CPU; goal {REDIS_SPEED}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=3000, help="pages of 1 KB")
    parser.add_argument("--big-pages", type=int, default=1000, help="pages of 100 KB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--redis-rounds", type=int, default=3, help="rounds with the queue in Redis")
    parser.add_argument("--flat", type=int, default=20_000, help="pages of the RSS run, 0 for none")
    options = parser.parse_args()
    upstream = subprocess.Popen([sys.executable, str(HERE / "_server.py")], stdout=subprocess.PIPE, text=True)
    try:
        server = json.loads(upstream.stdout.readline())
        with tempfile.TemporaryDirectory() as folder:
            if options.rounds:
                compare(STACKS, server, 1_000, options.pages, options.rounds, folder)
                compare(STACKS, server, 100_000, options.big_pages, options.rounds, folder)
            if options.redis_rounds:
                compare_redis(server, options.pages, options.redis_rounds, folder)
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
