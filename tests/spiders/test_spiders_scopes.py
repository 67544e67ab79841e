"""For whom a session is: what the requests of a call carry, over pages, strategies, the queue and a new beginning."""

from __future__ import annotations

import pytest
from scrapy.http import TextResponse

from fetchworker.contracts import Call, Fetch, Paged, Parsed
from fetchworker.errors import ArgumentError, BrokenChainError
from fetchworker.frontier.codec import decode, encode
from fetchworker.items import Page, Post
from fetchworker.runtime import Identities
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.spiders.linkedin.spider import LinkedinSpider
from fetchworker.spiders.tiktok_shop.spider import TiktokShopSpider


class Runtime:
    """Stands for the crawl's runtime."""

    def __init__(self, *, pooled, media=False):
        self.identities = Identities("c1", pooled=pooled, media=media)
        self.ended, self.dropped, self.counts = [], [], []

    def ending(self):
        return False

    def count(self, name, by=1):
        self.counts.append(name)

    async def end_scope(self, meta):
        self.ended.append(meta["fw_scope"])

    async def drop_session(self, name):
        self.dropped.append(name)


class Params(Paged):
    who: str


def parse(page, call):
    """Two posts and a further page, three times."""
    posts = [Post.draft(id=f"{call.page}-{n}", url=page.url) for n in range(2)]
    cursor = str(call.page + 1) if call.page < 3 else None
    end = Page.draft(next_cursor=cursor, total=6, exhausted=cursor is None, url=page.url)
    return Parsed([*posts, end], cursor, {})


def declared(scope, jar="main"):
    class Feed(SiteSpider):
        name = "feed"

        @operation(parse=parse, params=Params, default_for=("who",), counts="post", session_scope=scope, jar=jar)
        def posts(self, call: Call[Params]):
            """Posts."""
            yield Fetch("page", f"https://feed.example/{call.params.who}/{call.page}")

    return Feed


def made(scope, *, pooled, media=False, **arguments):
    spider = declared(scope)(who="ada", **arguments)
    spider.runtime = Runtime(pooled=pooled, media=media)
    return spider


async def walk(spider, request):
    """The requests and items of a call to its end."""
    requests, items = [request], []
    while request is not None:
        response = TextResponse(request.url, body=b"<html></html>", request=request)
        found = [one async for one in spider.parse_call(response)]
        items += [one for one in found if not hasattr(one, "callback")]
        request = next((one for one in found if hasattr(one, "callback")), None)
        requests += [request] if request is not None else []
    return requests, items


def identity(request):
    keys = ("fw_session", "fw_scope", "fw_jar", "fw_session_ends", "fw_exclusive")
    return {key: request.meta[key] for key in keys if key in request.meta}


@pytest.mark.parametrize("scope", ["page", "chain"])
async def test_a_call_has_one_session_over_its_pages_and_gives_it_back(scope):
    spider = made(scope, pooled=True)
    requests, _ = await walk(spider, spider.request(spider.started))
    assert len(requests) == 3
    first, *others = map(identity, requests)
    assert first == {"fw_scope": first["fw_scope"], "fw_jar": "main", "fw_session_ends": True}
    assert all(other == first for other in others)
    assert spider.runtime.ended == [first["fw_scope"]]
    assert [request.priority for request in requests] == [0, 1, 1], "who has a session goes before who waits for one"
    assert [bool(request.meta.get("fw_leg")) for request in requests] == [False, scope == "chain", scope == "chain"]


async def test_without_a_pool_the_session_is_named_after_the_call_and_dropped_at_its_end():
    spider = made("page", pooled=False)
    requests, _ = await walk(spider, spider.request(spider.started))
    assert {request.meta["fw_session"] for request in requests} == {requests[0].meta["fw_session"]}
    assert [request.priority for request in requests] == [0, 0, 0]
    assert spider.runtime.dropped == [requests[0].meta["fw_session"]]


async def test_a_scope_of_one_request_names_nothing():
    spider = made("request", pooled=True)
    requests, _ = await walk(spider, spider.request(spider.started))
    assert [identity(request) for request in requests] == [{}] * 3
    spider = made("request", pooled=True, media=True)
    assert "fw_scope" in identity(spider.request(spider.started)), "its pictures come by the same identity"


async def test_calls_of_a_crawl_have_one_session():
    spider = made("crawl", pooled=True)
    other = declared("crawl")(who="bob")
    other.runtime = spider.runtime
    requests, _ = await walk(spider, spider.request(spider.started))
    assert {request.meta["fw_scope"] for request in [*requests, other.request(other.started)]} == {"c1.main"}
    assert not requests[0].meta.get("fw_session_ends"), "the crawl ends it"


async def test_a_name_that_the_caller_gave_is_kept_and_is_one_of_each_jar():
    spider = made("chain", pooled=True, session="ann")
    requests, _ = await walk(spider, spider.request(spider.started))
    assert [identity(request) for request in requests] == [{"fw_session": "ann"}] * 3
    jobs = declared("page", jar="jobs")(who="ada", session="ann")
    jobs.runtime = spider.runtime
    assert identity(jobs.request(jobs.started)) == {"fw_session": "ann:jobs"}
    long = declared("page", jar="jobs")(who="ada", session="a" * 125)
    long.runtime = spider.runtime
    with pytest.raises(ArgumentError, match="at most 123 characters"):
        long.request(long.started)


async def test_a_name_for_one_alone():
    spider = made("page", pooled=False, session="ann", exclusive="true")
    requests, _ = await walk(spider, spider.request(spider.started))
    assert all(request.meta["fw_exclusive"] and request.meta["fw_session"] == "ann" for request in requests)
    assert spider.runtime.ended == [requests[0].meta["fw_scope"]]
    assert spider.runtime.dropped == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"exclusive": "true"}, "exclusive: name the session"),
        ({"session": "ann", "exclusive": "maybe"}, "exclusive: true or false is expected"),
        ({"session": "ann", "exclusive": 1.5}, "exclusive: true or false is expected"),
        ({"session": "pool.main.0123456789abcdef"}, "the pool's own"),
    ],
)
def test_what_cannot_be_asked_for(arguments, told):
    with pytest.raises(ArgumentError, match=told):
        declared("page")(who="ada", **arguments)


async def test_a_scope_survives_the_queue():
    spider = made("chain", pooled=True)
    first = spider.request(spider.started)
    requests, _ = await walk(spider, first)
    for request in requests:
        request.meta["fw_try"] = "try.1"
        again = decode(encode(request, spider), spider)
        spider.check_queued(again)
        assert identity(again) == identity(request)
        assert again.meta.get("fw_leg") == request.meta.get("fw_leg")
        assert "fw_try" not in again.meta, "it belongs to one try in one process"


async def test_a_broken_chain_begins_again_and_gives_nothing_twice():
    spider = made("chain", pooled=True, limit="5")
    first = spider.request(spider.started)
    response = TextResponse(first.url, body=b"<html></html>", request=first)
    *items, second = [one async for one in spider.parse_call(response)]

    class Failure:
        request, value = second, BrokenChainError("refused")

    (again,) = [one async for one in spider.fail_call(Failure)]
    assert (again.url, again.meta["fw_begun"]) == (first.url, 1)
    assert identity(again) == identity(first)
    assert not again.meta.get("fw_leg")
    assert spider.runtime.ended == []
    _, others = await walk(spider, again)
    ids = [item.id for item in [*items, *others] if item.kind == "post"]
    assert ids == ["1-0", "1-1", "2-0", "2-1", "3-0"], "five in all, as was asked"


def test_what_the_sites_say():
    assert {name: one.session_scope for name, one in TiktokShopSpider.operations.items()} == dict.fromkeys(
        ("product", "reviews", "search"), "chain"
    )
    jars = {name: one.jar for name, one in LinkedinSpider.operations.items()}
    assert jars["jobs"] == jars["job"] != jars["company"]
    assert jars["person"] not in (jars["jobs"], jars["company"])
