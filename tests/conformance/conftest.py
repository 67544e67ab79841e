"""Scrapy's own tests for download handlers: fetched with pip, unpacked, run in a process of their own."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".fetchworker" / "conformance"
INSIDE = Path(__file__).parent / "inside"
REQUIRE_ALL = "TESTS_REQUIRE_ALL"
#: pythons before 3.11.4 know no filters
DATA = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
SERVERS = ("http", "proxy_echo", "simple_https")


@dataclass(frozen=True)
class Case:
    """One test of theirs; ``asked`` and ``answered`` count the requests that our handler got and answered."""

    name: str
    outcome: str
    message: str
    asked: int
    answered: int

    @property
    def proxied(self) -> bool:
        return self.name.startswith("TestMitmProxy")


@dataclass(frozen=True)
class Run:
    """One run of theirs; the logs are what their servers wrote down, ``ports`` those of our handler's connections."""

    cases: list[Case]
    log: list[dict]
    proxied_log: list[dict]
    ports: set[int]
    output: str

    def having(self, outcome: str) -> dict[str, Case]:
        return {case.name: case for case in self.cases if case.outcome == outcome}


def missing(what: str, why: str) -> None:
    """Skip by name, or fail where everything is required."""
    text = f"{what} cannot be had: {why}"
    if os.environ.get(REQUIRE_ALL):
        pytest.fail(text)
    pytest.skip(text)


def pip(*arguments: str, python: str | Path = sys.executable) -> str | None:
    """Run pip; what went wrong, None for nothing."""
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "--retries", "1", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["pip failed"])[-1]


@pytest.fixture(scope="session")
def sources() -> Path:
    """The source distribution of the Scrapy that is installed here."""
    version = importlib.metadata.version("scrapy")
    path = CACHE / f"scrapy-{version}.tar.gz"
    if not path.exists():
        wanted = ("--no-deps", "--no-binary", "scrapy", "--dest", str(CACHE), f"scrapy=={version}")
        if why := pip("download", *wanted):
            missing("Scrapy's source distribution", why)
    return path


@pytest.fixture(scope="session")
def mitmdump() -> str | None:
    """mitmproxy's program, in an environment of its own: its dependencies do not go with ours."""
    found = os.environ.get("MITMDUMP") or shutil.which("mitmdump")
    folder = CACHE / "mitmproxy"
    program = folder / "bin" / "mitmdump"
    if found or program.exists():
        return found or str(program)
    venv.create(folder, with_pip=True, clear=True)
    if why := pip("install", "mitmproxy", python=folder / "bin" / "python"):
        shutil.rmtree(folder)
        if os.environ.get(REQUIRE_ALL):
            missing("mitmproxy", why)
        return None
    return str(program)


@pytest.fixture(scope="session")
def suite(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Their tests, unpacked, with ours among them."""
    folder = tmp_path_factory.mktemp("scrapy")
    with tarfile.open(sources) as archive:
        archive.extractall(folder, list(wanted(archive)), **DATA)
    shutil.copy(INSIDE / "cases.py", folder / "tests" / "test_fetchworker.py")
    for name in SERVERS:
        shutil.copy(INSIDE / "recorded.py", folder / "tests" / "mockserver" / f"recorded_{name}.py")
    return folder


def wanted(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for member in archive:
        _, _, member.name = member.name.partition("/")
        if member.name.startswith("tests/") or member.name in ("conftest.py", "pyproject.toml"):
            yield member


@pytest.fixture(scope="session")
def run_suite(suite: Path, mitmdump: str | None, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """Runs their tests against our handler; each profile once."""
    done: dict[str | None, Run] = {}

    def run(profile: str | None) -> Run:
        if profile not in done:
            done[profile] = started(suite, tmp_path_factory.mktemp("run"), profile, mitmdump)
        return done[profile]

    return run


def started(suite: Path, folder: Path, profile: str | None, mitmdump: str | None) -> Run:
    ours = ("FETCHWORKER_", "CONFORMANCE_", "PYTEST_", "PYTHONPATH", "MITMDUMP")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    env |= {
        "PYTHONPATH": str(suite),
        "FETCHWORKER_STATE_DIR": str(folder / "state"),
        "FETCHWORKER_EGRESS_ALLOW": "127.0.0.0/8,::1,localhost,*.localhost",
        "CONFORMANCE_LOG": str(folder / "log"),
        "CONFORMANCE_PORTS": str(folder / "ports"),
    }
    env |= {"CONFORMANCE_PROFILE": profile} if profile else {}
    env |= {"MITMDUMP": mitmdump} if mitmdump else {}
    junit = folder / "junit.xml"
    command = [sys.executable, "-m", "pytest", *options(junit), "tests/test_fetchworker.py"]
    done = subprocess.run(command, cwd=suite, env=env, capture_output=True, text=True, check=False)
    assert junit.exists(), done.stdout + done.stderr
    return Run(
        cases=[case(found) for found in ET.parse(junit).getroot().iter("testcase")],
        log=lines(folder / "log"),
        proxied_log=lines(folder / "log-proxied"),
        ports={int(port) for port in (folder / "ports").read_text().split()},
        output=done.stdout,
    )


def options(junit: Path) -> list[str]:
    """Their ini with its warning filters, and what their runs without Twisted's reactor say beside it."""
    return [
        *("-c", "pyproject.toml", "-p", "no:twisted", "-p", "no:cacheprovider", "--reactor=none"),
        *("-o", "asyncio_default_fixture_loop_scope=function", "-o", "junit_family=xunit1"),
        *("-W", "ignore::pytest.PytestRemovedIn10Warning"),  # their session fixture is a method
        *("--timeout", "40", "-q", "--tb", "short", f"--junitxml={junit}"),
    ]


def case(found: ET.Element) -> Case:
    counts = {item.get("name"): int(item.get("value", "0")) for item in found.iter("property")}
    ended = next((child for child in found if child.tag in ("failure", "error", "skipped")), None)
    return Case(
        name=f"{found.get('classname', '').rpartition('.')[2]}::{found.get('name')}",
        outcome=ended.tag if ended is not None else "passed",
        message=(ended.get("message") or "") if ended is not None else "",
        asked=counts.get("asked", 0),
        answered=counts.get("answered", 0),
    )


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
