"""Browser steps that go wrong under way: the exit dies, or the challenge goes round."""

from __future__ import annotations

import pytest

from fetchworker.demo.lab import lab_app
from fetchworker.demo.model import Reply
from fetchworker.demo.proxy import Mode
from tests.crawl.test_crawl_render import URL, browser, stats  # noqa: F401  # the fixture

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
HTML = ("content-type", "text/html")
LOOP = b"<p>Wait</p><script>setTimeout(() => location.reload(), 50)</script>"
LATER = b"<p>Wait</p><script>setTimeout(() => location.href = 'https://other.example/challenge/cup', 300)</script>"


def challenge(body: bytes) -> Reply:
    return Reply(403, (HTML, ("x-amzn-waf-action", "challenge")), body)


def test_an_exit_that_dies_in_a_step_is_told_as_such(browser, lab, sites, fetch):  # noqa: F811
    """The second answer of the page is the browser's; then nothing goes through the exit any more."""
    sites(render="on_evidence", retries=0, timeout=60, proxy="required")
    asked = []

    def dying(request):
        if request.route != "/dying":
            return lab_app(request)
        asked.append(request.path)
        if len(asked) == 2:
            for proxy in lab.exits:
                proxy.mode = Mode.UNREACHABLE
        return challenge(LATER)

    lab.app = dying
    try:
        done = fetch(f"{URL}/dying", "-s", "FETCHWORKER_NO_EGRESS_PATIENCE=1", session="ann")
    finally:
        for proxy in lab.exits:
            proxy.mode = Mode.OK
    assert done.items == []
    assert stats(done, "error/fetch/ProxyFailedError") >= 1, done.log
    assert stats(done, "render_seconds/fetch") < 30, "three fifths of 60 s would be 36, its patience 20"
    assert [line.get("outcome") for line in done.failed] != ["challenge"]


def test_a_challenge_that_goes_round_and_round_is_let_to_a_number(browser, project, lab, sites, fetch):  # noqa: F811
    sites(render="on_evidence", retries=1)
    project.env["FETCHWORKER_BROWSER_NAVIGATIONS"] = "3"
    lab.app = lambda _: challenge(LOOP)
    done = fetch(f"{URL}/loop", session="ann")
    assert done.items == []
    assert [(line["type"], line["reason"]) for line in done.failed] == [("BROWSER_ERROR", "navigations")]
    assert stats(done, "browser/failed/navigation") == stats(done, "render/fetch/challenge") == 2
    assert len(lab.requests) < 40, "two steps of four pages, those under way, and the tries over HTTP"


def test_an_application_that_no_browser_loads_is_a_failure(browser, lab, sites, serve):  # noqa: F811
    """Its script leads to where nothing answers: no empty page is handed over."""
    sites(render="on_evidence", retries=1)
    shell = b"<title>app</title><div id=root></div><script>location.href = '/close'</script>"
    lab.app = lambda request: Reply(200, (HTML,), shell) if request.route == "/torn" else lab_app(request)
    done = serve({"url": f"{URL}/torn", "session": "ann"})
    assert done.items == []
    assert [line["type"] for line in done.failed] == ["BROWSER_ERROR"], done.log
    assert stats(done, "render/fetch/shell") == 2
