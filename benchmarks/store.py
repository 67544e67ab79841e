"""What storing costs: items a second, and CPU of this process per item, on SQLite and on PostgreSQL.

    python benchmarks/store.py [--items N] [--batch N] [--rounds N] [--there N] [--url URL]

Items of some 1 KB go through the writer that crawls use, 32 pages of 16 items at once. "new": things that are not there
yet; "again": observations of things that are, joined with what is known; "beside many": as "again", in a table that
holds ``--there`` more things; "one by one": as "new", each item in a transaction of its own. Each round has databases
of its own and the median counts; commits are synced to disk. Ratios compare cases of one run. PostgreSQL is a server of
this program's own, or ``--url``.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from pydantic import SecretStr

from fetchworker.db import place_of
from fetchworker.db.batches import BatchWriter
from fetchworker.db.observation import observe
from fetchworker.db.store import ItemStore
from fetchworker.demo.postgres import PostgresServer
from fetchworker.items import Media, Post

PAGES, PAGE = 32, 16


def item(number: int, day: int) -> Post:
    return Post(
        item_id=f"r{number}-{day}",
        site="bench",
        operation="posts",
        url=f"https://site.example/p/{number}",
        fetched_at=f"2026-01-{day:02d}T10:00:00Z",
        id=str(number),
        shortcode=f"c{number}",
        type="image",
        text="A walk along the river, and what was seen there. " * 6,
        likes=number * day,
        comments_count=3,
        media=[
            Media(type="image", url=f"https://cdn.example/{number}.jpg?sig=0123456789abcdef", width=1080, height=1350)
        ],
        author={"id": "7", "username": "ann"},
        hashtags=["river", "walk"],
        extra={"taken_with": {"app": "x", "version": 3}, "layout": None},
    )


async def write(writer: BatchWriter, numbers: range, day: int) -> None:
    async def page(first: int) -> None:
        await asyncio.gather(
            *(writer.write(observe(item(n, day), crawl_id="bench")) for n in numbers[first : first + PAGE])
        )

    async def crawl(worker: int) -> None:
        for first in range(worker * PAGE, len(numbers), PAGES * PAGE):
            await page(first)

    await asyncio.gather(*(crawl(worker) for worker in range(PAGES)))


async def timed(store: ItemStore, numbers: range, day: int, batch: int) -> tuple[float, float]:
    """Items a second, and microseconds of CPU an item."""
    writer = BatchWriter(store.save, size=batch, delay=0.01 if batch > 1 else 0)
    wall, cpu = time.perf_counter(), time.process_time()
    await write(writer, numbers, day)
    await writer.close()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return len(numbers) / wall, cpu / len(numbers) * 1e6


async def measure(url: str, items: int, batch: int, there: int) -> dict[str, tuple[float, float]]:
    store = await ItemStore.open(place_of(SecretStr(url)))
    results = {
        "new": await timed(store, range(items), 1, batch),
        "again": await timed(store, range(items), 2, batch),
    }
    await timed(store, range(items, items + there), 1, 1000)
    results["beside many"] = await timed(store, range(items), 3, batch)
    more = items + there
    results["one by one"] = await timed(store, range(more, more + max(items // 20, 1)), 1, 1)
    await store.close()
    return results


def compare(name: str, urls: list[str], options: argparse.Namespace) -> None:
    found = [asyncio.run(measure(url, options.items, options.batch, options.there)) for url in urls]
    speeds = {}
    for case in found[0]:
        speeds[case], cpu = (statistics.median(result[case][part] for result in found) for part in (0, 1))
        print(f"{name:12}{case:14}{speeds[case]:10.0f} items/s{cpu:10.0f} us CPU an item")
    whole, many = speeds["new"] / speeds["one by one"], speeds["beside many"] / speeds["again"]
    print(f"{name:12}batches of {options.batch} are {whole:.1f} times as fast as one by one")
    print(f"{name:12}with {options.there} things more in the table: {many:.2f} times as fast")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--batch", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--there", type=int, default=50_000)
    parser.add_argument("--url", help="an empty database to use once instead of a PostgreSQL of our own")
    options = parser.parse_args()
    rounds = range(options.rounds)
    with tempfile.TemporaryDirectory() as folder:
        files = [f"sqlite:///{Path(folder) / f'{number}.db'}" for number in rounds]
        compare("SQLite", files, options)
    if options.url:
        compare("PostgreSQL", [options.url], options)
        return
    with PostgresServer() as server:
        compare("PostgreSQL", [server.create(f"b{number}") for number in rounds], options)


if __name__ == "__main__":
    main()
