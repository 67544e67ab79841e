"""Pages that go on by themselves to where nothing answers, over HTTP: no call gives what Chromium shows instead."""

from __future__ import annotations

import json

import pytest

from fetchworker.demo.model import Reply
from tests.crawl.conftest import Lab
from tests.service.conftest import LAB, Serving, failure

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(120)]
LEADS = b"""<title>here</title><div id=root></div><button onclick="location.href = 'https://nowhere.invalid/'">go</button>
<script>if (location.search) setTimeout(() => location.href = 'https://nowhere.invalid/', 100)</script>"""
HTML = ("content-type", "text/html")
PAGE, CHALLENGE = Reply(200, (HTML,), LEADS), Reply(403, (HTML, ("x-amzn-waf-action", "challenge")), LEADS)
LINKS = {"props": {"pageProps": {"username": "ann", "account": {"id": 7, "username": "ann"}, "links": []}}}
#: an application that puts its data into its page
FILLED = f"""<!doctype html><title>ann</title><div id=root></div><script>
const made = document.createElement("script");
made.id = "__NEXT_DATA__";
made.type = "application/json";
made.textContent = {json.dumps(json.dumps(LINKS))};
setTimeout(() => document.body.append(made), 400);
/*{"code of the application " * 300}*/
</script>"""
PROFILE = Reply(200, (HTML,), FILLED.encode())
CLICK = [{"type": "click", "selector": "button"}, {"type": "wait_for", "seconds": 1}]


@pytest.fixture(scope="module")
def client(shell, tmp_path_factory):
    """Of a service with a browser, whose only page leads nowhere."""
    lab = Lab(proxies=0)
    pages = {"/challenge": CHALLENGE, "/ann": PROFILE}
    lab.app = lambda request: pages.get(request.route, PAGE)
    made = Serving(tmp_path_factory.mktemp("lost"), FETCHWORKER_BROWSER=shell)
    made.project.use(lab, proxies=False)
    with made, made.client() as client:
        yield client
    lab.close()


def test_a_run_tells_it_as_its_navigation(client):
    answer = client.post("/browser/runs", json={"url": f"{LAB}/", "actions": CLICK})
    told = answer.json()
    assert (told["outcome"], told["layer"]) == ("failed", "navigation"), told
    assert told["actions"][0]["outcome"] == "ok", "what was done is told"
    assert "nowhere.invalid" in told["page"]["error"]


@pytest.mark.parametrize("render", ["always", "on_evidence"])
def test_a_fetch_fails(client, render):
    answer = client.post("/fetch", json={"url": f"{LAB}/?go", "render": render, "retries": 0})
    assert failure(answer) == (502, "FETCH_ERROR"), answer.text
    assert "chrome-error" not in answer.text


def test_a_mint_fails(client):
    answer = client.post("/sessions/ann/mint", json={"url": f"{LAB}/challenge?go"})
    assert failure(answer) == (502, "FETCH_ERROR"), answer.text
    assert failure(client.get("/sessions/ann")) == (404, "NOT_FOUND")


def test_a_sites_route_has_its_application_filled_in(client):
    """By the browser, where the call says so; what the HTTP client is given lacks the data."""
    told = client.get("/linktree/profile", params={"user": "ann", "render": "on_evidence"})
    assert told.status_code == 200, told.text
    assert '"username":"ann"' in told.text.replace(" ", "")
    assert failure(client.get("/linktree/profile", params={"user": "ann", "render": "never"}))[1] == "CONTRACT_ERROR"
