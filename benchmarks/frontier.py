"""The frontier against scrapy-redis's queue and seen-set, on one private Redis in one run.

    python benchmarks/frontier.py [--requests N] [--seen N] [--big] [--queued N] [--rounds N] [--batch N]

Speed: requests a second into seen-set and queue, and out of the queue again (ours: leased, decoded, acknowledged);
fingerprints are made beforehand. scrapy-redis has commands for each request; ours is told in bundles, as its worker
does it: 1,000 new requests, or ``--batch`` leases and acknowledgements, a call. Memory: what ``used_memory`` of Redis
grows by. Depth: CPU of this process and of Redis per request leased, decoded, acknowledged and followed by a child,
with ``--queued`` requests in the queue against a hundredth of it. Rounds alternate and the median counts. Exit code 1
when a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from _chaos_parts import PrivateRedis
from scrapy import Request, Spider
from scrapy_redis.queue import PriorityQueue

from fetchworker.frontier import codec
from fetchworker.frontier.entry import Child, Finished, News, Numbered
from fetchworker.frontier.keys import namespace
from fetchworker.frontier.store import Frontier
from fetchworker.redis import connect, resolve_redis_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

BUNDLE = 1000
#: what a ratio may be at least or at most
BARS = {"push": 5.0, "pop": 5.0, "bytes a request": 0.5, "bytes a URL seen": 12.0, "depth": 1.1}


class BenchSpider(Spider):
    name = "bench"


SPIDER = BenchSpider()


def requests(count: int) -> list[Request]:
    """Requests as a spider of product pages makes them."""
    return [
        Request(
            f"https://www.shop.example/category/{number % 90}/product/{number:08d}?ref=list&page={number % 40}",
            SPIDER.parse,
            meta={"depth": 3, "category": f"category {number % 90}", "position": number % 48},
            headers={"Referer": f"https://www.shop.example/category/{number % 90}"},
        )
        for number in range(count)
    ]


def fingerprints(count: int) -> list[int]:
    chosen = random.Random(count)
    return [chosen.getrandbits(64) - (1 << 63) for _ in range(count)]


def bundles(items: list, size: int) -> Iterator[list]:
    return (items[first : first + size] for first in range(0, len(items), size))


class Bench:
    """Both queues on one server."""

    def __init__(self, server: PrivateRedis, folder: str) -> None:
        self.sync = server.client()
        self.endpoint = resolve_redis_url(server.url, Path(folder))

    @asynccontextmanager
    async def frontier(self, name: str) -> AsyncIterator[Frontier]:
        client = connect(self.endpoint)
        try:
            yield Frontier(client, namespace("bench", name))
        finally:
            await client.aclose()

    def theirs(self) -> PriorityQueue:
        return PriorityQueue(self.sync, SPIDER, "%(spider)s:requests")

    def memory(self) -> int:
        """Bytes in use, once Redis has freed what was dropped before."""
        while (found := self.sync.info("memory"))["lazyfree_pending_objects"]:
            time.sleep(0.01)
        return int(found["used_memory"])

    def server_cpu(self) -> float:
        used = self.sync.info("cpu")
        return used["used_cpu_user"] + used["used_cpu_sys"]


# ── speed and memory of the queue ────────────────────────────────────────────────────────────────────────────────────


def their_speed(bench: Bench, made: list[Request]) -> dict[str, float]:
    queue, before, seen = bench.theirs(), bench.memory(), "bench:dupefilter"
    marks = [f"{number:040x}" for number in range(len(made))]
    start = time.perf_counter()
    for request, mark in zip(made, marks, strict=True):
        if bench.sync.sadd(seen, mark):
            queue.push(request)
    pushed = time.perf_counter() - start
    bench.sync.delete(seen)
    size = (bench.memory() - before) / len(made)
    start = time.perf_counter()
    popped = sum(queue.pop() is not None for _ in made)
    assert popped == len(made)
    return {"push": pushed, "pop": time.perf_counter() - start, "bytes a request": size}


async def our_speed(bench: Bench, made: list[Request], batch: int) -> dict[str, float]:
    marks = fingerprints(len(made))
    async with bench.frontier("speed") as frontier:
        before = bench.memory()
        start = time.perf_counter()
        await push(frontier, zip(made, marks, strict=True))
        pushed = time.perf_counter() - start
        for key in bench.sync.scan_iter(f"{frontier.names.seen}*", count=1000):
            bench.sync.delete(key)
        size = (bench.memory() - before) / len(made)
        start = time.perf_counter()
        assert await drain(frontier, batch) == len(made)
        popped = time.perf_counter() - start
        await frontier.purge()
    return {"push": pushed, "pop": popped, "bytes a request": size}


async def push(frontier: Frontier, pairs, first: int = 0) -> int:
    """Encode and queue; returns the number of the last bundle."""
    children: list[Child] = []
    for request, mark in pairs:
        children.append(Child(request.priority, mark, codec.encode(request, SPIDER)))
        if len(children) == BUNDLE:
            first += 1
            await frontier.turn(News(loose=Numbered(first, tuple(children))))
            children.clear()
    if children:
        first += 1
        await frontier.turn(News(loose=Numbered(first, tuple(children))))
    return first


async def drain(frontier: Frontier, batch: int) -> int:
    """Lease, decode and acknowledge until nothing is left."""
    news, done = News(), 0
    while True:
        answer = await frontier.turn(news, want=batch)
        if not answer.taken:
            return done
        for leased in answer.taken:
            codec.decode(leased.entry.payload, SPIDER, priority=leased.priority)
        done += len(answer.taken)
        news = News(finished=[Finished(leased.token) for leased in answer.taken])


# ── memory of the seen-set ───────────────────────────────────────────────────────────────────────────────────────────


async def our_seen(bench: Bench, count: int) -> float:
    """Bytes a URL, of the seen-set alone: what is queued meanwhile is leased and acknowledged again."""
    async with bench.frontier("seen") as frontier:
        before, chosen = bench.memory(), random.Random(7)
        for number, left in enumerate(range(count, 0, -BUNDLE), 1):
            marks = (chosen.getrandbits(64) - (1 << 63) for _ in range(min(BUNDLE, left)))
            children = tuple(Child(0, mark, b"") for mark in marks)
            answer = await frontier.turn(News(loose=Numbered(number, children)), want=BUNDLE)
            await frontier.turn(News(finished=[Finished(leased.token) for leased in answer.taken]))
        grown = (bench.memory() - before) / count
        await frontier.purge()
    return grown


def their_seen(bench: Bench, count: int) -> float:
    """Bytes a URL: SHA-1 in hex, in a set."""
    before, chosen = bench.memory(), random.Random(7)
    for first in range(0, count, BUNDLE):
        bench.sync.sadd("bench:dupefilter", *(chosen.randbytes(20).hex() for _ in range(min(BUNDLE, count - first))))
    grown = (bench.memory() - before) / count
    bench.sync.unlink("bench:dupefilter")
    return grown


# ── cost at depth ────────────────────────────────────────────────────────────────────────────────────────────────────


async def depth(bench: Bench, deep: int, steps: int, rounds: int, batch: int) -> tuple[float, float]:
    """Microseconds of CPU (ours and Redis's) a request, with a hundredth of ``deep`` queued and with ``deep``."""
    names = {"shallow": deep // 100, "deep": deep}
    results: dict[str, list[float]] = {name: [] for name in names}
    async with bench.frontier("shallow") as shallow, bench.frontier("deep") as full:
        frontiers = {"shallow": shallow, "deep": full}
        for name, frontier in frontiers.items():
            await fill(frontier, names[name])
        fresh = iter(range(deep * 2, 1 << 40))
        for _ in range(rounds):
            for name, frontier in frontiers.items():
                results[name].append(await cycle(bench, frontier, fresh, steps, batch))
        for frontier in frontiers.values():
            await frontier.purge()
    shallow_cost, deep_cost = (statistics.median(results[name]) for name in ("shallow", "deep"))
    return shallow_cost, deep_cost


def scattered(number: int) -> int:
    """A fingerprint that no other number has."""
    return (number * 0x9E3779B97F4A7C15 & ((1 << 64) - 1)) - (1 << 63)


async def fill(frontier: Frontier, count: int) -> None:
    payload = codec.encode(requests(1)[0], SPIDER)
    for number, first in enumerate(range(0, count, BUNDLE), 1):
        children = tuple(Child(0, scattered(place), payload) for place in range(first, min(first + BUNDLE, count)))
        await frontier.turn(News(loose=Numbered(number, children)))


async def cycle(bench: Bench, frontier: Frontier, fresh: Iterator[int], steps: int, batch: int) -> float:
    """Each request is leased, decoded, acknowledged, and has one child: the queue keeps its size."""
    news, done = News(), 0
    cpu = time.process_time() + bench.server_cpu()
    while done < steps:
        answer = await frontier.turn(news, want=batch)
        news = News()
        for leased in answer.taken:
            request = codec.decode(leased.entry.payload, SPIDER, priority=leased.priority)
            child = Child(request.priority, scattered(next(fresh)), codec.encode(request, SPIDER))
            news.finished.append(Finished(leased.token, (child,)))
        done += len(answer.taken)
    await frontier.turn(news)
    return (time.process_time() + bench.server_cpu() - cpu) / done * 1e6


# ── the report ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Report:
    """Ratios with their bars."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def line(self, what: str, ours: str, theirs: str, value: float, bar: str, *, least: bool = False) -> None:
        good = value >= BARS[bar] if least else value <= BARS[bar]
        told = f"{'>=' if least else '<='} {BARS[bar]:g}{'' if good else '  MISSED'}"
        print(f"{what:34}{ours:>14}{theirs:>14}{value:9.2f} {told}", flush=True)
        if not good:
            self.missed.append(what)


async def compare(options: argparse.Namespace, server: PrivateRedis, folder: str, report: Report) -> None:
    bench, made = Bench(server, folder), requests(options.requests)
    found: dict[str, list[dict[str, float]]] = {"ours": [], "theirs": []}
    for _ in range(options.rounds):
        found["theirs"].append(their_speed(bench, made))
        found["ours"].append(await our_speed(bench, made, options.batch))
    middle = {who: {key: statistics.median(one[key] for one in each) for key in each[0]} for who, each in found.items()}
    ours, theirs = middle["ours"], middle["theirs"]
    print(f"{'':34}{'fetchworker':>14}{'scrapy-redis':>14}{'ratio':>9}")
    for key, what in (("push", "queued a second"), ("pop", "leased and done / popped a second")):
        rates = [f"{len(made) / one[key]:,.0f}" for one in (ours, theirs)]
        report.line(what, *rates, theirs[key] / ours[key], key, least=True)
    sizes = [f"{one['bytes a request']:.0f}" for one in (ours, theirs)]
    ratio = ours["bytes a request"] / theirs["bytes a request"]
    report.line("bytes a request queued", *sizes, ratio, "bytes a request")
    for count in [options.seen, options.seen * 10] if options.big else [options.seen]:
        seen, hexed = await our_seen(bench, count), their_seen(bench, count)
        report.line(f"bytes a URL seen, {count:,}", f"{seen:.1f}", f"{hexed:.1f}", seen, "bytes a URL seen")
    shallow, deep = await depth(bench, options.queued, options.requests, options.rounds, options.batch)
    what = f"us CPU at {options.queued:,} / {options.queued // 100:,}"
    report.line(what, f"{deep:.0f}", f"({shallow:.0f})", deep / shallow, "depth")


async def run(options: argparse.Namespace) -> list[str]:
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        server = PrivateRedis(Path(folder), durable=False)
        server.start()
        try:
            await compare(options, server, folder, report)
        finally:
            server.kill()
    return report.missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seen", type=int, default=1_000_000, help="URLs in the seen-set")
    parser.add_argument("--big", action="store_true", help="ten times as many URLs as well")
    parser.add_argument("--queued", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch", type=int, default=32, help="leases and acknowledgements of one call")
    missed = asyncio.run(run(parser.parse_args()))
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
