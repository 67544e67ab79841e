"""The demo plays LinkedIn for guests: searches of jobs, jobs, companies, members, posts, articles, and the walls.

Searches take ``keywords`` and ``start``; fragments hold ten cards, the page twenty-five. ``company/brennhaus`` is in
German.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from fetchworker.demo import linkedin_pages as pages
from fetchworker.demo.linkedin_world import COMPANIES, JOBS, MEMBERS, POST, Job
from fetchworker.demo.model import Reply, RequestInfo

if TYPE_CHECKING:
    from fetchworker.demo.log import Log

HOSTS = ("www.linkedin.com",)
FRAGMENT_SIZE, PAGE_SIZE = 10, 25
BLOCK, WALL = "block", "login_wall"
#: a job that is over, and a member whom guests are not shown
EXPIRED, WALLED = "4400009999", "walled-garden"
_HTML = ("content-type", "text/html; charset=utf-8")
_JOB = re.compile(r"/(?:jobs/view/(?:[^/]*-)?|jobs-guest/jobs/api/jobPosting/)(?P<number>\d+)/?$")
_WORDS = re.compile(r"/jobs/(?P<words>[^/]+?)-jobs(?:-[^/]*)?$")
_NAMED = re.compile(r"/(?P<kind>company|in|posts|pulse)/(?P<name>[^/]+)/?$")
_UPDATE = re.compile(r"/feed/update/urn:li:activity:(?P<number>\d+)/?$")


class Linkedin:
    """The app.

    Args:
        refuse_exits: the first request of each exit gets 999, the second is sent to the wall.
        log: gets an event of type ``behaviour`` for each refusal.
    """

    def __init__(self, *, refuse_exits: bool = False, log: Log | None = None) -> None:
        self.refuse_exits = refuse_exits
        self._log, self._exits = log, Counter[str]()

    def __call__(self, request: RequestInfo) -> Reply:
        """Answer a request."""
        if request.route == "/robots.txt":
            return _page("User-agent: *\nDisallow:\n", 200, "text/plain")
        if request.route == "/authwall":
            return _page(pages.wall())
        if self.refuse_exits and (what := self._refusal(request)):
            return _page(pages.refusal(), 999) if what == BLOCK else _sent_to(_wall(request))
        reply = self._answer(request)
        if "lang" not in request.cookies():
            reply.headers = [*reply.headers, ("set-cookie", "lang=v=2&lang=en-us; Path=/; Domain=linkedin.com; Secure")]
        return reply

    def _refusal(self, request: RequestInfo) -> str | None:
        self._exits[request.peer] += 1
        what = {1: BLOCK, 2: WALL}.get(self._exits[request.peer])
        if what and self._log is not None:
            self._log.event(
                "behaviour", what=what, peer=request.peer, connection=request.connection.id, path=request.path
            )
        return what

    def _answer(self, request: RequestInfo) -> Reply:
        job, named, update = (form.match(request.route) for form in (_JOB, _NAMED, _UPDATE))
        if job:
            return _job(job["number"], fragment="jobs-guest" in request.route)
        if named:
            return _named(named["kind"], unquote(named["name"]), request)
        if update:
            return _page(pages.post(POST)) if update["number"] == POST.number else _missing()
        return self._search(request)

    def _search(self, request: RequestInfo) -> Reply:
        query, words = request.query(), _WORDS.match(request.route)
        asked = words["words"].replace("-", " ") if words else query.get("keywords", "")
        found = _matching(asked)
        if request.route == "/jobs-guest/jobs/api/seeMoreJobPostings/search":
            start = int(query.get("start", "0"))
            return _page(pages.cards(found[start : start + FRAGMENT_SIZE]))
        if words or request.route.rstrip("/") == "/jobs/search":
            return _page(pages.search(asked, found[:PAGE_SIZE], len(found)))
        return _missing()


def _matching(asked: str) -> list[Job]:
    words = asked.lower().split()
    return [job for job in JOBS.values() if all(word in job.title.lower() for word in words)]


def _job(number: str, *, fragment: bool) -> Reply:
    if number == EXPIRED:
        return _sent_to("https://www.linkedin.com/jobs/potter-jobs?trk=expired_jd_redirect")
    job = JOBS.get(number)
    if job is None:
        return _missing()
    return _page(pages.job_fragment(job) if fragment else pages.job(job))


def _named(kind: str, name: str, request: RequestInfo) -> Reply:
    if kind == "company":
        company = COMPANIES.get(name)
        return _page(pages.company(company)) if company else _sent_to("/company/unavailable/")
    if kind == "in" and name == WALLED:
        return _sent_to(_wall(request))
    if kind == "in" and name in MEMBERS:
        return _page(pages.member(MEMBERS[name]))
    if kind == "posts" and POST.number in name:
        return _page(pages.post(POST))
    if kind == "pulse" and name == pages.ARTICLE:
        return _page(pages.article())
    return _missing()


def _wall(request: RequestInfo) -> str:
    return f"https://{request.host}/authwall?trk=bf&sessionRedirect={quote(request.path, safe='')}"


def _sent_to(address: str) -> Reply:
    return Reply(302, (("location", address), ("set-cookie", "trkCode=bf; Path=/")))


def _missing() -> Reply:
    return _page(pages.missing(), 404)


def _page(body: str, status: int = 200, kind: str = _HTML[1]) -> Reply:
    return Reply(status, ((_HTML[0], kind),), body.encode())
