"""Two processes of the service with the same Redis."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import orjson
import pytest

from tests.service.conftest import LAB, Serving, failure

pytestmark = pytest.mark.slow


@pytest.fixture
def two(demo, redis_server, tmp_path):
    """Both have the same Redis, as on two machines."""
    made = []
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        serving = Serving(folder, FETCHWORKER_REDIS_URL=redis_server.url)
        serving.project.use(demo, proxies=False)
        made.append(serving)
    with made[0], made[1]:
        yield made


def test_a_session_is_one_process_at_a_time(two):
    one, other = two
    assert one.fetch(f"{LAB}/cookies/set?a=1", session_id="shared").status_code == 200
    told = orjson.loads(other.fetch(f"{LAB}/cookies", session_id="shared").json()["body"])
    assert told["cookies"] == {"a": "1"}
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(one.fetch, f"{LAB}/slow?seconds=6", session_id="shared", timeout=20)
        one.until(lambda health: health["in_flight"] == 1)
        busy = other.fetch(f"{LAB}/cookies", session_id="shared", timeout=2)
        assert failure(busy) == (409, "SESSION_BUSY")
        assert other.fetch(f"{LAB}/cookies", session_id="another", timeout=10).status_code == 200
        assert slow.result().status_code == 200
    assert other.fetch(f"{LAB}/cookies", session_id="shared", timeout=10).status_code == 200
