"""What calls leave behind is found again by who may see it."""

from __future__ import annotations

import io
import json

import pytest
from warcio.archiveiterator import ArchiveIterator

from fetchworker.service.callers import hash_of
from tests.service.conftest import LAB, Serving, failure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
_KEYS = {"one": ["fetch", "artifacts"], "two": ["fetch", "artifacts"], "fetch": ["fetch"], "all": ["admin"]}


def bearer(name):
    return {"authorization": f"Bearer fwk_{name}"}


@pytest.fixture(scope="module")
def keeping(demo, tmp_path_factory):
    """A service that keeps what it fetches and what fails, for callers of two workspaces and of none."""
    keys = [{"name": name, "hash": hash_of(f"fwk_{name}"), "scopes": scopes} for name, scopes in _KEYS.items()]
    for entry in keys[:2]:
        entry["workspace"] = f"w-{entry['name']}"
    made = Serving(
        tmp_path_factory.mktemp("keeping"), "--stateless", FETCHWORKER_SERVE_KEYS=json.dumps(keys),
        FETCHWORKER_ARTIFACTS_WARC="true", FETCHWORKER_ARTIFACTS_FAILURES="50",
    )  # fmt: skip
    made.project.use(demo, proxies=False)
    with made:
        yield made


def found(keeping, name="all", **query):
    answer = keeping.get("/artifacts", params=query, headers=bearer(name))
    assert answer.status_code == 200, answer.text
    return answer.json()["artifacts"]


def test_a_call_that_failed_can_be_looked_at(keeping):
    answer = keeping.fetch(f"{LAB}/status/403", headers_={**bearer("one"), "x-request-id": "looked"}, retries=0)
    assert failure(answer) == (503, "UPSTREAM_BLOCKED")
    kept = {one["kind"]: one for one in found(keeping, request_id="looked")}
    assert kept.keys() == {"bundle", "warc"}
    assert answer.json()["context"]["artifact"] == kept["bundle"]["id"]
    assert {one["workspace"] for one in kept.values()} == {"w-one"}
    assert kept["bundle"]["url"] == f"{LAB}/status/403"
    data = keeping.get(f"/artifacts/{kept['bundle']['id']}/data", headers=bearer("one"))
    assert data.headers["content-type"].startswith("application/json")
    assert data.headers["content-security-policy"].startswith("sandbox")
    assert data.headers["content-disposition"] == f'attachment; filename="bundle-{kept["bundle"]["id"]}.json"'
    assert data.json()["answer"]["status"] == 403
    assert int(data.headers["content-length"]) == len(data.content) == kept["bundle"]["size"]


def test_a_fetch_is_a_warc_with_all_its_hops(keeping):
    headers = {**bearer("one"), "x-request-id": "hops"}
    assert keeping.fetch(f"{LAB}/redirect/2", headers_=headers).status_code == 200
    (kept,) = found(keeping, request_id="hops")
    content = keeping.get(f"/artifacts/{kept['id']}/data", headers=bearer("one")).content
    answers = [
        record.http_headers.get_statuscode()
        for record in ArchiveIterator(io.BytesIO(content), check_digests="raise")
        if record.rec_type == "response"
    ]
    assert answers == ["302", "302", "200"]


def test_a_workspace_sees_its_own_alone(keeping):
    headers = {**bearer("one"), "x-request-id": "mine"}
    keeping.fetch(f"{LAB}/", headers_=headers)
    (mine,) = found(keeping, "one", request_id="mine")
    assert found(keeping, "two", request_id="mine") == []
    assert found(keeping, "all", workspace="w-one", request_id="mine") == [mine]
    for method, path in (("GET", ""), ("GET", "/data"), ("DELETE", "")):
        with keeping.client() as client:
            answer = client.request(method, f"/artifacts/{mine['id']}{path}", headers=bearer("two"))
        assert failure(answer) == (404, "NOT_FOUND")
    answer = keeping.get("/artifacts", params={"workspace": "w-one"}, headers=bearer("two"))
    assert failure(answer) == (403, "FORBIDDEN")
    assert keeping.get(f"/artifacts/{mine['id']}", headers=bearer("one")).json() == mine
    with keeping.client() as client:
        assert client.delete(f"/artifacts/{mine['id']}", headers=bearer("one")).status_code == 204
    assert found(keeping, request_id="mine") == []


def test_pages_of_the_list(keeping):
    for _ in range(3):
        keeping.fetch(f"{LAB}/", headers_={**bearer("two"), "x-request-id": "paged"})
    seen, before = [], None
    for _ in range(5):
        query = {"request_id": "paged", "limit": 2} | ({"before": before} if before else {})
        page = keeping.get("/artifacts", params=query, headers=bearer("two")).json()
        seen += [one["id"] for one in page["artifacts"]]
        before = page["next"]
        if before is None:
            break
    assert len(seen) == len(set(seen)) == 3
    assert seen == sorted(seen, reverse=True)


@pytest.mark.parametrize(
    ("path", "name", "status", "kind"),
    [
        ("/artifacts", "fetch", 403, "FORBIDDEN"),
        ("/artifacts", "nobody", 401, "UNAUTHENTICATED"),
        ("/artifacts?kind=film", "all", 400, "VALIDATION_ERROR"),
        ("/artifacts?limit=0", "all", 400, "VALIDATION_ERROR"),
        ("/artifacts?before=yesterday", "all", 400, "VALIDATION_ERROR"),
        ("/artifacts/..%2F..%2Fetc%2Fpasswd", "all", 404, "NOT_FOUND"),
        ("/artifacts/passwd", "all", 400, "VALIDATION_ERROR"),
        ("/artifacts/20260101000000000000-00000000", "all", 404, "NOT_FOUND"),
        ("/artifacts/20260101000000000000-00000000/data", "all", 404, "NOT_FOUND"),
    ],
)
def test_refusals(keeping, path, name, status, kind):
    assert failure(keeping.get(path, headers=bearer(name))) == (status, kind)
