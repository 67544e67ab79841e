"""Sessions that a browser makes over HTTP: what goes wrong changes nothing."""

from __future__ import annotations

import pytest

from tests.service.conftest import LAB, Serving, failure

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(120)]
REFUSED = [f"{LAB}/status/403", f"{LAB}/status/404", "http://10.0.0.1/"]


@pytest.fixture(scope="module")
def minting(demo, shell, tmp_path_factory):
    """A service with a browser."""
    made = Serving(tmp_path_factory.mktemp("minting"), "--stateless", FETCHWORKER_BROWSER=shell)
    made.project.use(demo, proxies=False)
    with made:
        yield made


@pytest.fixture
def client(minting):
    with minting.client() as made:
        yield made


@pytest.mark.parametrize("url", REFUSED)
def test_a_mint_that_fails_leaves_no_session(client, url):
    refused = client.post("/sessions/new/mint", json={"url": url})
    assert refused.status_code >= 400, refused.text
    assert failure(client.get("/sessions/new")) == (404, "NOT_FOUND")


@pytest.mark.parametrize("url", REFUSED)
def test_a_mint_that_fails_changes_nothing_of_a_session_that_is_there(client, url):
    assert client.post("/sessions/old/mint", json={"url": f"{LAB}/challenge/"}).status_code == 200
    before = client.get("/sessions/old").json()
    assert before["cookies"] == ["cleared"]
    assert client.post("/sessions/old/mint", json={"url": url}).status_code >= 400
    assert client.get("/sessions/old").json() == before
    page = client.post("/fetch", json={"url": f"{LAB}/challenge/cup", "session_id": "old"})
    assert "<h1>cup</h1>" in page.json()["body"], "its cookies are what they were"


def test_a_session_that_is_there_keeps_its_identity_when_it_is_minted(client):
    first = client.post("/sessions/same/mint", json={"url": f"{LAB}/challenge/"}).json()
    again = client.post("/sessions/same/mint", json={"url": f"{LAB}/cookies/set?name=ann"}).json()
    assert again["identity"] == first["identity"]
    assert again["cookies"] == ["cleared", "name"]
