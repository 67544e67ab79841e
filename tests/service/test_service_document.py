"""The OpenAPI document is what the service does: every answer to whatever it allows is one that it tells of."""

from __future__ import annotations

import subprocess

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.service.conftest import LAB

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]
#: operations to ask of each of the sites would take long: they are made by the same code
CHOSEN = (
    "health",
    "fetch",
    "documents",
    "session",
    "drop_session",
    "refresh_session",
    "linktree_profile",
    "pool_release",
)
#: those that would ask for made up addresses
URLS = ("fetch", "documents")


@pytest.fixture(scope="module")
def document(service):
    return service.get("/openapi.json").json()


def test_it_tells_of_every_operation(document):
    from scrapy.settings import Settings
    from scrapy.spiderloader import SpiderLoader

    from fetchworker import settings as ours

    loader = SpiderLoader(Settings({"SPIDER_MODULES": ours.SPIDER_MODULES}))
    for name in loader.list():
        spider = loader.load(name)
        if name == "fetch" or not hasattr(spider, "operations"):
            continue
        for operation in spider.operations.values():
            route = document["paths"][f"/{name}/{operation.name}"][spider.verb.lower()]
            assert route["summary"]
            told = route.get("parameters", [])
            body = route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            names = {one["name"] for one in told} | set(body.get("properties", {}))
            assert set(operation.params.model_fields) <= names


def test_all_that_it_refers_to_is_there(document):
    import json
    import re

    names = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert names <= set(document["components"]["schemas"])


@pytest.mark.parametrize("chosen", CHOSEN)
def test_no_answer_is_undocumented(service, document, chosen):
    schema = schemathesis.openapi.from_dict(document)
    operation = schema.find_operation_by_id(chosen)
    calls = 0

    @given(case=operation.as_strategy())
    @settings(
        max_examples=12,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    def check(case):
        nonlocal calls
        calls += 1
        if isinstance(case.body, dict):
            case.body = {**case.body, "timeout": 2, "url": f"{LAB}/"} if chosen in URLS else case.body
        response = case.call(base_url=service.url, timeout=30)
        assert response.status_code != 500, response.text
        case.validate_response(response, checks=[not_a_server_error, *CHECKS] if response.status_code < 500 else CHECKS)

    check()
    assert calls >= 10 or chosen == "health"
    assert service.health()["status"] == "ready"


@given(body=st.binary(max_size=200))
@settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))
def test_whatever_the_body_is_it_is_answered(service, body):
    response = httpx.post(f"{service.url}/fetch", content=body, headers={"content-type": "application/json"})
    assert response.status_code in (400, 413)
    assert response.json()["type"] == "VALIDATION_ERROR"


@pytest.mark.parametrize("page", ["/docs", "/swagger"])
def test_the_pages_load_nothing_from_elsewhere(service, page):
    import re

    answer = service.get(page)
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    places = re.findall(r'(?:src|href)="([^"]+)"', answer.text)
    assert places
    for place in places:
        assert place.startswith("/assets/")
        assert service.get(place).status_code == 200
    assert service.get("/assets/README.md").status_code == 404
    assert service.get("/assets/..%2fapp.py").status_code == 404


@pytest.mark.chromium
@pytest.mark.parametrize(
    ("page", "told"), [("/docs", "Whether the service takes calls"), ("/swagger", "Fetch an address the way")]
)
def test_the_pages_work_in_a_browser_that_knows_no_other_host(service, chromium, tmp_path, page, told):
    done = subprocess.run(
        [
            chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
            f"--user-data-dir={tmp_path}", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            "--virtual-time-budget=20000", "--dump-dom", f"{service.url}{page}",
        ],
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert told in done.stdout
