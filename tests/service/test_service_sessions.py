"""`/sessions`: what a caller sees of a session, and what it may do to it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import orjson
import pytest

from tests.service.conftest import LAB, failure

pytestmark = pytest.mark.slow


def test_a_session_is_shown_without_its_secrets(service):
    service.fetch(f"{LAB}/cookies/set?token=verysecret", session_id="shown")
    seen = service.get("/sessions/shown")
    told = seen.json()
    assert (told["session_id"], told["site"], told["cookies"]) == ("shown", "fetch", ["token"])
    assert told["proxy"] == {"provider": "static", "country": None}
    assert told["uses"] >= 1
    assert "verysecret" not in seen.text


def test_a_dropped_session_is_gone(service):
    service.fetch(f"{LAB}/cookies/set?a=1", session_id="dropped")
    with service.client() as client:
        assert client.delete("/sessions/dropped").status_code == 204
        assert failure(client.delete("/sessions/dropped")) == (404, "NOT_FOUND")
    assert failure(service.get("/sessions/dropped")) == (404, "NOT_FOUND")
    assert orjson.loads(service.fetch(f"{LAB}/cookies", session_id="dropped").json()["body"])["cookies"] == {}


def test_a_refreshed_session_is_another_identity_under_its_name(service):
    service.fetch(f"{LAB}/cookies/set?a=1", session_id="fresh")
    before = service.get("/sessions/fresh").json()
    with service.client() as client:
        after = client.post("/sessions/fresh/refresh").json()
    assert after["identity"] != before["identity"]
    assert after["cookies"] == []
    assert orjson.loads(service.fetch(f"{LAB}/cookies", session_id="fresh").json()["body"])["cookies"] == {}


def test_the_sessions_of_sites_are_apart(service):
    service.fetch(f"{LAB}/cookies/set?a=1", session_id="both")
    assert failure(service.get("/sessions/both?site=linktree")) == (404, "NOT_FOUND")
    assert failure(service.get("/sessions/both?site=nowhere")) == (400, "VALIDATION_ERROR")


def test_calls_on_one_session_come_one_after_the_other(service):
    """Each adds a cookie to those that the one before has left."""

    def call(number: int) -> int:
        return service.fetch(f"{LAB}/cookies/set?c{number}=1", session_id="queue").status_code

    with ThreadPoolExecutor(6) as threads:
        assert set(threads.map(call, range(6))) == {200}
    assert service.get("/sessions/queue").json()["cookies"] == [f"c{number}" for number in range(6)]


def test_names_of_single_calls_are_nobodys(service):
    assert failure(service.fetch(f"{LAB}/", session_id="call:1")) == (400, "VALIDATION_ERROR")
    assert failure(service.get("/sessions/call:1")) == (400, "VALIDATION_ERROR")
