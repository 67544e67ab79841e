"""Refusals in a crawl: rules that condemn everything, data beside a refusal, and the evidence that is kept."""

from __future__ import annotations

import re

import pytest

from fetchworker.demo.lab import text
from fetchworker.demo.model import Reply

pytestmark = pytest.mark.slow
URL = "https://lab.example"
ONE = ("-s", "CONCURRENT_REQUESTS=1")
CHALLENGE = "<html><title>Einen Moment</title><p>{}</p><script>window._cf_chl_opt = {{cvId: '3'}};</script></html>"


def page(body: str, status: int = 200, headers=()) -> Reply:
    return Reply(status, (("content-type", "text/html; charset=utf-8"), *headers), body.encode())


@pytest.fixture
def six_exits(project, make_lab, queue, monkeypatch):
    """Crawls of the shared queue by six proxies that rest long after a block."""
    lab = make_lab(proxies=6)

    def run(serve, sites, *seeds):
        project.use(lab)
        project.env["FETCHWORKER_PROXY_COOLDOWN"] = "600"
        sites(proxy="required", retries=0, concurrency=1)
        return serve(*seeds, options=ONE)

    return lab, run


def test_a_rule_that_condemns_every_exit_stops_putting_them_to_rest(serve, sites, six_exits):
    lab, run = six_exits
    lab.app = lambda _: page(CHALLENGE.format("warten"))
    crawl = run(serve, sites, *(f"{URL}/{number}" for number in range(12)))
    assert crawl.items == [], "what a suspect rule condemns is not delivered"
    assert {failure["type"] for failure in crawl.failed} == {"UPSTREAM_BLOCKED"}, "and never for want of a proxy"
    assert len(crawl.failed) == len(lab.requests) == 12
    assert crawl.log.count("rule_suspect site=fetch rule=cloudflare_challenge condemned=5 tried=5") == 1
    assert "rule_suspect/fetch/cloudflare_challenge': 1" in crawl.log


def test_a_status_is_the_sites_own_word_and_no_rule(serve, sites, six_exits):
    lab, run = six_exits
    lab.app = lambda _: text("no\n", 403)
    crawl = run(serve, sites, *(f"{URL}/{number}" for number in range(8)))
    assert [failure["type"] for failure in crawl.failed] == ["UPSTREAM_BLOCKED"] * 6
    assert crawl.log.count("no_egress site=fetch: none of 6 proxies") == 1, "the other two wait, and go back"
    assert '"rule_suspect site=' not in crawl.log


def test_exits_that_are_really_blocked_rest_while_others_serve(serve, sites, six_exits):
    lab, run = six_exits
    blocked = {"127.0.0.11", "127.0.0.12"}
    lab.app = lambda request: page(CHALLENGE.format("warten") if request.peer in blocked else "<p>here</p>")
    crawl = run(serve, sites, *(f"{URL}/{number}" for number in range(16)))
    assert len(crawl.items) >= 14
    assert sum(request.peer in blocked for request in lab.requests) == 2, "each of them once"
    assert '"rule_suspect site=' not in crawl.log


def test_data_with_a_refusal_beside_it_is_delivered_and_counted(fetch, lab):
    body = '<html><div id="px-captcha"></div><script id="__NEXT_DATA__">{"props": {}}</script></html>'
    lab.app = lambda _: page(body)
    crawl = fetch(f"{URL}/lamp")
    assert crawl.item["body"] == body
    assert crawl.item["attempts"] == 1
    assert "soft_block/fetch/perimeterx_captcha': 1" in crawl.log
    assert crawl.failed == []


def test_a_failure_shows_what_it_was_known_by_and_nothing_secret(fetch, lab, sites):
    sites(retries=0)
    own = "sid-of-ann"
    quoted = f"{own} ann.lee@shop.example +49 30 1234 567 token=abcdefghijkl " * 3

    def app(request):
        if request.route == "/in":
            return Reply(302, (("location", "/door"), ("set-cookie", f"sid={own}; Path=/")))
        return page(CHALLENGE.format(quoted), 403, [("cf-mitigated", "challenge")])

    lab.app = app
    crawl = fetch(f"{URL}/in", session="ann")
    (failure,) = crawl.failed
    assert (failure["outcome"], failure["vendor"]) == ("challenge", "cloudflare")
    assert failure["evidence"] == ["cloudflare_mitigated", "cloudflare_challenge"]
    assert failure["snippet"].startswith("cf-mitigated: challenge … ")
    assert "Einen Moment" in failure["snippet"]
    assert len(failure["snippet"]) <= 300
    assert not re.search(r"ann|1234|abcdef", failure["snippet"])


def test_each_try_may_be_redirected_as_often_as_the_first(fetch, lab, sites):
    sites(retries=6)

    def app(request):
        step = int(request.route.rpartition("/")[2])
        return text("no\n", 403) if step == 3 else Reply(302, (("location", f"/{step + 1}"),))

    lab.app = app
    (failure,) = fetch(f"{URL}/1").failed
    assert (failure["type"], failure["attempts"]) == ("UPSTREAM_BLOCKED", 7)
    assert lab.paths == ["/1", "/2", "/3"] * 7
