"""`/pool`: one identity over several calls, by a lease."""

from __future__ import annotations

import json

import orjson
import pytest

from tests.service.conftest import LAB, failure

pytestmark = pytest.mark.slow


@pytest.fixture(params=["linktree", "fetch"])
def site(request):
    """One site with a pool in sites.yaml, one without."""
    return request.param


def lease(service, site: str) -> dict:
    with service.client() as client:
        response = client.post(f"/pool/{site}/lease", json={})
    assert response.status_code == 200, response.text
    return response.json()


def post(service, path: str, **body):
    with service.client() as client:
        return client.post(path, json=body)


def test_a_leased_identity_goes_through_several_calls(service, site):
    held = lease(service, site)
    own = {"site": site, "session_id": held["session_id"], "lease": held["lease"]}
    assert held["site"] == site
    assert service.fetch(f"{LAB}/cookies/set?step=one", **own).status_code == 200
    peers = set()
    for _ in range(2):
        told = orjson.loads(service.fetch(f"{LAB}/headers", **own).json()["body"])
        assert dict(told["headers"])["cookie"] == "step=one"
        peers.add(told["peer"])
    assert len(peers) == 1
    assert post(service, f"/pool/{site}/extend", lease=held["lease"]).json()["session_id"] == held["session_id"]
    assert post(service, f"/pool/{site}/release", lease=held["lease"], good=3).status_code == 204
    assert failure(service.fetch(f"{LAB}/cookies", **own)) == (409, "SESSION_LOST")
    assert failure(post(service, f"/pool/{site}/release", lease=held["lease"])) == (409, "SESSION_LOST")


def test_two_leases_are_two_identities(service, site):
    one, other = lease(service, site), lease(service, site)
    assert one["session_id"] != other["session_id"]
    for held in (one, other):
        assert post(service, f"/pool/{site}/release", lease=held["lease"]).status_code == 204
    given = [lease(service, site)]
    while given[-1]["session_id"] not in (one["session_id"], other["session_id"]):
        assert len(given) < 10, "those that other tests gave back may come first"
        given.append(lease(service, site))
    for held in given:
        assert post(service, f"/pool/{site}/release", lease=held["lease"]).status_code == 204


def test_one_in_quarantine_is_not_leased(service, site):
    held = lease(service, site)
    body = {"lease": held["lease"], "reason": "it looked odd"}
    assert post(service, f"/pool/{site}/quarantine", **body).status_code == 204
    again = lease(service, site)
    assert again["session_id"] != held["session_id"]
    post(service, f"/pool/{site}/release", lease=again["lease"])


def test_a_route_with_a_leased_identity(service):
    held = lease(service, "linktree")
    query = f"user=nasa&session_id={held['session_id']}&lease={held['lease']}"
    assert [item["kind"] for item in service.get(f"/linktree/profile?{query}").json()] == ["link_page"]
    assert post(service, "/pool/linktree/release", lease=held["lease"]).status_code == 204
    assert failure(service.get(f"/linktree/profile?{query}")) == (409, "SESSION_LOST")


def test_a_leased_identity_that_is_refused_is_out_of_use(service, site):
    held = lease(service, site)
    own = {"site": site, "session_id": held["session_id"], "lease": held["lease"]}
    assert service.fetch(f"{LAB}/", **own).status_code == 200
    refused = service.fetch(f"{LAB}/status/403", **own)
    assert failure(refused) == (503, "UPSTREAM_BLOCKED")
    assert refused.json()["context"]["attempts"] == 1  # a further one would have another identity
    assert failure(service.fetch(f"{LAB}/", **own)) == (409, "SESSION_LOST")
    assert failure(post(service, f"/pool/{site}/release", lease=held["lease"])) == (409, "SESSION_LOST")
    again = lease(service, site)
    assert again["session_id"] != held["session_id"]
    assert post(service, f"/pool/{site}/release", lease=again["lease"]).status_code == 204


def test_a_leased_identity_that_meets_a_fault_of_the_site_stays(service, site):
    held = lease(service, site)
    own = {"site": site, "session_id": held["session_id"], "lease": held["lease"]}
    assert failure(service.fetch(f"{LAB}/status/500", retries=1, **own)) == (502, "FETCH_ERROR")
    assert service.fetch(f"{LAB}/", **own).json()["session_id"] == held["session_id"]
    assert post(service, f"/pool/{site}/release", lease=held["lease"]).status_code == 204


def test_pooled_sessions_need_their_lease(service):
    held = lease(service, "linktree")
    refused = service.fetch(f"{LAB}/", site="linktree", session_id=held["session_id"])
    assert failure(refused) == (400, "VALIDATION_ERROR")
    foreign = service.fetch(f"{LAB}/", site="linktree", session_id="mine", lease=held["lease"])
    assert failure(foreign) == (409, "SESSION_LOST")
    assert failure(service.fetch(f"{LAB}/", lease=held["lease"])) == (400, "VALIDATION_ERROR")
    post(service, "/pool/linktree/release", lease=held["lease"])


def test_a_leased_session_is_dropped_and_refreshed_by_its_holder_alone(service, site):
    held = lease(service, site)
    path, query = f"/sessions/{held['session_id']}", {"site": site, "lease": held["lease"]}
    own = {"site": site, "session_id": held["session_id"], "lease": held["lease"]}
    assert service.fetch(f"{LAB}/cookies/set?step=one", **own).status_code == 200
    before = service.get(path, params={"site": site}).json()
    number = held["lease"].split("~")[1]
    with service.client() as client:
        for params in ({"site": site}, {"site": site, "lease": f"{held['session_id']}~{number}~guess"}):
            refused = [client.delete(path, params=params), client.post(f"{path}/refresh", params=params)]
            kind = "SESSION_LOST" if "lease" in params else "CONFLICT"
            assert [failure(one) for one in refused] == [(409, kind)] * 2
        assert service.get(path, params={"site": site}).json() == before
        fresh = client.post(f"{path}/refresh", params=query).json()
        assert fresh["identity"] != before["identity"]
        assert fresh["cookies"] == []
        assert orjson.loads(service.fetch(f"{LAB}/cookies", **own).json()["body"])["cookies"] == {}
        assert client.delete(path, params=query).status_code == 204
        assert failure(client.get(path, params={"site": site})) == (404, "NOT_FOUND")
    assert failure(service.fetch(f"{LAB}/", **own)) == (409, "SESSION_LOST")
    again = lease(service, site)
    assert again["session_id"] != held["session_id"]
    assert post(service, f"/pool/{site}/release", lease=again["lease"]).status_code == 204


def test_a_lease_is_of_no_use_to_another_key(make_service, redis_server):
    from fetchworker.service.callers import hash_of

    keys = [{"name": name, "hash": hash_of(name), "scopes": ["admin"]} for name in ("ada", "bob")]
    made = make_service(FETCHWORKER_SERVE_KEYS=json.dumps(keys), FETCHWORKER_REDIS_URL=redis_server.url)
    with made as service, service.client() as client:

        def call(key: str, path: str, **body):
            return client.post(path, json=body, headers={"x-api-key": key})

        held = call("ada", "/pool/fetch/lease").json()
        own = {"session_id": held["session_id"], "lease": held["lease"]}
        found = [call("bob", f"/pool/fetch/{act}", lease=held["lease"]) for act in ("extend", "release")]
        found += [call("bob", "/fetch", url=f"{LAB}/", **own)]
        found += [call("bob", f"/sessions/{held['session_id']}/refresh?lease={held['lease']}")]
        query = f"user=nasa&session_id={held['session_id']}&lease={held['lease']}"
        found += [client.get(f"/linktree/profile?{query}", headers={"x-api-key": "bob"})]
        assert [failure(one) for one in found] == [(409, "SESSION_LOST")] * 5
        assert call("ada", "/fetch", url=f"{LAB}/", **own).status_code == 200
        assert call("ada", "/pool/fetch/release", lease=held["lease"]).status_code == 204


def test_a_pool_that_is_used_up(service):
    held = [lease(service, "ebay"), lease(service, "ebay")]
    assert failure(post(service, "/pool/ebay/lease", wait=0.1)) == (503, "SESSION_EXHAUSTED")
    for one in held:
        post(service, "/pool/ebay/release", lease=one["lease"])
    assert failure(post(service, "/pool/nowhere/lease")) == (404, "NOT_FOUND")
    assert failure(post(service, "/pool/ebay/release", lease="nonsense")) == (409, "SESSION_LOST")
    assert failure(post(service, "/pool/ebay/lease", wait="1")) == (400, "VALIDATION_ERROR")
