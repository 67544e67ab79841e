"""What is judged a wall, an absence or a good page, whatever words stand on it."""

from __future__ import annotations

import pytest

from fetchworker.contracts import Page
from fetchworker.outcomes import Outcome, classify

HOME = "https://www.linkedin.com"
SCRIPT = '<html><script>window.location.href = "https://x/authwall?trk=" + trk;</script></html>'
SEARCH = f"{HOME}/jobs-guest/jobs/api/seeMoreJobPostings/search?keywords=potter&start=40"


def judged(body="", *, url=f"{HOME}/in/mira-kiln/", status=200, requested=None, **headers):
    page = Page(url, status, {name: [value] for name, value in headers.items()}, body.encode())
    return classify(page, site="linkedin", request_url=requested or url)


@pytest.mark.parametrize(
    ("body", "status", "headers", "outcome"),
    [
        ("\n", 999, {}, Outcome.BLOCKED), (SCRIPT, 999, {}, Outcome.LOGIN_WALL), (SCRIPT, 200, {}, Outcome.LOGIN_WALL),
        ("", 429, {}, Outcome.RATE_LIMITED), ("", 404, {}, Outcome.NOT_FOUND), ("", 410, {}, Outcome.GONE),
        ("", 302, {"location": f"{HOME}/authwall?trk=x"}, Outcome.LOGIN_WALL),
        ("", 302, {"location": f"{HOME}/uas/login?session_redirect=x"}, Outcome.LOGIN_WALL),
        ("", 302, {"location": "/signup/cold-join"}, Outcome.LOGIN_WALL),
        ("", 303, {"location": f"{HOME}/"}, Outcome.LOGIN_WALL),
        ("", 302, {"location": f"{HOME}/404/"}, Outcome.NOT_FOUND),
        ("", 302, {"location": f"{HOME}/company/unavailable/"}, Outcome.NOT_FOUND),
        ("", 301, {"location": "https://pt.linkedin.com/in/mira-kiln"}, Outcome.OK),
        ("", 302, {"location": f"{HOME}/jobs/potter-jobs?trk=expired_jd_redirect"}, Outcome.GONE),
        ('<meta name="pageKey" content="auth_wall_desktop_profile">', 200, {}, Outcome.LOGIN_WALL),
        ('<meta name="pageKey" content="d_checkpoint_lg_consumer_login">', 200, {}, Outcome.LOGIN_WALL),
        ("<title>Profile Not Found | LinkedIn</title>", 200, {}, Outcome.NOT_FOUND),
    ],
)  # fmt: skip
def test_refusals_and_absences(body, status, headers, outcome):
    assert judged(body, status=status, **headers).outcome is outcome


@pytest.mark.parametrize(
    "url", [f"{HOME}/authwall?trk=x", f"{HOME}/login", f"{HOME}/uas/login?x", f"{HOME}/checkpoint/lg/x"]
)
def test_where_the_request_ended(url):
    assert judged("<html>Welcome back</html>", url=url, requested=f"{HOME}/in/mira-kiln/").outcome is Outcome.LOGIN_WALL


def test_good_pages_talk_of_walls(site):
    bodies = [
        site.results(site.card()), site.document(site.job()), site.company(), site.person(),
        site.post(site.post_card()),
        site.article("<p>x</p>"), site.fragment(site.card()),
    ]  # fmt: skip
    assert {judged(body).outcome for body in bodies} == {Outcome.OK}
    assert {judged(body, status=None).outcome for body in bodies} == {Outcome.OK}


@pytest.mark.parametrize("body", ["", "<!DOCTYPE html>", "<!DOCTYPE html>\n\n"])
def test_the_fragment_behind_the_last_job_is_good(body):
    assert judged(body, url=SEARCH).outcome is Outcome.OK


def test_a_short_page_where_a_job_is_due_is_none():
    assert judged("<html>x</html>", url=f"{HOME}/jobs-guest/jobs/api/jobPosting/4400000001").outcome is Outcome.BLOCKED
