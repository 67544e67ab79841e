"""`scrapy crawl fetch`: what is asked for is what goes out, what comes back is what the item says."""

from __future__ import annotations

import base64
import json
import re
import resource
import subprocess
from itertools import pairwise

import pytest

from fetchworker.demo.site import demo_site
from fetchworker.errors import ArgumentError
from fetchworker.spiders.fetch import FetchSpider

pytestmark = pytest.mark.slow
URL = "https://lab.example"


def sent_headers(answer: dict) -> list[tuple[str, str]]:
    return [(name, value) for name, value in answer["headers"] if not name.startswith(":")]


def test_the_item_tells_how_the_response_came(fetch, lab):
    item = fetch(f"{URL}/redirect-to?url=/repeat-headers").item
    assert (item["kind"], item["site"], item["operation"]) == ("fetch_result", "fetch", "fetch")
    assert (item["status"], item["body"], item["body_base64"]) == (200, "repeated\n", None)
    assert item["url"] == f"{URL}/repeat-headers"
    headers = [(name, value) for name, value in item["headers"] if name in ("set-cookie", "x-repeated")]
    assert [value for name, value in headers if name == "x-repeated"] == ["a", "b"]
    assert len(headers) == 5
    assert item["content_type"] == "text/plain; charset=utf-8"
    assert (item["bytes_down"], item["bytes_up"], item["attempts"]) == (9, 0, 1)
    assert item["elapsed_ms"] > 0
    assert item["proxy"] == {"provider": "static", "country": None}
    assert item["session_id"] is None
    assert {request.peer for request in lab.requests} <= {"127.0.0.11", "127.0.0.12"}


def test_what_is_no_text_comes_as_base64(fetch):
    item = fetch(f"{URL}/bytes/300").item
    assert item["body"] is None
    assert base64.b64decode(item["body_base64"]) == (bytes(range(256)) * 2)[:300]


def test_a_post_goes_out_as_it_was_given(fetch):
    body = bytes(range(256))
    crawl = fetch(
        f"{URL}/echo/%7ea?sig=%2Fx",
        method="POST",
        body_base64=base64.b64encode(body).decode(),
        headers={"X-Order": "7", "Content-Type": "application/octet-stream"},
        cookies={"lang": "en", "cart": "a=b"},
        destination="xhr",
        referer="https://lab.example/start",
    )
    answer, headers = crawl.answer, dict(sent_headers(crawl.answer))
    assert (answer["method"], base64.b64decode(answer["body_base64"])) == ("POST", body)
    assert answer["path"] == "/echo/%7ea?sig=%2Fx"
    assert headers["x-order"] == "7"
    assert headers["content-type"] == "application/octet-stream"
    assert [value for name, value in sent_headers(crawl.answer) if name == "cookie"] == ["lang=en", "cart=a=b"]
    assert headers["referer"] == "https://lab.example/start"
    assert headers["sec-fetch-mode"] == "cors"
    assert crawl.item["bytes_up"] == 256


def test_headers_of_the_connection_are_not_the_callers(fetch):
    crawl = fetch(
        f"{URL}/echo",
        method="POST",
        body="12345",
        headers={"Content-Length": "99", "Connection": "close", "Host": "evil.example", "Transfer-Encoding": "chunked"},
    )
    headers = sent_headers(crawl.answer)
    assert base64.b64decode(crawl.answer["body_base64"]) == b"12345"
    assert [value for name, value in headers if name == "content-length"] == ["5"]
    assert not {"connection", "transfer-encoding", "host"} & {name for name, _ in headers}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"url": "ftp://lab.example/"}, "http"),
        ({"url": "https:///path"}, "a host"),
        ({"url": "https://lab.example:99999/"}, "a host"),
        ({"url": URL, "method": "FETCH"}, "method"),
        ({"url": URL, "headers": "not json"}, "headers"),
        ({"url": URL, "cookies": '["a"]'}, "cookies"),
        ({"url": URL, "body": "a", "body_base64": "YQ=="}, "not both"),
        ({"url": URL, "body_base64": "?"}, "body_base64"),
        ({"url": URL, "methud": "GET"}, "did you mean 'method'"),
    ],
)
def test_arguments_that_name_no_request_are_refused(arguments, told):
    with pytest.raises(ArgumentError, match=told):
        FetchSpider.make_resolver().arguments(arguments)


def test_a_refused_argument_ends_the_crawl_before_it_begins(project):
    done = project.scrapy("crawl", "fetch", "-a", f"url={URL}", "-a", "headers=not json")
    assert done.returncode == 2
    assert 'a JSON object is expected, such as {"name": "value"}' in done.stderr
    assert "Traceback" not in done.stderr


class TestSessions:
    def test_a_named_session_keeps_jar_and_exit_over_crawls(self, fetch, lab):
        fetch(f"{URL}/cookies/set?sid=s1&lang=en", session="ann")
        assert fetch(f"{URL}/cookies", session="ann").answer["cookies"] == {"sid": "s1", "lang": "en"}
        assert len({request.peer for request in lab.requests}) == 1
        assert fetch(f"{URL}/cookies", session="bob").answer["cookies"] == {}
        assert fetch(f"{URL}/cookies").answer["cookies"] == {}

    @pytest.mark.parametrize("session", [{}, {"session": "ann"}])
    def test_cookies_of_every_hop_are_set_changed_and_deleted(self, fetch, lab, session):
        crawl = fetch(f"{URL}/cookies/chain", **session)
        assert crawl.answer["cookies"] == {"first": "2", "last": "1"}
        assert "; ".join(crawl.answer["lines"]) == "first=2; last=1", "each once, without its attributes"
        assert crawl.item["attempts"] == 1
        assert len({request.peer for request in lab.requests}) == 1
        assert len({request.connection.id for request in lab.requests}) == (1 if session else 5)

    def test_a_retry_has_the_cookie_that_the_failure_set(self, fetch):
        crawl = fetch(f"{URL}/cookies/needed", session="ann")
        assert (crawl.item["body"], crawl.item["attempts"]) == ("here you are\n", 2)


class TestRobots:
    def deny(self):
        from fetchworker.demo.lab import text

        return text("User-agent: *\nDisallow: /status\n")

    def test_what_it_forbids_is_not_fetched(self, fetch, lab, sites):
        sites(robots="obey")
        lab.robots["lab.example"] = self.deny
        crawl = fetch(f"{URL}/status/200")
        assert (crawl.code, crawl.items, lab.paths) == (1, [], [])
        assert [failure["type"] for failure in crawl.failed] == ["ROBOTS_DENIED"]
        assert fetch(f"{URL}/echo").item["status"] == 200

    def test_it_is_not_asked_for_where_it_is_ignored(self, fetch, lab):
        lab.robots["lab.example"] = self.deny
        assert fetch(f"{URL}/status/200").item["status"] == 200
        assert [request.path for request in lab.server.log.requests] == ["/status/200"]

    def test_a_site_without_one_is_fetched_without_a_word(self, fetch, lab, sites):
        sites(robots="obey")
        crawl = fetch(f"{URL}/status/200")
        assert crawl.item["status"] == 200
        assert [request.path for request in lab.server.log.requests] == ["/robots.txt", "/status/200"]
        assert '"error"' not in crawl.log


class TestLimits:
    def test_hosts_that_are_not_allowed_are_not_reached(self, fetch, lab, sites):
        sites(allowed_hosts=["lab.example"])
        crawl = fetch(f"{URL}/redirect-to?url=https://other.example/echo")
        assert (crawl.code, crawl.items) == (1, [])
        assert {request.host for request in lab.requests} == {"lab.example"}
        assert (crawl.failed[0]["type"], crawl.failed[0]["url"]) == ("EGRESS_DENIED", "https://other.example/echo")

    def test_bodies_over_the_cap_are_stopped(self, serve, lab, sites):
        sites(max_bytes=100_000)
        crawl = serve(f"{URL}/bytes/200000", f"{URL}/endless", f"{URL}/gzip-bomb?mib=64")
        assert crawl.items == []
        assert {failure["type"] for failure in crawl.failed} == {"FETCH_ERROR"}
        assert all("100000" in failure["message"] for failure in crawl.failed)
        assert len(crawl.failed) == len(lab.requests) == 3, "and not tried again"


def test_answers_that_are_no_data_end_in_the_failures_file(serve, lab):
    expected = {
        "/status/404": ("NOT_FOUND_UPSTREAM", "not_found", 1),
        "/status/410": ("NOT_FOUND_UPSTREAM", "gone", 1),
        "/status/403": ("UPSTREAM_BLOCKED", "blocked", 3),
        "/status/500": ("FETCH_ERROR", "transient", 3),
        "/status/400": ("FETCH_ERROR", "error", 1),
        "/429?retry_after=0": ("RATE_LIMITED", "rate_limited", 3),
        "/close": ("FETCH_ERROR", None, 3),
        "/truncated": ("FETCH_ERROR", None, 3),
    }
    crawl = serve(*(f"{URL}{path}" for path in expected))
    told = {
        failure["url"].removeprefix(URL): (failure["type"], failure["outcome"], failure["attempts"])
        for failure in crawl.failed
    }
    assert told == expected
    assert (crawl.items, crawl.code) == ([], 1)
    asked = {path: lab.paths.count(path) for path in expected}
    assert asked == {path: tries for path, (_, _, tries) in expected.items()}
    assert all(failure["params"] == {"url": failure["url"]} for failure in crawl.failed), "a seed to do it again"


def test_retry_after_is_waited_for_and_capped(serve, lab):
    crawl = serve(f"{URL}/429?retry_after=1", f"{URL}/429?retry_after=86400")
    assert {failure["type"] for failure in crawl.failed} == {"RATE_LIMITED"}
    times = [request.at for request in lab.requests if request.path.endswith("=1")]
    assert len(times) == 3
    assert all(later - earlier >= 1 for earlier, later in pairwise(times))
    assert re.search(r"retry_after_capped/fetch': 3", crawl.log)


class TestProxies:
    @pytest.mark.parametrize("policy", ["required", "preferred"])
    def test_wrong_credentials_quarantine_the_proxy_and_the_other_serves(self, serve, lab, project, sites, policy):
        sites(proxy=policy)
        wrong = lab.exits[0].url_for(lab.exits[0].username, "wrong-password-1")
        project.env["FETCHWORKER_PROXIES"] = f"{wrong}\n{lab.exits[1].url}"
        seeds = [f"{URL}/echo?{number}" for number in range(6)]
        crawl = serve(*seeds, options=("-s", "CONCURRENT_REQUESTS=1"))
        assert len(crawl.items) == 6
        assert {request.peer for request in lab.requests} == {"127.0.0.12"}
        assert [record["status"] for record in lab.log("proxy")].count(407) == 1
        assert crawl.log.count("proxy_auth_failed") == 1
        assert "wrong-password-1" not in crawl.log

    @pytest.mark.parametrize("policy", ["required", "preferred"])
    def test_a_dead_proxy_never_means_a_direct_request(self, serve, lab, project, sites, policy):
        sites(proxy=policy)
        project.env["FETCHWORKER_PROXIES"] = f"http://u:p@127.0.0.1:9\n{lab.exits[1].url}"
        seeds = [{"url": f"{URL}/echo?{number}", "session": f"s{number % 3}"} for number in range(6)]
        crawl = serve(*seeds, *(f"{URL}/echo?{number}" for number in range(6, 12)))
        assert len(crawl.items) == 12
        assert {request.peer for request in lab.requests} == {"127.0.0.12"}


def test_a_full_disk_ends_the_crawl_with_its_reason(fetch):
    crawl = fetch(f"{URL}/echo", "-o", "/dev/full:jsonl")
    assert crawl.code == 1
    assert "'finish_reason': 'export_error'" in crawl.log
    assert "/dev/full" in crawl.log
    assert "1 items, 1 line lost as the output could not be written; answers: ok 1" in crawl.log


def test_lines_that_a_full_disk_lost_are_counted(fetch, lab, project):
    """No file may grow above a size, and this one has nearly got there: the summary and the file say the same."""
    lab.app = demo_site().app
    out = project.folder / "posts.jsonl"
    out.write_text(json.dumps("x" * 994_000) + "\n")
    done = subprocess.run(
        project.command("crawl", "instagram", "-a", "user=nasa", "-o", str(out)), env=project.environment(),
        capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY)),
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    written = len(out.read_bytes().splitlines()) - 1
    items, lost = map(int, re.search(r"(\d+) items, (\d+) lines lost", done.stderr).groups())
    assert 0 < written == items - lost < items


def test_a_block_behind_a_redirect_is_tried_again_from_the_start(fetch, lab):
    from fetchworker.demo.lab import redirect, text

    turned_away = []

    def app(request):
        if request.route == "/door":
            return redirect("/hall", headers=[("set-cookie", "ticket=1; Path=/")])
        if not turned_away or "ticket" not in request.cookies():
            turned_away.append(request.path)
            return text("no\n", 403)
        return text(f"welcome by {request.method}\n")

    lab.app = app
    crawl = fetch(f"{URL}/door", method="POST", body=json.dumps({"name": "ann"}))
    assert crawl.item["body"] == "welcome by GET\n"
    assert turned_away == ["/hall"]
    doors = [request for request in lab.requests if request.path == "/door"]
    assert [(request.method, request.body) for request in doors] == [("POST", b'{"name": "ann"}')] * 2
