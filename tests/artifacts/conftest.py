"""Stores of each kind: folder and fsspec, with a database and without."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from fetchworker.artifacts import ArtifactStore
from fetchworker.config import Environment

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

_numbers = itertools.count()


@pytest.fixture
def environment(tmp_path: Path) -> Callable[..., Environment]:
    """The environment of a project of its own."""

    def make(**values: Any) -> Environment:
        return Environment(state_dir=tmp_path / "state", **values)

    return make


@pytest.fixture(params=["folder", "memory", "folder+sqlite", "memory+postgresql"])
def stored(request: pytest.FixtureRequest, environment: Any, tmp_path: Path) -> Callable[..., ArtifactStore]:
    """Makes stores over the same place."""
    files, _, database = request.param.partition("+")
    values: dict[str, Any] = {}
    if files == "memory":
        values["artifacts_store"] = SecretStr(f"memory://artifacts{next(_numbers)}")
    if database == "sqlite":
        values["database_url"] = SecretStr(f"sqlite:///{tmp_path}/items.db")
    if database == "postgresql":
        values["database_url"] = SecretStr(request.getfixturevalue("postgres").create(f"artifacts{next(_numbers)}"))
    return lambda **more: ArtifactStore.of(environment(**values, **more))


@pytest.fixture
async def store(stored: Callable[..., ArtifactStore]) -> AsyncIterator[ArtifactStore]:
    made = stored()
    yield made
    await made.close()
