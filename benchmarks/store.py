"""What storing costs: items a second, and CPU of this process per item, on SQLite and on PostgreSQL.

    python benchmarks/store.py [--items N] [--batch N] [--rounds N] [--url URL]

Items of some 1 KB go through the writer that crawls use, 32 pages of 16 items at once. "new": things that are not there
yet; "again": observations of things that are, joined with what is known. Each round has databases of its own and the
median counts; commits are synced to disk. PostgreSQL is a server of this program's own, or ``--url``.
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


async def measure(url: str, items: int, batch: int) -> dict[str, tuple[float, float]]:
    store = await ItemStore.open(place_of(SecretStr(url)))
    results = {}
    for day, name in ((1, "new"), (2, "again")):
        writer = BatchWriter(store.save, size=batch, delay=0.01)
        wall, cpu = time.perf_counter(), time.process_time()
        await write(writer, range(items), day)
        await writer.close()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        results[name] = items / wall, cpu / items * 1e6
    await store.close()
    return results


def compare(name: str, urls: list[str], items: int, batch: int) -> None:
    found = [asyncio.run(measure(url, items, batch)) for url in urls]
    for case in ("new", "again"):
        speed, cpu = (statistics.median(result[case][part] for result in found) for part in (0, 1))
        print(f"{name:12}{case:8}{speed:10.0f} items/s{cpu:10.0f} us CPU an item")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--batch", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--url", help="an empty database to use once instead of a PostgreSQL of our own")
    options = parser.parse_args()
    rounds = range(options.rounds)
    with tempfile.TemporaryDirectory() as folder:
        files = [f"sqlite:///{Path(folder) / f'{number}.db'}" for number in rounds]
        compare("SQLite", files, options.items, options.batch)
    if options.url:
        compare("PostgreSQL", [options.url], options.items, options.batch)
        return
    with PostgresServer() as server:
        compare("PostgreSQL", [server.create(f"b{number}") for number in rounds], options.items, options.batch)


if __name__ == "__main__":
    main()
