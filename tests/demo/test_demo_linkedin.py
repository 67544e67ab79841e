from __future__ import annotations

import re

import pytest

from fetchworker.demo import Log, RequestInfo
from fetchworker.demo.linkedin import BLOCK, EXPIRED, WALL, WALLED, Linkedin
from fetchworker.demo.linkedin_pages import ARTICLE
from fetchworker.demo.linkedin_world import JOBS, POST

FRAGMENT = "/jobs-guest/jobs/api/seeMoreJobPostings/search"


def get(app, path, *, peer="127.0.0.11"):
    connection = Log().new_connection((peer, 1), secure=True)
    return app(RequestInfo(connection, 1, "GET", "www.linkedin.com", path, [(":method", "GET")]))


def cards(reply) -> list[str]:
    return re.findall(r"urn:li:jobPosting:(\d+)", reply.body.decode())


def test_searches():
    app = Linkedin()
    first, last, behind = (get(app, f"{FRAGMENT}?keywords=potter&start={n}") for n in (0, 30, 36))
    assert [len(cards(reply)) for reply in (first, last, behind)] == [10, 6, 0]
    assert len(cards(get(app, "/jobs/search?keywords=potter"))) == 25
    assert cards(get(app, "/jobs/glaze-chemist-jobs-lisbon"))
    assert "no-results" in get(app, "/jobs/search?keywords=zeppelin").body.decode()


def test_numbers_of_jobs_and_posts():
    assert all(number == job.number for number, job in JOBS.items())
    assert (int(POST.number) >> 22) // 1000 == int(POST.made.timestamp())


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/jobs/view/potter-4400000001", 200, "Potter"), ("/jobs-guest/jobs/api/jobPosting/4400000001", 200, "Potter"),
        ("/company/kiln-and-reed/", 200, "Kiln &amp; Reed"), ("/in/mira-kiln/", 200, "Mira K."),
        (f"/posts/{POST.name}", 200, "First firing"),
        (f"/feed/update/urn:li:activity:{POST.number}/", 200, "First firing"),
        (f"/pulse/{ARTICLE}", 200, "remembers"), ("/authwall?trk=x", 200, "auth_wall"),
        ("/robots.txt", 200, "User-agent"),
        ("/in/nobody/", 404, "not found"), ("/jobs/view/1", 404, "not found"), ("/feed/", 404, "not found"),
    ],
)  # fmt: skip
def test_pages(path, status, said):
    reply = get(Linkedin(), path)
    assert reply.status == status
    assert said in reply.body.decode()


@pytest.mark.parametrize(
    ("path", "where"),
    [(f"/jobs/view/x-{EXPIRED}", "expired_jd_redirect"), ("/company/nobody/", "/company/unavailable/"),
     (f"/in/{WALLED}", "/authwall?")],
)  # fmt: skip
def test_where_one_is_sent(path, where):
    reply = get(Linkedin(), path)
    assert reply.status == 302
    assert where in dict(reply.headers)["location"]


def test_the_first_requests_of_an_exit_may_be_refused():
    log = Log()
    app = Linkedin(refuse_exits=True, log=log)
    replies = [get(app, "/in/mira-kiln/") for _ in range(3)]
    assert [reply.status for reply in replies] == [999, 302, 200]
    assert get(app, "/in/mira-kiln/", peer="127.0.0.12").status == 999
    assert [event["what"] for event in log.events] == [BLOCK, WALL, BLOCK]
