"""Every failure of the table, made on purpose."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadTimeoutError,
    IgnoreRequest,
    NotSupported,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)

from fetchworker.errors import (
    ArgumentError,
    ContractError,
    EgressDeniedError,
    OutcomeError,
    ProxyExhaustedError,
    RedisUnavailableError,
    RefusedError,
    StorageAwayError,
    StorageError,
)
from fetchworker.service.failures import STATUSES, ApiError, failure_of
from fetchworker.service.models import FetchBody, read_body
from tests.service.conftest import LAB, failure

DOCS = Path(__file__).resolve().parents[2] / "docs" / "api.md"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ArgumentError("x"), "VALIDATION_ERROR"),
        (ContractError("a.b"), "CONTRACT_ERROR"),
        (EgressDeniedError("x", layer="url", reason="loopback"), "EGRESS_DENIED"),
        (OutcomeError("blocked", "x", vendor="akamai"), "UPSTREAM_BLOCKED"),
        (OutcomeError("rate_limited", "x"), "RATE_LIMITED"),
        (OutcomeError("gone", "x"), "NOT_FOUND_UPSTREAM"),
        (OutcomeError("transient", "x"), "FETCH_ERROR"),
        (OutcomeError("stale_contract", "x"), "CONTRACT_ERROR"),
        (ProxyExhaustedError("x"), "PROXY_EXHAUSTED"),
        (RedisUnavailableError("x"), "REDIS_UNAVAILABLE"),
        (CannotResolveHostError("x"), "FETCH_ERROR"),
        (DownloadTimeoutError("x"), "FETCH_ERROR"),
        (ResponseDataLossError("x"), "FETCH_ERROR"),
        (NotSupported("x"), "FETCH_ERROR"),
        (UnsupportedURLSchemeError("x"), "FETCH_ERROR"),
        (DownloadCancelledError("Received 9 bytes which is larger than download max size (3)"), "PAYLOAD_TOO_LARGE"),
        (IgnoreRequest("<200 /> body (9 B) exceeded DOWNLOAD_MAXSIZE (3 B)"), "PAYLOAD_TOO_LARGE"),
        (IgnoreRequest("Forbidden by robots.txt"), "ROBOTS_DENIED"),
        (IgnoreRequest("max redirections reached"), "FETCH_ERROR"),
        (TimeoutError(), "DEADLINE"),
        (ValueError("secret"), "INTERNAL_ERROR"),
    ],
)
def test_each_error_has_its_type(error, kind):
    found = failure_of(error)
    assert found.type == kind
    assert found.status == STATUSES[kind]


def test_a_failure_tells_no_evidence_of_pages_and_no_foreign_text():
    body = failure_of(OutcomeError("blocked", "blocked", snippet="<b>page</b>", attempts=2)).body()
    assert body["context"] == {"outcome": "blocked", "attempts": 2}
    assert "secret" not in failure_of(ValueError("secret")).body()["message"]
    assert "hunter2" not in ApiError("FETCH_ERROR", "http://user:hunter2@proxy.example:80 failed").body()["message"]


pytestmark = pytest.mark.slow


def test_egress_denied(service):
    for url in ("http://127.0.0.1:6379/", "http://169.254.169.254/latest", "http://[::1]/", "http://2130706433/"):
        response = service.fetch(url)
        assert failure(response) == (403, "EGRESS_DENIED"), url
    redirected = service.fetch(f"{LAB}/redirect-to?url=http://127.0.0.1:1/")
    assert failure(redirected) == (403, "EGRESS_DENIED")


def test_not_found_upstream_says_what_is_known(service):
    response = service.fetch(f"{LAB}/status/404")
    assert failure(response) == (404, "NOT_FOUND_UPSTREAM")
    context = response.json()["context"]
    assert (context["site"], context["operation"], context["outcome"], context["status"]) == (
        "fetch",
        "fetch",
        "not_found",
        404,
    )
    assert context["attempts"] == 1
    assert context["elapsed_ms"] > 0


def test_fetch_errors_after_so_many_tries_as_are_asked_for(service):
    response = service.fetch(f"{LAB}/status/500", retries=1)
    assert failure(response) == (502, "FETCH_ERROR")
    assert response.json()["context"]["attempts"] == 2
    assert failure(service.fetch(f"{LAB}/close", retries=0)) == (502, "FETCH_ERROR")


def test_upstream_blocked_and_rate_limited(service):
    assert failure(service.fetch(f"{LAB}/status/403", retries=0)) == (503, "UPSTREAM_BLOCKED")
    limited = service.fetch(f"{LAB}/429?retry_after=0", retries=0)
    assert failure(limited) == (429, "RATE_LIMITED")


def test_a_torn_body_is_no_fault_of_ours(service):
    for retries in (0, 1):
        torn = service.fetch(f"{LAB}/truncated", retries=retries)
        assert failure(torn) == (502, "FETCH_ERROR")
        told = torn.json()["context"]
        assert (told["attempts"], told["reason"]) == (retries + 1, "data_loss")


def test_a_pause_that_the_site_asks_for_is_passed_on(service):
    limited = service.fetch(f"{LAB}/429?retry_after=3", retries=0)
    assert failure(limited) == (429, "RATE_LIMITED")
    assert (limited.headers["retry-after"], limited.json()["context"]["retry_after"]) == ("3", 3)


def test_contract_errors_are_what_the_caller_expected(service):
    found = service.fetch(f"{LAB}/", expect={"marker": "nothing of the kind"})
    assert failure(found) == (502, "CONTRACT_ERROR")
    assert failure(service.fetch(f"{LAB}/", expect={"status": [204]})) == (502, "CONTRACT_ERROR")
    assert service.fetch(f"{LAB}/", expect={"marker": "demo", "status": [200]}).status_code == 200


def test_bodies_that_are_too_large_in_both_directions(service):
    assert failure(service.fetch(f"{LAB}/bytes/5000", max_bytes=1000)) == (413, "PAYLOAD_TOO_LARGE")
    assert failure(service.fetch(f"{LAB}/gzip-bomb?mib=40")) == (413, "PAYLOAD_TOO_LARGE")
    assert failure(service.fetch(f"{LAB}/endless")) == (413, "PAYLOAD_TOO_LARGE")
    with service.client() as client:
        json = {"content-type": "application/json"}
        assert failure(client.post("/fetch", content=b" " * 9_000_000, headers=json)) == (413, "PAYLOAD_TOO_LARGE")
        parts = (b" " * 100_000 for _ in range(90))
        assert failure(client.post("/fetch", content=parts, headers=json)) == (413, "PAYLOAD_TOO_LARGE")


async def test_a_client_that_reads_when_it_has_sent_all_reads_why_a_body_is_too_large(service):
    async with httpx.AsyncClient(base_url=service.url, timeout=30, trust_env=False) as client:
        for size in (8 * 1024 * 1024 + 1, 20_000_000):
            headers = {"content-type": "application/json"}
            assert failure(await client.post("/fetch", content=b" " * size, headers=headers)) == (
                413,
                "PAYLOAD_TOO_LARGE",
            )


def test_the_deadline_holds_for_the_whole_call(service):
    response = service.fetch(f"{LAB}/slow?seconds=8", timeout=0.5)
    assert failure(response) == (504, "DEADLINE")
    assert response.json()["context"]["limit"] == 0.5
    assert response.json()["context"]["layer"] == "deadline"
    assert service.health()["in_flight"] == 0
    too_long = service.fetch(f"{LAB}/", timeout=301)
    assert failure(too_long) == (400, "VALIDATION_ERROR")


def test_a_call_whose_time_is_over_tells_how_its_last_try_ended(service):
    """The site asks for a pause that is longer than the call."""
    response = service.fetch(f"{LAB}/429?retry_after=2", retries=5, timeout=1, site="walmart")
    assert failure(response) == (504, "DEADLINE")
    context = response.json()["context"]
    assert (context["outcome"], context["status"], context["attempts"]) == ("rate_limited", 429, 1)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"),
        ({"url": "gopher://lab.example/"}, "url"),
        ({"url": "https://user:secret@lab.example/"}, "url"),
        ({"url": LAB, "render": "false"}, "render"),
        ({"url": LAB, "follow_redirects": 1}, "follow_redirects"),
        ({"url": LAB, "retries": "5"}, "retries"),
        ({"url": LAB, "timeout": "5"}, "timeout"),
        ({"url": LAB, "nonsense": 1}, "nonsense"),
        ({"url": LAB, "proxy": "http://127.0.0.1:6379"}, "proxy"),
        ({"url": LAB, "site": "nowhere"}, "site"),
        ({"url": LAB, "session_id": "a b"}, "session_id"),
        ({"url": LAB, "headers": {"X-A": "1\r\nX-B: 2"}}, "headers.X-A"),
        ({"url": LAB, "headers": {"X A": "1"}}, "headers.X A"),
        ({"url": LAB, "headers": {"User-Agent": "other"}}, "headers.User-Agent"),
        ({"url": LAB, "headers": {"X-A": 1}}, "headers.X-A"),
        ({"url": LAB, "cookies": {"a": "1;2"}}, "cookies.a"),
        ({"url": LAB, "cookies": {"a=b": "1"}}, "cookies.a=b"),
        ({"url": LAB, "body": "a", "json": 1}, "json"),
        ({"url": LAB, "body_base64": "%"}, "body_base64"),
        ({"url": LAB, "lease": "x"}, "lease"),
        ({"url": LAB, "session_id": "call:1"}, "session_id"),
        ({"url": LAB, "render": True}, "render"),
        ({"url": LAB, "expect": {"status": ["200"]}}, "expect.status[0]"),
    ],
)
def test_validation_errors_name_the_field(service, body, field):
    with service.client() as client:
        response = client.post("/fetch", json=body)
    assert failure(response) == (400, "VALIDATION_ERROR")
    assert field in response.json()["context"]["fields"]
    assert "secret" not in response.text


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("user=nasa&limit=0", "limit"),
        ("user=nasa&foo=1", "foo"),
        ("user=nasa&session_id=a/b", "session_id"),
        ("user=nasa&session_id=call:1", "session_id"),
        ("user=nasa&lease=x", "lease"),
        ("user=nasa&url=https://www.instagram.com/esa/", "url"),
        ("url=https://lab.example/x", "url"),
        ("user=nasa&priority=1", "priority"),
        ("user=nasa&tier=low", "tier"),
        ("user=nasa&session=ada&exclusive=true", "exclusive"),
        ("user=nasa&session=ada", "session"),
        ("user=nasa&operation=profile", "operation"),
        ("user=nasa&country=de&foo=1", "country"),
        ("user=nasa&timeout=x", "timeout"),
        ("user=nasa&timeout=5_0", "timeout"),
        ("user=nasa&timeout=nan", "timeout"),
        ("user=nasa&timeout=1e400", "timeout"),
        ("user=nasa&limit=1_0", "limit"),
        ("user=nasa&limit=5.0", "limit"),
        ("user=nasa&limit=05", "limit"),
        ("", "user"),
        ("", "id"),
    ],
)
def test_arguments_of_routes_are_named_too(service, query, field):
    response = service.get(f"/instagram/posts?{query}")
    assert failure(response) == (400, "VALIDATION_ERROR")
    assert field in response.json()["context"]["fields"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("timeout", "5"), ("timeout", True), ("timeout", []), ("limit", 5.0), ("limit", "5"), ("limit", True),
        ("product", 1729382256910270123), ("region", True), ("session", "ada"), ("operation", "product"),
        ("session_id", 5), ("render", 1),
    ],
)  # fmt: skip
def test_arguments_of_routes_by_post_are_strict(service, field, value):
    with service.client() as client:
        response = client.post("/tiktok_shop/reviews", json={"product": "1729382256910270123", field: value})
    assert failure(response) == (400, "VALIDATION_ERROR")
    assert response.json()["context"]["fields"] == [field]


@pytest.mark.parametrize(
    ("method", "path", "names"),
    [
        ("GET", "/artifacts?limit=1&foo=1&bar=2", ["foo", "bar"]),
        ("GET", "/sessions/x?foo=1", ["foo"]),
        ("POST", "/fetch?render=never", ["render"]),
        ("POST", "/tiktok_shop/product?session=ada", ["session"]),
        ("POST", "/pool/fetch/lease?wait=1", ["wait"]),
        ("GET", "/runs?foo=1", ["foo"]),
    ],
)
def test_what_a_route_does_not_know_is_told(service, method, path, names):
    with service.client() as client:
        response = client.request(method, path)
    assert failure(response) == (400, "VALIDATION_ERROR")
    assert response.json()["context"]["fields"] == names


@pytest.mark.parametrize(
    "query",
    ["limit=1.0", "limit=%2B5", "limit=%205", "limit=5%20", "limit=1e3", "limit=1_0", "limit=05", "limit=%EF%BC%95",
     "limit=", "limit=1&limit=2", "limit=1&limit=1", "limit=true"],
)  # fmt: skip
@pytest.mark.parametrize(
    "path",
    ["/artifacts", "/browser/actions", "/runs", "/webhooks/deliveries", "/runs/0123456789abcdef01234567/items"],
)
def test_numbers_of_queries_are_written_as_in_json_and_once(service, path, query):
    response = service.get(f"{path}?{query}")
    assert failure(response) == (400, "VALIDATION_ERROR")
    assert response.json()["context"]["fields"] == ["limit"]


@pytest.mark.parametrize("query", ["workspace=a&workspace=b", "state=running&state=running"])
def test_a_parameter_stands_once(service, query):
    response = service.get(f"/runs?{query}")
    assert failure(response) == (400, "VALIDATION_ERROR")
    assert response.json()["context"]["fields"] == [query.partition("=")[0]]


@pytest.mark.parametrize("enabled", ["yes", 1, "true"])
def test_a_schedule_is_strict(service, enabled):
    run = {"workspaceId": "w", "runs": [{"actor": "linktree", "input": {"user": "ann"}}]}
    with service.client() as client:
        response = client.post("/schedules", json={"name": "n", "cron": "0 2 * * *", "enabled": enabled, "run": run})
    assert failure(response) == (400, "VALIDATION_ERROR")
    assert response.json()["context"]["fields"] == ["enabled"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e400", "-1e400", "1" * 5000])
def test_numbers_that_json_does_not_have(service, number):
    with service.client() as client:
        content = f'{{"url": "{LAB}/echo", "method": "POST", "json": {{"a": [{number}]}}}}'
        response = client.post("/fetch", content=content, headers={"content-type": "application/json"})
    assert failure(response) == (400, "VALIDATION_ERROR")


def test_long_numbers_are_sent_as_they_are():
    told = '{"url": "https://lab.example/", "json": {"id": 123456789012345678901234567890, "b": "ü"}}'
    assert read_body(FetchBody, told.encode()).params().body == '{"id":123456789012345678901234567890,"b":"ü"}'


def test_other_refusals_of_the_protocol(service):
    with service.client() as client:
        assert failure(client.post("/fetch", content=b"{", headers={"content-type": "application/json"})) == (
            400,
            "VALIDATION_ERROR",
        )
        assert failure(client.post("/fetch", content=b"{}", headers={"content-type": "text/plain"})) == (
            415,
            "UNSUPPORTED_MEDIA_TYPE",
        )
        assert failure(client.get("/fetch")) == (405, "METHOD_NOT_ALLOWED")
        assert failure(client.get("/health", headers={"sec-fetch-site": "cross-site"})) == (403, "FORBIDDEN")
        assert failure(client.get("/health", headers={"host": "evil.example"})) == (403, "FORBIDDEN")


def test_the_table_is_documented():
    rows = re.findall(r"^\| (\d{3}) \| `([A-Z_]+)` \|", DOCS.read_text(), re.MULTILINE)
    assert {kind: int(status) for status, kind in rows} == STATUSES


@pytest.mark.parametrize("kind", [StorageError, RefusedError, StorageAwayError])
def test_the_address_of_a_database_is_in_no_answer(kind):
    found = failure_of(kind("postgresql://db.internal.example:5432/runs: value too long", url="db.internal.example"))
    assert found.type == ("STORAGE_UNAVAILABLE" if kind is StorageAwayError else "INTERNAL_ERROR")
    assert "db.internal" not in json.dumps(found.body())
