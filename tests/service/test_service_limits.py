"""What the service lets in: keys, places, clients that are slow or gone, and the same call twice."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest
from pydantic import SecretStr

from fetchworker.config import Environment
from fetchworker.demo.log import read_log
from fetchworker.demo.redis import RedisServer
from fetchworker.errors import ConfigError
from fetchworker.service.callers import hash_of, load_keys, new_key
from tests.service.conftest import KEYS, LAB, failure

pytestmark = pytest.mark.slow
ALL = {"authorization": f"Bearer {KEYS['all']}"}


def call(limited, url: str = f"{LAB}/", **more):
    return limited.fetch(url, headers_=ALL, **more)


def hanging(limited, url: str) -> socket.socket:
    """A call whose client can hang up at any time."""
    port = int(limited.url.rpartition(":")[2])
    body = json.dumps({"url": url, "retries": 0}).encode()
    head = f"POST /fetch HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEYS['all']}\r\n"
    head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    made = socket.create_connection(("127.0.0.1", port))
    made.sendall(head.encode() + body)
    return made


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_key_is_needed_and_opens_what_it_is_for(limited):
    assert failure(limited.fetch(f"{LAB}/")) == (401, "UNAUTHENTICATED")
    assert limited.fetch(f"{LAB}/").json()["message"] == "an API key is needed, as a bearer token or in x-api-key"
    assert limited.fetch(f"{LAB}/").headers["www-authenticate"] == "Bearer"
    assert failure(limited.fetch(f"{LAB}/", headers_={"x-api-key": "fwk_wrong"})) == (401, "UNAUTHENTICATED")
    assert failure(limited.fetch(f"{LAB}/", headers_={"x-api-key": KEYS["sites"]})) == (403, "FORBIDDEN")
    assert limited.fetch(f"{LAB}/", headers_={"x-api-key": KEYS["fetch"]}).status_code == 200
    assert failure(limited.get("/sessions/a", headers={"x-api-key": KEYS["fetch"]})) == (403, "FORBIDDEN")
    assert call(limited).status_code == 200
    assert limited.get("/health").status_code == 200
    assert failure(limited.get("/nowhere")) == (401, "UNAUTHENTICATED")


def test_a_key_has_a_rate(limited):
    slow = {"x-api-key": KEYS["slow"]}
    assert limited.fetch(f"{LAB}/", headers_=slow).status_code == 200
    refused = limited.fetch(f"{LAB}/", headers_=slow)
    assert failure(refused) == (429, "RATE_LIMITED")
    assert 0 < int(refused.headers["retry-after"]) <= 60


def test_no_key_is_in_the_log(limited):
    call(limited)
    assert '"fw_caller":"all"' in limited.log_text()
    assert not any(key in limited.log_text() for key in KEYS.values())


def test_it_does_not_listen_to_others_without_keys(project):
    refused = project.scrapy("serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 2
    assert "API keys" in refused.stderr
    assert "--new-key" in refused.stderr


def test_a_new_key_comes_with_its_entry(project):
    made = project.scrapy("serve", "--new-key", "shop", "--scopes", "fetch, sites", "--rate", "60")
    key = made.stderr.split()[-1]
    entry = json.loads(made.stdout)
    assert entry == {"name": "shop", "hash": hash_of(key), "scopes": ["fetch", "sites"], "rate": 60}
    with pytest.raises(ConfigError, match="scopes"):
        new_key("shop", ("everything",))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[1]", "FETCHWORKER_SERVE_KEYS: 0"),
        ('[{"name": "a", "scopes": ["fetch"]}]', "hash"),
        ("{", "FETCHWORKER_SERVE_KEYS"),
        (json.dumps([new_key("a", ("fetch",))[1]] * 2), "two keys"),
        (json.dumps([{**new_key("a", ("fetch",))[1], "rate": "5"}]), "rate"),
    ],
)
def test_wrong_lists_of_keys_are_refused(text, told):
    with pytest.raises(ConfigError, match=told):
        load_keys(Environment(serve_keys=SecretStr(text)))


def test_keys_from_a_file(tmp_path):
    file = tmp_path / "keys.json"
    file.write_text(json.dumps([new_key("a", ("fetch",))[1]]))
    assert [key.name for key in load_keys(Environment(serve_keys_file=file))] == ["a"]
    with pytest.raises(ConfigError, match="cannot be read"):
        load_keys(Environment(serve_keys_file=tmp_path / "none.json"))


# ── what a stateless service without proxies and Redis does ──────────────────────────────────────────────────────────


def test_without_redis_stateless_fetches_go_on(limited):
    assert call(limited).json()["proxy"] is None
    told = {one["part"]: one["told"] for one in limited.health()["degraded"]}
    assert "50 requests" in told["limit"]
    assert "sessions with a name" in told["redis"]


def test_without_redis_what_needs_it_says_so_and_names_no_place(make_service):
    """At once, and not at the end of the call's time; with the patience that crawls have."""
    made = make_service("--stateless", FETCHWORKER_REDIS_URL="redis://127.0.0.1:1/0")
    with made as service, service.client() as client:
        found = [service.fetch(f"{LAB}/", session_id="a", timeout=20), client.get("/sessions/a")]
        found += [client.delete("/sessions/a"), client.post("/sessions/a/refresh")]
        for response in found:
            assert failure(response) == (503, "REDIS_UNAVAILABLE")
            assert "127.0.0.1" not in response.text
        assert "127.0.0.1:1" in service.log_text()
        assert [one["part"] for one in service.health()["degraded"]] == ["redis"]


def test_health_knows_of_a_mute_redis_from_the_first_call_on(make_service):
    with socket.create_server(("127.0.0.1", 0)) as mute:  # it takes connections, and says nothing
        url = f"redis://127.0.0.1:{mute.getsockname()[1]}/0"
        with make_service("--stateless", FETCHWORKER_REDIS_URL=url) as service, service.client() as client:
            for _ in range(3):
                assert [one["part"] for one in client.get("/health").json()["degraded"]] == ["redis"]


def test_a_redis_that_goes_away_is_told_and_missed(make_service):
    redis = RedisServer()
    with redis, make_service(FETCHWORKER_REDIS_URL=redis.url) as service, service.client() as client:
        assert service.fetch(f"{LAB}/", session_id="a").status_code == 200
        assert service.health()["degraded"] == []
        with ThreadPoolExecutor(1) as threads:
            begun = threads.submit(service.fetch, f"{LAB}/slow?seconds=2", headers_={"idempotency-key": "begun"})
            service.until(lambda health: health["in_flight"])
            os.kill(redis.pid, signal.SIGSTOP)  # it takes connections and commands, and answers none
            assert begun.result().status_code == 200  # which is not kept
        service.until(lambda health: health["degraded"] and not health["in_flight"])
        refused = service.fetch(f"{LAB}/", headers_={"idempotency-key": "stopped"})
        assert failure(refused) == (503, "REDIS_UNAVAILABLE")
        assert failure(service.fetch(f"{LAB}/", session_id="a", timeout=20)) == (503, "REDIS_UNAVAILABLE")
        os.kill(redis.pid, signal.SIGCONT)
        service.until(lambda health: not health["degraded"])
        assert service.fetch(f"{LAB}/", session_id="a").status_code == 200
        redis.kill()
        service.until(lambda health: [one["part"] for one in health["degraded"]] == ["redis"])
        found = [service.fetch(f"{LAB}/", session_id="a"), client.get("/sessions/a")]
        found += [
            service.fetch(f"{LAB}/", headers_={"idempotency-key": "k"}),
            client.post("/pool/fetch/lease", json={}),
        ]
        for response in found:
            assert failure(response) == (503, "REDIS_UNAVAILABLE")
            assert "127.0.0.1" not in response.text
        assert service.fetch(f"{LAB}/").status_code == 200


def test_a_required_proxy_that_is_not_there(limited):
    response = call(limited, site="walmart")
    assert failure(response) in {(503, "PROXY_EXHAUSTED"), (403, "EGRESS_DENIED")}
    assert failure(call(limited, site="walmart", retries=0)) == (503, "PROXY_EXHAUSTED")


def test_robots_txt_where_it_is_obeyed(limited, closed_to_robots):
    assert failure(call(limited, f"{closed_to_robots}/private", site="ebay")) == (403, "ROBOTS_DENIED")
    assert call(limited, f"{closed_to_robots}/public", site="ebay").status_code == 200


def test_stateless_has_no_site_routes(limited):
    assert failure(limited.get("/linktree/profile?user=nasa", headers=ALL)) == (404, "NOT_FOUND")
    assert limited.health()["mode"] == "stateless"


# ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_who_comes_too_many_is_told_to_come_later(limited, silent):
    held = [hanging(limited, silent.url) for _ in range(3)]
    limited.until(lambda health: (health["in_flight"], health["waiting"]) == (2, 1))
    refused = call(limited)
    assert failure(refused) == (429, "OVERLOADED")
    assert refused.headers["retry-after"] == "1"
    for one in held:
        one.close()
    limited.until(lambda health: (health["in_flight"], health["waiting"]) == (0, 0))
    assert call(limited).status_code == 200


def test_a_client_that_hangs_up_ends_its_transfer(limited, silent):
    one = hanging(limited, silent.url)
    assert silent.came.acquire(timeout=10)
    one.close()
    assert silent.left.acquire(timeout=10), "the transfer goes on"
    limited.until(lambda health: health["in_flight"] == 0)


def test_a_deadline_ends_its_transfer(limited, silent):
    with ThreadPoolExecutor(1) as threads:
        one = threads.submit(call, limited, silent.url, timeout=3)
        assert silent.came.acquire(timeout=10)
        assert failure(one.result()) == (504, "DEADLINE")
    assert silent.left.acquire(timeout=10), "the transfer goes on"


def test_a_deadline_counts_while_waiting_for_a_place(limited, silent):
    held = [hanging(limited, silent.url) for _ in range(2)]
    limited.until(lambda health: health["in_flight"] == 2)
    assert failure(call(limited, timeout=0.3)) == (504, "DEADLINE")
    for one in held:
        one.close()
    limited.until(lambda health: health["in_flight"] == 0)


def test_many_that_hang_up_leave_nothing(limited, silent):
    for _ in range(10):
        one = hanging(limited, silent.url)
        assert silent.came.acquire(timeout=10)
        one.close()
    limited.until(lambda health: health["in_flight"] == 0)
    assert call(limited).status_code == 200


# ── clients that are slow ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /fetch HTTP/1.1\r\nhost: 127.0.0.1\r\n",
        b"POST /fetch HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer fwk_all\r\ncontent-length: 100\r\n\r\n{",
    ],
    ids=["silent", "headers", "body"],
)
def test_who_does_not_come_to_the_point_is_cut(limited, sent):
    port = int(limited.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=15) as one:
        one.sendall(sent)
        answer = b""
        while part := one.recv(65536):
            answer += part
    assert b" 200 " not in answer
    if b"content-length" in sent:
        assert answer.startswith(b"HTTP/1.1 408 ")


def raw(serving, *parts: bytes) -> bytes:
    """All that comes back for these bytes; a reset fails."""
    port = int(serving.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=15) as one:
        for part in parts:
            one.sendall(part)
        answer = b""
        while part := one.recv(65536):
            answer += part
    return answer


def told(answer: bytes) -> tuple[int, str]:
    """Status and type of a failure as it came over the wire."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"\r\ncontent-type: application/json\r\n" in head
    assert b"\r\nx-request-id: " in head
    assert b"\r\nx-trace-id: " in head
    return int(head.split()[1]), json.loads(body)["type"]


@pytest.mark.parametrize("size", [66_000, 130_000, 400_000])
@pytest.mark.parametrize("ended", [True, False])
def test_headers_that_are_too_large(limited, size, ended):
    parts = [b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nx-long: ", b"a" * size, b"\r\n\r\n" if ended else b""]
    assert told(raw(limited, b"".join(parts))) == (431, "HEADERS_TOO_LARGE")
    assert limited.get("/health").status_code == 200


def test_headers_may_have_so_many_bytes(limited):
    assert limited.get("/health", headers={"x-long": "a" * 60_000}).status_code == 200
    with limited.client() as client:  # each request has its own
        assert {client.get("/health", headers={"x-long": "a" * 30_000}).status_code for _ in range(4)} == {200}


@pytest.mark.parametrize(
    "sent",
    [
        b"FOO / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"POST /fetch HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ids=["method", "tls", "two lengths"],
)
def test_what_is_no_http_is_told_so(limited, sent):
    assert told(raw(limited, sent)) == (400, "VALIDATION_ERROR")


# ── clients that take nothing ────────────────────────────────────────────────────────────────────────────────────────


def begun(serving, url: str) -> socket.socket:
    """A call whose client has read the beginning of its answer."""
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.settimeout(20)
    one.connect(("127.0.0.1", int(serving.url.rpartition(":")[2])))
    body = json.dumps({"url": url}).encode()
    head = f"POST /fetch HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEYS['all']}\r\n"
    head += f"content-type: application/json\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
    one.sendall(head.encode() + body)
    assert one.recv(12) == b"HTTP/1.1 200"
    return one


def test_who_takes_nothing_of_an_answer_is_cut(limited):
    with begun(limited, f"{LAB}/bytes/9000000") as one:
        limited.until(lambda health: health["in_flight"] == 0)
        got = 0
        with suppress(ConnectionError):
            while part := one.recv(65536):
                got += len(part)
    assert got < 9_000_000


def test_a_place_comes_back_when_the_answer_is_taken(make_service):
    with make_service("--stateless", FETCHWORKER_SERVE_PATIENCE="60") as service:
        with begun(service, f"{LAB}/bytes/9000000") as one:
            assert service.health()["in_flight"] == 1
            while one.recv(1 << 20):
                pass
            service.until(lambda health: health["in_flight"] == 0)
        begun(service, f"{LAB}/bytes/9000000").close()
        service.until(lambda health: health["in_flight"] == 0)


# ── the same call twice ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["limited", "service"])
def test_a_key_makes_a_call_once(kind, request, demo):
    """In the process (stateless), and in Redis."""
    serving = request.getfixturevalue(kind)
    headers = {**ALL, "idempotency-key": f"order-{kind}"}
    url = f"{LAB}/echo/once-{kind}"
    first = serving.fetch(url, headers_=headers)
    again = serving.fetch(url, headers_=headers)
    assert first.status_code == again.status_code == 200
    assert first.json() == again.json()
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["x-request-id"] != first.headers["x-request-id"]
    other = serving.fetch(f"{LAB}/", headers_=headers)
    assert failure(other) == (409, "CONFLICT")
    records = read_log(demo.state_dir / "log.jsonl")
    assert sum(record.get("path") == f"/echo/once-{kind}" for record in records) == 1


def test_a_key_stands_for_the_query_too(service):
    headers = {**ALL, "idempotency-key": "refresh-of-one"}
    with service.client() as client:
        first = client.post("/sessions/keyed/refresh", headers=headers)
        other = client.post("/sessions/keyed/refresh?site=linktree", headers=headers)
        again = client.post("/sessions/keyed/refresh", headers=headers)
        assert first.status_code == 200
        assert failure(other) == (409, "CONFLICT")
        assert (again.status_code, again.headers["idempotency-replayed"]) == (200, "true")
        assert client.get("/sessions/keyed?site=linktree", headers=ALL).status_code == 404


@pytest.mark.parametrize("key", ["a b", "", "x" * 256, "ümlaut".encode()])
def test_a_key_is_as_the_document_says(limited, key):
    refused = limited.fetch(f"{LAB}/", headers_={**ALL, "idempotency-key": key})
    assert failure(refused) == (400, "VALIDATION_ERROR")
    assert refused.json()["context"]["fields"] == ["Idempotency-Key"]


def test_a_key_goes_with_no_lines(service):
    headers = {"idempotency-key": "lines", "accept": "application/x-ndjson"}
    with service.client() as client:
        refused = client.post("/tiktok_shop/search", json={"query": "mug"}, headers=headers)
    assert failure(refused) == (400, "VALIDATION_ERROR")
    assert refused.json()["context"]["fields"] == ["Idempotency-Key"]


def test_a_path_with_a_slash_more_is_none(limited):
    with limited.client() as client:
        assert failure(client.post("/fetch/", json={"url": f"{LAB}/"}, headers=ALL)) == (404, "NOT_FOUND")


def test_a_key_whose_call_is_under_way(limited, silent):
    headers = {**ALL, "idempotency-key": "under-way"}
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(limited.fetch, silent.url, headers_=headers, timeout=2, retries=0)
        assert silent.came.acquire(timeout=10)
        assert failure(limited.fetch(silent.url, headers_=headers, timeout=2, retries=0)) == (409, "CONFLICT")
        assert failure(first.result()) == (504, "DEADLINE")
    # it came to no answer: it may be made again
    assert failure(limited.fetch(silent.url, headers_=headers, timeout=0.2, retries=0)) in {
        (504, "DEADLINE"),
        (409, "CONFLICT"),
    }


def test_bodies_that_wait_for_the_rest_of_them_count(make_service):
    """Bodies come before their calls have a place: all together they have a limit of their own."""
    made = make_service(
        "--stateless", FETCHWORKER_DOCUMENTS_BYTES="16384", FETCHWORKER_SERVE_BODY_MAX="65536",
        FETCHWORKER_SERVE_BODIES_MAX="65536", FETCHWORKER_SERVE_PATIENCE="60",
    )  # fmt: skip
    with made as service, ExitStack() as stack:
        port = int(service.url.rpartition(":")[2])
        head = b"POST /fetch HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        head += b"content-length: 60000\r\n\r\n"
        slow = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(2)]
        for one in slow:
            one.sendall(head + b" " * 30_000)
        refused = {"url": f"{LAB}/", "headers": {"x-long": "x" * 10_000}}
        with service.client() as client:
            deadline = time.monotonic() + 15
            while (answer := client.post("/fetch", json=refused)).status_code != 429:
                assert time.monotonic() < deadline, "the bodies were not counted"
            assert failure(answer) == (429, "OVERLOADED")
            assert answer.headers["retry-after"] == "1"
        assert service.health()["in_flight"] == 0
        stack.close()
        deadline = time.monotonic() + 15
        while service.fetch(**refused).status_code == 429:
            assert time.monotonic() < deadline, "the room did not come back"


def test_curl_gets_the_same(service):
    done = subprocess.run(
        ["curl", "-s", "-w", "\n%{http_code}", f"{service.url}/fetch", "--json", json.dumps({"url": f"{LAB}/"})],
        capture_output=True, text=True, check=True, timeout=30,
    )  # fmt: skip
    body, status = done.stdout.rsplit("\n", 1)
    assert (status, json.loads(body)["body"]) == ("200", "demo\n")


def test_twenty_at_once(service):
    started = time.monotonic()
    with ThreadPoolExecutor(20) as threads:
        answers = list(threads.map(lambda _: service.fetch(f"{LAB}/slow?seconds=1"), range(20)))
    assert {answer.status_code for answer in answers} == {200}
    assert time.monotonic() - started < 15  # one after the other they would take twenty seconds
    assert threading.active_count() < 100
