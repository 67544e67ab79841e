"""A scrapyd on loopback that runs the project from its folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import httpx
import pytest

from fetchworker.redis import connect_sync, release, resolve_redis_url
from tests import preloaded

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
BOUND = 50  # seconds


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class Scrapyd:
    """``scrapyd`` in a folder with the project's scrapy.cfg and nothing else.

    Args:
        folder: where it runs, and where its jobs leave what they leave.
        env: its environment, which is that of its jobs.
        options: lines of its own configuration.
    """

    def __init__(self, folder: Path, env: dict[str, str], *options: str) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        if not (folder / "scrapy.cfg").exists():
            shutil.copy(ROOT / "scrapy.cfg", folder)
        home = folder / "home"  # scrapyd reads a file there: not the one of whoever runs the tests
        home.mkdir()
        (home / ".scrapyd.conf").write_text("\n".join(["[scrapyd]", *options]))
        self.env = env | {"HOME": str(home), "SCRAPYD_HTTP_PORT": str(self.port), "PYTHONUNBUFFERED": "1"}
        self._process = preloaded.Popen(
            [sys.executable, "-m", "scrapyd", "--pidfile="],
            cwd=folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._said: list[str] = []

    def __enter__(self) -> Self:
        self.until(r"Site starting on")
        return self

    def __exit__(self, *_: object) -> None:
        for job in self.ask("listjobs.json")["running"]:
            self.ask("cancel.json", f"job={job['id']}&grace=0")
            self.ended(job["id"])
        self._process.terminate()
        self._process.communicate(timeout=30)

    def until(self, pattern: str) -> re.Match[str]:
        """Read what it says until it says this; the test's own time limit ends a wait for nothing."""
        assert self._process.stdout
        for line in self._process.stdout:
            self._said.append(line)
            if found := re.search(pattern, line):
                return found
        raise AssertionError("scrapyd ended:\n" + "".join(self._said))

    @property
    def password(self) -> str:
        """The one that it made up."""
        words = (self.folder / ".fetchworker" / "scrapyd" / "netrc").read_text().split()
        return words[words.index("password") + 1]

    def fetch(self, path: str, **asked: Any) -> httpx.Response:
        """The answer to who knows the password."""
        auth = ("fetchworker", self.password)
        return httpx.request(
            asked.pop("method", "GET"), f"{self.url}/{path}", auth=auth, timeout=30, trust_env=False, **asked
        )

    def ask(self, path: str, data: str | None = None) -> dict[str, Any]:
        """The answer to a GET, or to a POST of form data."""
        if data is None:
            return self.fetch(path).json()
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.fetch(path, method="POST", content=data, headers=form).json()

    def ended(self, job: str) -> dict[str, Any]:
        """How a job ended, as soon as it has."""
        limit = time.monotonic() + BOUND
        while (status := self.ask(f"status.json?job={job}"))["currstate"] != "finished":
            assert time.monotonic() < limit, status
            time.sleep(0.1)
        return status

    def items(self, spider: str, job: str) -> list[dict[str, Any]]:
        answer = self.fetch(f"items/fetchworker/{spider}/{job}.jl").raise_for_status()
        return [json.loads(line) for line in answer.content.splitlines()]

    def log(self, spider: str, job: str) -> str:
        return self.fetch(f"logs/fetchworker/{spider}/{job}.log").raise_for_status().text


@pytest.fixture
def scrapyd(project, calm, tmp_path_factory) -> Iterator[Scrapyd]:
    project.use(calm)
    with Scrapyd(tmp_path_factory.mktemp("scrapyd"), project.environment()) as running:
        yield running


@pytest.fixture
def small(tmp_path_factory, project) -> Iterator[Any]:
    """A scrapyd that takes eggs and runs one job at a time."""
    folder = tmp_path_factory.mktemp("scrapyd")
    with Scrapyd(folder, project.environment(), "deploy = on", "max_proc = 1") as running:
        yield running


@pytest.fixture
def queue(project: Any) -> Iterator[Any]:
    """The Redis that the jobs share."""
    endpoint = resolve_redis_url(None, project.folder / "state", keep_running=False)
    client = connect_sync(endpoint)
    yield client
    client.close()
    release(endpoint)


@pytest.fixture
def spiders() -> list[str]:
    """The names of the project's spiders."""
    names = subprocess.run(
        [sys.executable, "-m", "scrapy", "list"], cwd=ROOT, env=os.environ, capture_output=True, text=True, check=True
    )
    return names.stdout.split()
