"""What the chaos run starts, stops and kills: a private Redis, the upstream, and workers that are started again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import redis

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Callable, Mapping

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class PrivateRedis:
    """A server of this run's own; with ``durable`` every write is on disk before it is answered."""

    def __init__(self, folder: Path, *, durable: bool = True, options: tuple[str, ...] = ()) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        kept = ("--appendonly", "yes", "--appendfsync", "always") if durable else ("--appendonly", "no")
        place = ("--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(folder), "--save", "")
        self._command = ("redis-server", *place, *kept, *options)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it has its data."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        client = self.client()
        while True:
            try:
                client.ping()
                break
            except redis.RedisError:  # not there yet, or it loads its data
                if self._process.poll() is not None:
                    raise SystemExit(f"{self._command} ended with {self._process.returncode}") from None
                time.sleep(0.05)
        client.close()

    def client(self) -> Any:
        return redis.Redis.from_url(self.url)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


class Upstream:
    """The site; ``heard`` gets each line that it says."""

    def __init__(self, arguments: tuple[object, ...], heard: Callable[[str], None]) -> None:
        self._arguments = [str(each) for each in arguments]
        self._heard = heard
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        script = str(HERE / "_chaos_upstream.py")
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, script, *self._arguments, stdout=asyncio.subprocess.PIPE
        )
        assert self._process.stdout
        self.port = json.loads(await self._process.stdout.readline())["port"]
        self._reading = asyncio.create_task(self._read(self._process.stdout))

    async def _read(self, said: asyncio.StreamReader) -> None:
        async for line in said:
            self._heard(line.decode().strip())

    async def stop(self) -> None:
        self._process.terminate()
        await self._process.wait()
        await self._reading


@dataclass
class Worker:
    """A place for a worker; each start in it is an incarnation ``<number>.<start>``."""

    number: int
    command: tuple[str, ...]
    env: Mapping[str, str]
    log: Path
    starts: int = 0
    stopped: bool = False
    killed: bool = False
    codes: list[int] = field(default_factory=list)
    _process: Process | None = None

    @property
    def name(self) -> str:
        return f"{self.number}.{self.starts}"

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.returncode is None and not self.killed

    async def run(self) -> int:
        """One incarnation, from its start to its end: the exit code, negative for a signal."""
        self.starts += 1
        self.killed = False
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self.command, cwd=ROOT, env={**self.env, "CHAOS_WORKER": self.name}, stdout=log, stderr=log
            )
        code = await self._process.wait()
        self.codes.append(code)
        return code

    def kill(self) -> None:
        self.killed = True
        self._signal(signal.SIGKILL)

    async def pause(self, seconds: float) -> None:
        """Stand still for so long, like a machine that swaps or a laptop that sleeps."""
        self.stopped = True
        self._signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        self.stopped = False
        if self.runs:
            self._signal(signal.SIGCONT)

    def end(self) -> None:
        if self.runs:
            self.kill()

    def _signal(self, number: signal.Signals) -> None:
        assert self._process
        if self._process.returncode is None:
            self._process.send_signal(number)


@dataclass
class Served:
    """What the upstream said: who was given which page when, and how many tries it spoilt."""

    answers: dict[str, list[tuple[float, str]]] = field(default_factory=dict)
    spoilt: int = 0
    last: float = field(default_factory=time.monotonic)
    workers: set[str] = field(default_factory=set)

    def hear(self, line: str) -> None:
        first, second = line.split(" ", 1)
        self.last = time.monotonic()
        if first == "!":
            self.spoilt += 1
            return
        self.answers.setdefault(first, []).append((self.last, second))
        self.workers.add(second)


def environment(
    folder: Path, upstream: Upstream, server: PrivateRedis, *, pool: dict[str, float] | None = None, **more: str
) -> dict[str, str]:
    """A worker's environment: nothing of ours but what is given here."""
    entry: dict[str, Any] = {
        "proxy": "none", "robots": "ignore", "concurrency": 16, "delay": 0, "retries": 6, "timeout": 20,
        "backoff": {"first": 0.05, "factor": 2, "max": 1, "retry_after_max": 1},
    }  # fmt: skip
    if pool is not None:
        entry["pool"] = pool
    (folder / "sites.yaml").write_text(json.dumps({"sites": {"chaos": entry, "seeds": entry}}))
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("FETCHWORKER_", "REDIS_URL"))}
    return clean | {
        "PYTHONPATH": str(HERE),
        "FETCHWORKER_EGRESS_ALLOW": f"127.0.0.1:{upstream.port}",
        "FETCHWORKER_SITES_FILE": str(folder / "sites.yaml"),
        "FETCHWORKER_STATE_DIR": str(folder / "state"),
        "FETCHWORKER_DATABASE_URL": f"sqlite:///{folder / 'items.db'}",
        "FETCHWORKER_REDIS_PATIENCE": "60",
        "REDIS_URL": server.url,
        **more,
    }
