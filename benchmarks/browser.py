"""What a page in the browser costs, and that nothing of many pages is left.

    python benchmarks/browser.py [--contexts N] [--pages N]

``context``: a context made (Playwright's ``new_context``, with its run of the filtering proxy) and closed, one after
the other. ``page``: a page in it until it can be used. ``pages``: so many pages of a local site in contexts of their
own, five at a time; a third of them never answers, or its script raises. Then no context may be left, and the memory of
the browser is told after every fifty. Ends with 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time

from fetchworker.browser import BrowserEngine, ContextSpec, EngineOptions
from fetchworker.config import destinations
from fetchworker.egress import EgressPolicy
from fetchworker.errors import BrowserError

GOAL = 0.060  # seconds for a new context on chromium-headless-shell
AT_ONCE = 5
MIB = 1 << 20


async def answer(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            if b"GET /never" in head:
                await reader.read()
                return
            body = b"<title>here</title>" + b"<p>text" * 500
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


def told(name: str, times: list[float]) -> float:
    times = sorted(times)
    middle = statistics.median(times)
    print(f"{name:28} median {middle * 1000:6.1f} ms, p90 {times[int(len(times) * 0.9)] * 1000:6.1f} ms")
    return middle


async def contexts(engine: BrowserEngine, spec: ContextSpec, number: int) -> bool:
    made, opened = [], []
    for _ in range(number):
        started = time.perf_counter()
        async with engine.context(spec) as context:
            made.append(time.perf_counter() - started)
            started = time.perf_counter()
            async with context.page():
                opened.append(time.perf_counter() - started)
        await engine.settled()  # what is measured is the making alone
    middle = told("context", made)
    told("page", opened)
    return middle <= GOAL


async def one(engine: BrowserEngine, spec: ContextSpec, url: str, number: int) -> str:
    async def work(context):
        async with context.page() as page:
            await page.goto(url + ("/never" if number % 6 == 1 else "/"))
            if number % 6 == 4:
                await page.evaluate("() => { throw new Error('no') }")
            return await page.title()

    try:
        return await engine.run(spec, work)
    except BrowserError as exc:
        return exc.layer


async def pages(engine: BrowserEngine, spec: ContextSpec, url: str, number: int) -> bool:
    found, started = [], time.perf_counter()
    memory = []
    for first in range(0, number, 50):
        places = asyncio.Semaphore(AT_ONCE)

        async def bounded(place: int, places=places) -> str:
            async with places:
                return await one(engine, spec, url, place)

        found += await asyncio.gather(*(bounded(place) for place in range(first, min(first + 50, number))))
        memory.append(await engine.memory() / MIB)
    await engine.settled()
    counts = {name: found.count(name) for name in sorted(set(found))}
    print(f"{number} pages in {time.perf_counter() - started:.0f} s: {counts}; engine: {dict(engine.counts)}")
    print(f"contexts left: {engine.contexts}; memory (MiB): {', '.join(f'{each:.0f}' for each in memory)}")
    return engine.contexts == 0 and set(found) <= {"here", "deadline", "action"}


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--contexts", type=int, default=50)
    parser.add_argument("--pages", type=int, default=300)
    arguments = parser.parse_args()
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    spec = ContextSpec(policy=EgressPolicy(allow=destinations("127.0.0.1")), deadline=10)
    engine = await BrowserEngine.of(EngineOptions())
    started = time.perf_counter()
    async with engine.context(spec):
        print(f"driver and browser started: {time.perf_counter() - started:.1f} s")
    try:
        good = await contexts(engine, spec, arguments.contexts)
        few = ContextSpec(policy=spec.policy, deadline=3)
        good = await pages(engine, few, f"http://127.0.0.1:{port}", arguments.pages) and good
    finally:
        await engine.release()
        server.close()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
