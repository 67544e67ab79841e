"""What an HTTP/2 server does not answer and may be sent again: at once, and nobody is blamed for it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import Any

import pytest

from fetchworker.demo.lab import text
from fetchworker.demo.model import GoAway, ResetStream

pytestmark = pytest.mark.slow
URL = "https://lab.example"
REFUSED_STREAM = 0x7
POST = {"method": "POST", "body": "answer=7"}
#: stats that are written where somebody is blamed or a try is counted
PENALTIES = ("retry/", "error/", "rotated/", "proxy/", "failed/")


class Departing:
    """Refuses each path the first ``times`` (a GOAWAY, a reset), then answers with a text."""

    def __init__(self, refusal: Exception, times: int = 1) -> None:
        self.refusal, self.times = refusal, times
        self.seen: Counter[str] = Counter()

    def __call__(self, request: Any) -> Any:
        self.seen[request.path] += 1
        if self.seen[request.path] <= self.times:
            raise self.refusal
        return text(f"{request.method} {request.body.decode()}\n")


def stats(crawl: Any) -> dict[str, Any]:
    dumped = re.search(r"Dumping Scrapy stats:\\n(\{.*?\})\"", crawl.log)
    assert dumped, crawl.log
    return ast.literal_eval(re.sub(r"datetime\.datetime\([^)]*\)+", "None", dumped[1].replace("\\n", "\n")))


def penalties(crawl: Any) -> dict[str, Any]:
    prefixes = tuple(f"fetchworker/{name}" for name in PENALTIES)
    return {
        name: value for name, value in stats(crawl).items() if name.startswith(prefixes) and not name.endswith("/ok")
    }


def sent(lab: Any, path: str) -> list[tuple[str, str, str]]:
    """Method, body and protocol of each request for a path."""
    found = [request for request in lab.requests if request.path == path]
    return [(request.method, request.body.decode(), request.connection.alpn or "") for request in found]


@pytest.fixture(params=[{}, {"session": "ann"}], ids=["stateless", "session"])
def whose(request) -> dict[str, str]:
    return request.param


@pytest.fixture(params=[{}, POST], ids=["GET", "POST"])
def how(request) -> dict[str, str]:
    return request.param


def test_what_is_wanted_over_http_1_1_is_sent_over_it(serve, lab, how, whose):
    call = {"url": f"{URL}/h1-required", **how, **whose}
    crawl = serve(call, {"url": f"{URL}/cookies", **whose}, options=("-s", "CONCURRENT_REQUESTS=1"))
    item = next(item for item in crawl.items if item["url"].endswith("/h1-required"))
    assert (item["status"], item["body"], item["attempts"]) == (200, "http/1.1\n", 1)
    method, body = how.get("method", "GET"), how.get("body", "")
    assert sent(lab, "/h1-required") == [(method, body, "h2"), (method, body, "http/1.1")]
    assert len({request.peer for request in lab.requests if request.path == "/h1-required"}) == 1
    assert penalties(crawl) == {}
    assert crawl.failed == []
    if whose:
        assert len({request.peer for request in lab.requests}) == 1, "the identity stays at its exit"


@pytest.mark.parametrize("refusal", [GoAway(taken=False), ResetStream(REFUSED_STREAM)], ids=["GOAWAY", "reset"])
def test_what_the_server_says_it_has_not_touched_is_sent_again(serve, lab, how, whose, refusal):
    lab.app = Departing(refusal)
    crawl = serve({"url": f"{URL}/page", **how, **whose})
    method, body = how.get("method", "GET"), how.get("body", "")
    assert (crawl.item["body"], crawl.item["attempts"]) == (f"{method} {body}\n", 1)
    assert sent(lab, "/page") == [(method, body, "h2")] * 2
    assert penalties(crawl) == {}


def test_what_a_goaway_counts_in_is_repeated_once(serve, lab, whose):
    lab.app = Departing(GoAway(taken=True))
    crawl = serve({"url": f"{URL}/page", **whose})
    assert (crawl.item["body"], crawl.item["attempts"]) == ("GET \n", 1)
    assert len(sent(lab, "/page")) == 2
    assert penalties(crawl) == {}
    assert stats(crawl)["fetchworker/repeated"] == 1


def test_and_no_more_than_once_without_counting(serve, lab, sites):
    sites(retries=1)
    lab.app = Departing(GoAway(taken=True), times=9)
    crawl = serve(f"{URL}/page")
    assert [failure["type"] for failure in crawl.failed] == ["FETCH_ERROR"]
    assert len(sent(lab, "/page")) == 4, "two tries, each of them with one repetition"
    assert penalties(crawl)["fetchworker/retry/fetch/DownloadFailedError"] == 1


@pytest.mark.parametrize("retries", [0, 1])
def test_a_post_that_a_goaway_counts_in_is_a_try(serve, lab, sites, retries, whose):
    sites(retries=retries)
    lab.app = Departing(GoAway(taken=True))
    crawl = serve({"url": f"{URL}/form", **POST, **whose})
    assert sent(lab, "/form") == [("POST", "answer=7", "h2")] * (1 + retries)
    assert "fetchworker/repeated" not in stats(crawl)
    assert penalties(crawl)["fetchworker/error/fetch/DownloadFailedError"] == 1
    assert [item["attempts"] for item in crawl.items] == [2] * retries
    assert len(crawl.failed) == 1 - retries
