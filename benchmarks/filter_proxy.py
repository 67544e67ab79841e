"""What the browser's filtering proxy carries, beside direct connections in the same run.

    python benchmarks/filter_proxy.py [--requests N] [--clients N]

A server, the proxy and the clients are a process each, on loopback, with answers of 1 KB. ``new connections``: one for
each request, by the proxy a tunnel (CONNECT with credentials, judged, connected, answered). ``kept``: each client
stays on its connection or in its tunnel. ``plain``: requests in absolute form on kept connections to the proxy, each of
which has a connection of its own to the server. CPU is the proxy's own, user and system.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time

import psutil
import uvloop

GOAL = 1_000  # requests a second
BODY = b"x" * 1024
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 1024\r\n\r\n" + BODY
HEAD = b"GET / HTTP/1.1\r\nHost: bench.example\r\n\r\n"


async def server() -> None:
    async def answer(reader, writer):
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(ANSWER)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            writer.transport.abort()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024)
    print(json.dumps({"port": listening.sockets[0].getsockname()[1]}), flush=True)
    await listening.serve_forever()


async def proxy() -> None:
    from fetchworker.config import destinations
    from fetchworker.egress import EgressPolicy
    from fetchworker.egress.filter_proxy import FilterProxy
    from fetchworker.egress.filter_proxy.head import basic

    async with FilterProxy(EgressPolicy(allow=destinations("127.0.0.1"))) as made:
        run = made.open_run()
        credentials = basic(run.username, run.password.get_secret_value()).decode()
        print(json.dumps({"port": int(run.url.rpartition(":")[2]), "credentials": credentials}), flush=True)
        await asyncio.Event().wait()


class Client:
    """Asks for a page, in one of the ways."""

    def __init__(self, way: str, target: int, by: dict | None) -> None:
        self.kept, self.plain, self.by, self.target = way != "new connections", way == "plain", by, target
        self.streams = None
        self.head = HEAD
        if by and self.plain:
            url = f"GET http://127.0.0.1:{target}/ HTTP/1.1\r\n"
            self.head = f"{url}Host: x\r\nProxy-Authorization: {by['credentials']}\r\n\r\n".encode()

    async def ask(self) -> None:
        if self.streams is None:
            self.streams = await self.connect()
        reader, writer = self.streams
        writer.write(self.head)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        assert await reader.readexactly(1024) == BODY
        if not self.kept:
            self.close()

    async def connect(self):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.by["port"] if self.by else self.target)
        if self.by and not self.plain:
            place = f"127.0.0.1:{self.target}"
            credentials = f"Proxy-Authorization: {self.by['credentials']}"
            writer.write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{credentials}\r\n\r\n".encode())
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        return reader, writer

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].transport.abort()
        self.streams = None


async def measure(clients: list[Client], requests: int) -> tuple[float, float]:
    """Requests a second, and the median of their milliseconds."""
    took: list[float] = []

    async def work(client: Client) -> None:
        for _ in range(requests // len(clients)):
            begun = time.perf_counter()
            await client.ask()
            took.append(time.perf_counter() - begun)
        client.close()

    begun = time.perf_counter()
    await asyncio.gather(*(work(client) for client in clients))
    return len(took) / (time.perf_counter() - begun), statistics.median(took) * 1000


async def compare(options: argparse.Namespace, target: int, by: dict, pid: int) -> bool:
    process, good = psutil.Process(pid), True
    for way in ("new connections", "kept", "plain"):
        for name, through in (("direct", None), ("proxy", by)):
            await measure([Client(way, target, through) for _ in range(options.clients)], options.requests // 10)
            before = sum(process.cpu_times()[:2])
            rate, median = await measure(
                [Client(way, target, through) for _ in range(options.clients)], options.requests
            )
            cpu = (sum(process.cpu_times()[:2]) - before) / options.requests * 1000
            print(f"{way:16} {name:7} {rate:7.0f} req/s   p50 {median:6.2f} ms   proxy's CPU {cpu:5.2f} ms")
            good = good and (through is None or rate >= GOAL)
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=5_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--part", choices=("server", "proxy"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        uvloop.run(server() if options.part == "server" else proxy())
        return
    command = [sys.executable, __file__, "--part"]
    parts = [subprocess.Popen([*command, part], stdout=subprocess.PIPE, text=True) for part in ("server", "proxy")]
    try:
        target, by = (json.loads(part.stdout.readline()) for part in parts)
        good = uvloop.run(compare(options, target["port"], by, parts[1].pid))
    finally:
        for part in parts:
            part.terminate()
            part.wait()
    print(f"goal: {GOAL} req/s by the proxy in each way: {'met' if good else 'missed'}")
    sys.exit(not good)


if __name__ == "__main__":
    main()
