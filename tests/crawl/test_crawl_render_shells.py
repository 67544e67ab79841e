"""Applications that their scripts fill in, fetched side by side by one session: each is filled in, or fails."""

from __future__ import annotations

import pytest

from fetchworker.demo.lab import lab_app
from fetchworker.demo.model import Reply
from tests.crawl.test_crawl_render import URL, browser, stats  # noqa: F401  # the fixture

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
HTML = ("content-type", "text/html")


def test_each_application_of_a_session_is_filled_in(browser, lab, sites, serve):  # noqa: F811
    sites(render="on_evidence", concurrency=4)
    names = ("cup", "jug", "mug", "pot")
    done = serve(*({"url": f"{URL}/app/{name}", "session": "ann"} for name in names))
    assert sorted(name for item in done.items for name in names if f"<h1>{name} is one" in item["body"]) == list(names)
    assert stats(done, "render/fetch/shell") == stats(done, "render_ok/fetch") == 4


def test_an_application_is_filled_in_beside_a_challenge_of_its_session(browser, lab, sites, serve):  # noqa: F811
    sites(render="on_evidence", concurrency=4)
    seeds = ("challenge/pen", "app/cup", "challenge/ink", "app/jug")
    done = serve(*({"url": f"{URL}/{path}", "session": "ann"} for path in seeds))
    told = {item["url"].rpartition("/")[2]: item["body"] for item in done.items}
    assert {name for name, body in told.items() if f"<h1>{name}" in body} == {"pen", "ink", "cup", "jug"}
    assert stats(done, "render/fetch/shell") == 2
    assert stats(done, "render/fetch/challenge") == 1


def gated(request):
    """The lab, whose applications are behind a challenge."""
    if "cleared" in request.cookies() or not request.route.startswith("/app/") or "/data/" in request.route:
        return lab_app(request)
    script = "<script>setTimeout(() => { document.cookie = 'cleared=1; path=/'; location.reload() }, 200)</script>"
    return Reply(403, (HTML, ("x-amzn-waf-action", "challenge")), f"<p>Wait</p>{script}".encode())


def test_an_application_behind_a_challenge_is_filled_in(browser, lab, sites, serve):  # noqa: F811
    """By the step that passes the challenge, and by those that find it passed."""
    sites(render="on_evidence", concurrency=3)
    lab.app = gated
    names = ("cup", "jug", "mug")
    done = serve(*({"url": f"{URL}/app/{name}", "session": "ann"} for name in names))
    assert sorted(name for item in done.items for name in names if f"<h1>{name} is one" in item["body"]) == list(names)
