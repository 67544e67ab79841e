"""`POST /fetch`: what is asked for goes out as from a crawl, and what comes back is the answer itself."""

from __future__ import annotations

import base64

import pytest

from fetchworker.items import FetchResult

LAB = "https://lab.example"
pytestmark = pytest.mark.slow


def test_the_answer_is_the_item(service):
    response = service.fetch(f"{LAB}/redirect-to?url=/repeat-headers")
    assert response.status_code == 200
    item = response.json()
    FetchResult.model_validate(item)
    assert (item["kind"], item["site"], item["operation"]) == ("fetch_result", "fetch", "fetch")
    assert (item["status"], item["body"], item["url"]) == (200, "repeated\n", f"{LAB}/repeat-headers")
    assert item["attempts"] == 1
    assert item["proxy"] == {"provider": "static", "country": None}
    assert item["session_id"] is None


def test_all_fields_go_out(service):
    response = service.fetch(
        f"{LAB}/echo/%7ea?sig=%2Fx",
        method="POST",
        json={"a": [1, "ü"]},
        headers={"X-Order": "7"},
        cookies={"lang": "en"},
        destination="xhr",
        referer=f"{LAB}/start",
    )
    import orjson

    answer = orjson.loads(response.json()["body"])
    headers = dict(answer["headers"])
    assert (answer["method"], answer["path"]) == ("POST", "/echo/%7ea?sig=%2Fx")
    assert orjson.loads(base64.b64decode(answer["body_base64"])) == {"a": [1, "ü"]}
    assert headers["content-type"] == "application/json"
    assert headers["x-order"] == "7"
    assert headers["cookie"] == "lang=en"
    assert headers["sec-fetch-mode"] == "cors"
    assert "Chrome" in headers["user-agent"]


def test_bytes_come_as_base64_and_go_as_base64(service):
    sent = base64.b64encode(bytes(range(256))).decode()
    echoed = service.fetch(f"{LAB}/echo", method="PUT", body_base64=sent, headers={"Content-Type": "image/png"}).json()
    import orjson

    assert orjson.loads(echoed["body"])["body_base64"] == sent
    item = service.fetch(f"{LAB}/bytes/300").json()
    assert item["body"] is None
    assert len(base64.b64decode(item["body_base64"])) == 300


def test_redirects_are_followed_unless_told_otherwise(service):
    item = service.fetch(f"{LAB}/redirect/1", follow_redirects=False).json()
    assert item["status"] == 302
    assert service.fetch(f"{LAB}/redirect/1").json()["status"] == 200


def test_a_session_keeps_its_cookies_and_its_exit(service):
    first = service.fetch(f"{LAB}/cookies/set?theme=dark", session_id="alice").json()
    peers = set()
    for _ in range(3):
        item = service.fetch(f"{LAB}/headers", session_id="alice").json()
        import orjson

        told = orjson.loads(item["body"])
        peers.add(told["peer"])
        assert dict(told["headers"])["cookie"] == "theme=dark"
    assert len(peers) == 1
    assert first["session_id"] == "alice"


def test_without_a_session_nothing_is_kept(service):
    service.fetch(f"{LAB}/cookies/set?theme=dark")
    assert service.fetch(f"{LAB}/cookies").json()["body"].startswith('{"cookies": {}')


def test_statuses_that_the_caller_expects_are_handed_over(service):
    assert service.fetch(f"{LAB}/status/404", expect={"status": [404]}).json()["status"] == 404
    assert service.fetch(f"{LAB}/status/404").status_code == 404


def test_ids_are_kept_when_they_are_well_formed(service):
    with service.client() as client:
        parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        response = client.get("/health", headers={"x-request-id": "order-7", "traceparent": parent})
        assert response.headers["x-request-id"] == "order-7"
        assert response.headers["x-trace-id"] == "0af7651916cd43dd8448eb211c80319c"
        odd = client.get("/health", headers={"x-request-id": 'a"b c'})
        assert len(odd.headers["x-request-id"]) == 32
