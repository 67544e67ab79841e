"""The walk over strategies and pages: what is yielded, what is tried next, and what becomes a failure line."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import HtmlResponse
from twisted.python.failure import Failure

from fetchworker.contracts import Call, Fetch, Paged, Parsed
from fetchworker.errors import ContractError, OutcomeError
from fetchworker.exports.failures import CrawlRecords
from fetchworker.items import Page, Post, Profile, validate
from fetchworker.runtime import Identities
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.spiders.paging import Duplicates, dump_items, load_items, turn


class Recorder:
    """Stands for the crawl's runtime: notes what the spider tells it."""

    crawl_id = "c1"
    identities = Identities("c1", pooled=False, media=False)

    def __init__(self, folder):
        self.records = CrawlRecords(folder, lost=pytest.fail)
        self.failures: list = []
        self.counts: list[str] = []
        self.dropped: list[str] = []
        self.ends = False

    def ending(self):
        return self.ends

    def count(self, name, by=1):
        self.counts.append(name)

    def record_failure(self, request, error, page):
        self.failures.append((request.meta["fw_strategy"][2], type(error).__name__))

    async def drop_session(self, name):
        self.dropped.append(name)


class FeedParams(Paged):
    who: str


ANSWERS: dict[str, object] = {}


def parse(page, call):
    answer = ANSWERS[page.url]
    if isinstance(answer, Exception):
        raise answer
    return answer


class FeedSpider(SiteSpider):
    name = "feed"

    @operation(parse=parse, params=FeedParams, default_for=("who",), counts="post")
    def posts(self, call: Call[FeedParams]):
        """Posts."""
        if call.cursor == "nowhere":
            return
        place = f"{call.params.who}/{call.cursor or 'first'}"
        yield Fetch("page", f"https://feed.example/{place}")
        yield Fetch("api", f"https://feed.example/api/{place}", destination="xhr")


@pytest.fixture
def spider(tmp_path):
    made = FeedSpider(who="ada", limit="5")
    made.runtime = Recorder(tmp_path)
    ANSWERS.clear()
    return made


def posts(*numbers, cursor=None):
    items = [Post.draft(id=str(number)) for number in numbers]
    return Parsed([*items, Page.draft(next_cursor=cursor)], cursor=cursor)


async def answered(spider, request, answer):
    ANSWERS[request.url] = answer
    response = HtmlResponse(request.url, request=request, body=b"<html></html>")
    return [output async for output in spider.parse_call(response)]


async def failed(spider, request, error):
    failure = Failure(error)
    failure.request = request
    return [output async for output in spider.fail_call(failure)]


async def test_pages_go_on_to_the_limit_and_keep_the_session(spider):
    first = spider.request(spider.started)
    *items, following = await answered(spider, first, posts(1, 2, 3, cursor="p2"))
    assert [item.kind for item in items] == ["post", "post", "post", "page"]
    assert following.url == "https://feed.example/ada/p2"
    assert following.meta["fw_session"] == first.meta["fw_session"]
    last = await answered(spider, following, posts(4, 5, 6, cursor="p3"))
    assert [getattr(item, "id", None) for item in last] == ["4", "5", None], "exactly five posts"
    assert spider.runtime.dropped == [first.meta["fw_session"]]
    ids = {item.item_id for item in (*items, *last)}
    assert len(ids) == 7
    assert all(validate(item) for item in items)


@pytest.mark.parametrize("error", [ContractError("posts[0]"), KeyError("a bug of the parser")])
async def test_a_page_that_cannot_be_parsed_leads_to_the_next_way(spider, error):
    (second,) = await answered(spider, spider.request(spider.started), error)
    assert second.url == "https://feed.example/api/ada/first"
    assert spider.runtime.failures == []
    assert await answered(spider, second, error) == []
    assert spider.runtime.failures == [("api", type(error).__name__)]


async def test_a_block_to_the_last_try_leads_to_the_next_way(spider):
    (second,) = await failed(spider, spider.request(spider.started), OutcomeError("blocked", "blocked"))
    assert second.meta["fw_strategy"] == [1, 2, "api"]
    assert await failed(spider, second, OutcomeError("blocked", "blocked")) == []
    assert spider.runtime.failures == [("api", "OutcomeError")]


async def test_a_crawl_that_ends_keeps_the_next_way_and_says_nothing_of_trying_it(spider, caplog):
    caplog.set_level("INFO")
    spider.runtime.ends = True
    (second,) = await failed(spider, spider.request(spider.started), OutcomeError("blocked", "blocked"))
    assert second.meta["fw_strategy"] == [1, 2, "api"], "for the queue, where others find it"
    assert "trying the next" not in caplog.text
    assert spider.runtime.failures == []


async def test_a_request_that_was_cancelled_is_unfinished_and_not_asked_for_another_way(spider):
    assert await failed(spider, spider.request(spider.started), asyncio.CancelledError()) == []
    assert spider.runtime.failures == [("page", "UnfinishedError")]


async def test_what_is_not_there_is_not_asked_for_another_way(spider):
    assert await failed(spider, spider.request(spider.started), OutcomeError("not_found", "404")) == []
    assert spider.runtime.failures == [("page", "OutcomeError")]


async def test_a_parser_may_tell_the_outcome(spider, caplog):
    first = spider.request(spider.started)
    (second,) = await answered(spider, first, OutcomeError("challenge", "nothing for a guest"))
    assert second.meta["fw_strategy"] == [1, 2, "api"]
    assert await answered(spider, second, OutcomeError("not_found", "nobody")) == []
    assert spider.runtime.failures == [("api", "OutcomeError")]
    assert "the parser broke" not in caplog.text


async def test_held_items_wait_for_the_page_that_completes_them(spider):
    held = Parsed([Post.draft(id="1", partial="no_details")], cursor="details", held=True)
    (following,) = await answered(spider, spider.request(spider.started), held)
    assert following.url == "https://feed.example/ada/details"
    (whole,) = await answered(spider, following, Parsed([Post.draft(id="1", likes=3)]))
    assert (whole.id, whole.likes) == ("1", 3)


async def test_held_items_are_given_when_nothing_completes_them(spider):
    held = Parsed([Post.draft(id="1", partial="no_details")], cursor="details", held=True)
    (following,) = await answered(spider, spider.request(spider.started), held)
    (second,) = await failed(spider, following, OutcomeError("blocked", "blocked"))
    (kept,) = await failed(spider, second, OutcomeError("blocked", "blocked"))
    assert (kept.id, kept.partial, spider.runtime.failures) == ("1", "no_details", [])


async def test_a_shell_waits_for_something_better(spider):
    shell = Parsed([Profile.draft(username="ada", followers=1000, partial="page_shell")])
    (second,) = await answered(spider, spider.request(spider.started), shell)
    assert second.url.startswith("https://feed.example/api/")
    better = await answered(spider, second, posts(1))
    assert [item.kind for item in better] == ["post", "page"]


async def test_a_shell_is_taken_when_nothing_better_comes(spider):
    shell = Parsed([Profile.draft(username="ada", followers=1000, partial="page_shell", links=[])])
    (second,) = await answered(spider, spider.request(spider.started), shell)
    (kept,) = await failed(spider, second, OutcomeError("blocked", "blocked"))
    assert (kept.username, kept.partial) == ("ada", "page_shell")
    assert validate(kept).followers == 1000
    assert spider.runtime.failures == []


async def test_a_page_without_a_way_on_is_a_failure_line(spider):
    outputs = await answered(spider, spider.request(spider.started), posts(1, cursor="nowhere"))
    assert [output.kind for output in outputs] == ["post", "page"]
    assert spider.runtime.failures == [("page", "ArgumentError")]


async def test_pages_that_go_round_in_a_circle_end(spider):
    request = FeedSpider(who="ada").started
    spider.started = request
    request = spider.request(request)
    for number in range(50):
        outputs = await answered(spider, request, posts(number, cursor=f"c{number % 3}"))
        if len(outputs) == 2:
            break
        request = outputs[-1]
    assert number < 20


@given(st.lists(st.text(max_size=3), unique=True, min_size=1, max_size=60))
def test_cursors_that_differ_are_no_circle(cursors):
    cycle = None
    for before, cursor in pairwise([None, *cursors]):
        cycle = turn(cycle, before, cursor)
        assert cycle is not None


@given(st.integers(0, 20), st.integers(1, 20))
def test_a_circle_is_found(lead, length):
    def cursor(step):
        return str(step if step < lead else lead + (step - lead) % length)

    cycle, before = None, None
    for step in range(4 * (lead + length) + 8):
        cycle = turn(cycle, before, cursor(step))
        if cycle is None:
            return
        before = cursor(step)
    pytest.fail("the circle was not found")


def test_drafts_survive_the_queue():
    draft = Post.draft(id="1", author={"id": "7"}, hashtags=["a"], extra={"n": [1, {"m": 2}]})
    (back,) = load_items(dump_items([draft]))
    assert back.__dict__ == draft.__dict__


async def test_what_a_call_gave_before_is_not_given_again(spider):
    first = spider.request(spider.started)
    *items, following = await answered(spider, first, posts(1, 2, 1, cursor="p2"))
    assert [getattr(item, "id", None) for item in items] == ["1", "2", None]
    *items, following = await answered(spider, following, posts(2, 3, cursor="p3"))
    assert [getattr(item, "id", None) for item in items] == ["3", None]
    assert items[0].item_id.endswith("-1"), "its place on the page, whatever came before"
    assert following.meta["fw_call"]["seen"] == 3, "only what is new counts"
    assert spider.runtime.counts.count("duplicates/feed/posts") == 2


async def test_a_call_that_is_made_again_gives_everything_again(spider):
    for _ in range(2):
        items = await answered(spider, spider.request(spider.started), posts(1, 2))
        assert [getattr(item, "id", None) for item in items] == ["1", "2", None]


async def test_a_call_that_failed_is_forgotten_too(spider):
    await answered(spider, spider.request(spider.started), posts(1, cursor="nowhere"))
    assert len(spider._duplicates) == 0


def test_the_ids_that_are_remembered_are_bounded(monkeypatch):
    monkeypatch.setattr("fetchworker.spiders.paging.REMEMBERED", 3)
    duplicates = Duplicates()
    assert duplicates.among("a", [Post.draft(id=str(n)) for n in range(5)]) == set()
    assert duplicates.among("a", [Post.draft(id=n) for n in ("0", "4")]) == {1}
    assert duplicates.among("b", [Post.draft(id="4")]) == set(), "another call's"
    assert duplicates.among("a", [Profile.draft(id="4"), Post.draft(id=None), Post.draft(id=None)]) == set()


@pytest.mark.parametrize(
    ("answer", "how"),
    [
        (posts(1), "site_end"),
        (Parsed(posts(1).items, capped=True), "site_cap"),
        (posts(1, 2, 3, 4, 5, cursor="p2"), "limit"),
        (posts(1, cursor="p1"), "repeats"),
    ],
)
async def test_how_the_pages_end(spider, answer, how):
    spider.started = replace(spider.started, call=replace(spider.started.call, cursor="p1"))
    await answered(spider, spider.request(spider.started), answer)
    assert f"ended/feed/posts/{how}" in spider.runtime.counts


@pytest.mark.parametrize(
    ("error", "lacks"), [(ContractError("feed/posts[0]"), "feed/posts[0]"), (KeyError("x"), "(KeyError)")]
)
async def test_a_page_without_what_it_should_hold_is_kept(spider, error, lacks):
    (second,) = await answered(spider, spider.request(spider.started), error)
    assert f"drift/feed/posts/{lacks}" in spider.runtime.counts
    (row,) = map(json.loads, (spider.runtime.records.folder / "drift" / "manifest.jsonl").read_bytes().splitlines())
    assert (row["site"], row["operation"], row["lacks"]) == ("feed", "posts", lacks)
    assert (spider.runtime.records.folder / "drift" / row["file"]).read_bytes() == b"<html></html>"
    assert second
