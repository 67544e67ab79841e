"""A Redis for the frontier's tests, a site, and another project whose crawls wait in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import preloaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OTHER = Path(__file__).parent / "inside" / "other"


@pytest.fixture(scope="session")
def clean_environment() -> Callable[..., dict[str, str]]:
    """The environment of a process that knows nothing of ours but what a test tells it."""

    def made(folder: Path, **ours: str) -> dict[str, str]:
        theirs = {name: value for name, value in os.environ.items() if not name.startswith(("FETCHWORKER_", "REDIS_"))}
        return {**theirs, "FETCHWORKER_STATE_DIR": str(folder / "state"), "PYTHONWARNINGS": "default", **ours}

    return made


class Site:
    """/list/N leads to /list/N+1 up to 5; /to/PATH redirects; /busy…: 503 the first time; /held…: when released."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.release = threading.Event()
        self._came = threading.Condition()
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site._answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        path, status, headers, body = handler.path, 200, {"Content-Type": "text/html"}, "page"
        with self._came:
            first = path not in self.paths
            self.paths.append(path)
            self._came.notify_all()
        if path.startswith("/held"):
            self.release.wait(60)
        elif path.startswith("/to/"):
            status, headers["Location"] = 302, path[3:]
        elif path.startswith("/busy") and first:
            status = 503
        elif path.startswith("/list/"):
            number = int(path.rpartition("/")[2])
            links = [f"/list/{other}" for other in (number - 1, number + 1) if 0 < other <= 5]
            body = "".join(f'<a href="{link}">next</a>' for link in links)
        with suppress(ConnectionError):  # the worker may have gone
            self._send(handler, status, headers, body)

    def _send(self, handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: str) -> None:
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body.encode())

    def wait_for(self, *paths: str) -> None:
        """Return when all these were asked for."""
        with self._came:
            assert self._came.wait_for(lambda: set(paths) <= set(self.paths), 50), self.paths

    def close(self) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def site() -> Iterator[Site]:
    """A site on loopback."""
    made = Site()
    yield made
    made.close()


class Other:
    """Another Scrapy project (inside/other), which uses our queue by its settings alone."""

    def __init__(self, folder: Path, environment: dict[str, str], mode: str) -> None:
        self.folder = folder
        self.environment = environment
        self.settings: dict[str, Any] = {"TWISTED_REACTOR_ENABLED": mode == "reactor"}
        self.started: list[subprocess.Popen[str]] = []

    def start(self, spider: str, **env: str) -> subprocess.Popen[str]:
        """A worker beside the test."""
        environment = {**self.environment, **env, "OTHER_SETTINGS": json.dumps(self.settings)}
        environment |= {"SCRAPY_SETTINGS_MODULE": "other.settings", "PYTHONPATH": str(OTHER.parent)}
        command = [sys.executable, "-m", "scrapy", "crawl", spider, "-o", str(self.folder / "items.jsonl")]
        where = {"cwd": self.folder, "env": environment, "stderr": subprocess.PIPE, "text": True}
        self.started.append(preloaded.Popen(command, **where))
        return self.started[-1]

    def crawl(self, spider: str, *, code: int = 0, **env: str) -> str:
        """The log of a crawl that ended like this."""
        return ended(self.start(spider, **env), code)

    def items(self) -> list[dict[str, Any]]:
        path = self.folder / "items.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def paths(self) -> list[str]:
        """What was scraped, sorted."""
        return sorted(item["path"] for item in self.items())


def ended(process: subprocess.Popen[str], code: int = 0) -> str:
    """What a process told until its end."""
    told = process.communicate(timeout=50)[1]
    assert process.returncode == code, told
    assert "Deprecat" not in told, told
    return told


@pytest.fixture(params=["loop", "reactor"])
def other(request, tmp_path, clean_environment, redis_server, site) -> Iterator[Other]:
    """The other project, in each of Scrapy's modes."""
    made = Other(tmp_path, clean_environment(tmp_path, SITE=site.url, FETCHWORKER_ATTEMPT_DELAY="0"), request.param)
    made.settings["REDIS_URL"] = redis_server.url
    yield made
    for process in made.started:
        process.kill()
        process.communicate()
