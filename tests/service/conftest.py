"""A real service process over the demo's upstream, and clients of it."""

from __future__ import annotations

import json
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

import httpx
import pytest

from fetchworker.redis import stop_embedded
from tests import preloaded
from tests.conftest import BACKOFF, NAMES, PACE, ROOT, Project, demo_process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fetchworker.demo.process import DemoProcess

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
        self.process = preloaded.Popen(
            [sys.executable, "-m", "scrapy", "serve", "--port", "0", *self.arguments],
            cwd=ROOT, env=self.project.environment(), stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
        log.close()
        assert self.process.stdout
        ready, _, _ = select.select([self.process.stdout], [], [], _START)
        line = self.process.stdout.readline().decode() if ready else ""
        if not line.startswith("serving at "):
            self.kill()
            self.process.stdout.close()
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
        stop_embedded(self.project.folder / "state")  # a service that was killed has not done so

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def client(self, **more: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=30, trust_env=False, **more)

    def fetch(self, url: str, *, headers_: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        with self.client() as client:
            return client.post("/fetch", json={"url": url, **more}, headers=headers_)

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
    with demo_process(tmp_path_factory.mktemp("demo"), "--behaviour", "calm", "--proxies", "2") as process:
        yield process


@pytest.fixture(scope="session")
def service(demo: DemoProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A full service without keys, with a Redis of its own."""
    made = Serving(tmp_path_factory.mktemp("service"))
    made.project.use(demo)
    made.entries(linktree={"pool": {}}, ebay={"pool": {"max_total": 2}})
    with made:
        yield made


#: keys of the limited service, by what they open
KEYS = {name: f"fwk_{name}" for name in ("all", "fetch", "sites", "slow")}


@pytest.fixture(scope="session")
def limited(demo: DemoProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A stateless service with keys and narrow limits, no proxies and no Redis."""
    from fetchworker.service.callers import hash_of

    def entry(name: str, scopes: list[str], **more: Any) -> dict[str, Any]:
        return {"name": name, "hash": hash_of(KEYS[name]), "scopes": scopes, **more}

    keys = [entry("all", ["admin"]), entry("fetch", ["fetch"]), entry("sites", ["sites"])]
    keys.append(entry("slow", ["fetch"], rate=1))
    made = Serving(
        tmp_path_factory.mktemp("limited"), "--stateless",
        FETCHWORKER_SERVE_KEYS=json.dumps(keys), FETCHWORKER_SERVE_IN_FLIGHT="2", FETCHWORKER_SERVE_WAITING="1",
        FETCHWORKER_SERVE_PATIENCE="1", FETCHWORKER_EGRESS_ALLOW="127.0.0.1",
        FETCHWORKER_REDIS_URL="redis://127.0.0.1:1/0", FETCHWORKER_REDIS_PATIENCE="0",
        FETCHWORKER_LIMIT_CONCURRENCY="50",
    )  # fmt: skip
    made.project.use(demo, proxies=False)
    made.entries(walmart={"proxy": "required"}, ebay={"robots": "obey"})
    with made:
        yield made


class Silent:
    """A server that takes requests and never answers; tells when a client hangs up."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/"
        self.came, self.left = threading.Semaphore(0), threading.Semaphore(0)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._hold, args=(connection,), daemon=True).start()

    def _hold(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65536)
            self.came.release()
            while connection.recv(65536):
                pass
        self.left.release()

    def close(self) -> None:
        self._socket.close()


class _Robots(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"User-agent: *\nDisallow: /private\n" if self.path == "/robots.txt" else b"<html>open</html>"
        self.send_response(200)
        self.send_header("content-type", "text/plain" if self.path == "/robots.txt" else "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def closed_to_robots() -> Iterator[str]:
    """The address of a site whose robots.txt closes a part of it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Robots)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def silent() -> Iterator[Silent]:
    made = Silent()
    yield made
    made.close()


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
        made.project.use(demo, proxies=False)
        return made

    return make


__all__ = ["KEYS", "LAB", "Serving", "Silent", "failure"]
