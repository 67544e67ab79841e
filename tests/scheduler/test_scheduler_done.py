"""The contract with the pinned Scrapy: in which order things happen, and when a request counts as done or as failed.

All crawls of a mode run in one process (inside/contract.py), with the engine's heartbeat off: one that needs it does
not end.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgpack
import pytest

from fetchworker.demo.redis import RedisServer
from fetchworker.frontier.keys import namespace

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

SCRIPT = Path(__file__).parent / "inside" / "contract.py"
NAMES = (
    "Order", "Errback", "Unanswered", "Unsilenced", "ErrbackRaises", "RaisesBefore", "RaisesAfter", "RaisesOnce",
    "RaisesInMiddleware", "Drops", "Breaks", "Ignored", "Robots", "Inline", "Neighbours", "Closes", "Carried",
    "Extension", "Lambda", "Faceless", "Copies", "Duplicates", "Many",
)  # fmt: skip


class Seen:
    """What became of one crawl."""

    def __init__(self, name: str, found: dict, client) -> None:
        self.notes = [tuple(note) for note in found[name]["notes"]]
        self.told = [(what, which) for what, which, _ in self.notes]
        self.reason = found[name]["reason"]
        self.filtered = found[name]["filtered"]
        self.names = namespace(name.lower(), "contract")
        self.client = client

    def which(self, what: str) -> list:
        return [which for told, which in self.told if told == what]

    @property
    def dead(self) -> list[str]:
        """The reasons of its dead letters."""
        letters = self.client.hvals(f"{self.names.root}:dead")
        return [msgpack.unpackb(letter, raw=True)[0].decode() for letter in letters]


@pytest.fixture(scope="module", params=["loop", "reactor"])
def crawls(request, tmp_path_factory, clean_environment):
    """All crawls of one of Scrapy's modes, over."""
    with RedisServer() as server:
        env = clean_environment(
            tmp_path_factory.mktemp("contract"),
            REDIS_URL=server.url,
            FETCHWORKER_ATTEMPTS="2",
            FETCHWORKER_ATTEMPT_DELAY="0",
            FETCHWORKER_CRAWL_ID="contract",
        )
        command = [sys.executable, str(SCRIPT), request.param, *NAMES]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stderr
        assert "Deprecat" not in done.stderr, done.stderr
        found = json.loads(done.stdout)
        with server.client() as client:
            yield lambda name: Seen(name, found, client)


def test_a_page_is_done_when_its_items_are_stored_and_only_then_its_children_come(crawls):
    assert crawls("Order").told == [
        ("out", "a"), ("page", "a"), ("stored", 1), ("stored", 2), ("done", "a"),
        ("out", "b"), ("page", "b"), ("done", "b"),
    ]  # fmt: skip


def test_what_an_errback_gives_is_the_requests_own(crawls):
    told = [what for what, _ in crawls("Errback").told]
    assert told == ["out", "errback", "stored", "done", "out", "page", "done"]


@pytest.mark.parametrize("name", ["Unanswered", "Unsilenced"])
def test_a_download_error_that_goes_to_nobody_is_a_failure(crawls, name):
    crawl = crawls(name)
    assert [what for what, _ in crawl.told] == ["out", "failed DownloadConnectionRefusedError"] * 2
    (reason,) = crawl.dead
    assert reason.startswith("DownloadConnectionRefusedError: ")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("ErrbackRaises", "KeyError: 'in the errback'"),
        ("RaisesBefore", "KeyError: 'at once'"),
        ("RaisesAfter", "KeyError: 'later'"),
        ("RaisesInMiddleware", "LookupError: not this one"),
        ("Breaks", "ZeroDivisionError: oops"),
        ("Faceless", "TypeError: no fingerprint"),
    ],
)
def test_what_raises_is_tried_again_and_then_dead(crawls, name, told):
    crawl = crawls(name)
    (page,) = set(crawl.which("out"))
    assert crawl.which(f"failed {told.partition(':')[0]}") == [page, page]
    assert crawl.dead == [told]
    assert crawl.reason == "finished"


def test_children_of_a_page_that_fails_are_not_queued(crawls):
    assert "b" not in crawls("RaisesAfter").which("out")


def test_a_failure_that_passes_leaves_nothing(crawls):
    crawl = crawls("RaisesOnce")
    assert crawl.told[2:] == [("failed KeyError", "a"), ("out", "a"), ("page", "a"), ("stored", 2), ("done", "a")]
    assert crawl.dead == []


@pytest.mark.parametrize(("name", "page"), [("Drops", "a"), ("Ignored", "ignored"), ("Closes", "a")])
def test_a_dropped_item_an_ignored_request_and_an_end_at_will_are_no_failures(crawls, name, page):
    crawl = crawls(name)
    assert crawl.which("done") == [page]
    assert crawl.dead == []
    assert crawl.reason == ("enough" if name == "Closes" else "finished")


def test_a_page_that_robots_txt_forbids_is_done(crawls):
    crawl = crawls("Robots")
    assert sorted(crawl.which("done")) == ["/open", "/private"]
    assert crawl.which("page") == ["/open"]


def test_what_a_callback_downloads_itself_ends_no_lease(crawls):
    crawl = crawls("Inline")
    steps = [step for step in crawl.told if "b" not in step]
    assert steps[:4] == [("out", "/inline"), ("page", "/inline"), ("inner", "/inner"), ("inner", "/inline")]
    assert crawl.told.index(("stored", 1)) < crawl.told.index(("done", "/inline")) < crawl.told.index(("out", "b"))
    assert crawl.which("done") == ["/inline", "b"]


def test_a_callback_that_downloads_and_fails_takes_no_retry_of_others_with_it(crawls):
    crawl = crawls("Neighbours")
    busy = [f"/busy/{number}" for number in range(6)]
    assert sorted(crawl.which("done")) == busy
    assert sorted(crawl.which("stored")) == busy
    assert crawl.which("failed KeyError") == ["/inline", "/inline"]


def test_retries_and_redirects_carry_the_lease(crawls):
    crawl = crawls("Carried")
    assert sorted(crawl.which("out")) == ["/busy", "/busy", "/there", "/to/there"]
    assert sorted(crawl.which("done")) == ["/busy", "/there"]
    assert {token for what, _, token in crawl.notes if what == "done"} == {"1", "2"}


def test_requests_of_an_extension_belong_to_no_page_and_are_crawled(crawls):
    assert sorted(crawls("Extension").which("done")) == ["a", "of-idle", "of-task"]


def test_a_child_that_cannot_be_queued_fails_its_page_with_the_fields_name(crawls):
    crawl = crawls("Lambda")
    assert crawl.which("failed UnqueueableError") == ["a", "a"]
    assert "b" not in crawl.which("out")
    (reason,) = crawl.dead
    assert reason.startswith("UnqueueableError: callback is <function")


def test_a_child_made_of_its_pages_meta_has_a_lease_of_its_own(crawls):
    crawl = crawls("Copies")
    leases = [(which, token) for what, which, token in crawl.notes if what == "lease"]
    assert sorted(which for which, _ in leases) == ["a", "b", "b", "c"], "a page may yield its own request again"
    assert len({token for _, token in leases}) == 4
    assert sorted(crawl.which("done")) == ["a", "b", "b", "c"]


def test_duplicates_are_dropped_and_dont_filter_is_honoured(crawls):
    crawl = crawls("Duplicates")
    assert sorted(crawl.which("page")) == ["a", "b", "b", "c", "c"]
    assert crawl.filtered == 2


def test_a_page_of_fifty_thousand_children_is_one_step(crawls):
    crawl = crawls("Many")
    assert crawl.which("done")[0] == "a"
    assert crawl.reason == "enough"
    done = len(crawl.which("done"))
    queued = crawl.client.llen(f"{crawl.names.root}:requests:0")
    to_join = sum(crawl.client.llen(key) for key in crawl.client.scan_iter(f"{crawl.names.root}:stage:*"))
    assert queued + to_join + done == 50_001
    assert int(crawl.client.hget(f"{crawl.names.root}:counts", "enqueued")) == queued + done
