"""A scrapyd on loopback that runs the project from its folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.request import urlopen

import pytest

from fetchworker.redis import connect_sync, release, resolve_redis_url

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class Scrapyd:
    """``scrapyd`` in a folder with the project's scrapy.cfg and nothing else.

    Args:
        folder: where it runs, and where its jobs leave what they leave.
        env: its environment, which is that of its jobs.
    """

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder, self.port = folder, free_port()
        shutil.copy(ROOT / "scrapy.cfg", folder)
        home = folder / "home"  # scrapyd reads a file there: not the one of whoever runs the tests
        home.mkdir()
        (home / ".scrapyd.conf").write_text("[scrapyd]\npoll_interval = 0.2\n")
        own = {"HOME": str(home), "SCRAPYD_HTTP_PORT": str(self.port), "PYTHONUNBUFFERED": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "scrapyd", "--pidfile="],
            cwd=folder,
            env=env | own,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._said: list[str] = []

    def __enter__(self) -> Self:
        self.until(r"Site starting on")
        return self

    def __exit__(self, *_: object) -> None:
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

    def ask(self, path: str, data: str | None = None) -> dict[str, Any]:
        """The answer to a GET, or to a POST of form data."""
        body = None if data is None else data.encode()
        with urlopen(f"http://127.0.0.1:{self.port}/{path}", body, timeout=30) as answer:
            return json.load(answer)

    def ended(self, job: str) -> str:
        """How a job ended, as soon as it has."""
        return self.until(rf"Process (finished:|died: exitstatus=\S+) .*job='{job}'")[1]

    def items(self, spider: str, job: str) -> list[dict[str, Any]]:
        path = self.folder / ".fetchworker" / "scrapyd" / "items" / "fetchworker" / spider / f"{job}.jl"
        return [json.loads(line) for line in path.read_bytes().splitlines()]

    def log(self, spider: str, job: str) -> str:
        return (self.folder / ".fetchworker" / "scrapyd" / "logs" / "fetchworker" / spider / f"{job}.log").read_text()


@pytest.fixture
def scrapyd(project, calm, tmp_path_factory) -> Iterator[Scrapyd]:
    project.use(calm)
    with Scrapyd(tmp_path_factory.mktemp("scrapyd"), project.environment()) as running:
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
