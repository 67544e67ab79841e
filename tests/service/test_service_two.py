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


def sent(serving, name):
    """The cookies with which a call goes out."""
    return orjson.loads(serving.fetch(f"{LAB}/cookies", session_id=name).json()["body"])["cookies"]


def call(serving, method, path, **more):
    with serving.client() as client:
        return client.request(method, path, **more)


def test_what_one_process_was_answered_is_what_the_other_sends_next(two):
    for n in range(6):
        here, there = two if n % 2 else two[::-1]
        assert here.fetch(f"{LAB}/cookies/set?n={n}", session_id="turns").status_code == 200
        assert sent(there, "turns") == {"n": str(n)}
        assert sent(here, "turns") == {"n": str(n)}


def test_a_session_that_the_other_process_dropped_is_gone_here(two):
    one, other = two
    assert one.fetch(f"{LAB}/cookies/set?old=1", session_id="gone").status_code == 200
    assert sent(one, "gone") == {"old": "1"}
    assert call(other, "DELETE", "/sessions/gone").status_code == 204
    assert sent(one, "gone") == {}
    assert one.fetch(f"{LAB}/cookies/set?new=1", session_id="gone").status_code == 200
    assert sent(one, "gone") == sent(other, "gone") == {"new": "1"}


def test_a_session_that_the_other_process_made_anew_is_new_here(two):
    one, other = two
    assert one.fetch(f"{LAB}/cookies/set?old=1", session_id="renewed").status_code == 200
    assert call(other, "POST", "/sessions/renewed/refresh").status_code == 200
    assert sent(one, "renewed") == {}
    assert one.fetch(f"{LAB}/cookies/set?new=1", session_id="renewed").status_code == 200
    assert sent(other, "renewed") == {"new": "1"}


def test_a_leased_session_is_the_same_by_both(two):
    one, other = two
    given = call(one, "POST", "/pool/fetch/lease", json={}).json()
    held = {"session_id": given["session_id"], "lease": given["lease"]}
    for n in range(4):
        here, there = two if n % 2 else (other, one)
        assert here.fetch(f"{LAB}/cookies/set?n={n}", **held).status_code == 200
        told = orjson.loads(there.fetch(f"{LAB}/cookies", **held).json()["body"])
        assert told["cookies"] == {"n": str(n)}
