"""Both platforms with real processes, on a project folder of their own."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
import threading
import time
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import httpx
import pytest

from fetchworker.jobs.store import Launch
from fetchworker.platforms import JobOptions, JobSpec, JobState, JobStatus
from fetchworker.platforms.local import LocalPlatform
from fetchworker.platforms.scrapyd import NodeAddress, ScrapydPlatform
from tests import preloaded

if TYPE_CHECKING:
    import subprocess
    from collections.abc import AsyncIterator, Iterator

ROOT = Path(__file__).resolve().parents[2]
SECRET = "sesame-of-the-cave"
TAGS = "big, eu"
GRACE = "2"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class Node:
    """A scrapyd of ours in a folder; started and ended as often as a test likes."""

    def __init__(self, folder: Path, env: dict[str, str], *options: str) -> None:
        self.folder, self.env, self.port = folder, env, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.options = options
        self.auth = ("fetchworker", SECRET)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        (home / ".scrapyd.conf").write_text("\n".join(["[scrapyd]", f"tags = {TAGS}", *self.options]))
        own = {"HOME": str(home), "SCRAPYD_HTTP_PORT": str(self.port), "SCRAPYD_PASSWORD": SECRET}
        log = (self.folder / "scrapyd.log").open("ab")
        with log:
            self.process = preloaded.Popen(
                [sys.executable, "-m", "scrapyd", "--pidfile="],
                cwd=self.folder,
                env=self.env | own,
                stdout=log,
                stderr=log,
            )
        while True:
            assert self.process.poll() is None, (self.folder / "scrapyd.log").read_text()
            try:
                httpx.get(self.url, trust_env=False)
            except httpx.TransportError:
                time.sleep(0.05)
            else:
                return self

    def end(self, *, kill: bool = False) -> None:
        if self.process is not None:
            self.process.kill() if kill else self.process.terminate()
            self.process.wait(30)
            self.process = None

    def get(self, path: str, **asked: Any) -> dict[str, Any]:
        return httpx.get(f"{self.url}/{path}", auth=self.auth, trust_env=False, timeout=30, params=asked).json()

    def post(self, path: str, **told: Any) -> dict[str, Any]:
        return httpx.post(f"{self.url}/{path}", auth=self.auth, trust_env=False, timeout=30, data=told).json()

    @property
    def address(self) -> NodeAddress:
        return NodeAddress(f"127.0.0.1:{self.port}", self.url, *self.auth)


class Place:
    """A platform under test: how it is opened, and where its jobs are."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self.folder = kind, folder
        self.jobs = folder / (".fetchworker/scrapyd/jobs" if kind == "scrapyd" else "jobs")
        self.node: Node | None = None

    @asynccontextmanager
    async def open(self, *, slots: int = 3) -> AsyncIterator[Any]:
        if self.kind == "local":
            tags = frozenset(TAGS.split(", "))
            launch = Launch(grace=float(GRACE))
            async with LocalPlatform(self.jobs, slots=slots, tags=tags, launch=launch) as platform:
                yield platform
            return
        if self.node is None:
            self.node = Node(self.folder, dict(os.environ), f"max_proc = {slots}")
        if self.node.process is None:
            await asyncio.to_thread(self.node.start)
        async with ScrapydPlatform([self.node.address]) as platform:
            yield platform

    def end(self) -> None:
        if self.node:
            self.node.end()
        from fetchworker.jobs.processes import kill, marked

        for folder in self.jobs.glob("[!.]*"):
            kill(marked(folder))


def odd(job_id: str, spider: str, arguments: dict[str, str] | None = None, **options: Any) -> JobSpec:
    """A job of the odd project."""
    return JobSpec(job_id, spider, arguments or {}, {}, JobOptions(**options), "odd")


async def ended(platform: Any, placement: Any) -> JobStatus:
    """How a job ended, as soon as it has; the test's own time limit ends a wait for nothing."""
    return await state(platform, placement, JobState.ENDED)


async def state(platform: Any, placement: Any, *wanted: JobState) -> JobStatus:
    while True:
        status = (await platform.statuses(placement.node, [placement.job_id]))[placement.job_id]
        if status.state in wanted:
            return status
        await asyncio.sleep(0.05)


async def there(path: Path) -> str:
    """What is in a file, as soon as it is there."""
    while not path.exists():
        await asyncio.sleep(0.02)
    return path.read_text()


@pytest.fixture
def project_folder(project, tmp_path_factory, monkeypatch) -> Iterator[Path]:
    """Where both platforms run: the project and the odd one by their names, the environment of the test's project."""
    folder = tmp_path_factory.mktemp("place")
    text = (ROOT / "scrapy.cfg").read_text()
    (folder / "scrapy.cfg").write_text(text.replace("[deploy]", "odd = odd.settings\n\n[deploy]"))
    shutil.copytree(ROOT / "tests/platforms/odd", folder / "odd", ignore=shutil.ignore_patterns("__pycache__"))
    for name in os.environ.keys() - project.environment().keys():
        monkeypatch.delenv(name)
    for name, value in project.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FETCHWORKER_JOB_GRACE", GRACE)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE", raising=False)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(params=["local", "scrapyd"])
def place(request, project_folder) -> Iterator[Place]:
    made = Place(request.param, project_folder)
    yield made
    made.end()


@pytest.fixture
def node(project_folder) -> Iterator[Node]:
    made = Node(project_folder, dict(os.environ), "max_proc = 2").start()
    yield made
    made.end()


class Walls(BaseHTTPRequestHandler):
    """Shows nobody anything."""

    def do_GET(self) -> None:
        page = b"<html><head><title>Just a moment...</title></head><body>Checking your browser</body></html>"
        self.send_response(403)
        for name, value in {"Server": "cloudflare", "cf-mitigated": "challenge", "Content-Length": len(page)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def walls() -> Iterator[str]:
    """The place of a site that refuses everybody."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Walls) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
