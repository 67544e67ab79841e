"""Databases of a test's own, and items to put in."""

from __future__ import annotations

import itertools
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from fetchworker.db import place_of
from fetchworker.db.observation import Observation, observe
from fetchworker.db.store import ItemStore
from fetchworker.items import Post, Profile

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

_numbers = itertools.count()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/data/items.db"


@pytest.fixture
def postgres_url(postgres: Any) -> str:
    """An empty database."""
    return postgres.create(f"test{next(_numbers)}")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """An empty database of each kind."""
    return request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")


@asynccontextmanager
async def opened(url: str, *, patience: float = 20) -> AsyncIterator[ItemStore]:
    store = await ItemStore.open(place_of(SecretStr(url)), patience=patience)
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
def open_store() -> Callable[..., Any]:
    return opened


@pytest.fixture
async def store(url: str) -> AsyncIterator[ItemStore]:
    async with opened(url) as made:
        yield made


def profile(item_id: str, *, day: int = 1, round_id: str = "", **values: Any) -> Observation:
    """An observation of Ann's profile."""
    base = {"site": "instagram", "operation": "profile", "id": "7", "url": "https://site.example/ann"}
    base["fetched_at"] = f"2026-01-{day:02d}T10:00:00Z"
    return observe(Profile(item_id=item_id, **(base | values)), crawl_id="c1", round_id=round_id)


def post(item_id: str, *, day: int = 1, **values: Any) -> Observation:
    base = {"site": "instagram", "operation": "post"}
    return observe(Post(item_id=item_id, fetched_at=f"2026-01-{day:02d}T10:00:00Z", **(base | values)), crawl_id="c1")


@pytest.fixture
def ann() -> Callable[..., Observation]:
    return profile


@pytest.fixture
def make_post() -> Callable[..., Observation]:
    return post
