"""Pages that go on by themselves to where nothing answers, over HTTP: no call gives what Chromium shows instead."""

from __future__ import annotations

import pytest

from fetchworker.demo.model import Reply
from tests.crawl.conftest import Lab
from tests.service.conftest import LAB, Serving, failure

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(120)]
LEADS = b"""<title>here</title><div id=root></div><button onclick="location.href = 'https://nowhere.invalid/'">go</button>
<script>if (location.search) setTimeout(() => location.href = 'https://nowhere.invalid/', 100)</script>"""
HTML = ("content-type", "text/html")
PAGE, CHALLENGE = Reply(200, (HTML,), LEADS), Reply(403, (HTML, ("x-amzn-waf-action", "challenge")), LEADS)
CLICK = [{"type": "click", "selector": "button"}, {"type": "wait_for", "seconds": 1}]


@pytest.fixture(scope="module")
def client(shell, tmp_path_factory):
    """Of a service with a browser, whose only page leads nowhere."""
    lab = Lab(proxies=0)
    lab.app = lambda request: CHALLENGE if request.route == "/challenge" else PAGE
    made = Serving(tmp_path_factory.mktemp("lost"), "--stateless", FETCHWORKER_BROWSER=shell)
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
