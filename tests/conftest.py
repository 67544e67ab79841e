"""Fixtures for whole crawls: a project folder of its own, the demo site, the recorded pages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
import yaml

from tests import preloaded

if TYPE_CHECKING:
    from collections.abc import Iterator

# how long an example takes says how busy the machine is
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")

# processes of the tests read what is compiled: to compile us anew is a sixth of what a crawl costs
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

ROOT = Path(__file__).resolve().parent.parent
CAPTURES = ROOT.parent / "shared" / "captures"
REQUIRE_ALL = "TESTS_REQUIRE_ALL"

#: every site of the project, each with the same quick pace
NAMES = tuple(yaml.safe_load((ROOT / "sites.yaml").read_text())["sites"])
PACE = {"concurrency": 4, "delay": 0, "robots": "ignore"}
BACKOFF = {"first": 0.05, "factor": 2, "max": 2, "retry_after_max": 1.5}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """One process more than there are cores: much of what takes long waits."""
    return None if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS") else len(os.sched_getaffinity(0)) + 1


def pytest_configure(config: pytest.Config) -> None:
    # xdist begins with the modules that have most tests, and those that take longest have few
    config.option.loadscopereorder = False


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Modules that may take long come first: no process waits long for the others at the end."""
    limits = {item.path: _limit(item) for item in items}
    for item in items:
        limits[item.path] = max(limits[item.path], _limit(item))
    items.sort(key=lambda item: -limits[item.path])


def _limit(item: pytest.Item) -> int:
    """Seconds that a test may take if it says so; more than nothing if it is slow."""
    told = item.get_closest_marker("timeout")
    return told.args[0] if told else int(item.get_closest_marker("slow") is not None)


@pytest.fixture
def calls() -> Any:
    """How many calls, Python's and C's, a function makes: what work costs, on any machine, however busy."""

    def count(function: Any) -> int:
        made = 0

        def see(frame: Any, event: str, argument: Any) -> None:
            nonlocal made
            made += event in ("call", "c_call")

        function()  # what is done once for all is done
        sys.setprofile(see)
        try:
            function()
        finally:
            sys.setprofile(None)
        return made

    return count


@pytest.fixture(autouse=True)
def _no_project_stays() -> Iterator[None]:
    """Scrapy leaves the name of the project's settings in the environment; other projects' commands would take it."""
    yield
    os.environ.pop("SCRAPY_SETTINGS_MODULE", None)


@pytest.fixture(autouse=True)
def _no_redis_stays() -> Iterator[None]:
    """A Redis that code in this process started goes with its test: it would outlive the tests."""
    yield
    servers = sys.modules.get("fetchworker._redis_server")
    for folder in list(servers._uses) if servers else ():
        servers.release(folder.parent)
        servers.stop(folder.parent)


@dataclass
class Project:
    """Runs scrapy in the project's folder with a state folder, a Redis and a sites file of its own."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = NAMES

    def sites(self, policy: str = "preferred", retries: int = 4, timeout: float = 10) -> None:
        entry = {**PACE, "proxy": policy, "retries": retries, "timeout": timeout, "backoff": BACKOFF}
        (self.folder / "sites.yaml").write_text(json.dumps({"sites": dict.fromkeys(NAMES, entry)}))

    def use(self, demo: Any, *, proxies: bool = True) -> None:
        self.env["FETCHWORKER_CA_FILE"] = demo.ca
        self.env["FETCHWORKER_HOST_MAP"] = json.dumps(demo.ready["host_map"])
        if proxies:
            self.env["FETCHWORKER_PROXIES"] = "\n".join(demo.proxies)
            self.env["FETCHWORKER_PROXY_COOLDOWN"] = "0.2"

    def environment(self) -> dict[str, str]:
        ours = ("FETCHWORKER_", "REDIS_URL")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        own = {
            "FETCHWORKER_SITES_FILE": str(self.folder / "sites.yaml"),
            "FETCHWORKER_STATE_DIR": str(self.folder / "state"),
            "FETCHWORKER_REDIS_KEEP_RUNNING": "false",
            "FETCHWORKER_PROXY_CHECK": "false",
            "FETCHWORKER_NO_EGRESS_PATIENCE": "2",
        }
        return clean | own | self.env

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "scrapy", *arguments]

    def scrapy(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return preloaded.run(self.command(*arguments), cwd=ROOT, env=self.environment(), stdin=stdin, timeout=90)

    def start(self, *arguments: str, stdout: int | None = None) -> subprocess.Popen[bytes]:
        where = {"cwd": ROOT, "env": self.environment(), "stdout": stdout, "stderr": subprocess.PIPE}
        return preloaded.Popen(self.command(*arguments), **where)

    def lines(self, name: str) -> list[dict[str, Any]]:
        path = self.folder / name
        return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []

    def records(self, name: str) -> list[dict[str, Any]]:
        found = sorted((self.folder / "state" / "crawls").glob(f"*/{name}.jsonl"))
        return [json.loads(line) for path in found for line in path.read_bytes().splitlines()]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.sites()
    return made


@contextmanager
def demo_process(folder: Path, *arguments: str) -> Iterator[Any]:
    """A demo site in a process of its own."""
    from fetchworker.demo.process import DemoProcess

    made = DemoProcess(folder, *arguments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fetchworker.demo.process.subprocess", preloaded)
        made.start()
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A demo site that answers everybody, with two proxies."""
    with demo_process(tmp_path_factory.mktemp("demo"), "--behaviour", "calm", "--proxies", "2") as process:
        yield process


@pytest.fixture
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A demo site with every defence on, and two proxies."""
    hard = ("--behaviour", "demo", "--wall-after", "4", "--proxies", "2")
    with demo_process(tmp_path_factory.mktemp("demo"), *hard) as process:
        yield process


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """A PostgreSQL server; skips by name where there is none."""
    from fetchworker.demo.postgres import PostgresServer

    try:
        server = PostgresServer(fsync="off")  # what a crash of the machine would lose is of no interest
    except FileNotFoundError as exc:
        if os.environ.get(REQUIRE_ALL):
            pytest.fail(f"PostgreSQL is required here: {exc}")
        pytest.skip(str(exc))
    with server:
        yield server


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a real Chromium; skips by name where there is none."""
    from fetchworker.demo.chromium import find_chromium

    program = find_chromium()
    if program is None:
        if os.environ.get(REQUIRE_ALL):
            pytest.fail("Chromium is required here: apt-get install chromium")
        pytest.skip("no Chromium: apt-get install chromium")
    return program


@pytest.fixture(scope="session")
def shell() -> str:
    """The path of a chromium-headless-shell (or another Chromium); skips by name where there is none."""
    from fetchworker.browser.program import HOW, find_program
    from fetchworker.errors import ConfigError

    try:
        return find_program(os.environ.get("FETCHWORKER_BROWSER"))
    except ConfigError:
        if os.environ.get(REQUIRE_ALL):
            pytest.fail(f"a Chromium is required here: {HOW}")
        pytest.skip(f"no Chromium: {HOW}")


@pytest.fixture
def captures() -> Path:
    """The folder of recorded pages beside the project; skips by name where it is absent."""
    if not CAPTURES.is_dir():
        if os.environ.get(REQUIRE_ALL):
            pytest.fail(f"the recorded pages are required here: {CAPTURES}")
        pytest.skip(f"no recorded pages at {CAPTURES}")
    return CAPTURES


@pytest.fixture(scope="session")
def _redis_server() -> Iterator[Any]:
    from fetchworker.demo.redis import RedisServer

    with RedisServer() as server:
        yield server


@pytest.fixture
def redis_server(_redis_server: Any) -> Any:
    """A Redis on a loopback port, empty (``.url``, ``.client()``, ``.call("PING")``); never to be killed."""
    _redis_server.call("FLUSHALL")
    return _redis_server


@pytest.fixture(scope="session")
def _redis_cluster() -> Iterator[Any]:
    from fetchworker.demo.redis import RedisCluster

    with RedisCluster() as cluster:
        yield cluster


@pytest.fixture
def redis_cluster(_redis_cluster: Any) -> Any:
    """A Redis Cluster of three nodes, empty (``.url``, ``.nodes``, ``.owner(key)``); never to be killed."""
    _redis_cluster.flush()
    return _redis_cluster


@pytest.fixture(scope="session")
def _redis_sentinel() -> Iterator[Any]:
    from fetchworker.demo.redis import RedisSentinel

    with RedisSentinel() as group:
        yield group


@pytest.fixture
def redis_sentinel(_redis_sentinel: Any) -> Any:
    """A master with a replica and a sentinel, empty (``.url``, ``.master``); never to be killed.

    A test that kills makes one of its own: ``with RedisSentinel() as group: … group.fail_over()``.
    """
    _redis_sentinel.master.call("FLUSHALL")
    return _redis_sentinel
