"""A Redis for the frontier's tests, and the processes that crawl from it."""

from __future__ import annotations

import os
import sys

import pytest


@pytest.fixture(scope="session")
def clean_environment():
    """The environment of a process that knows nothing of ours but what a test tells it."""

    def made(folder, **ours: str) -> dict[str, str]:
        theirs = {name: value for name, value in os.environ.items() if not name.startswith(("FETCHWORKER_", "REDIS_"))}
        return {**theirs, "FETCHWORKER_STATE_DIR": str(folder / "state"), "PYTHONWARNINGS": "default", **ours}

    return made


@pytest.fixture(scope="session")
def python() -> str:
    return sys.executable
