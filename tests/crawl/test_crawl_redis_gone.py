"""A Redis that goes away under a worker: it waits, goes on, or ends; nothing that was asked for is lost."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis

from fetchworker._redis_server import find_binary

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow
URL = "https://lab.example"


class Server:
    """A redis-server on a socket of its own, whose data outlive it."""

    def __init__(self, folder: Path, waiting: Callable[..., list[str]]) -> None:
        self.folder = folder
        self.waiting = waiting
        self.socket = folder / "redis.sock"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        options = ["--port", "0", "--unixsocket", str(self.socket), "--dir", str(self.folder), "--appendonly", "yes"]
        self.process = subprocess.Popen([str(find_binary().path), *options], stdout=subprocess.DEVNULL)
        while not self.answers():
            assert self.process.poll() is None

    def answers(self) -> bool:
        try:
            with closing(self.client()) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def left(self) -> list[str]:
        """The addresses of all that is not done."""
        with closing(self.client()) as client:
            return self.waiting(client)

    def client(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self.socket))


@pytest.fixture
def server(waiting):
    with tempfile.TemporaryDirectory(prefix="fw-") as folder:
        made = Server(Path(folder), waiting)
        made.start()
        yield made
        made.stop()


@pytest.fixture
def worker(project, start, server):
    """Starts a worker of `fetch` on this Redis."""
    project.env["REDIS_URL"] = f"unix://{server.socket}"

    def run(*options: str):
        return start("fetch", "-O", str(project.folder / "f.jsonl"), *options)

    return run


def told_until(process, words: str) -> str:
    """The worker's log up to the line with these words."""
    lines = []
    for line in process.stderr:
        lines.append(line.decode())
        if words in lines[-1]:
            return "".join(lines)
    raise AssertionError("".join(lines))


def urls(project) -> list[str]:
    return sorted(item["url"] for item in project.lines("f.jsonl"))


def test_a_worker_in_the_middle_of_its_work_goes_on(project, worker, server, lab):
    wanted = sorted(f"{URL}/slow?seconds=0.2&n={number}" for number in range(12))
    seeds = [json.dumps({"url": url, "session": f"s{number % 3}"}) for number, url in enumerate(wanted)]
    with closing(server.client()) as client:
        client.rpush("fetch:start_urls", *seeds)
    process = worker("-s", "CONCURRENT_REQUESTS=2", "-s", "SCHEDULER_IDLE_BEFORE_CLOSE=1")
    while len(lab.requests) < 3:
        assert process.poll() is None
    server.stop()
    told = told_until(process, "Redis is away")
    server.start()
    told += told_until(process, "Redis is back")
    told += process.communicate(timeout=60)[1].decode()
    assert process.returncode == 0, told
    assert "Traceback" not in told, told
    assert told.count("Redis is away") == 1
    assert urls(project) == wanted, told
    assert project.records("failures") == []


def test_an_idle_worker_reads_the_seed_that_comes_after(project, worker, server):
    process = worker("-s", "SCHEDULER_IDLE_BEFORE_CLOSE=3")
    told = told_until(process, "shared queue")
    server.stop()
    told += told_until(process, "Redis is away")
    server.start()
    with closing(server.client()) as client:
        client.rpush("fetch:start_urls", f"{URL}/echo")
    told += process.communicate(timeout=60)[1].decode()
    assert process.returncode == 0, told
    assert "Traceback" not in told, told
    assert urls(project) == [f"{URL}/echo"]


@pytest.mark.parametrize("session", [None, "ann"])
def test_one_that_stays_away_ends_the_crawl_and_nothing_is_lost(project, worker, server, lab, session):
    project.env["FETCHWORKER_REDIS_PATIENCE"] = "1"
    wanted = sorted(f"{URL}/slow?seconds=0.2&n={number}" for number in range(12))
    with closing(server.client()) as client:
        client.rpush("fetch:start_urls", *(json.dumps({"url": url, "session": session}) for url in wanted))
    process = worker("-s", "CONCURRENT_REQUESTS=2")
    while len(lab.requests) < 3:
        assert process.poll() is None
    server.stop()
    told = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 1, told
    assert "redis_unavailable" in told
    assert "Traceback" not in told, told
    server.start()
    left = server.left()
    assert sorted(set(urls(project) + left)) == wanted, told
    assert project.records("failures") == [], "the queue keeps what was not done"
    assert left


def test_a_worker_that_is_told_to_end_does_not_wait(worker, server):
    process = worker()
    told = told_until(process, "shared queue")
    server.stop()
    told += told_until(process, "Redis is away")
    process.send_signal(signal.SIGTERM)
    told += process.communicate(timeout=20)[1].decode()
    assert "Spider closed (shutdown)" in told
    assert "Traceback" not in told, told
    assert "never retrieved" not in told
