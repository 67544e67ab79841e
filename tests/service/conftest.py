"""A real service process over the demo's upstream, and clients of it."""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Self

import httpx
import pytest

from fetchworker.demo.process import DemoProcess
from tests.conftest import BACKOFF, NAMES, PACE, ROOT, Project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LAB = "https://lab.example"
_START = 60.0


class Serving:
    """`scrapy serve` in a process of its own; a context manager."""

    def __init__(self, folder: Path, *arguments: str, **env: str) -> None:
        self.project = Project(folder)
        self.arguments = arguments
        self.project.env |= env
        self.url = ""
        self.process: subprocess.Popen[bytes] = None  # type: ignore[assignment]

    def entries(self, **own: Any) -> Self:
        """Write sites.yaml: every site with the same quick pace; ``own``: what some have beside it."""
        entry = {**PACE, "concurrency": 64, "proxy": "preferred", "retries": 2, "timeout": 10, "backoff": BACKOFF}
        entries = {name: {**entry, **own.get(name, {})} for name in NAMES}
        (self.project.folder / "sites.yaml").write_text(json.dumps({"sites": entries}))
        return self

    def __enter__(self) -> Self:
        if not (self.project.folder / "sites.yaml").exists():
            self.entries()
        log = (self.project.folder / "log.jsonl").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "scrapy", "serve", "--port", "0", *self.arguments],
            cwd=ROOT, env=self.project.environment(), stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
        log.close()
        assert self.process.stdout
        ready, _, _ = select.select([self.process.stdout], [], [], _START)
        line = self.process.stdout.readline().decode() if ready else ""
        if not line.startswith("serving at "):
            self.kill()
            raise RuntimeError(f"the service did not begin: {line!r} {self.log_text()[-2000:]}")
        self.url = line.split()[-1]
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        if self.process.stdout:
            self.process.stdout.close()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def client(self, **more: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=30, trust_env=False, **more)

    def fetch(self, url: str, **more: Any) -> httpx.Response:
        with self.client() as client:
            return client.post("/fetch", json={"url": url, **more})

    def get(self, path: str, **more: Any) -> httpx.Response:
        with self.client() as client:
            return client.get(path, **more)

    def health(self) -> dict[str, Any]:
        return self.get("/health").json()

    def until(self, seen: Any, seconds: float = 15) -> None:
        """Wait until ``seen(health)``; fails when it does not come."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if seen(self.health()):
                return
            time.sleep(0.02)
        pytest.fail(f"it did not come to that: {self.health()}")

    def log_text(self) -> str:
        return (self.project.folder / "log.jsonl").read_text()


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoProcess]:
    with DemoProcess(tmp_path_factory.mktemp("demo"), "--behaviour", "calm", "--proxies", "2") as process:
        yield process


@pytest.fixture(scope="session")
def service(demo: DemoProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A full service without keys, with a Redis of its own."""
    made = Serving(tmp_path_factory.mktemp("service"))
    made.project.use(demo)
    with made:
        yield made


def failure(response: httpx.Response) -> tuple[int, str]:
    """Status and type, of an answer that is a failure in every respect."""
    told = response.json()
    assert set(told) == {"type", "message", "context"}, told
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-request-id"]
    return response.status_code, told["type"]


@pytest.fixture
def make_service(demo: DemoProcess, tmp_path: Path) -> Any:
    """Makes services with arguments and variables of their own, to be used in a `with`."""

    def make(*arguments: str, **env: str) -> Serving:
        made = Serving(tmp_path, *arguments, **env)
        made.project.use(demo)
        return made

    return make


__all__ = ["LAB", "Serving", "failure"]
