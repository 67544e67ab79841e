"""Requests as entries of the queue: every field back as it was, nothing of one try, nothing that is code."""

from __future__ import annotations

import functools
from datetime import UTC, datetime, timedelta, timezone

import msgpack
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider
from scrapy.http import JsonRequest
from scrapy.http.request import NO_CALLBACK
from scrapy_redis.spiders import RedisCrawlSpider

from fetchworker.errors import UnqueueableError
from fetchworker.frontier import codec
from fetchworker.frontier.codec import VOLATILE, decode, encode

URL = "https://shop.example/tea"


def decorated(method):
    def inner(self, *args, **kwargs):
        return method(self, *args, **kwargs)

    return inner


class ShopSpider(Spider):
    name = "shop"
    touched = 0

    def parse(self, response):
        yield from ()

    def parse_ware(self, response, shelf=None):
        yield from ()

    def fail(self, failure):
        yield from ()

    @decorated
    def parse_page(self, response):
        yield from ()

    @staticmethod
    def parse_static(response):
        yield from ()

    class Shelf:
        pass

    @classmethod
    def parse_class(cls, response):
        yield from ()

    @property
    def parse_nothing(self):
        type(self).touched += 1

    def __parse_hidden(self, response):
        yield from ()

    @property
    def hidden(self):
        return self.__parse_hidden


spider = ShopSpider()


def back(request: Request) -> Request:
    return decode(encode(request, spider), spider, priority=request.priority)


def assert_same(one: Request, other: Request) -> None:
    for name in Request.attributes:
        assert getattr(one, name) == getattr(other, name), name
    assert list(one.headers) == list(other.headers), "their order"


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.datetimes(timezones=st.just(UTC))
)
keys = st.text(max_size=8) | st.binary(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=8,
)
names = st.text("abcXYZ-_", min_size=1, max_size=8)
headers = st.lists(st.tuples(names, st.binary(max_size=8) | st.lists(st.binary(max_size=8), max_size=3)), max_size=4)
cookie_values = st.text(max_size=5) | st.integers(0, 9) | st.booleans()
cookies = st.dictionaries(names, cookie_values, max_size=3) | st.lists(
    st.fixed_dictionaries({"name": names, "value": cookie_values}, optional={"path": st.just("/")}), max_size=2
)


def request_of(url, **fields) -> Request:
    try:
        return Request(url, **fields)
    except UnicodeEncodeError:  # such an address does not exist in that encoding
        return reject()


requests = st.builds(
    request_of,
    st.text(max_size=30).map(lambda path: f"https://shop.example/{path}"),
    callback=st.sampled_from([None, spider.parse, spider.parse_ware]),
    method=st.sampled_from(["GET", "POST", "PUT"]),
    headers=headers,
    body=st.binary(max_size=60),
    cookies=cookies,
    meta=st.dictionaries(keys, values, max_size=4).map(lambda meta: {k: meta[k] for k in meta if k not in VOLATILE}),
    encoding=st.sampled_from(["utf-8", "latin-1", "cp1251"]),
    priority=st.integers(-(10**9), 10**9),
    dont_filter=st.booleans(),
    errback=st.sampled_from([None, spider.fail]),
    flags=st.lists(st.text(max_size=5), max_size=2),
    cb_kwargs=st.dictionaries(st.text(max_size=5), values, max_size=2),
)


@given(requests)
def test_every_field_comes_back_as_it_was(request_):
    found = back(request_)
    assert_same(found, request_)
    assert type(found) is Request


def test_types_come_back_as_they_were():
    meta = {"t": (1, [2.0, (True, None)], ()), "b": b"\xff", b"k": "\0", "nan": float("inf")}
    found = back(Request(URL, meta=meta)).meta
    assert repr(found) == repr(meta)
    assert type(back(Request(URL, meta={"b": bytearray(b"x")})).meta["b"]) is bytes
    nan = back(Request(URL, meta={"nan": float("nan")})).meta["nan"]
    assert nan != nan  # noqa: PLR0124  # only nan differs from itself


def test_a_time_comes_back_as_the_same_instant_in_utc():
    there = datetime(2031, 5, 4, 3, 2, 1, 7, timezone(timedelta(hours=5)))
    found = back(Request(URL, meta={"at": there})).meta["at"]
    assert (found, found.tzinfo) == (there, UTC)


def test_headers_keep_order_duplicates_and_bytes():
    given_ = [("X-B", b"\xff\xfe"), ("X-A", ["1", "2", "1"]), ("Accept", None), ("x-b", "again")]
    found = back(Request(URL, headers=given_)).headers
    assert list(found.items()) == [(b"X-B", [b"\xff\xfe", b"again"]), (b"X-A", [b"1", b"2", b"1"]), (b"Accept", [])]


def test_a_plain_request_is_short():
    url = "https://shop.example/".ljust(60, "x")
    assert len(encode(Request(url, spider.parse), spider)) <= 90
    assert len(encode(Request(url), spider)) <= 66


def test_an_address_as_it_stands_stays_so():
    request = Request("https://shop.example/a b?q=ü", meta={"verbatim_url": True})
    assert back(request).url == "https://shop.example/a b?q=ü"


@pytest.mark.parametrize(("written", "safe"), [(b"/t a", "/t%20a"), (b"/t\na", "/ta"), (b"/t\xc3\xbc", "/t%C3%BC")])
def test_an_address_that_we_did_not_write_is_made_safe(written, safe):
    raw = encode(Request(URL), spider).replace(b"/tea", written)
    assert decode(raw, spider).url == f"https://shop.example{safe}"


def test_what_belongs_to_one_try_is_left_out():
    meta = dict.fromkeys(VOLATILE, object()) | {"fw_session": "s", "download_slot": "shop.example", "depth": 2}
    assert back(Request(URL, meta=meta)).meta == {"fw_session": "s", "download_slot": "shop.example", "depth": 2}
    worked_out = {"fw_slot": "shop.example", "download_slot": "shop.example"}
    assert back(Request(URL, meta=worked_out)).meta == {}


def test_a_subclass_is_what_it_sends():
    form = back(FormRequest(URL, formdata={"q": "a b"}))
    assert (type(form), form.method, form.body) == (Request, "POST", b"q=a+b")
    assert form.headers["Content-Type"] == b"application/x-www-form-urlencoded"
    assert back(JsonRequest(URL, data={"a": 1})).body == b'{"a": 1}'


@pytest.mark.parametrize("name", ["parse", "parse_page", "parse_static", "parse_class"])
def test_callbacks_go_by_name(name):
    found = back(Request(URL, getattr(spider, name), errback=spider.fail))
    assert (found.callback, found.errback) == (getattr(spider, name), spider.fail)


def test_the_callback_of_a_rule_goes_too():
    crawl = RedisCrawlSpider("shop")
    assert decode(encode(Request(URL, crawl._callback), crawl), crawl).callback == crawl._callback


class Text(str):
    __slots__ = ()


def nested(depth, kind=list):
    value = kind()
    for _ in range(depth):
        value = kind([value])
    return value


endless: list = []
endless.append(endless)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (
            {"meta": {"user": {"tags": [1, 2, 3, {4}]}}},
            "meta.user.tags[3] is a set, which cannot be queued: use a list",
        ),
        ({"meta": {"a": (0, object())}}, "meta.a[1] is a object"),
        ({"meta": {"a": Text("x")}}, "meta.a is a Text, which cannot be queued: use a plain str"),
        ({"meta": {"a": {1: 2}}}, "meta.a has the key 1"),
        ({"meta": {"n": [2**64]}}, "meta.n[0] is an int beyond 64 bits"),
        ({"meta": {"a": "\ud800"}}, "meta.a is text that is no UTF-8"),
        ({"meta": {"a": {"\ud800": 1}}}, "meta.a has a key that is text that is no UTF-8"),
        ({"meta": {"at": datetime(2031, 1, 1)}}, "meta.at is a datetime, which cannot be queued: use one with"),  # noqa: DTZ001
        ({"meta": {"a": msgpack.ExtType(1, b"\x90")}}, "meta.a is a ExtType"),
        ({"meta": {"a": msgpack.Timestamp(1)}}, "meta.a is a Timestamp"),
        ({"meta": {"a": nested(1100)}}, "nested too deep"),
        ({"meta": {"a": nested(30, tuple)}}, "meta"),
        ({"meta": {"a": endless}}, "nested too deep"),
        ({"cookies": {"a": [1]}}, "cookies: "),
        ({"cookies": [{"name": "a", "value": {1}}]}, "cookies[0].value is a set"),
        ({"cookies": ({"name": "a", "value": "b"},)}, "cookies: "),
        ({"cb_kwargs": {b"a": 1}}, "cb_kwargs: "),
        ({"cb_kwargs": {"a": {1}}}, "cb_kwargs.a is a set"),
        ({"flags": [1]}, "flags: "),
        ({"callback": lambda response: None}, "callback is <function"),
        ({"callback": functools.partial(spider.parse)}, "callback is functools.partial"),
        ({"callback": ShopSpider().parse}, "use a method of the spider shop"),
        ({"callback": spider.hidden}, "callback is <bound method"),
        ({"callback": NO_CALLBACK}, "callback is <function NO_CALLBACK"),
        ({"errback": print}, "errback is <built-in"),
        ({"errback": spider.log}, "errback is <bound method"),
    ],
)
def test_what_cannot_be_queued_is_named(fields, told):
    with pytest.raises(UnqueueableError) as caught:
        encode(Request(URL, **fields), spider)
    assert told in caught.value.message
    assert len(caught.value.message) < 300


def test_a_body_that_redis_would_not_keep_is_refused(monkeypatch):
    monkeypatch.setattr(codec, "LARGEST_BODY", 3)
    assert back(Request(URL, body=b"abc")).body == b"abc"
    with pytest.raises(UnqueueableError, match="body has 4 bytes, more than 3"):
        encode(Request(URL, body=b"abcd"), spider)
