"""What seeds of any project's spider may say: every key arrives, and what is wrong is named."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy import Request, Spider
from scrapy_redis.spiders import RedisSpider

from fetchworker.errors import ArgumentError
from fetchworker.frontier.codec import decode, encode
from fetchworker.frontier.seedform import LARGEST, TIERS, request_of, requests_of, seed_request
from fetchworker.frontier.seedkeys import READERS

URL = "https://shop.example/tea"


class ShopSpider(Spider):
    name = "shop"

    def parse(self, response):
        yield from ()

    def parse_ware(self, response, shelf=None):
        yield from ()

    def _parse_hidden(self, response):
        yield from ()

    def closed(self, reason):
        raise AssertionError("it is no callback")


spider = ShopSpider()


def seed(**values) -> Request:
    return seed_request(json.dumps({"url": URL, **values}).encode(), spider)


@pytest.mark.parametrize(
    "raw", [b"https://shop.example/tea", b" https://shop.example/tea\r\n", b"HTTPS://shop.example/tea"]
)
def test_an_address_is_asked_for_as_it_stands(raw):
    request = seed_request(raw, spider)
    assert request.url.lower() == URL
    assert (request.method, request.dont_filter, request.priority, request.callback) == ("GET", True, 0, None)


def test_every_key_arrives():
    request = seed(
        method="put",
        headers={"X-A": ["1", "2"], "Accept": "text/plain"},
        cookies={"c": "d"},
        body="ü",
        meta={"depth": 2, "shelf": {"nr": [1, None]}},
        priority=7,
        tier="high",
        callback="parse_ware",
        cb_kwargs={"shelf": 3},
        dont_filter=False,
    )
    assert (request.url, request.method, request.body, request.priority) == (URL, "PUT", "ü".encode(), 1007)
    assert list(request.headers.items()) == [(b"X-A", [b"1", b"2"]), (b"Accept", [b"text/plain"])]
    assert (request.cookies, request.meta) == ({"c": "d"}, {"depth": 2, "shelf": {"nr": [1, None]}})
    assert (request.callback, request.cb_kwargs, request.dont_filter) == (spider.parse_ware, {"shelf": 3}, False)


def test_bodies_go_as_post_unless_another_method_is_named():
    assert (seed(body="a").method, seed(body="a", method="GET").method) == ("POST", "GET")
    assert seed(body_base64="AP8=").body == b"\x00\xff"
    assert seed(body="a").headers.get("Content-Type") is None


def test_json_and_forms_name_their_type():
    asked = seed(json={"q": ["ü", 1]})
    assert (asked.method, json.loads(asked.body)) == ("POST", {"q": ["ü", 1]})
    assert asked.headers["Content-Type"] == b"application/json"
    form = seed(form={"q": "a&b ü", "page": [1, 2], "all": True})
    assert (form.method, form.body) == ("POST", b"q=a%26b+%C3%BC&page=1&page=2&all=true")
    assert form.headers["Content-Type"] == b"application/x-www-form-urlencoded"
    assert seed(json=1, headers={"content-type": "application/x-tea"}).headers.getlist("Content-Type") == [
        b"application/x-tea"
    ]


def test_cookies_may_be_a_list():
    cookies = [{"name": "a", "value": "b", "path": "/tea"}]
    assert seed(cookies=cookies).cookies == cookies


@pytest.mark.parametrize(("tier", "adds"), TIERS.items())
def test_a_tier_adds_to_the_priority(tier, adds):
    assert (seed(tier=tier).priority, seed(tier=tier, priority=-3).priority) == (adds, adds - 3)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "the seed is empty"),
        (b" \n", "the seed is empty"),
        (b"123", "JSON, but no object: int"),
        (b"[]", "JSON, but no object: list"),
        (b'""', "JSON, but no object: str"),
        (b"null", "JSON, but no object: NoneType"),
        (b"NaN", "holds NaN"),
        (b'{"url": "https://shop.example/", "priority": Infinity}', "holds Infinity"),
        (b'{"url": "https://shop.example/", "meta": {"a": 1e999}}', "1e999, which is too large"),
        (b"\xff\xfe", "not UTF-8"),
        (b"ftp://shop.example/", "neither an http(s) address nor JSON"),
        (b"\x80\x04N.", "not UTF-8"),
        (b"{", "neither an http(s) address nor JSON"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"url": "https://a.example/", "url": "https://b.example/"}', "the key 'url' twice"),
        (b"{}", "url: it is missing"),
        (b"https://", "url: an address with a host"),
        (b"https://shop.example:99999/", "url: an address with a host"),
        (b"https://[shop/", "url: an address with a host"),
        (b"https://a.example/ https://b.example/", "url: an address without blanks"),
        (b"https://a.example/\0", "url: an address without blanks and control characters"),
        (b'{"url": "https://a.example/\\ud800"}', "url: an address without"),
        (b"x" * (LARGEST + 1), f"more than {LARGEST}"),
        (json.dumps({"url": URL, "body": "x" * 20_000_000}).encode(), f"more than {LARGEST}"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_no_seed_is_told(raw, told):
    with pytest.raises(ArgumentError) as caught:
        seed_request(raw, spider)
    assert told in caught.value.message
    assert len(caught.value.message) < 300


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"metod": "POST"}, "unknown key 'metod' (did you mean 'method'?)"),
        ({"url_cookie_key": "x"}, "unknown key 'url_cookie_key' (the fields of a form go into 'form')"),
        ({"url": None}, "url: an http(s) address is expected, not None"),
        ({"url": "file:///etc/passwd"}, "url: an http(s) address"),
        ({"method": "GET /"}, "method: "),
        ({"method": "connect"}, "method: "),
        ({"method": 1}, "method: "),
        ({"headers": ["X-A: 1"]}, "headers: "),
        ({"headers": {"X A": "1"}}, "headers: the name of a header"),
        ({"headers": {"X-A": "1\r\nX-B: 2"}}, "headers.X-A: text without control characters"),
        ({"headers": {"X-A": [1]}}, "headers.X-A: "),
        ({"headers": {"Proxy-Authorization": "Basic eA=="}}, "headers.Proxy-Authorization: proxies are"),
        ({"cookies": "a=b"}, "cookies: "),
        ({"cookies": {"a": None}}, "cookies: "),
        ({"cookies": [{"name": "a"}]}, "cookies: an object with name and value"),
        ({"body": {"a": 1}}, "body: text is expected"),
        ({"body": "\ud800"}, "body: it is no UTF-8"),
        ({"body_base64": "A"}, "body_base64: base64"),
        ({"body_base64": "A?=="}, "body_base64: base64"),
        ({"body_base64": 1}, "body_base64: base64"),
        ({"body": "a", "json": 1}, "body and json contradict each other"),
        ({"form": {"a": 1}, "body_base64": ""}, "body_base64 and form contradict each other"),
        ({"json": "\ud800"}, "json: it is no UTF-8"),
        ({"form": "a=b"}, "form: an object"),
        ({"form": {"a": None}}, "form.a: text"),
        ({"form": {"a": "\ud800"}}, "form: it is no UTF-8"),
        ({"form": {"a": 1}, "method": "GET"}, "form: GET sends no form"),
        ({"meta": []}, "meta: an object"),
        ({"meta": {"proxy": "http://exit.example:1"}}, "meta.proxy: a seed cannot set this"),
        ({"meta": {"download_slot": "x"}}, "meta.download_slot: a seed cannot set this"),
        ({"meta": {"bindaddress": "127.0.0.1"}}, "meta.bindaddress: a seed cannot set this"),
        ({"meta": {"fw_session": "x"}}, "meta.fw_session: a seed cannot set this"),
        ({"meta": {"n": 2**64}}, "meta.n is an int beyond 64 bits"),
        ({"meta": {"a": ["\ud800"]}}, "meta.a[0] is text that is no UTF-8"),
        ({"priority": 10**10}, "priority: a whole number"),
        ({"priority": 1.5}, "priority: a whole number"),
        ({"priority": True}, "priority: a whole number"),
        ({"tier": "urgent"}, "tier: one of high, normal, low is expected, not 'urgent'"),
        ({"tier": 1}, "tier: one of"),
        ({"callback": "parse_gone"}, "callback: shop has no public method 'parse_gone'"),
        ({"callback": "_parse_hidden"}, "callback: shop has no public method"),
        ({"callback": "__init__"}, "callback: shop has no public method"),
        ({"callback": "closed"}, "callback: shop has no public method"),
        ({"callback": "name"}, "callback: shop has no public method"),
        ({"callback": None}, "callback: shop has no public method"),
        ({"cb_kwargs": [1]}, "cb_kwargs: an object"),
        ({"dont_filter": 1}, "dont_filter: true or false"),
    ],
)
def test_the_key_that_is_wrong_is_named(values, told):
    with pytest.raises(ArgumentError) as caught:
        seed(**values)
    assert told in caught.value.message


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["GET", URL, "parse"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
words = st.sampled_from([key for key in READERS if key != "url"])


def either(raw: bytes) -> None:
    """A seed is a request that can be queued, or refused."""
    try:
        request = seed_request(raw, spider)
    except ArgumentError as exc:
        assert exc.message  # noqa: PT017
    else:
        assert decode(encode(request, spider), spider).url == request.url


@given(st.binary(max_size=40) | st.text(max_size=30).map(lambda path: f"https://shop.example/{path}".encode()))
def test_any_bytes_are_a_request_or_refused(raw):
    either(raw)


@settings(max_examples=300)
@given(st.dictionaries(words, anything, max_size=3))
def test_any_values_are_a_request_or_refused(values):
    either(json.dumps({"url": URL, **values}).encode())


# ── whose way it is ──────────────────────────────────────────────────────────────────────────────────────────────────


class StockSpider(RedisSpider):
    name = "stock"


class OwnSpider(RedisSpider):
    name = "own"

    def make_request_from_data(self, data):
        for word in data.decode().split():
            yield Request(f"https://shop.example/{word}")


class SiteLike(ShopSpider):
    def seed_request(self, raw):
        return Request(f"https://shop.example/{raw.decode()}")


def test_the_stock_way_of_scrapy_redis_is_replaced():
    raw = b'{"url": "https://shop.example/tea", "method": "post", "headers": {"X-A": "1"}, "meta": {"job-id": "123"}}'
    request = request_of(raw, StockSpider())
    assert (request.method, request.headers["X-A"], request.meta) == ("POST", b"1", {"job-id": "123"})
    assert request_of(b'{"url": "https://shop.example/", "formdata": {"a": "b"}}', StockSpider()).body == b"a=b"
    with pytest.raises(ArgumentError, match="unknown key 'header'"):
        request_of(b'{"url": "https://shop.example/", "header": {}}', StockSpider())


def test_the_encoding_of_the_spider_is_kept():
    stock = StockSpider()
    stock.redis_encoding = "latin-1"
    assert request_of("https://shop.example/ü".encode("latin-1"), stock).url == "https://shop.example/%C3%BC"


def test_a_spider_s_own_way_is_taken():
    assert [request.url for request in requests_of(b"tea ink", OwnSpider())] == [
        "https://shop.example/tea",
        "https://shop.example/ink",
    ]
    assert request_of(b"tea", SiteLike()).url == URL
    with pytest.raises(ArgumentError, match="2 requests of this seed"):
        request_of(b"tea ink", OwnSpider())


@pytest.mark.parametrize("made", [None, [], "text", [None]])
def test_a_way_that_makes_nothing_is_told(made):
    own = OwnSpider()
    own.make_request_from_data = lambda data: made
    with pytest.raises(ArgumentError, match="own makes no request of this seed"):
        requests_of(b"x", own)
