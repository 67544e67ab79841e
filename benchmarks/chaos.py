"""Kills workers and Redis in the midst of a crawl, and counts what is lost or doubled: nothing may be.

    python benchmarks/chaos.py [--pages N] [--workers N] [--kills N] [--stops N] [--redis-kills N] [--faults SHARE]
                               [--seed N] [--lease S] [--shared] [--frontier fetchworker|scrapy-redis] …

Workers crawl a tree of pages on loopback in one namespace (the crawl's, or with ``--shared`` the spider's, from seeds)
into one database and a JSON lines file each. A share of the upstream's tries fails (503, reset, torn body, slow).
Workers are killed (SIGKILL) and started again, or stand still (SIGSTOP) for longer than their lease; Redis is killed
and started again with its append-only file. All of it happens when the upstream has served a number of pages that the
seed picks. Exit code 1 when a page is missing or doubled, when a page was fetched again without a kill, stop, outage or
lapsed lease that explains it, or when something is left in Redis.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from _chaos_check import Disturbance, Findings, check
from _chaos_parts import PrivateRedis, Served, Upstream, Worker, environment
from _chaos_tree import Tree

CRAWL = "chaos-run"
SETTINGS = {
    "fetchworker": {"SCHEDULER": "fetchworker.frontier.scheduler.Scheduler"},
    "scrapy-redis": {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_PERSIST": "True",
    },
}


class Chaos:
    """One run."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.tree = Tree(options.pages, options.faults, options.seed)
        self.random = random.Random(options.seed)
        self.served = Served()
        self.redis = PrivateRedis(folder)
        self.upstream = Upstream((options.pages, options.faults, options.seed, options.lease), self.hear)
        self.workers: list[Worker] = []
        self.disturbances: list[Disturbance] = []
        self.found = Findings()
        self._tasks: set[asyncio.Task[None]] = set()
        self._outage = asyncio.Lock()
        self._due = self.plan()

    def plan(self) -> list[tuple[int, str]]:
        """After how many pages what happens, the first last."""
        options = self.options
        kinds = ["kill"] * options.kills + ["stop"] * options.stops + ["redis"] * options.redis_kills
        first, last = options.pages // 50, int(options.pages * 0.97)
        return sorted(((self.random.randint(first, last), kind) for kind in kinds), reverse=True)

    def hear(self, line: str) -> None:
        self.served.hear(line)
        while self._due and len(self.served.answers) >= self._due[-1][0]:
            self.spawn(self.disturb(self._due.pop()[1]))

    def _pool(self) -> dict[str, float] | None:
        """The pool of the site; its leases are as long as those of the queue."""
        size, lease = self.options.pool, self.options.lease
        return {"max_total": size, "max_idle": size, "lease": lease, "wait": 60} if size else None

    def spawn(self, work) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def disturb(self, kind: str) -> None:
        if kind == "redis":
            await self.restart_redis()
            return
        while not (able := [each for each in self.workers if each.runs and not each.stopped]):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        worker = self.random.choice([each for each in able if each.name in self.served.workers] or able)
        self.disturbances.append(Disturbance(time.monotonic(), kind, worker.name))
        if kind == "kill":
            worker.kill()
        else:
            await worker.pause(self.options.lease * 2)

    async def restart_redis(self) -> None:
        async with self._outage:
            outage = Disturbance(time.monotonic(), "redis", "")
            self.disturbances.append(outage)
            self.redis.kill()
            await asyncio.sleep(self.random.uniform(0.2, 1.5))
            await asyncio.to_thread(self.redis.start)
            outage.until = time.monotonic()

    async def run(self) -> None:
        self.redis.start()
        await self.upstream.start()
        started = time.monotonic()
        try:
            await self.crawl()
            for task in list(self._tasks):
                await task
            self.found.seconds = time.monotonic() - started
            check(self)
        finally:
            for task in self._tasks:
                task.cancel()
            for worker in self.workers:
                worker.end()
            await self.upstream.stop()
            self.redis.kill()

    async def crawl(self) -> None:
        own = {"CHAOS_URL": self.upstream.url, "FETCHWORKER_CRAWL_ID": CRAWL}
        if self.options.frontier == "fetchworker":
            own["FETCHWORKER_LEASE"] = f"{self.options.lease:g}"
        if self.options.shared:
            own = {"FETCHWORKER_LEASE": own["FETCHWORKER_LEASE"]}
            self.sow()
        env = environment(self.folder, self.upstream, self.redis, pool=self._pool(), **own)
        for number in range(self.options.workers):
            lines, log = self.folder / f"worker-{number}.jsonl", self.folder / f"worker-{number}.log"
            self.workers.append(Worker(number, self.command(lines), env, log))
        watch = asyncio.create_task(self.watch())
        await asyncio.gather(*(self.keep_running(worker) for worker in self.workers))
        watch.cancel()

    @property
    def spider(self) -> str:
        return "seeds" if self.options.shared else "chaos"

    def sow(self) -> None:
        """Seeds in place of start(): the first page, and some that other pages lead to as well."""
        client = self.redis.client()
        for page in range(0, self.tree.pages, max(1, self.tree.pages // 20)):
            seed = {"url": f"{self.upstream.url}/page/{page}", "priority": page % 3, "dont_filter": False}
            client.rpush("seeds:start_urls", json.dumps(seed))
        client.close()

    def command(self, lines: Path) -> tuple[str, ...]:
        settings = {"SPIDER_MODULES": "_chaos_spider", **SETTINGS[self.options.frontier]}
        if self.options.frontier == "scrapy-redis":
            settings["REDIS_URL"] = self.redis.url
        if self.options.shared:
            settings["SCHEDULER_IDLE_BEFORE_CLOSE"] = "3"
        given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        return (sys.executable, "-m", "scrapy", "crawl", self.spider, "-o", str(lines), *given)

    async def keep_running(self, worker: Worker) -> None:
        """Start the worker until it says that the crawl is done."""
        while not self.found.stuck:
            code = await worker.run()
            if code == 0:
                if len(self.served.answers) < len(self.tree.paths()):
                    self.found.violations.append(f"worker {worker.name} ended before every page was asked for")
                return
            if not worker.killed:
                self.found.violations.append(f"worker {worker.name} ended with exit code {code} by itself")
                if worker.codes.count(code) > 5:
                    return

    async def watch(self) -> None:
        quiet = self.options.quiet
        while time.monotonic() - self.served.last < quiet:  # noqa: ASYNC110
            await asyncio.sleep(1)
        self.found.stuck = True
        self.found.violations.append(f"no page was asked for in {quiet:g} s; the workers were ended")
        for worker in self.workers:
            worker.end()


async def run_whole(run: Chaos) -> None:
    """The run; one that is told to end (SIGTERM) ends what it has started."""
    task = asyncio.ensure_future(run.run())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await task


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--kills", type=int, default=50, help="SIGKILLs of a worker")
    parser.add_argument("--stops", type=int, default=5, help="SIGSTOPs of a worker for twice its lease")
    parser.add_argument("--redis-kills", type=int, default=2)
    parser.add_argument("--faults", type=float, default=0.3, help="share of tries that fail")
    parser.add_argument("--lease", type=float, default=3, help="seconds")
    parser.add_argument("--pool", type=int, default=0, help="sessions of a pool that all workers share (0: no pool)")
    parser.add_argument("--quiet", type=float, default=90, help="seconds without a page after which it is given up")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--frontier", choices=SETTINGS, default="fetchworker")
    parser.add_argument("--shared", action="store_true", help="seeds in the shared queue instead of a crawl's own")
    parser.add_argument("--folder", type=Path, help="keep all files of the run there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        run = Chaos(options, folder)
        asyncio.run(run_whole(run))
        (folder / "report.json").write_text(json.dumps(run.found.report, indent=1))
        print(run.found.told())
    sys.exit(bool(run.found.violations))


if __name__ == "__main__":
    main()
