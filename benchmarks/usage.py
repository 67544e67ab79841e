"""What counting bytes costs, as a share of the CPU of a request.

    python benchmarks/usage.py [--pages N] [--times N]

As guard.py: two runs of a whole crawl would have to differ by less than they scatter, so the parts are timed by
themselves, on a real connection: what each request pays (a charge is opened, the kernel is asked once, the charge is
judged), what each batch of a crawl pays (two seconds of requests, folded into stats), and what each connection pays
besides. The CPU of a request is that of crawl.py's first stack in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace

from crawl import HERE, run
from curl_cffi import Curl
from scrapy import Request

from fetchworker.download.charging import open_charge
from fetchworker.download.meter import NO_TALLY, Meter
from fetchworker.usage import UNJUDGED, Keeper, Ledger

GOAL = 0.02


def pair() -> tuple[socket.socket, socket.socket, socket.socket]:
    listener = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(listener.getsockname())
    return listener, client, listener.accept()[0]


def per_request(times: int) -> float:
    """Milliseconds of CPU."""
    sockets, meter, curl, ledger = pair(), Meter(exact=True), Curl(), Ledger()
    meter.watcher(SimpleNamespace(curl=curl, tally=NO_TALLY))(sockets[1])
    keeper = Keeper(ledger, None, lambda _name, _by: None)
    request = Request("https://a.example/", meta={"fw_call": {"operation": "page"}, "fw_session": "s"})
    begun = time.process_time()
    for number in range(times):
        charge = open_charge(ledger, "site", request, None)
        meter.settle(curl, charge, shared=False)
        charge.end(UNJUDGED)
        charge.judge("ok")
        if number % 1000 == 0:
            asyncio.run(keeper.flush(older=0))
    spent = (time.process_time() - begun) / times * 1000
    meter.close()
    for each in sockets:
        each.close()
    return spent


def per_connection(times: int) -> float:
    """Milliseconds of CPU besides."""
    meter, curl = Meter(exact=True), Curl()
    owner = SimpleNamespace(curl=curl, tally=NO_TALLY)
    made = [socket.socket() for _ in range(min(times, 500))]
    begun = time.process_time()
    for each in made:
        meter.watcher(owner)(each)
    for each in made:
        meter.ended(each.fileno())
    return (time.process_time() - begun) / len(made) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=3000, help="pages of 1 KB")
    parser.add_argument("--times", type=int, default=50_000, help="how often each part is done")
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
    print(f"counting on a kept connection: {kept:.4f} ms, {kept / whole:.2%} of it (goal: {GOAL:.0%})")
    print(f"counting on a new connection:  {kept + opened:.4f} ms, {(kept + opened) / whole:.2%} of it")


if __name__ == "__main__":
    main()
