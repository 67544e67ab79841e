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

from tests.conftest import NAMES
from tests.service.conftest import LAB

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]
#: the service's own routes, by their tags in the document, with examples of each operation; those of a site are fewer,
#: as they are made by the same code
OWN = {"service": 1, "fetch": 12, "sessions": 12, "documents": 4, "pool": 4, "artifacts": 3, "browser": 3, "runs": 3}
OF_A_SITE = 2
#: seconds that a call may take
BRIEF = 2
#: what a call of a site is likely to be carried out with: of these names those that are required, else the first one
SENSE = {
    "shortcode": "DAbCdEfGhIj", "user": "nasa", "query": "mug", "seller": "mugs", "item": "123456789012",
    "product": "1729384756102938475", "id": "102938475610293", "group": "mugs", "post": "7123456789012345678",
    "job": "4012345678", "company": "mugs", "person": "ada", "article": "mugs", "ad": "7123456789012345678",
    "advertiser": "AR01234567890123456789", "creative": "CR01234567890123456789", "url": f"{LAB}/", "limit": 1,
}  # fmt: skip


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


def operations(document, tag):
    """The ids of the operations of a tag."""
    routes = [route for path in document["paths"].values() for route in path.values()]
    return [route["operationId"] for route in routes if tag in route["tags"]]


def bounded(case):
    """The call, in little time and to no address that was made up."""
    if isinstance(case.body, dict) and case.operation.path in ("/fetch", "/documents", "/browser/runs"):
        case.body = {**case.body, "timeout": BRIEF, "url": f"{LAB}/"}
    elif case.operation.path.startswith("/pool/"):
        case.path_parameters = {"site": "linktree"}
        if case.operation.path.endswith("/lease") and isinstance(case.body, dict):
            case.body = {**case.body, "wait": 0}
    elif isinstance(case.body, dict) and case.operation.path.count("/") == 2:
        case.body = {**case.body, "timeout": BRIEF}
    elif case.method == "GET" and case.operation.path.count("/") == 2 and "{" not in case.operation.path:
        case.query = {**(case.query or {}), "timeout": BRIEF}
    return case


def sensible(case):
    """The call with arguments that mean something."""
    body = case.operation.body[0].definition["schema"]["properties"] if case.method == "POST" else {}
    told = {one.name: one.is_required for one in case.operation.query} | dict.fromkeys(body, False)
    needed = {name: value for name, value in SENSE.items() if told.get(name)}
    given = needed or dict([next((name, value) for name, value in SENSE.items() if name in told)])
    if case.method == "POST":
        case.body = given
    else:
        case.query = given
    return case


def ask(service, strategy, examples):
    """Ask a service for examples of an operation; the statuses of its answers."""
    found = []

    @given(case=strategy)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    def check(case):
        response = bounded(case).call(base_url=service.url, timeout=30)
        found.append(response.status_code)
        assert response.status_code != 500, response.text
        case.validate_response(response, checks=[not_a_server_error, *CHECKS] if response.status_code < 500 else CHECKS)

    check()
    return found


@pytest.mark.parametrize("tag", [*OWN, *(name for name in NAMES if name not in OWN)])
def test_no_answer_is_undocumented(service, document, tag):
    schema = schemathesis.openapi.from_dict(document)
    for chosen in operations(document, tag):
        operation = schema.find_operation_by_id(chosen)
        found = ask(service, operation.as_strategy(), OWN.get(tag, OF_A_SITE))
        if tag not in OWN:
            found += ask(service, operation.as_strategy().map(sensible), 1)
            assert found[-1] != 400, f"{chosen}: SENSE has nothing for it"
    assert service.health()["status"] == "ready"


def test_every_operation_is_asked_for(document):
    asked = {chosen for tag in (*OWN, *NAMES) for chosen in operations(document, tag)}
    assert asked == {route["operationId"] for path in document["paths"].values() for route in path.values()}
    assert len(asked) > 40


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
