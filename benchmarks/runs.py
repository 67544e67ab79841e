"""What watching runs costs, how quickly rows come home, and whether every run ends right though its control is killed.

    python benchmarks/runs.py [waiting] [ingest] [chaos] [--jobs N] [--runs N] [--rows N] [--seconds N] [--kills N]

"waiting": CPU of a process that watches ``--jobs`` jobs which all run and write nothing, in one run, in ``--runs`` runs
and in a run each, at the default tick of 60 s, beside the process with nothing to watch; the nodes answer at once, in
the process. "ingest": rows of some 700 bytes a second, from a job's lines into a new table, and the same lines once
more by a second job of the run. "chaos": the control process is killed ``--kills`` times at random while three runs
go on, a job and PostgreSQL are killed in the middle. SQLite and PostgreSQL, a server of this program's own.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
from pydantic import SecretStr
from scrapy.settings import Settings
from sqlalchemy import select

from fetchworker.config import Environment
from fetchworker.db import place_of
from fetchworker.db.runtables import scrape_attempts
from fetchworker.demo.postgres import PostgresServer
from fetchworker.errors import StorageAwayError
from fetchworker.platforms import Chunk, JobState, JobStatus, NodeStatus, Placement
from fetchworker.runs.ingest import Ingest, Source
from fetchworker.runs.models import RunRequest
from fetchworker.runs.service import Runs

HERE = Path(__file__).parent
TESTS = HERE.parent / "tests" / "runs"


class Idle:
    """Nodes whose jobs run and write nothing."""

    def __init__(self) -> None:
        self.calls = 0

    async def nodes(self) -> list[NodeStatus]:
        return [NodeStatus(f"n{number}", up=True) for number in range(4)]

    async def spawn(
        self, spec: Any, *, avoid: frozenset[str] = frozenset(), at: str | None = None, intend: Any = None
    ) -> Placement:
        return Placement(spec.job_id, f"n{sum(spec.job_id.encode()) % 4}")

    async def statuses(self, node: str, job_ids: Any) -> dict[str, JobStatus]:
        self.calls += 1
        return {job_id: JobStatus(job_id, JobState.RUNNING, started_at=1.0) for job_id in job_ids}

    async def close(self) -> None:
        pass


class Lines:
    """A job's lines in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    async def items(self, node: str, job_id: str, *, offset: int, limit: int) -> Chunk:
        return Chunk(self._data[offset : offset + limit], offset, len(self._data))


def settings() -> Settings:
    made = Settings()
    made.setmodule("fetchworker.settings", priority="project")
    made.set("SPIDER_MODULES", ["fetchworker.spiders.fetch"])
    return made


async def opened(url: str, platform: Any, *, engine: bool = True, **variables: Any) -> Runs:
    environment = Environment(runs_jobs_max=100_000, **variables)
    place = place_of(SecretStr(url))
    return await Runs.open(place, platform, environment=environment, settings=settings(), engine=engine)


def request(jobs: int) -> RunRequest:
    entry = {"actor": "fetch", "input": "https://site.example/"}
    return RunRequest.model_validate({"workspaceId": "bench", "runs": [entry] * jobs})


# ── waiting ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def share(seconds: float) -> float:
    """Per cent of a core that this process takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.sleep(seconds)
    return (time.process_time() - cpu) / (time.perf_counter() - wall) * 100


async def all_run(runs: Runs, number: int) -> None:
    running = scrape_attempts.c.attempt_id
    query = select(running).where(scrape_attempts.c.state == "running")
    while len(await runs._store.read(query)) < number:  # noqa: ASYNC110, SLF001  # what is asked is a database
        await asyncio.sleep(1)


async def waiting(url: str, jobs: int, runs_: int, seconds: float) -> None:
    platform = Idle()
    runs = await opened(url, platform)
    try:
        for _ in range(runs_):
            await runs.start(request(jobs // runs_))
        begun = time.perf_counter()
        await all_run(runs, jobs)
        print(f"    {jobs} jobs in {runs_} runs run after {time.perf_counter() - begun:.1f} s", flush=True)
        await asyncio.sleep(5)
        platform.calls = 0
        taken = await share(seconds)
        print(f"    waiting: {taken:.1f} % of a core; {platform.calls / seconds:.2f} status calls a second", flush=True)
    finally:
        await runs.close()


async def idle(url: str, seconds: float) -> None:
    runs = await opened(url, Idle())
    try:
        print(f"    nothing to watch: {await share(seconds):.1f} % of a core", flush=True)
    finally:
        await runs.close()


# ── ingest ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def data_of(rows: int) -> bytes:
    item = {
        "kind": "post", "site": "bench", "operation": "posts", "url": "https://site.example/p/1",
        "fetched_at": "2026-01-01T10:00:00Z", "text": "A walk along the river, and what was seen there. " * 6,
        "likes": 3, "media": [{"type": "image", "url": "https://cdn.example/1.jpg?sig=0123456789abcdef"}],
        "author": {"id": "7", "username": "ann"}, "hashtags": ["river", "walk"], "extra": {"layout": None},
    }  # fmt: skip
    dice = random.Random(1)
    ids = (f"{dice.getrandbits(128):032x}" for _ in range(rows))
    return b"".join(json.dumps({"item_id": id_} | item).encode() + b"\n" for id_ in ids)


async def ingest(url: str, rows: int) -> None:
    data = data_of(rows)
    runs = await opened(url, Idle(), engine=False)
    try:
        run = await runs.start(request(2))
        for job, case in ((0, "new rows"), (1, "the same again")):
            source = Source(run.run_id, f"{run.run_id}-{job}", f"{run.run_id}-{job}.1", "n", 0)
            wall, cpu = time.perf_counter(), time.process_time()
            before, grown = rss(), [0.0]
            watch = asyncio.create_task(watched(before, grown))
            await Ingest(runs._store, Lines(data)).bring(source, whole=True)  # noqa: SLF001  # as above
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            watch.cancel()
            each = (
                f"{cpu / rows * 1e6:.0f} us CPU a row, {len(data) // rows} bytes a row, at most {grown[0]:.0f} MiB more"
            )
            print(f"    {case:16}{rows / wall:10.0f} rows/s, {each}", flush=True)
        assert (await runs.get(run.run_id)).items == rows
    finally:
        await runs.close()


def rss() -> float:
    """MiB that this process holds."""
    return psutil.Process().memory_info().rss / 2**20


async def watched(before: float, grown: list[float]) -> None:
    while True:
        grown[0] = max(grown[0], rss() - before)
        await asyncio.sleep(0.05)


# ── chaos ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def chaos(url: str, kills: int, server: PostgresServer | None) -> None:
    def load(name: str) -> Any:
        spec = importlib.util.spec_from_file_location(f"runs_{name}", TESTS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module

    tests = load("_nodes")
    with tempfile.TemporaryDirectory() as folder:
        nodes = tests.Nodes(Path(folder))
        try:
            await one_chaos(url, kills, server, nodes, tests)
        finally:
            nodes.kill_all()


async def one_chaos(url: str, kills: int, server: PostgresServer | None, nodes: Any, tests: Any) -> None:
    runs = await opened(url, nodes, engine=False, runs_callback_secret=SecretStr("signs"))
    dice = random.Random(11)

    async def patiently(ask: Any) -> Any:
        while True:
            try:
                return await ask()
            except StorageAwayError:
                await asyncio.sleep(0.2)

    jobs = ["rows=900&wait=late&more=100", "rows=50&first=5000", "rows=10&first=6000&end=failed&wait=mid"]
    body = {"workspaceId": "w", "callbackWebhook": "https://caller.example/done"}
    entries = [{"actor": "fetch", "input": f"https://site.example/?{job}"} for job in jobs]
    asked = RunRequest.model_validate({**body, "runs": entries})
    ids = [(await runs.start(asked)).run_id for _ in range(3)]
    for number in range(kills):
        process = tests.control(url, nodes)
        await asyncio.to_thread(process.stdout.readline)
        await asyncio.sleep(dice.uniform(0, 1.5))
        tests.kill(process)
        if number == kills // 2:
            nodes.go("mid")
            if server is not None:
                server.kill()
                server.start()
    [victim] = nodes.folder.glob(f"n*/{ids[2]}-0.1")
    os.kill(nodes.pid_of(victim), signal.SIGKILL)
    nodes.go("late")
    process = tests.control(url, nodes)
    try:
        found = []
        async with asyncio.timeout(120):
            while not (found and all(run.ended for run in found)):
                await asyncio.sleep(0.2)
                found = [await patiently(lambda run_id=run_id: runs.get(run_id)) for run_id in ids]
    finally:
        tests.kill(process)
    spawned = Counter(nodes.spawned())
    states = [(run.state, run.exit_causes, run.items) for run in found]
    print(f"    {kills} kills: {states}; {len(spawned)} jobs, spawned {max(spawned.values())} time(s)", flush=True)
    good, killed = ({"failed": 1, "ok": 2}, 1060), ({"failed": 1, "killed": 1, "ok": 1}, 960)
    assert states == [("partial", *good), ("partial", *good), ("partial", *killed)], states
    assert (len(spawned), set(spawned.values())) == (9, {1})
    await runs.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["waiting", "ingest", "chaos"])
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--seconds", type=float, default=65)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, PostgresServer() as server:
        urls = {
            "sqlite": lambda name: f"sqlite:///{Path(folder) / f'{name}.db'}",
            "postgresql": server.create,
        }
        for kind in [options.only] if options.only else urls:
            url = urls[kind]
            if "ingest" in options.parts:
                print(f"{kind}: ingest")
                asyncio.run(ingest(url("ingest"), options.rows))
            if "waiting" in options.parts:
                print(f"{kind}: waiting")
                asyncio.run(idle(url("idle"), 20))
                for runs in dict.fromkeys((1, options.runs, options.jobs)):
                    asyncio.run(waiting(url(f"waiting{runs}"), options.jobs, runs, options.seconds))
            if "chaos" in options.parts:
                print(f"{kind}: chaos")
                asyncio.run(chaos(url("chaos"), options.kills, server if kind == "postgresql" else None))


if __name__ == "__main__":
    main()
