"""`country`: an exit there, by a provider's gateway or an entry of the list, or an error; never another, never none."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest

from fetchworker.demo.process import DemoProcess
from tests.service.conftest import LAB, Serving, failure

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    """A demo whose proxy is a provider's gateway, which writes down the country that it was asked for."""
    folder = tmp_path_factory.mktemp("gateway")
    with DemoProcess(folder, "--behaviour", "calm", "--proxies", "1", "--provider", "evomi:residential") as process:
        yield process


@pytest.fixture(scope="module")
def service(gateway, tmp_path_factory):
    """`fetch` may go by all of the list, other sites by one tier of it."""
    (entry,) = gateway.proxies
    place = urlsplit(entry)
    endpoint = entry.split("endpoint=")[1].split("&")[0]
    made = Serving(tmp_path_factory.mktemp("abroad"))
    made.project.use(gateway, proxies=False)
    swedish = {
        "url": f"http://{place.username}:{place.password}_country-SE@{endpoint}",
        "country": "se",
        "tier": "datacenter",
    }
    gone = {"url": "http://127.0.0.1:1", "country": "FI", "tier": "mobile"}
    made.project.env["FETCHWORKER_PROXIES"] = json.dumps([entry, swedish, gone])
    made.entries(
        fetch={"accept_language": "exit"},
        walmart={"pool": {}},
        linktree={"proxy_tiers": ["datacenter"]},
        threads={"proxy_tiers": ["datacenter", "residential"]},
        instagram={"proxy_tiers": ["mobile"], "retries": 1},
        ebay={"proxy": "none"},
    )
    with made:
        yield made


def countries(gateway, path: str) -> list[str | None]:
    """The countries of the exits by which a page was fetched, as the gateway was asked for them."""
    exits = {record["source"]: record["user"] for record in gateway.log("proxy")}
    users = [exits[record["peer"]] for record in gateway.log("request") if record["path"].startswith(path)]
    return [user.split("/")[2] if user.count("/") > 1 else None for user in users]


def seen(service, path: str, **more) -> dict:
    response = service.fetch(f"{LAB}{path}", **more)
    assert response.status_code == 200, response.text
    return response.json()


def test_a_call_goes_by_an_exit_of_the_country(service, gateway):
    item = seen(service, "/headers?call=german", country="de")
    assert item["proxy"] == {"provider": "evomi", "country": "DE"}
    assert dict(json.loads(item["body"])["headers"])["accept-language"].startswith("de")
    assert countries(gateway, "/headers?call=german") == ["DE"]
    item = seen(service, "/redirect-to?url=/headers?call=moved", country="FR")
    assert item["proxy"]["country"] == "FR"
    assert countries(gateway, "/headers?call=moved") == ["FR"]


def test_a_call_names_a_tier(service):
    assert seen(service, "/", site="threads", proxy="datacenter")["proxy"]["provider"] == "static"
    assert seen(service, "/", site="threads", proxy="residential")["proxy"]["provider"] == "evomi"


@pytest.mark.parametrize("tier", ["mobile", "127.0.0.1", "http://127.0.0.1:1"])
def test_a_tier_that_the_site_has_not_is_told(service, gateway, tier):
    before = len(gateway.log("request"))
    refused = service.fetch(f"{LAB}/", site="threads", proxy=tier)
    assert failure(refused) == (400, "VALIDATION_ERROR")
    assert refused.json()["context"]["fields"] == ["proxy"]
    assert len(gateway.log("request")) == before


def test_an_entry_of_the_list_has_its_country(service):
    assert seen(service, "/", country="SE", site="linktree")["proxy"] == {"provider": "static", "country": "SE"}
    assert seen(service, "/", country="SE", site="threads")["proxy"]["provider"] == "static"
    # of a tier, or a better one
    assert seen(service, "/", country="SE", site="threads", proxy="residential")["proxy"]["provider"] == "evomi"
    assert seen(service, "/", country="DE", site="threads")["proxy"] == {"provider": "evomi", "country": "DE"}


@pytest.mark.parametrize(
    "asked",
    [
        {"country": "DE", "site": "linktree"}, {"country": "SE", "site": "ebay"}, {"country": "XX"}, {"country": "UK"},
        {"country": "Germany"}, {"country": 49},
    ],
)  # fmt: skip
def test_what_no_exit_can_serve_is_told(service, gateway, asked):
    before = len(gateway.log("request"))
    response = service.fetch(f"{LAB}/refused", **asked)
    assert failure(response) == (400, "VALIDATION_ERROR")
    assert response.json()["context"]["fields"] == ["country"]
    assert len(gateway.log("request")) == before


@pytest.mark.parametrize("more", [{}, {"session_id": "finn"}])
def test_where_its_exits_are_out_of_use_nothing_goes_another_way(service, gateway, more):
    status, kind = failure(service.fetch(f"{LAB}/finnish", country="FI", site="instagram", **more))
    assert (status, kind) in ((502, "FETCH_ERROR"), (503, "PROXY_EXHAUSTED"))
    assert countries(gateway, "/finnish") == []


def test_a_session_keeps_the_country_of_its_birth(service, gateway):
    assert seen(service, "/headers?s=1", session_id="ann", country="IT")["proxy"]["country"] == "IT"
    assert seen(service, "/headers?s=2", session_id="ann")["proxy"]["country"] == "IT"
    refused = service.fetch(f"{LAB}/headers?s=0", session_id="ann", country="ES")
    assert failure(refused) == (409, "CONFLICT")
    assert refused.json()["context"]["fields"] == ["country"]
    with service.client() as client:
        first = client.get("/sessions/ann").json()
        fresh = client.post("/sessions/ann/refresh").json()
    assert fresh["identity"] != first["identity"]
    assert fresh["proxy"] == first["proxy"] == {"provider": "evomi", "country": "IT"}
    assert seen(service, "/headers?s=3", session_id="ann", country="it")["proxy"]["country"] == "IT"
    assert countries(gateway, "/headers?s=") == ["IT", "IT", "IT"]


def test_a_refused_session_has_its_next_exit_there_too(service, gateway):
    service.fetch(f"{LAB}/status/403", session_id="bob", country="NL", retries=2)
    assert seen(service, "/headers?t=1", session_id="bob")["proxy"]["country"] == "NL"
    users = {record["user"] for record in gateway.log("proxy") if record["user"].endswith("/NL")}
    assert len(users) > 1  # others took its place
    assert set(countries(gateway, "/status/403")) == {"NL"}


def test_one_whose_country_is_not_known_cannot_be_asked_for_another(service):
    seen(service, "/", session_id="eve", site="threads", proxy="residential")
    refused = service.fetch(f"{LAB}/", session_id="eve", site="threads", country="DE")
    assert failure(refused) == (409, "CONFLICT")


def test_the_pool_has_identities_of_a_country(service, gateway):
    for _ in range(2):
        assert seen(service, "/headers?p=1", site="walmart", country="PL")["proxy"]["country"] == "PL"
    assert countries(gateway, "/headers?p=1") == ["PL", "PL"]


@pytest.mark.parametrize("site", ["walmart", "fetch"])
def test_a_lease_has_a_country(service, site):
    with service.client() as client:
        held = client.post(f"/pool/{site}/lease", json={"country": "no"}).json()
        refused = client.post("/pool/linktree/lease", json={"country": "NO"})
    own = {"site": site, "session_id": held["session_id"], "lease": held["lease"]}
    assert seen(service, "/", **own)["proxy"]["country"] == "NO"
    assert seen(service, "/", **own, country="NO")["proxy"]["country"] == "NO"
    assert failure(service.fetch(f"{LAB}/", **own, country="DK")) == (409, "CONFLICT")
    assert failure(refused) == (400, "VALIDATION_ERROR")
    assert refused.json()["context"]["fields"] == ["country"]
