"""Another project takes our queue by its settings alone; all else in it is Scrapy's own."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from socketserver import StreamRequestHandler, ThreadingTCPServer

import pytest

pytestmark = pytest.mark.slow
LISTS = [f"/list/{number}" for number in range(1, 6)]


def test_a_plain_spider_with_retries_redirects_and_depth(other, site):
    told = other.crawl("plain", START="/to/list/1 /busy/1 /busy/2", FETCHWORKER_CRAWL_ID="one")
    assert other.paths() == ["/busy/1", "/busy/2", "/list/1", *LISTS], "a redirect is its request's own, seen or not"
    depths = {item["path"]: item["depth"] for item in other.items()}
    assert (depths["/busy/1"], depths["/list/2"], depths["/list/5"]) == (0, 1, 4)
    assert site.paths.count("/busy/1") == 2
    assert "Spider closed (finished)" in told
    assert "Traceback" not in told, told


def test_rules(other):
    other.crawl("rules", FETCHWORKER_CRAWL_ID="rules")
    assert other.paths() == LISTS


def test_scrapy_redis_spider_by_host_and_port(other, redis_server, site):
    del other.settings["REDIS_URL"]
    other.settings |= {"REDIS_HOST": "127.0.0.1", "REDIS_PORT": redis_server.port, "SCHEDULER_IDLE_BEFORE_CLOSE": 0.5}
    other.settings["SPIDER_MODULES"] = ["other.redis_spider"]
    redis_server.call("RPUSH", "seeds:start_urls", *(f"{site.url}{path}" for path in LISTS))
    told = other.crawl("seeds")
    assert other.paths() == LISTS
    assert "Spider closed (idle)" in told
    assert redis_server.call("KEYS", "seeds*") == []


def test_a_filter_that_shares_nothing_is_refused(other, site):
    other.settings["DUPEFILTER_CLASS"] = "other.pipelines.OwnFilter"
    told = other.crawl("plain", code=1, START="/list/1")
    assert "DUPEFILTER_CLASS: other.pipelines.OwnFilter does not share its set" in told
    assert site.paths == []


def test_no_redis_is_said_and_ends_the_process(other, site):
    other.settings["REDIS_URL"] = "redis://127.0.0.1:1/0"
    told = other.crawl("plain", code=1, START="/list/1", FETCHWORKER_REDIS_PATIENCE="0.1")
    assert "no Redis at redis://127.0.0.1:1" in told
    assert site.paths == []


class _OldServer(StreamRequestHandler):
    """Answers as a Redis of version 6.0 would."""

    def handle(self) -> None:
        while line := self.rfile.readline():
            words = []
            for _ in range(int(line[1:])):
                size = int(self.rfile.readline()[1:])
                words.append(self.rfile.read(size + 2)[:-2].upper())
            told = b"$21\r\nredis_version:6.0.16\r\n\r\n" if words[0] == b"INFO" else b"+OK\r\n"
            self.wfile.write(b"+PONG\r\n" if words[0] == b"PING" else told)


@contextmanager
def old_server():
    with ThreadingTCPServer(("127.0.0.1", 0), _OldServer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_a_redis_that_is_too_old_is_said_and_ends_the_process(other, site):
    with old_server() as port:
        other.settings["REDIS_URL"] = f"redis://127.0.0.1:{port}/0"
        told = other.crawl("plain", code=1, START="/list/1", FETCHWORKER_REDIS_PATIENCE="0.1")
    assert "it is 6.0.16, 6.2 is needed" in told
    assert site.paths == []


def test_a_page_that_fails_is_dead_in_the_end(other, redis_server):
    other.crawl("fails", START="/list/1", FETCHWORKER_CRAWL_ID="f", FETCHWORKER_ATTEMPTS="2")
    assert redis_server.call("HLEN", "{fails:crawl:f}:dead") == 1
    assert redis_server.call("HGET", "{fails:crawl:f}:counts", "dead") == b"1"
