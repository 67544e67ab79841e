"""What safe egress costs, as a share of the CPU of a request.

    python benchmarks/guard.py [--pages N] [--times N]

Two runs of a whole crawl would have to differ by less than they scatter, so its parts are timed by themselves: what
each request pays (its URL is judged by the middleware and by the handler, and the guard is told the route) and what
each connection pays besides (curl asks for a socket, by the address). The CPU of a request is that of crawl.py's
first stack in the same run, where 16 sessions keep their connections; a stateless request opens one each.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from ipaddress import IPv4Address

from crawl import HERE, run

from fetchworker.egress import EgressPolicy
from fetchworker.egress.guard import DIRECT, Guard

GOAL = 0.02
URLS = [f"https://host-{number % 16}.example/page/{number}" for number in range(4096)]
ADDRESS = IPv4Address("93.184.215.14")


def per_request(times: int) -> float:
    """Milliseconds of CPU."""
    policy, guard = EgressPolicy(), Guard(EgressPolicy())
    begun = time.process_time()
    for number in range(times):
        url = URLS[number % len(URLS)]
        assert policy.classify(url).allowed
        assert policy.classify(url).allowed
        guard.begin(DIRECT)
    return (time.process_time() - begun) / times * 1000


def per_connection(times: int) -> float:
    """Milliseconds of CPU besides."""
    guard = Guard(EgressPolicy())
    begun = time.process_time()
    for _ in range(times):
        assert guard.permits(ADDRESS, 443)
    return (time.process_time() - begun) / times * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=3000, help="pages of 1 KB")
    parser.add_argument("--times", type=int, default=100_000, help="how often each part is done")
    options = parser.parse_args()
    upstream = subprocess.Popen([sys.executable, str(HERE / "_server.py")], stdout=subprocess.PIPE, text=True)
    try:
        server = json.loads(upstream.stdout.readline())
        with tempfile.TemporaryDirectory() as folder:
            whole = run("fetchworker", server, 1_000, options.pages, folder)["cpu_ms"]
    finally:
        upstream.terminate()
    kept, opened = per_request(options.times), per_connection(options.times)
    print(f"a request of 1 KB: {whole:.3f} ms of CPU")
    print(f"egress on a kept connection: {kept:.4f} ms, {kept / whole:.2%} of it (goal: {GOAL:.0%})")
    print(f"egress on a new connection:  {kept + opened:.4f} ms, {(kept + opened) / whole:.2%} of it")


if __name__ == "__main__":
    main()
