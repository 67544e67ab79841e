"""A platform for tests: nodes that are folders, jobs that are real processes and outlive who began them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from fetchworker.errors import ConfigError, PlatformError
from fetchworker.platforms import Chunk, JobSpec, JobState, JobStatus, NodeStatus, Placement

JOB = Path(__file__).with_name("_job.py")
CONTROL = Path(__file__).with_name("_control.py")


class Nodes:
    """Nodes ``names`` under a folder. A node is down while the file ``<node>.down`` is there."""

    def __init__(self, folder: Path, names: tuple[str, ...] = ("n1", "n2")) -> None:
        self.folder = folder
        self.names = names
        #: calls, by their names
        self.calls: list[tuple[Any, ...]] = []
        #: projects whose spiders were asked for
        self.projects: set[str] = set()
        #: whether processes that are gone without a word are said to have been interrupted
        self.interrupts = False
        #: nodes that take jobs, and whose answers are lost
        self.mute: set[str] = set()
        self._begun: list[subprocess.Popen[bytes]] = []
        self.controls: list[subprocess.Popen[bytes]] = []

    # ── for tests ────────────────────────────────────────────────────────────────────────────────────────────────

    def down(self, node: str) -> None:
        (self.folder / f"{node}.down").touch()

    def up(self, node: str) -> None:
        (self.folder / f"{node}.down").unlink(missing_ok=True)

    def go(self, name: str) -> None:
        """Let jobs go on that wait for this."""
        (self.folder / name).touch()

    def spawned(self) -> list[str]:
        path = self.folder / "spawned"
        return path.read_text().split() if path.exists() else []

    def pid_of(self, folder: Path) -> int:
        return _read(folder, "begun.json")["pid"]

    def pids(self) -> list[int]:
        found = [_read(path, "begun.json") for path in self.folder.glob("n*/*")]
        return [begun["pid"] for begun in found if begun and _alive(begun["pid"])]

    def kill_all(self) -> None:
        for pid in self.pids():
            os.kill(pid, signal.SIGKILL)
        for process in self.controls:
            kill(process)
        for process in self._begun:
            process.wait()

    # ── the port ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def nodes(self) -> list[NodeStatus]:
        return [NodeStatus(name, up=not self._is_down(name)) for name in self.names]

    async def spawn(
        self, spec: JobSpec, *, avoid: frozenset[str] = frozenset(), at: str | None = None, intend: Any = None
    ) -> Placement:
        self.calls.append(("spawn", spec.job_id, avoid))
        self.projects.add(spec.project)
        if "never" in spec.options.tags:
            raise ConfigError("no node has the tag never")
        for name in self.names:
            if (self.folder / name / spec.job_id).exists():
                return Placement(spec.job_id, name, fresh=False)
        free = [name for name in self.names if not self._is_down(name) and name not in avoid and at in (name, None)]
        if spec.options.tags:
            free = [name for name in free if name in spec.options.tags]
        if not free:
            raise PlatformError("no node is up")
        node = free[sum(spec.job_id.encode()) % len(free)]
        if intend is not None:
            await intend(node)
        told = json.dumps({"job_id": spec.job_id, "spider": spec.spider, "arguments": dict(spec.arguments)})
        said = await asyncio.to_thread(self._begin, self.folder / node / spec.job_id, told)
        if node in self.mute:
            raise PlatformError(f"{node}: its answer is lost")
        return Placement(spec.job_id, node, fresh=said == b"begun\n")

    def _begin(self, folder: Path, told: str) -> bytes:
        command = [sys.executable, "-E", "-S", str(JOB), str(folder), told]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        self._begun.append(process)
        with process.stdout:
            return process.stdout.readline()

    async def statuses(self, node: str, job_ids: list[str]) -> dict[str, JobStatus]:
        self.calls.append(("statuses", node, len(job_ids)))
        self._check(node)
        return {job_id: self._status(node, job_id) for job_id in job_ids}

    def _status(self, node: str, job_id: str) -> JobStatus:
        folder = self.folder / node / job_id
        if not folder.exists():
            return JobStatus(job_id, JobState.UNKNOWN)
        begun, lines = _read(folder, "begun.json"), folder / "items.jsonl"
        if begun is None:
            return JobStatus(job_id, JobState.QUEUED)
        alive = _alive(begun["pid"])
        size = lines.stat().st_size if lines.exists() else 0
        ended = _read(folder, "end.json")
        if alive and ended is None:
            return JobStatus(job_id, JobState.RUNNING, started_at=begun["started"], items_bytes=size)
        spent = _read(folder, "spent.json") or {}
        ended = ended or {"exit_cause": "killed", "reasons": ["SIGKILL"], "ended": 0, "interrupted": self.interrupts}
        told = {"exit_cause": ended["exit_cause"], "reasons": tuple(ended["reasons"]), "exit_code": 0}
        told["interrupted"] = ended.get("interrupted", False)
        return JobStatus(
            job_id, JobState.ENDED, **told, started_at=begun["started"], items_bytes=size, stats={"item_count": size},
            spent=spent,
        )  # fmt: skip

    async def items(self, node: str, job_id: str, *, offset: int, limit: int) -> Chunk:
        return self._chunk(node, job_id, "items.jsonl", offset, limit)

    async def log(self, node: str, job_id: str, *, offset: int, limit: int) -> Chunk:
        return self._chunk(node, job_id, "log", offset, limit)

    def _chunk(self, node: str, job_id: str, name: str, offset: int, limit: int) -> Chunk:
        self.calls.append((name, job_id, offset))
        self._check(node)
        path = self.folder / node / job_id / name
        if not path.exists():
            return Chunk(b"", 0, 0)
        size = path.stat().st_size
        start = max(0, size + offset) if offset < 0 else offset
        with path.open("rb") as file:
            file.seek(start)
            return Chunk(file.read(limit), start, size)

    async def cancel(self, node: str, job_id: str, *, grace: float) -> None:
        self.calls.append(("cancel", job_id))
        self._check(node)
        begun = _read(self.folder / node / job_id, "begun.json")
        if begun and _alive(begun["pid"]):
            os.kill(begun["pid"], signal.SIGTERM)
            loop = asyncio.get_running_loop()
            loop.call_later(grace, lambda: _alive(begun["pid"]) and os.kill(begun["pid"], signal.SIGKILL))

    async def forget(self, node: str, job_id: str) -> None:
        self.calls.append(("forget", job_id))
        self._check(node)

    async def close(self) -> None:
        pass

    def _is_down(self, node: str) -> bool:
        return (self.folder / f"{node}.down").exists()

    def _check(self, node: str) -> None:
        if self._is_down(node):
            raise PlatformError(f"{node} does not answer")


def _read(folder: Path, name: str) -> dict[str, Any] | None:
    try:
        return json.loads((folder / name).read_text())
    except FileNotFoundError:
        return None


def _alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def control(url: str, nodes: Nodes) -> subprocess.Popen[bytes]:
    """A control process that watches the runs of a database until it is killed; it says when it has begun."""
    command = [sys.executable, str(CONTROL), url, str(nodes.folder), "0.1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    nodes.controls.append(process)
    return process


def kill(process: subprocess.Popen[bytes]) -> None:
    """End it as a crash would."""
    process.kill()
    process.wait()
    process.stdout.close()
