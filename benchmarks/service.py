"""`POST /fetch` of `scrapy serve` beside a bare FastAPI application with curl_cffi, one after the other in one run.

    python benchmarks/service.py [--calls N] [--rounds N] [--flat N]

Both get pages of 2 KB from a local upstream over TLS, with the same connection policy: without a session a connection
for each call, with one (20 names) connections that are used again; ours keeps sessions in a Redis of this run's own.
Prints calls a second and CPU per call of the serving process at 20 connections, their ratios, the median time that is
added at one connection; then RSS and open files over many calls. Rounds alternate, and the median counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import yaml
from _chaos_parts import PrivateRedis

HERE = Path(__file__).parent
ROOT = HERE.parent
CONNECTIONS = 20
#: what ours may be of the bare application at least (calls a second), and the milliseconds it may add at most
STATELESS, STATEFUL, ADDED = 0.6, 0.45, 1.5


class Server:
    """A serving process."""

    def __init__(self, command: list[str], env: dict[str, str], port: int) -> None:
        self.port = port
        self._process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=sys.stderr)
        for _ in range(600):
            if self._process.poll() is not None:
                sys.exit("the server did not start")
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.1)
        self.process = psutil.Process(self._process.pid)

    def cpu(self) -> float:
        times = self.process.cpu_times()
        return times.user + times.system

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def load(port: int, calls: int, connections: int, *, stateful: bool) -> list[float]:
    """So many calls over so many connections; the seconds that each took."""
    left = iter(range(calls))
    took: list[float] = []

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        told = {"url": "https://bench.example/page/2048/1"} | ({"session_id": f"s{number}"} if stateful else {})
        body = json.dumps(told).encode()
        head = "POST /fetch HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        request = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
        for _ in left:
            started = time.perf_counter()
            writer.write(request)
            answer = await reader.readuntil(b"\r\n\r\n")
            length = int(answer.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            content = await reader.readexactly(length)
            if not answer.startswith(b"HTTP/1.1 200"):
                sys.exit(f"{answer!r} {content[:500]!r}")
            took.append(time.perf_counter() - started)
        writer.close()

    await asyncio.gather(*(client(number) for number in range(connections)))
    return took


def measure(server: Server, calls: int, connections: int, *, stateful: bool) -> dict[str, float]:
    asyncio.run(load(server.port, max(50, connections * 3), connections, stateful=stateful))
    cpu, started = server.cpu(), time.perf_counter()
    took = asyncio.run(load(server.port, calls, connections, stateful=stateful))
    elapsed = time.perf_counter() - started
    cpu_ms = (server.cpu() - cpu) * 1000 / calls
    return {"rate": calls / elapsed, "cpu_ms": cpu_ms, "p50": statistics.median(took) * 1000}


def compare(
    ours: Server, bare: Server, calls: int, rounds: int, connections: int, *, stateful: bool
) -> dict[str, float]:
    found: dict[str, list[dict[str, float]]] = {"ours": [], "bare": []}
    for _ in range(rounds):
        for name, server in (("ours", ours), ("bare", bare)):
            found[name].append(measure(server, calls, connections, stateful=stateful))
    medians = {
        name: {key: statistics.median(one[key] for one in all_) for key in all_[0]} for name, all_ in found.items()
    }
    mine, its = medians["ours"], medians["bare"]
    kind = "stateful" if stateful else "stateless"
    for name, one in medians.items():
        told = f"{one['rate']:7.0f} calls/s {one['cpu_ms']:7.3f} ms CPU {one['p50']:7.2f} ms p50"
        print(f"{kind:10}{connections:3} connections  {name:5}{told}")
    return {
        "rate": mine["rate"] / its["rate"], "cpu": its["cpu_ms"] / mine["cpu_ms"], "added": mine["p50"] - its["p50"],
    }  # fmt: skip


def flat(ours: Server, calls: int) -> None:
    """RSS and open files over many calls, at each tenth."""
    told = []
    for _ in range(10):
        asyncio.run(load(ours.port, calls // 10, CONNECTIONS, stateful=False))
        told.append((ours.process.memory_info().rss / 2**20, ours.process.num_fds()))
    print(f"\nover {calls:,} calls, RSS in MiB and open files at each tenth:")
    print("  ".join(f"{rss:.1f}/{fds}" for rss, fds in told))
    print(f"RSS of the last to the second tenth: {told[-1][0] / told[1][0]:.3f}")


def start(folder: Path, server: dict, redis_url: str) -> tuple[Server, Server]:
    names = yaml.safe_load((ROOT / "sites.yaml").read_text())["sites"]
    entry = {"proxy": "none", "robots": "ignore", "concurrency": 256}
    (folder / "sites.yaml").write_text(json.dumps({"sites": dict.fromkeys(names, entry)}))
    clean = {name: value for name, value in os.environ.items() if not name.startswith("FETCHWORKER_")}
    env = clean | {
        "FETCHWORKER_SITES_FILE": str(folder / "sites.yaml"), "FETCHWORKER_STATE_DIR": str(folder / "state"),
        "FETCHWORKER_HOST_MAP": json.dumps({"bench.example:443": f"127.0.0.1:{server['port']}"}),
        "FETCHWORKER_CA_FILE": server["ca"], "FETCHWORKER_REDIS_URL": redis_url, "FETCHWORKER_LOG_LEVEL": "WARNING",
    }  # fmt: skip
    port, other = free_port(), free_port()
    ours = [sys.executable, "-m", "scrapy", "serve", "--stateless", "--port", str(port)]
    bare = [sys.executable, str(HERE / "_bare_api.py"), str(other), server["ca"], str(server["port"])]
    return Server(ours, env, port), Server(bare, clean, other)


def told(name: str, value: float, goal: str) -> None:
    print(f"{name:44}{value:8.2f}   goal {goal}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--flat", type=int, default=20_000, help="calls of the RSS run, 0 for none")
    options = parser.parse_args()
    upstream = subprocess.Popen([sys.executable, str(HERE / "_server.py")], stdout=subprocess.PIPE, text=True)
    with tempfile.TemporaryDirectory() as name:
        redis = PrivateRedis(Path(name), durable=False)
        redis.start()
        ours, bare = start(Path(name), json.loads(upstream.stdout.readline()), redis.url)
        try:
            calls, rounds = options.calls, options.rounds
            if rounds:
                many = compare(ours, bare, calls, rounds, CONNECTIONS, stateful=False)
                kept = compare(ours, bare, calls, rounds, CONNECTIONS, stateful=True)
                one = compare(ours, bare, calls // 4, rounds, 1, stateful=False)
                print()
                told("stateless, calls/s of the bare application's", many["rate"], f">= {STATELESS}")
                told("stateless, calls per CPU", many["cpu"], f">= {STATELESS}")
                told("stateful, calls/s", kept["rate"], f">= {STATEFUL}")
                told("stateful, calls per CPU", kept["cpu"], f">= {STATEFUL}")
                told("added to the median at one connection, ms", one["added"], f"<= {ADDED}")
            if options.flat:
                flat(ours, options.flat)
        finally:
            for process in (ours, bare):
                process.close()
            redis.kill()
            upstream.terminate()
            upstream.wait()


if __name__ == "__main__":
    main()
