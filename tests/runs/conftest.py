"""Runs of a test's own: a database of each kind, nodes whose jobs are real processes, an engine with a quick pace."""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import shutil
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from pydantic import SecretStr
from scrapy.settings import Settings

from fetchworker.config import Environment
from fetchworker.db import place_of
from fetchworker.runs.models import RunRequest
from fetchworker.runs.service import Runs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

_numbers = itertools.count()


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"runs_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


_nodes = _load("_nodes")
Nodes, control, kill = _nodes.Nodes, _nodes.control, _nodes.kill


@pytest.fixture
def sqlite_url(_sqlite_template: Path, tmp_path: Path) -> str:
    """A database with its tables; making them takes longer than most tests."""
    shutil.copytree(_sqlite_template, tmp_path / "data")
    return f"sqlite:///{tmp_path}/data/runs.db"


@pytest.fixture
def postgres_url(_postgres_template: str, postgres: Any) -> Iterator[str]:
    """As above."""
    name = f"runs{next(_numbers)}"
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {_postgres_template}")
        yield postgres.url(name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """A database of each kind."""
    return request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Any]:
    folder = tmp_path / "nodes"
    folder.mkdir()
    made = Nodes(folder)
    yield made
    made.kill_all()


def settings() -> Settings:
    made = Settings()
    made.setmodule("fetchworker.settings", priority="project")
    made.set(
        "SPIDER_MODULES", ["fetchworker.spiders.fetch", "fetchworker.spiders.instagram"]
    )  # reading those of all sites takes its time
    return made


async def _prepared(url: str, folder: Path) -> None:
    """Make all tables, ours and those of the workflows."""
    async with opened(url, Nodes(folder)):
        pass


@pytest.fixture(scope="session")
def _sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    asyncio.run(_prepared(f"sqlite:///{folder}/runs.db", folder))
    return folder


@pytest.fixture(scope="session")
def _postgres_template(postgres: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    url = postgres.create("runs_template")
    asyncio.run(_prepared(url, tmp_path_factory.mktemp("template")))
    return "runs_template"


@asynccontextmanager
async def opened(url: str, platform: Any, *, engine: bool = True, **variables: Any) -> AsyncIterator[Runs]:
    pace = {"runs_tick": 0.1, "runs_lease": 0.3, "grace": 2.0, "runs_callback_secret": SecretStr("a secret")}
    pace["host_map"] = {"caller.example:443": "127.0.0.1:9"}  # nobody listens there
    environment = Environment(**(pace | variables))
    runs = await Runs.open(
        place_of(SecretStr(url)), platform, environment=environment, settings=settings(), engine=engine
    )
    try:
        yield runs
    finally:
        await runs.close()


@pytest.fixture
async def runs(url: str, nodes: Any) -> AsyncIterator[Runs]:
    async with opened(url, nodes) as made:
        yield made


def ask(*queries: str, **fields: Any) -> RunRequest:
    """A run with a job for each query."""
    jobs = [{"actor": "fetch", "input": f"https://site.example/?{query}"} for query in queries]
    return RunRequest.model_validate({"workspaceId": "w1", "runs": jobs, **fields})


async def until(check: Callable[[], Any], seconds: float = 30) -> Any:
    """What ``check`` gives as soon as it is true."""
    async with asyncio.timeout(seconds):
        while not (found := await check()):  # noqa: ASYNC110  # other processes set no event of ours
            await asyncio.sleep(0.02)
        return found


async def ended(runs: Runs, run_id: str, seconds: float = 30) -> Any:
    """A run, as soon as it has ended."""

    async def look() -> Any:
        run = await runs.get(run_id)
        return run if run.ended else None

    return await until(look, seconds)


async def rows_of(runs: Runs, run_id: str) -> list[Any]:
    """All rows of a run, page by page."""
    found, after = [], 0
    while (page := await runs.items(run_id, after=after, limit=1000)).rows:
        found += page.rows
        after = page.next
    return found
